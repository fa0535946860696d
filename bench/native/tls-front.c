/**
 * Puts TLS in front of the sink: tls-front PORT CERTIFICATE KEY. Prints its own port, then relays every connection, a thread each,
 * until it is killed. Every client pays for the same front.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#define BUFFER_BYTES (256 << 10)

static SSL_CTX *context;
static struct sockaddr_in sink;

static int failed(const char *what) { perror(what); exit(1); }

static int write_all(int fd, const char *bytes, ssize_t length) {
  for (ssize_t n; length > 0; bytes += n, length -= n)
    if ((n = write(fd, bytes, length)) <= 0) return 0;
  return 1;
}

/* Reads what TLS has, in both directions, until one side ends. */
static void relay_all(SSL *tls, int client, int server, char *buffer) {
  struct pollfd ends[2] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
  while (poll(ends, 2, -1) > 0) {
    if (ends[0].revents) {
      do {
        int n = SSL_read(tls, buffer, BUFFER_BYTES);
        if (n <= 0 || !write_all(server, buffer, n)) return;
      } while (SSL_pending(tls) > 0);
    }
    if (ends[1].revents) {
      ssize_t n = read(server, buffer, BUFFER_BYTES);
      if (n <= 0 || SSL_write(tls, buffer, n) <= 0) return;
    }
  }
}

static void *serve(void *argument) {
  int client = (int)(long)argument;
  int one = 1;
  int server = socket(AF_INET, SOCK_STREAM, 0);
  char *buffer = malloc(BUFFER_BYTES);
  SSL *tls = SSL_new(context);
  setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  SSL_set_fd(tls, client);
  if (SSL_accept(tls) == 1 && connect(server, (struct sockaddr *)&sink, sizeof sink) == 0)
    relay_all(tls, client, server, buffer);
  SSL_free(tls);
  free(buffer);
  close(server);
  close(client);
  return NULL;
}

int main(int count, char **words) {
  if (count != 4) { fputs("tls-front PORT CERTIFICATE KEY\n", stderr); return 2; }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGPIPE, SIG_IGN);
  sink = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(atoi(words[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  context = SSL_CTX_new(TLS_server_method());
  if (SSL_CTX_use_certificate_chain_file(context, words[2]) != 1 || SSL_CTX_use_PrivateKey_file(context, words[3], SSL_FILETYPE_PEM) != 1) {
    fputs("tls-front: the certificate cannot be used\n", stderr);
    return 1;
  }
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof own;
  if (bind(listener, (struct sockaddr *)&own, sizeof own) || listen(listener, 256)) failed("tls-front");
  getsockname(listener, (struct sockaddr *)&own, &length);
  printf("%d\n", ntohs(own.sin_port));
  fflush(stdout);
  while (1) {
    int client = accept(listener, NULL, NULL);
    if (client < 0) continue;
    pthread_t thread;
    if (pthread_create(&thread, NULL, serve, (void *)(long)client)) close(client);
    else pthread_detach(thread);
  }
}
