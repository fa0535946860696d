/*
 * A cluster that throws everything away: it answers _bulk as Elasticsearch 9.4.3 does and stores nothing, so that what is
 * measured is the client. One thread, epoll, HTTP/1.1.
 *
 *   null-sink [-p PORT] [-l MS] [-r BYTES] [-c]     prints the port it listens on (127.0.0.1), serves until it is killed
 *   null-sink -s FILE                               prints documents, bytes and sum of an NDJSON file
 *
 *   -l MS      every _bulk answer waits this long after the last byte of its request
 *   -r BYTES   every _bulk answer waits until its request would have arrived at this many bytes a second
 *   -c         also sums a hash of every document line; the sum does not depend on the order in which they arrive
 *
 * GET /_sink/stats, /_sink/reset, /_sink/latency/MS and /_sink/rate/BYTES are for the one who measures.
 *
 * Every body holds pairs of lines: an action (index or create) and its document. gzip bodies are inflated: an answer has one
 * item per document, so that they have to be counted.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

enum { READ_BYTES = 256 * 1024, HEAD_BYTES = 16 * 1024, FIRST_LINE_BYTES = 16 };

/* ---- counting and hashing ------------------------------------------------------------------------------------------- */

/* Sixty-four lanes of bytes, emptied before one of them can overflow: the compiler turns this into vector instructions. */
static uint64_t count_newlines(const unsigned char *p, size_t n) {
  uint64_t found = 0;
  size_t i = 0;
  while (n - i >= 64) {
    unsigned char lanes[64] = {0};
    size_t blocks = (n - i) / 64;
    if (blocks > 255) blocks = 255;
    for (size_t b = 0; b < blocks; b++, i += 64)
      for (int lane = 0; lane < 64; lane++) lanes[lane] += p[i + lane] == '\n';
    for (int lane = 0; lane < 64; lane++) found += lanes[lane];
  }
  for (; i < n; i++) found += p[i] == '\n';
  return found;
}

static const uint64_t EMPTY_LINE = 0xcbf29ce484222325ULL;

static inline uint64_t hash_byte(uint64_t hash, unsigned char byte) { return (hash ^ byte) * 0x100000001b3ULL; }

/* Spreads a line's hash over all bits, so that sums of different lines do not cancel out. */
static uint64_t spread(uint64_t hash) {
  hash ^= hash >> 31;
  hash *= 0x9fb21c651e98df25ULL;
  hash ^= hash >> 28;
  hash *= 0xd6e8feb86659fd93ULL;
  return hash ^ (hash >> 32);
}

/* ---- what was received ---------------------------------------------------------------------------------------------- */

static struct {
  uint64_t requests, documents, bodyBytes, receivedBytes, answeredBytes, largestBody, oddBodies, gzipBodies, sum;
  uint64_t connections, inFlight, mostInFlight, violations;
  double firstRequest; /* CLOCK_MONOTONIC seconds; 0 until there was one */
} seen;

static int verifying;
static double latency; /* seconds */
static double rate;    /* bytes a second and connection; 0 without a limit */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

/* ---- answers -------------------------------------------------------------------------------------------------------- */

/* The parts of one item, in the order in which Elasticsearch writes them. */
static const struct { const char *name, *text; } itemFields[] = {
    {"_index", "\"_index\":\"bench\""},
    {"_id", "\"_id\":\"Ab3dEf9hJk2mNp5qRs7t\""},
    {"_version", "\"_version\":1"},
    {"result", "\"result\":\"created\""},
    {"_shards", "\"_shards\":{\"total\":2,\"successful\":1,\"failed\":0}"},
    {"_seq_no", "\"_seq_no\":10000000"},
    {"_primary_term", "\"_primary_term\":1"},
    {"status", "\"status\":201"},
};
enum { ITEM_FIELDS = sizeof itemFields / sizeof *itemFields, ALL_FIELDS = (1 << ITEM_FIELDS) - 1, ERRORS = 1 << 16, TOOK = 1 << 17 };

/* Which parts of the answer filter_path lets through. */
static unsigned wanted_parts(const char *target) {
  const char *query = strchr(target, '?');
  const char *filter = query ? strstr(query, "filter_path=") : NULL;
  if (!filter) return ALL_FIELDS | ERRORS | TOOK;
  filter += strlen("filter_path=");

  char pattern[128];
  unsigned wanted = 0;
  while (*filter && *filter != '&' && *filter != ' ') {
    size_t length = 0;
    for (; *filter && !strchr("& ,", *filter); filter++) {
      char byte = *filter;
      if (byte == '%' && filter[1] && filter[2]) {
        char hex[3] = {filter[1], filter[2], 0};
        byte = (char)strtol(hex, NULL, 16);
        filter += 2;
        if (byte == ',') { filter++; break; }
      }
      if (length < sizeof pattern - 1) pattern[length++] = byte;
    }
    pattern[length] = 0;
    if (*filter == ',') filter++;

    if (!strcmp(pattern, "errors")) wanted |= ERRORS;
    else if (!strcmp(pattern, "took")) wanted |= TOOK;
    else if (!strcmp(pattern, "items") || !strcmp(pattern, "items.*") || !strcmp(pattern, "items.*.*")) wanted |= ALL_FIELDS;
    else if (!strncmp(pattern, "items.*.", 8))
      for (int f = 0; f < ITEM_FIELDS; f++)
        if (!strcmp(pattern + 8, itemFields[f].name)) wanted |= 1u << f;
  }
  return wanted;
}

/* All items of an answer are alike, so any answer's items are the beginning of one long text. */
typedef struct { unsigned wanted; const char *operation; char *items; size_t itemBytes, capacity; } shape;

static shape *shape_of(unsigned wanted, const char *operation, uint64_t documents) {
  static shape shapes[64];
  static int known;
  shape *found = NULL;
  for (int i = 0; i < known; i++)
    if (shapes[i].wanted == wanted && shapes[i].operation == operation) found = &shapes[i];
  if (!found) {
    if (known == 64) { fputs("null-sink: too many different filters\n", stderr); exit(1); }
    found = &shapes[known++];
    found->wanted = wanted;
    found->operation = operation;
  }
  if (found->capacity < documents) {
    char item[512];
    int n = sprintf(item, "{\"%s\":{", operation);
    const char *between = "";
    for (int f = 0; f < ITEM_FIELDS; f++)
      if (wanted & (1u << f)) { n += sprintf(item + n, "%s%s", between, itemFields[f].text); between = ","; }
    n += sprintf(item + n, "}},");
    found->itemBytes = n;
    found->capacity = documents < 32768 ? 32768 : documents * 2;
    /* The shorter text stays where it is: an answer under way may still be written from it. */
    found->items = malloc(found->capacity * n);
    for (size_t i = 0; i < found->capacity; i++) memcpy(found->items + i * n, item, n);
  }
  return found;
}

/* ---- connections ---------------------------------------------------------------------------------------------------- */

typedef enum { HEAD, BODY, CHUNK_SIZE, CHUNK_DATA, CHUNK_END, TRAILER, DELAYED, ANSWERING } phase;

typedef struct connection {
  int fd;
  phase phase;
  int wantsOutput, closing, delayed, hadBulk;

  char head[HEAD_BYTES];
  int headBytes;
  char method[12], target[4096];
  int bulk, gzip;
  uint64_t remaining; /* of the body, or of this chunk */
  char chunkLine[32];
  int chunkLineBytes;

  uint64_t received, plainBytes, newlines, lineHash, sum;
  char firstLine[FIRST_LINE_BYTES];
  int firstLineBytes;
  z_stream inflater;
  int inflaterReady;

  char answer[4096];
  struct iovec parts[3];
  int part, partCount;
  double began, due; /* CLOCK_MONOTONIC seconds */
  struct connection *next;
} connection;

static int poller;
static unsigned char input[READ_BYTES], inflated[READ_BYTES * 4];
static connection *firstDelayed; /* in the order in which they are due */

static void await_request(connection *c) {
  c->phase = HEAD;
  c->headBytes = 0;
  c->received = c->plainBytes = c->newlines = c->sum = 0;
  c->lineHash = EMPTY_LINE;
  c->firstLineBytes = 0;
  c->bulk = 0;
}

static void release(connection *c) {
  if (c->inflaterReady) inflateEnd(&c->inflater);
  free(c);
}

static void drop(connection *c) {
  if (c->bulk && c->phase != HEAD && c->phase != ANSWERING) seen.inFlight--;
  close(c->fd);
  c->fd = -1;
  if (!c->delayed) release(c); /* else when its turn in the queue comes */
}

static void listen_for(connection *c, int output) {
  if (c->wantsOutput == output) return;
  c->wantsOutput = output;
  struct epoll_event event = {.events = output ? EPOLLOUT : EPOLLIN, .data.ptr = c};
  epoll_ctl(poller, EPOLL_CTL_MOD, c->fd, &event);
}

/* False when the connection is gone. */
static int write_answer(connection *c) {
  while (c->part < c->partCount) {
    ssize_t n = writev(c->fd, c->parts + c->part, c->partCount - c->part);
    if (n < 0 && errno == EAGAIN) { listen_for(c, 1); return 1; }
    if (n < 0) { drop(c); return 0; }
    while (c->part < c->partCount && (size_t)n >= c->parts[c->part].iov_len) n -= c->parts[c->part++].iov_len;
    if (c->part < c->partCount) {
      c->parts[c->part].iov_base = (char *)c->parts[c->part].iov_base + n;
      c->parts[c->part].iov_len -= n;
    }
  }
  if (c->closing) { drop(c); return 0; }
  listen_for(c, 0);
  await_request(c);
  return 1;
}

/* `start` is copied; `items` stays as it is until it was written. */
static int answer_with(connection *c, const char *start, char *items, size_t itemsBytes, const char *end) {
  size_t bytes = strlen(start) + itemsBytes + strlen(end);
  int n = snprintf(c->answer, sizeof c->answer,
                   "HTTP/1.1 200 OK\r\nX-elastic-product: Elasticsearch\r\ncontent-type: application/json\r\n"
                   "content-length: %zu\r\n%s\r\n%s",
                   bytes, c->closing ? "connection: close\r\n" : "", strcmp(c->method, "HEAD") ? start : "");
  c->parts[0] = (struct iovec){c->answer, n};
  c->parts[1] = (struct iovec){items, itemsBytes};
  c->parts[2] = (struct iovec){(char *)end, strlen(end)};
  c->part = 0;
  c->partCount = itemsBytes ? 3 : 1;
  c->phase = ANSWERING;
  if (c->bulk) seen.answeredBytes += n + itemsBytes + strlen(end);
  return write_answer(c);
}

static int answer_text(connection *c, const char *text) { return answer_with(c, text, NULL, 0, ""); }

/* The operation of the first action line. All of a body are taken to be alike. */
static const char *operation_of(const connection *c) {
  static const char *operations[] = {"index", "create", "update", "delete"};
  const char *quote = memchr(c->firstLine, '"', c->firstLineBytes);
  for (int i = 0; quote && i < 4; i++) {
    size_t bytes = strlen(operations[i]);
    if (quote + 1 + bytes < c->firstLine + c->firstLineBytes && !memcmp(quote + 1, operations[i], bytes) && quote[1 + bytes] == '"')
      return operations[i];
  }
  return operations[0];
}

static int answer_bulk(connection *c) {
  uint64_t documents = c->newlines / 2;
  seen.inFlight--;
  seen.requests++;
  seen.documents += documents;
  seen.bodyBytes += c->plainBytes;
  seen.receivedBytes += c->received;
  seen.sum += c->sum;
  seen.oddBodies += c->newlines & 1;
  seen.gzipBodies += c->gzip;
  if (c->plainBytes > seen.largestBody) seen.largestBody = c->plainBytes;
  if (!c->hadBulk) { c->hadBulk = 1; seen.connections++; }

  unsigned wanted = wanted_parts(c->target);
  char start[64];
  int n = sprintf(start, "{");
  if (wanted & ERRORS) n += sprintf(start + n, "\"errors\":false,");
  if (wanted & TOOK) n += sprintf(start + n, "\"took\":7,");
  if (!(wanted & ALL_FIELDS) || documents == 0) {
    strcpy(start + n - (n > 1), "}");
    return answer_text(c, start);
  }
  strcpy(start + n, "\"items\":[");
  shape *items = shape_of(wanted, operation_of(c), documents);
  return answer_with(c, start, items->items, documents * items->itemBytes - 1, "]}");
}

static int answer_stats(connection *c) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  double cpu = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  char text[1024];
  snprintf(text, sizeof text,
           "{\"requests\":%lu,\"documents\":%lu,\"bodyBytes\":%lu,\"receivedBytes\":%lu,\"answeredBytes\":%lu,"
           "\"largestBody\":%lu,\"oddBodies\":%lu,\"gzipBodies\":%lu,\"connections\":%lu,\"mostInFlight\":%lu,"
           "\"violations\":%lu,\"firstRequest\":%.6f,\"cpuSeconds\":%.6f,\"sum\":\"%016lx\"}",
           seen.requests, seen.documents, seen.bodyBytes, seen.receivedBytes, seen.answeredBytes, seen.largestBody,
           seen.oddBodies, seen.gzipBodies, seen.connections, seen.mostInFlight, seen.violations, seen.firstRequest, cpu,
           seen.sum);
  return answer_text(c, text);
}

static int starts_with(const char *text, const char *start) { return !strncmp(text, start, strlen(start)); }

static int answer_other(connection *c) {
  const char *target = c->target;
  if (starts_with(target, "/_sink/stats")) return answer_stats(c);
  if (starts_with(target, "/_sink/reset")) {
    uint64_t inFlight = seen.inFlight;
    memset(&seen, 0, sizeof seen);
    seen.inFlight = inFlight;
    return answer_text(c, "{}");
  }
  if (starts_with(target, "/_sink/latency/")) {
    latency = atof(target + strlen("/_sink/latency/")) / 1000;
    return answer_text(c, "{}");
  }
  if (starts_with(target, "/_sink/rate/")) {
    rate = atof(target + strlen("/_sink/rate/"));
    return answer_text(c, "{}");
  }
  if (!strcmp(target, "/") || starts_with(target, "/?"))
    return answer_text(c,
        "{\"name\":\"sink\",\"cluster_name\":\"sink\",\"cluster_uuid\":\"Ab3dEf9hJk2mNp5qRs7tUw\",\"version\":{\"number\":\"9.4.3\","
        "\"build_flavor\":\"default\",\"build_type\":\"tar\",\"build_hash\":\"0\",\"build_date\":\"2026-01-01T00:00:00Z\","
        "\"build_snapshot\":false,\"lucene_version\":\"10.3.0\",\"minimum_wire_compatibility_version\":\"8.19.0\","
        "\"minimum_index_compatibility_version\":\"8.0.0\"},\"tagline\":\"You Know, for Search\"}");
  if (strstr(target, "/_has_privileges")) return answer_text(c, "{\"username\":\"bench\",\"has_all_requested\":true,\"cluster\":{},\"index\":{},\"application\":{}}");
  if (!strcmp(c->method, "GET")) return answer_text(c, "{\"bench\":{\"aliases\":{},\"mappings\":{},\"settings\":{\"index\":{\"number_of_shards\":\"1\",\"number_of_replicas\":\"0\"}}}}");
  return answer_text(c, "{\"acknowledged\":true,\"shards_acknowledged\":true,\"index\":\"bench\",\"_shards\":{\"total\":2,\"successful\":1,\"failed\":0}}");
}

/* ---- requests ------------------------------------------------------------------------------------------------------- */

static void take_lines(connection *c, const unsigned char *p, size_t n) {
  c->plainBytes += n;
  for (size_t i = 0; i < n && c->firstLineBytes < FIRST_LINE_BYTES; i++) c->firstLine[c->firstLineBytes++] = p[i];
  if (!verifying) { c->newlines += count_newlines(p, n); return; }
  uint64_t hash = c->lineHash;
  for (size_t i = 0; i < n; i++) {
    if (p[i] != '\n') { hash = hash_byte(hash, p[i]); continue; }
    if (c->newlines & 1) c->sum += spread(hash); /* the second line of each pair is the document */
    c->newlines++;
    hash = EMPTY_LINE;
  }
  c->lineHash = hash;
}

static void take_body(connection *c, unsigned char *p, size_t n) {
  if (!c->bulk) return;
  if (!c->gzip) { take_lines(c, p, n); return; }
  c->inflater.next_in = p;
  c->inflater.avail_in = n;
  while (c->inflater.avail_in > 0) {
    c->inflater.next_out = inflated;
    c->inflater.avail_out = sizeof inflated;
    int result = inflate(&c->inflater, Z_NO_FLUSH);
    take_lines(c, inflated, sizeof inflated - c->inflater.avail_out);
    /* A body may be several gzip members one after another. */
    if (result == Z_STREAM_END && c->inflater.avail_in > 0) inflateReset(&c->inflater);
    else if (result != Z_OK && result != Z_BUF_ERROR) { seen.violations += result != Z_STREAM_END; return; }
  }
}

/* Value of a header of the request, to the end of the line, or NULL. */
static const char *header(connection *c, const char *name) {
  size_t length = strlen(name);
  for (const char *line = strstr(c->head, "\r\n"); line; line = strstr(line, "\r\n")) {
    line += 2;
    if (strncasecmp(line, name, length) || line[length] != ':') continue;
    line += length + 1;
    return line + strspn(line, " \t");
  }
  return NULL;
}

static int says(const char *value, const char *word) { return value && !strncasecmp(value, word, strlen(word)); }

/* False when it is no request that this server understands. */
static int begin_request(connection *c) {
  char target[4096];
  if (sscanf(c->head, "%11s %4095s", c->method, target) != 2) return 0;
  const char *path = target;
  if (starts_with(path, "http://")) { /* as a proxy is asked; some forward it so */
    path = strchr(path + strlen("http://"), '/');
    if (!path) return 0;
  }
  strcpy(c->target, path);
  c->closing = says(header(c, "connection"), "close");
  c->gzip = says(header(c, "content-encoding"), "gzip");
  c->bulk = strstr(c->target, "/_bulk") && strcmp(c->method, "GET") && strcmp(c->method, "HEAD");
  if (c->gzip && c->inflaterReady) inflateReset(&c->inflater);
  else if (c->gzip) {
    memset(&c->inflater, 0, sizeof c->inflater);
    c->inflaterReady = inflateInit2(&c->inflater, 15 + 16) == Z_OK;
    if (!c->inflaterReady) return 0;
  }
  if (c->bulk) {
    if (++seen.inFlight > seen.mostInFlight) seen.mostInFlight = seen.inFlight;
    c->began = now();
    if (seen.firstRequest == 0) seen.firstRequest = c->began;
  }
  if (says(header(c, "expect"), "100")) {
    const char proceed[] = "HTTP/1.1 100 Continue\r\n\r\n";
    if (write(c->fd, proceed, sizeof proceed - 1) < 0) return 0;
  }
  if (says(header(c, "transfer-encoding"), "chunked")) {
    c->phase = CHUNK_SIZE;
    c->chunkLineBytes = 0;
    return 1;
  }
  const char *length = header(c, "content-length");
  c->remaining = length ? strtoull(length, NULL, 10) : 0;
  c->phase = BODY;
  return 1;
}

/* False when the connection is gone. */
static int end_request(connection *c) {
  if (!c->bulk) return answer_other(c);
  if (latency == 0 && rate == 0) return answer_bulk(c);
  double arrived = now();
  if (rate > 0 && c->began + c->received / rate > arrived) arrived = c->began + c->received / rate;
  c->phase = DELAYED;
  c->delayed = 1;
  c->due = arrived + latency;
  connection **at = &firstDelayed;
  while (*at && (*at)->due <= c->due) at = &(*at)->next;
  c->next = *at;
  *at = c;
  return 1;
}

/* Takes what it can of a request's head; returns how much, or -1 when it is no request. */
static ssize_t take_head(connection *c, unsigned char *p, size_t n) {
  size_t room = HEAD_BYTES - 1 - c->headBytes, taken = n < room ? n : room;
  memcpy(c->head + c->headBytes, p, taken);
  c->head[c->headBytes + taken] = 0;
  int from = c->headBytes > 3 ? c->headBytes - 3 : 0;
  char *end = strstr(c->head + from, "\r\n\r\n");
  if (!end) {
    c->headBytes += taken;
    return c->headBytes < HEAD_BYTES - 1 ? (ssize_t)taken : -1;
  }
  taken = end + 4 - c->head - c->headBytes;
  c->headBytes += taken;
  end[2] = 0;
  return begin_request(c) ? (ssize_t)taken : -1;
}

/* Takes what belongs to the line with the size of a chunk, or to the trailer. */
static size_t take_chunk_line(connection *c, unsigned char *p, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (p[i] != '\n') {
      if (c->chunkLineBytes < 31 && p[i] != '\r') c->chunkLine[c->chunkLineBytes++] = p[i];
      continue;
    }
    c->chunkLine[c->chunkLineBytes] = 0;
    return i + 1;
  }
  return n;
}

static void on_input(connection *c) {
  ssize_t got = recv(c->fd, input, sizeof input, 0);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) { drop(c); return; }
  unsigned char *p = input, *end = input + got;
  while (p < end) {
    size_t n = end - p;
    ssize_t taken = 0;
    int complete = 0;
    switch (c->phase) {
      case HEAD:
        taken = take_head(c, p, n);
        if (taken < 0) { drop(c); return; }
        complete = c->phase == BODY && c->remaining == 0;
        break;
      case BODY:
      case CHUNK_DATA:
        taken = n < c->remaining ? n : c->remaining;
        take_body(c, p, taken);
        c->remaining -= taken;
        if (c->remaining == 0) {
          complete = c->phase == BODY;
          if (c->phase == CHUNK_DATA) c->phase = CHUNK_END;
        }
        break;
      case CHUNK_SIZE:
        taken = take_chunk_line(c, p, n);
        if (p[taken - 1] == '\n') {
          c->remaining = strtoull(c->chunkLine, NULL, 16);
          c->phase = c->remaining ? CHUNK_DATA : TRAILER;
          c->chunkLineBytes = 0;
        }
        break;
      case CHUNK_END:
        taken = take_chunk_line(c, p, n);
        if (p[taken - 1] == '\n') { c->phase = CHUNK_SIZE; c->chunkLineBytes = 0; }
        break;
      case TRAILER:
        taken = take_chunk_line(c, p, n);
        if (p[taken - 1] == '\n') { complete = c->chunkLineBytes == 0; c->chunkLineBytes = 0; }
        break;
      case DELAYED:
      case ANSWERING: /* a second request before the answer: no client of a bulk loader does that */
        seen.violations++;
        drop(c);
        return;
    }
    p += taken;
    c->received += taken;
    if (complete && !end_request(c)) return;
  }
}

/* ---- the server ----------------------------------------------------------------------------------------------------- */

static void accept_all(int listener) {
  for (;;) {
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), on = 1;
    if (fd < 0) return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    connection *c = calloc(1, sizeof *c);
    c->fd = fd;
    await_request(c);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
  }
}

/* Answers what is due; returns the milliseconds until the next, or -1. */
static int answer_delayed(void) {
  while (firstDelayed) {
    connection *c = firstDelayed;
    double left = c->due - now();
    if (left > 0) return (int)(left * 1000) + 1;
    firstDelayed = c->next;
    c->delayed = 0;
    if (c->fd < 0) release(c);
    else answer_bulk(c);
  }
  return -1;
}

static int sum_file(const char *path) {
  int fd = open(path, O_RDONLY);
  if (fd < 0) { perror(path); return 1; }
  uint64_t documents = 0, bytes = 0, sum = 0, hash = EMPTY_LINE;
  for (ssize_t n; (n = read(fd, input, sizeof input)) > 0;) {
    bytes += n;
    for (ssize_t i = 0; i < n; i++) {
      if (input[i] != '\n') { hash = hash_byte(hash, input[i]); continue; }
      sum += spread(hash);
      documents++;
      hash = EMPTY_LINE;
    }
  }
  printf("{\"documents\":%lu,\"bytes\":%lu,\"sum\":\"%016lx\"}\n", documents, bytes, sum);
  return 0;
}

int main(int count, char **words) {
  int port = 0, option;
  while ((option = getopt(count, words, "p:l:r:cs:")) > 0) {
    if (option == 'p') port = atoi(optarg);
    else if (option == 'l') latency = atof(optarg) / 1000;
    else if (option == 'r') rate = atof(optarg);
    else if (option == 'c') verifying = 1;
    else if (option == 's') return sum_file(optarg);
    else return 2;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* it does not outlive the one who measures */
  signal(SIGPIPE, SIG_IGN);

  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  if (bind(listener, (void *)&address, length) || listen(listener, 1024)) { perror("null-sink"); return 1; }
  getsockname(listener, (void *)&address, &length);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);

  poller = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL}, events[128];
  epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
  for (int wait = -1;; wait = answer_delayed()) {
    int ready = epoll_wait(poller, events, 128, wait);
    for (int i = 0; i < ready; i++) {
      connection *c = events[i].data.ptr;
      if (!c) accept_all(listener);
      else if (c->wantsOutput) write_answer(c);
      else on_input(c);
    }
  }
}
