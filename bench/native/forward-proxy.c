/*
 * A forward proxy that costs as little as it can, so that it is not what is measured: the kernel moves the bytes from socket
 * to socket (splice), they never reach this program. One thread, epoll.
 *
 *   forward-proxy TARGET_PORT [RATE]      prints the port it listens on (127.0.0.1), serves until it is killed
 *
 * RATE: it takes no more bytes a second from all its clients together, as behind a network. Without it there is no limit.
 *
 * It takes CONNECT, and requests with an absolute address (GET http://…), and leads both to 127.0.0.1:TARGET_PORT, whatever
 * host they name. The head of an absolute request goes on as it came; one connection of a client is one to the target.
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
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEAD_BYTES = 16 * 1024, PIPE_BYTES = 1024 * 1024 };

/* One end of a tunnel. What it receives waits in its pipe until the peer takes it. */
typedef struct end {
  struct tunnel *tunnel;
  struct end *peer;
  int fd, pipe[2];
  size_t held;
  int finished; /* nothing more will come from here, and the peer was told */
  unsigned events;
} end;

typedef struct tunnel {
  end client, target;
  char head[HEAD_BYTES];
  int headBytes, open;
  int waits; /* for the rate */
  struct tunnel *nextClosed, *nextWaiting;
} tunnel;

static int poller, targetPort;
static tunnel *closed; /* released only when no event of the same round can name them */
static tunnel *waiting; /* for the rate, the longest first */
static double rate, allowance, filled; /* bytes a second, bytes, seconds; no limit where the rate is 0 */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

/* What the rate allows by now: never more than in 10 ms. */
static void fill_allowance(void) {
  double at = now(), most = rate / 100;
  allowance += (at - filled) * rate;
  if (allowance > most) allowance = most;
  filled = at;
}

/* How many bytes may be taken from an end: the targets' answers are not limited. */
static size_t allowed(end *from) {
  if (rate == 0 || from != &from->tunnel->client) return PIPE_BYTES;
  return allowance <= 0 ? 0 : allowance < PIPE_BYTES ? (size_t)allowance + 1 : PIPE_BYTES;
}

static void wait_for_rate(tunnel *t) {
  if (t->waits) return;
  tunnel **last = &waiting;
  while (*last) last = &(*last)->nextWaiting;
  *last = t;
  t->nextWaiting = NULL;
  t->waits = 1;
}

static void stop_waiting(tunnel *t) {
  for (tunnel **at = &waiting; *at; at = &(*at)->nextWaiting) {
    if (*at != t) continue;
    *at = t->nextWaiting;
    break;
  }
  t->waits = 0;
}

static void watch(end *e, unsigned events) {
  if (e->events == events) return;
  struct epoll_event event = {.events = events, .data.ptr = e};
  epoll_ctl(poller, EPOLL_CTL_MOD, e->fd, &event);
  e->events = events;
}

static void add(end *e, tunnel *t, end *peer, int fd) {
  int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  e->tunnel = t;
  e->peer = peer;
  e->fd = fd;
  e->events = EPOLLIN;
  if (pipe2(e->pipe, O_NONBLOCK | O_CLOEXEC)) { perror("pipe"); exit(1); }
  fcntl(e->pipe[1], F_SETPIPE_SZ, PIPE_BYTES); /* stays smaller where the system does not allow it */
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = e};
  epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
}

static void close_end(end *e) {
  if (e->fd < 0) return;
  close(e->fd);
  close(e->pipe[0]);
  close(e->pipe[1]);
  e->fd = -1;
}

static void close_tunnel(tunnel *t) {
  if (t->client.fd < 0) return;
  stop_waiting(t);
  close_end(&t->client);
  if (t->target.peer) close_end(&t->target);
  t->nextClosed = closed;
  closed = t;
}

/* Moves what there is from one end to its peer. False when the tunnel is broken. */
static int move(end *from) {
  end *to = from->peer;
  for (;;) {
    ssize_t in = -1, out = -1;
    if (!from->finished && from->held == 0) {
      size_t most = allowed(from);
      if (most == 0) { wait_for_rate(from->tunnel); return 1; }
      in = splice(from->fd, NULL, from->pipe[1], NULL, most, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
      if (in > 0) {
        from->held = in;
        if (from == &from->tunnel->client) allowance -= in;
      } else if (in == 0) {
        from->finished = 1;
        shutdown(to->fd, SHUT_WR);
      } else if (errno != EAGAIN) return 0;
    }
    if (from->held > 0) {
      out = splice(from->pipe[0], NULL, to->fd, NULL, from->held, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
      if (out > 0) from->held -= out;
      else if (errno != EAGAIN) return 0;
    }
    if (from->held > 0 || in <= 0) return 1;
  }
}

/* Nothing will come from here any more, and the peer has taken what came. */
static int is_done(end *e) { return e->finished && e->held == 0; }

static void carry(tunnel *t) {
  int alive = move(&t->client) && move(&t->target);
  if (!alive || (is_done(&t->client) && is_done(&t->target))) { close_tunnel(t); return; }
  end *ends[] = {&t->client, &t->target};
  for (int i = 0; i < 2; i++) {
    end *e = ends[i];
    int mayRead = !(t->waits && e == &t->client);
    unsigned reads = mayRead && !e->finished && e->held == 0 ? EPOLLIN : 0;
    watch(e, reads | (e->peer->held > 0 ? EPOLLOUT : 0));
  }
}

static int connect_to_target(void) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(targetPort), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  /* On loopback this does not wait. */
  if (connect(fd, (void *)&address, sizeof address)) { close(fd); return -1; }
  fcntl(fd, F_SETFL, O_NONBLOCK);
  return fd;
}

static int write_all(int fd, const char *p, size_t n) { return write(fd, p, n) == (ssize_t)n; }

/* Reads the head of the first request and opens the way to the target. */
static void open_tunnel(tunnel *t) {
  ssize_t n = recv(t->client.fd, t->head + t->headBytes, HEAD_BYTES - 1 - t->headBytes, 0);
  if (n < 0 && errno == EAGAIN) return;
  if (n <= 0) { close_tunnel(t); return; }
  t->headBytes += n;
  t->head[t->headBytes] = 0;
  char *end_of_head = strstr(t->head, "\r\n\r\n");
  if (!end_of_head) {
    if (t->headBytes == HEAD_BYTES - 1) close_tunnel(t);
    return;
  }
  int connects = !strncmp(t->head, "CONNECT ", 8);
  char *onward = connects ? end_of_head + 4 : t->head;
  int fd = connect_to_target();
  if (fd < 0) {
    const char refusal[] = "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n";
    write_all(t->client.fd, refusal, sizeof refusal - 1);
    close_tunnel(t);
    return;
  }
  add(&t->target, t, &t->client, fd);
  t->client.peer = &t->target;
  t->open = 1;
  const char established[] = "HTTP/1.1 200 Connection established\r\n\r\n";
  size_t left = t->head + t->headBytes - onward;
  if ((connects && !write_all(t->client.fd, established, sizeof established - 1)) || !write_all(fd, onward, left)) {
    close_tunnel(t);
    return;
  }
  carry(t);
}

/* As far as the rate allows now, one behind the other: whoever takes all there is goes to the end. */
static void go_on(void) {
  fill_allowance();
  for (tunnel *t; (t = waiting) && allowance > 0;) {
    stop_waiting(t);
    carry(t);
  }
}

int main(int count, char **words) {
  if (count != 2 && count != 3) return 2;
  targetPort = atoi(words[1]);
  rate = count == 3 ? atof(words[2]) : 0;
  filled = now();
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* it does not outlive the one who measures */
  signal(SIGPIPE, SIG_IGN);

  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  if (bind(listener, (void *)&address, length) || listen(listener, 1024)) { perror("forward-proxy"); return 1; }
  getsockname(listener, (void *)&address, &length);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);

  poller = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL}, events[128];
  epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    int ready = epoll_wait(poller, events, 128, waiting ? 1 : -1);
    if (rate > 0) go_on();
    for (int i = 0; i < ready; i++) {
      end *e = events[i].data.ptr;
      if (!e) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) continue;
        tunnel *t = calloc(1, sizeof *t);
        add(&t->client, t, NULL, fd);
      } else if (e->fd >= 0) {
        if (e->tunnel->open) carry(e->tunnel);
        else open_tunnel(e->tunnel);
      }
    }
    for (tunnel *t; (t = closed);) { closed = t->nextClosed; free(t); }
  }
}
