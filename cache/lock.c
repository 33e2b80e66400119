/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One producer per key: a list of the keys held in this process, then a file lock among processes.
 *
 * The file lock is flock() on <key>.lock, which the kernel releases when its holder ends, however it ends. Lock files
 * do not pile up: the holder unlinks its file before it lets go. That is safe because a lock counts only while its file
 * is still the one at that path: whoever gets the lock of a file that was unlinked meanwhile sees so, and starts again
 * with the file that is there now. Only a holder unlinks, so the file of a lock that counts stays where it is. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "cache/tiers.h"

enum { POLL_NS_FIRST = 500 * 1000, POLL_NS_MAX = 10 * 1000 * 1000, HOLDER_BYTES = 96 };

struct cache_lock_handle {
    cache *c;
    char key[CACHE_KEY_CHARS + 1];
    int folder, file; /* -1: held in this process only */
    pid_t pid;
    cache_lock_handle *next;
};

static int before(const struct timespec *deadline) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec < deadline->tv_sec || (now.tv_sec == deadline->tv_sec && now.tv_nsec < deadline->tv_nsec);
}

static void log_no_lock(const cache *c, const char *key, const char *holder) {
    cache_log(c, CDNAGEN_LOG_WARNING, "waited %d ms for %s, which holds key %s; going on without the lock",
              c->lock_wait_ms, holder, key);
}

/* held: whether this process holds the key. What a fork copied from its parent is not ours. */
static int held(const cache *c, const char *key) {
    const pid_t pid = getpid();
    for (const cache_lock_handle *h = c->held; h; h = h->next)
        if (h->pid == pid && !strcmp(h->key, key)) return 1;
    return 0;
}

/* hold: enter the key into the list once no other thread has it; 0 if the deadline came first. */
static int hold(cache_lock_handle *h, const struct timespec *deadline) {
    cache *c = h->c;
    int late = 0;
    pthread_mutex_lock(&c->mutex);
    while (held(c, h->key) && !late) late = pthread_cond_timedwait(&c->released, &c->mutex, deadline) == ETIMEDOUT;
    const int mine = !held(c, h->key);
    if (mine) {
        h->next = c->held;
        c->held = h;
    }
    pthread_mutex_unlock(&c->mutex);
    return mine;
}

static void let_go(cache_lock_handle *h) {
    cache *c = h->c;
    pthread_mutex_lock(&c->mutex);
    cache_lock_handle **link = &c->held;
    while (*link != h) link = &(*link)->next;
    *link = h->next;
    pthread_cond_broadcast(&c->released);
    pthread_mutex_unlock(&c->mutex);
}

/* holder: what the holder of a lock file wrote into it, for the log. */
static void read_holder(int fd, char out[HOLDER_BYTES]) {
    const ssize_t n = pread(fd, out, HOLDER_BYTES - 1, 0);
    out[n > 0 ? n : 0] = 0;
    for (char *p = out; *p; p++)
        if (*p < ' ' || *p > '~') *p = 0;
    if (!*out) snprintf(out, HOLDER_BYTES, "an unnamed process");
}

/* All of HOLDER_BYTES at once: it covers a longer line that a killed holder left, without a truncation, after which
 * ext4 would write the file out when it is closed. */
static void write_holder(int fd) {
    char host[HOLDER_BYTES / 2] = "", line[HOLDER_BYTES] = "";
    gethostname(host, sizeof host - 1);
    snprintf(line, sizeof line, "pid %ld on host %s\n", (long)getpid(), host);
    /* Only a log line is poorer where this fails, on a full disk. */
    if (pwrite(fd, line, sizeof line, 0) < 0) return;
}

/* file_lock: the descriptor that holds the lock of the key, or -1. Polls, since flock has no time limit and a library
 * has no signals to interrupt it with; each poll opens the path anew and so never waits on an unlinked file. */
static int file_lock(cache *c, int folder, const char *key, const struct timespec *deadline) {
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%s.lock", key);
    for (long pause_ns = POLL_NS_FIRST;;) {
        const int fd = openat(folder, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, FILE_MODE);
        if (fd < 0) {
            cache_warn(c, "no lock in directory %s: %s; going on without", c->writer, strerror(errno));
            return -1;
        }
        const int error = flock(fd, LOCK_EX | LOCK_NB) ? errno : 0;
        if (!error && folder_same_file(folder, name, fd)) {
            write_holder(fd);
            return fd;
        }
        if (error && error != EWOULDBLOCK && error != EINTR) {
            cache_warn(c, "no lock in directory %s: %s; going on without", c->writer, strerror(error));
            close(fd);
            return -1;
        }
        if (!before(deadline)) {
            char holder[HOLDER_BYTES];
            read_holder(fd, holder);
            log_no_lock(c, key, holder);
            close(fd);
            return -1;
        }
        close(fd);
        if (!error) continue;
        nanosleep(&(struct timespec){.tv_nsec = pause_ns}, NULL);
        pause_ns = 2 * pause_ns < POLL_NS_MAX ? 2 * pause_ns : POLL_NS_MAX;
    }
}

cache_lock_handle *cache_lock(cache *c, const char *key_text) {
    cache_lock_handle *h = c->off ? NULL : mem_alloc(sizeof *h);
    if (!h) return NULL;
    h->c = c;
    h->folder = h->file = -1;
    h->pid = getpid();
    cache_key(key_text, h->key);
    struct timespec deadline;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    const long long ns = deadline.tv_nsec + c->lock_wait_ms * 1000000LL;
    deadline.tv_sec += (time_t)(ns / 1000000000);
    deadline.tv_nsec = (long)(ns % 1000000000);
    if (!hold(h, &deadline)) {
        log_no_lock(c, h->key, "another thread of this process");
        mem_free(h);
        return NULL;
    }
    roots_settle(c);
    if (c->writer) h->folder = folder_open(c, c->writer, h->key, 1);
    if (h->folder >= 0) h->file = file_lock(c, h->folder, h->key, &deadline);
    return h;
}

void cache_unlock(cache_lock_handle *h) {
    if (!h) return;
    if (h->file >= 0) {
        char name[NAME_BYTES];
        snprintf(name, sizeof name, "%s.lock", h->key);
        if (folder_same_file(h->folder, name, h->file)) unlinkat(h->folder, name, 0);
        /* Not only closed: a child that was forked meanwhile shares the open file and would keep the lock. */
        flock(h->file, LOCK_UN);
        close(h->file);
    }
    if (h->folder >= 0) close(h->folder);
    let_go(h);
    mem_free(h);
}
