/*
 * Posts one ready-made body over and over, to find out what a server can take. The kernel sends the body from the page cache
 * (sendfile), so that the sending side costs less than any client can.
 *
 *   flood PORT CONNECTIONS SECONDS FILE TARGET      TARGET is what stands in the request line: a path, or for a proxy a URL
 *
 * Prints requests, bytes of bodies answered, and seconds.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct {
  int fd;
  size_t headSent;
  off_t bodySent;
  char answer[4096];
  size_t answerBytes; /* of the head, while it is read */
  long left;          /* of the answer's body; -1 while its head is read */
} sender;

static int poller, file, requestHeadBytes;
static off_t fileBytes;
static char requestHead[1024];
static long answered;
static int atWork;
static double end;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static void fail(const char *what) { perror(what); exit(1); }

static void await(sender *s, unsigned events) {
  struct epoll_event event = {.events = events, .data.ptr = s};
  epoll_ctl(poller, EPOLL_CTL_MOD, s->fd, &event);
}

/* The next request; none once the time is over, so that nothing of this is still on its way when it ends. */
static void begin(sender *s) {
  if (now() >= end) { close(s->fd); atWork--; return; }
  s->headSent = s->answerBytes = 0;
  s->bodySent = 0;
  s->left = -1;
  await(s, EPOLLOUT);
}

static void send_more(sender *s) {
  while (s->headSent < (size_t)requestHeadBytes) {
    ssize_t n = send(s->fd, requestHead + s->headSent, requestHeadBytes - s->headSent, MSG_MORE);
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0) fail("send");
    s->headSent += n;
  }
  while (s->bodySent < fileBytes) {
    ssize_t n = sendfile(s->fd, file, &s->bodySent, fileBytes - s->bodySent);
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0) fail("sendfile");
  }
  await(s, EPOLLIN);
}

static void read_answer(sender *s) {
  static char rest[256 * 1024];
  if (s->left < 0) {
    ssize_t n = recv(s->fd, s->answer + s->answerBytes, sizeof s->answer - 1 - s->answerBytes, 0);
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) fail("answer");
    s->answerBytes += n;
    s->answer[s->answerBytes] = 0;
    char *end = strstr(s->answer, "\r\n\r\n"), *length = strcasestr(s->answer, "content-length:");
    if (!end) return;
    if (strncmp(s->answer, "HTTP/1.1 200", 12) || !length) { fprintf(stderr, "flood: %.60s\n", s->answer); exit(1); }
    s->left = atol(length + strlen("content-length:")) - (long)(s->answer + s->answerBytes - end - 4);
  }
  while (s->left > 0) {
    ssize_t n = recv(s->fd, rest, sizeof rest, 0);
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) fail("answer");
    s->left -= n;
  }
  answered++;
  begin(s);
}

int main(int count, char **words) {
  if (count != 6) return 2;
  int connections = atoi(words[2]);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGPIPE, SIG_IGN);
  file = open(words[4], O_RDONLY);
  struct stat about;
  if (file < 0 || fstat(file, &about)) fail(words[4]);
  fileBytes = about.st_size;
  requestHeadBytes = snprintf(requestHead, sizeof requestHead,
                              "POST %s HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/x-ndjson\r\n"
                              "content-length: %ld\r\n\r\n", words[5], (long)fileBytes);

  poller = epoll_create1(0);
  double start = now();
  end = start + atof(words[3]);
  for (int i = 0; i < connections; i++) {
    sender *s = calloc(1, sizeof *s);
    int on = 1;
    s->fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(words[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (connect(s->fd, (void *)&address, sizeof address)) fail("connect");
    setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(s->fd, F_SETFL, O_NONBLOCK);
    struct epoll_event event = {.events = EPOLLOUT, .data.ptr = s};
    epoll_ctl(poller, EPOLL_CTL_ADD, s->fd, &event);
    atWork++;
    begin(s);
  }
  struct epoll_event events[64];
  while (atWork > 0) {
    int ready = epoll_wait(poller, events, 64, -1);
    for (int i = 0; i < ready; i++) {
      sender *s = events[i].data.ptr;
      if (events[i].events & EPOLLOUT) send_more(s);
      else read_answer(s);
    }
  }
  printf("{\"requests\":%ld,\"bytes\":%ld,\"seconds\":%.6f}\n", answered, answered * (long)fileBytes, now() - start);
}
