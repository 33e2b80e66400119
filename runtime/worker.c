/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Child processes: start, listen, stop, understand the end. */
#include "runtime/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"

enum { SAID_MAX = 16 << 10, WAIT_MAX = 1 << 30 /* ms, of a poll */ };

/* passes_on: what is not for this library, and whom its user trusts. */
static int passes_on(const char *variable) {
    return strncmp(variable, "CDNAGEN_", strlen("CDNAGEN_")) != 0 ||
           !strncmp(variable, "CDNAGEN_CACHE_TRUST=", strlen("CDNAGEN_CACHE_TRUST="));
}

/* make_environment: pointers into the process's own, and `variable`.   owner: mem_free */
static const char **make_environment(const char *variable) {
    size_t count = 0, kept = 0;
    while (environ[count]) count++;
    const char **const to = mem_alloc((count + 2) * sizeof *to);
    for (size_t i = 0; to && i < count; i++)
        if (passes_on(environ[i])) to[kept++] = environ[i];
    if (to) to[kept] = variable;
    return to;
}

static int spawn(const char *const *argv, const char *const *environment, int output, int stream, pid_t *pid) {
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!error)
        error = output >= 0 ? posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
                            : posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, stream, STDERR_FILENO);
    /* posix_spawn takes them without const and leaves them alone. */
    if (!error)
        error = posix_spawn(pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv,
                            (char *const *)(uintptr_t)environment);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* limit_data: data, not address space: a library that is mapped takes no memory of its own. A lower hard limit of this
 * process is the worker's already, and only a privileged one may raise it. */
static int limit_data(pid_t pid, long megabytes) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_DATA, &limit)) return errno;
    const rlim_t wanted = (rlim_t)megabytes << 20;
    if (wanted < limit.rlim_max) limit.rlim_max = wanted;
    limit.rlim_cur = limit.rlim_max;
    return prlimit(pid, RLIMIT_DATA, &limit, NULL) ? errno : 0;
}

/* collect: its status, once it has ended. */
static void collect(worker *w) {
    close(w->stream);
    w->stream = -1;
    while (!w->lost && waitpid(w->pid, &w->status, 0) < 0) w->lost = errno != EINTR;
}

cdnagen_status worker_start(const char *const *argv, const char *variable, int output, double seconds, long megabytes,
                            worker *out) {
    *out = (worker){.stream = -1};
    const char **const environment = make_environment(variable);
    if (!environment) return fail_no_memory();
    int ends[2] = {-1, -1};
    int error = pipe2(ends, O_CLOEXEC) ? errno : spawn(argv, environment, output, ends[1], &out->pid);
    mem_free(environment);
    if (ends[1] >= 0) close(ends[1]);
    if (error) {
        if (ends[0] >= 0) close(ends[0]);
        return fail(CDNAGEN_IO, "cannot start a worker, %s: %s", argv[0], strerror(error));
    }
    out->stream = ends[0];
    out->deadline = seconds > 0 ? clock_ms() + seconds * 1e3 : 0;
    error = megabytes > 0 ? limit_data(out->pid, megabytes) : 0;
    if (!error) return CDNAGEN_OK;
    kill(out->pid, SIGKILL);
    collect(out);
    return fail(CDNAGEN_IO, "a worker's memory cannot be limited to %ld MB: %s", megabytes, strerror(error));
}

/* hear: the last SAID_MAX bytes of what it says are kept, for its error is the last line. */
static void hear(text *said, const char *piece, size_t size) {
    const size_t all = said->length + size, drop = all > SAID_MAX ? all - SAID_MAX : 0;
    if (drop) memmove(said->data, said->data + drop, said->length - drop);
    said->length -= drop;
    text_add_bytes(said, piece, size);
}

/* listen_to: what the worker has said; at the end of it, its end. */
static void listen_to(worker *w) {
    char piece[4096];
    const ssize_t n = read(w->stream, piece, sizeof piece);
    if (n < 0 && errno == EINTR) return;
    if (n > 0) {
        hear(&w->said, piece, (size_t)n);
        return;
    }
    collect(w);
}

static void stop_if_late(worker *w, double now) {
    if (w->stream < 0 || w->deadline <= 0 || now < w->deadline) return;
    w->late = 1;
    w->deadline = 0;
    kill(w->pid, SIGKILL);
}

void worker_wait(worker *workers, size_t count) {
    struct pollfd *const streams = mem_alloc((count + 1) * sizeof *streams);
    double first = 0;
    for (size_t i = 0; i < count; i++) {
        const worker *const w = &workers[i];
        if (streams) streams[i] = (struct pollfd){.fd = w->stream, .events = POLLIN};
        if (w->stream >= 0 && w->deadline > 0 && (first <= 0 || w->deadline < first)) first = w->deadline;
    }
    const double now = clock_ms();
    /* Without memory for the list: look at all of them after a moment. */
    const double left = first > now ? first - now : 0;
    const int ms = !streams ? 10 : first <= 0 ? -1 : left < (double)WAIT_MAX ? (int)left + (left > 0) : WAIT_MAX;
    const int ready = poll(streams, streams ? count : 0, ms);
    for (size_t i = 0; i < count; i++) {
        struct pollfd one = {.fd = workers[i].stream, .events = POLLIN};
        if (workers[i].stream < 0) continue;
        if (streams ? ready > 0 && streams[i].revents : poll(&one, 1, 0) > 0) listen_to(&workers[i]);
        stop_if_late(&workers[i], clock_ms());
    }
    mem_free(streams);
}

/* last_line: the last one that is not empty, without its end. */
static const char *last_line(char *said) {
    size_t n = said ? strlen(said) : 0;
    while (n && strchr("\r\n", said[n - 1])) said[--n] = 0;
    const char *const line = n ? strrchr(said, '\n') : NULL;
    return line ? line + 1 : n ? said : "";
}

/* named_status: the status in brackets that ends a line of the command's, and where the sentence before it ends. */
static cdnagen_status named_status(const char *line, size_t *sentence) {
    const char *const open = strrchr(line, '(');
    for (int s = CDNAGEN_OK + 1; open && s <= CDNAGEN_UNAVAILABLE; s++) {
        const char *const name = cdnagen_status_name((cdnagen_status)s);
        const size_t n = strlen(name);
        if (strncmp(open + 1, name, n) != 0 || strcmp(open + 1 + n, ")") != 0) continue;
        *sentence = (size_t)(open - line) - (open > line && open[-1] == ' ');
        return (cdnagen_status)s;
    }
    return CDNAGEN_OK;
}

/* ran_out: an end as memory that ran out makes it: a signal of the kernel or of abort(), or what the loader, LLVM or
 * libstdc++ say of it. */
static int ran_out(int status, const char *line) {
    static const char *const words[] = {"bad_alloc",       "llocation failed",      "out of memory",
                                        "allocate memory", "failed to map segment", "cannot map zero-fill pages"};
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGABRT || WTERMSIG(status) == SIGKILL)) return 1;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(line, words[i])) return 1;
    return 0;
}

cdnagen_status worker_result(const worker *w, double seconds, long megabytes) {
    static const char prefix[] = "cdnagen: ";
    const char *line = last_line(w->said.data);
    if (!strncmp(line, prefix, strlen(prefix))) line += strlen(prefix);
    if (w->late) return fail(CDNAGEN_COMPILE, "it was stopped after %g seconds, its limit", seconds);
    if (w->lost)
        return fail(CDNAGEN_IO, "how its worker ended is not known, because this process collects its children itself "
                                "(SIGCHLD ignored?): leave them to waitpid");
    if (WIFEXITED(w->status) && !WEXITSTATUS(w->status)) return CDNAGEN_OK;
    size_t sentence = 0;
    const cdnagen_status own = WIFEXITED(w->status) ? named_status(line, &sentence) : CDNAGEN_OK;
    if (own) return fail(own, "%.*s", (int)sentence, line);
    char how[64];
    if (WIFSIGNALED(w->status))
        snprintf(how, sizeof how, "signal %d (%s)", WTERMSIG(w->status), sigabbrev_np(WTERMSIG(w->status)));
    else
        snprintf(how, sizeof how, "exit code %d", WEXITSTATUS(w->status));
    if (megabytes > 0)
        return fail(ran_out(w->status, line) ? CDNAGEN_NO_MEMORY : CDNAGEN_COMPILE,
                    "its worker ended with %s under a limit of %ld MB: %.300s", how, megabytes, line);
    return fail(CDNAGEN_COMPILE, "its worker ended with %s: %.300s", how, line);
}

void worker_free(worker *w) {
    text_free(&w->said);
    if (w->stream >= 0) close(w->stream);
    *w = (worker){.stream = -1};
}
