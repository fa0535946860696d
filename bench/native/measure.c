/*
 * Runs a program and tells what it cost.
 *
 *   measure SECONDS COMMAND [ARGUMENT…]     kills it after SECONDS
 *
 * Writes one JSON object to descriptor 3: exit code, wall time (fork to end), CPU seconds of user and system over the whole
 * process tree, and the resident set, at its peak, of the largest process of the tree. The tree is what was waited for:
 * orphans come to this process, which ends and collects them after the program itself has ended.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t child;
static volatile sig_atomic_t stopped;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static double seconds(struct timeval t) { return t.tv_sec + t.tv_usec / 1e6; }

static void stop(int signal) {
  stopped = signal;
  if (child > 0) kill(-child, SIGKILL);
}

int main(int count, char **words) {
  if (count < 3) return 2;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  int signals[] = {SIGALRM, SIGINT, SIGTERM, SIGHUP};
  for (int i = 0; i < 4; i++) signal(signals[i], stop);

  double start = now();
  child = fork();
  if (child < 0) { perror("fork"); return 1; }
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    close(3);
    execvp(words[2], words + 2);
    perror(words[2]);
    _exit(127);
  }
  setpgid(child, child);
  alarm(atoi(words[1]));

  int status = 0;
  struct rusage own;
  while (wait4(child, &status, 0, &own) < 0 && errno == EINTR) {}
  double wall = now() - start;
  alarm(0);

  /* What it left behind costs as well, and must not disturb the next one. */
  kill(-child, SIGKILL);
  int leftBehind = 0;
  while (wait(NULL) > 0) leftBehind++;
  struct rusage all;
  getrusage(RUSAGE_CHILDREN, &all);

  FILE *out = fdopen(3, "w");
  if (!out) return 1;
  fprintf(out,
          "{\"exitCode\":%d,\"stoppedBy\":%d,\"start\":%.6f,\"wallSeconds\":%.6f,\"userSeconds\":%.6f,\"systemSeconds\":%.6f,"
          "\"peakBytes\":%ld,\"contextSwitches\":%ld,\"leftBehind\":%d}\n",
          WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), (int)stopped, start, wall, seconds(all.ru_utime),
          seconds(all.ru_stime), all.ru_maxrss * 1024, all.ru_nvcsw + all.ru_nivcsw, leftBehind);
  return fclose(out) ? 1 : 0;
}
