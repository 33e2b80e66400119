/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Room on disk: what was not used for longest goes, but nothing that a living process of this host has loaded.
 *
 * Loaded is what has a pin: a byte of <root>/v1, the directory itself, read-locked by the open file description of the
 * process's cache, so that the kernel unpins what a process had when it ends, however it ends, and nothing is written
 * for it. Each key owns a range of bytes, so that blobs of one key are pinned one by one; the last byte of it says that
 * the entry is being evicted. Who loads sets its pin and then looks at that byte, who evicts sets that byte and then
 * looks for pins: of two at the same moment at least one sees the other and gives way, and an entry that is loaded
 * never leaves its place. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/tiers.h"

/* Bits of a key's range, and digits of the key that give its start: together below 2^63. */
enum { RANGE_BITS = 18, KEY_DIGITS = 11, PIN_BYTES = (1 << RANGE_BITS) - 1 };

struct pins {
    atomic_size_t owners;
    atomic_uint next;
    int format; /* <root>/v1 */
    pid_t pid;  /* a forked child shares the description: it neither unlocks what is its parent's, nor adds to it */
};

/* ---- pins ---- */

static off_t range_of(const char *key) {
    char digits[KEY_DIGITS + 1] = "";
    memcpy(digits, key, KEY_DIGITS);
    return (off_t)(strtoull(digits, NULL, 16) << RANGE_BITS);
}

static int lock_bytes(int format, int command, short type, off_t at, off_t bytes_wanted, short *found) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = bytes_wanted};
    const int result = fcntl(format, command, &lock);
    if (found) *found = lock.l_type;
    return result;
}

static int open_format(const char *dir) {
    const int root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0) return -1;
    const int format = openat(root, CACHE_FORMAT_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    close(root);
    return format;
}

void pins_release(pins *p) {
    if (!p || atomic_fetch_sub_explicit(&p->owners, 1, memory_order_acq_rel) != 1) return;
    close(p->format);
    mem_free(p);
}

/* current: the cache's own pins; new ones after a fork, and where the directory was removed meanwhile. */
static pins *current(cache *c) {
    struct stat st;
    pins *p = c->pins;
    if (p && p->pid == getpid() && !fstat(p->format, &st) && st.st_nlink) return p;
    const int format = open_format(c->writer);
    p = format < 0 ? NULL : mem_alloc(sizeof *p);
    if (!p) {
        if (format >= 0) close(format);
        return NULL;
    }
    atomic_init(&p->owners, 1);
    p->format = format;
    p->pid = getpid();
    pins_release(c->pins);
    return c->pins = p;
}

/* is_locked: whether another holds a byte; also where locks cannot tell. */
static int is_locked(int format, off_t at, off_t bytes_wanted) {
    short found = F_UNLCK;
    return lock_bytes(format, F_OFD_GETLK, F_WRLCK, at, bytes_wanted, &found) || found != F_UNLCK;
}

int pin_take(cache *c, const char *key, pin *out) {
    *out = (pin){0};
    pthread_mutex_lock(&c->mutex);
    pins *const p = current(c);
    if (p) atomic_fetch_add_explicit(&p->owners, 1, memory_order_relaxed);
    pthread_mutex_unlock(&c->mutex);
    if (!p) return 1;
    const off_t at = range_of(key) + (off_t)(atomic_fetch_add(&p->next, 1) % PIN_BYTES);
    if (lock_bytes(p->format, F_OFD_SETLK, F_RDLCK, at, 1, NULL)) {
        pins_release(p);
        return 1;
    }
    *out = (pin){p, at};
    if (!is_locked(p->format, range_of(key) + PIN_BYTES, 1)) return 1;
    pin_drop(out);
    return 0;
}

void pin_drop(pin *p) {
    if (!p->of) return;
    if (p->of->pid == getpid()) lock_bytes(p->of->format, F_OFD_SETLK, F_UNLCK, p->at, 1, NULL);
    pins_release(p->of);
    *p = (pin){0};
}

static int pinned(int format, const char *key) { return is_locked(format, range_of(key), PIN_BYTES); }

/* ---- eviction ---- */

typedef struct resident {
    char key[CACHE_KEY_CHARS + 1];
    struct timespec used;
    size_t size;
} resident;

typedef struct survey {
    const char *hex;
    resident *all;
    size_t count, capacity, total;
    int failed;
} survey;

static void note_entry(void *user, int folder, const char *name) {
    survey *s = user;
    struct stat st;
    if (folder_file_kind(s->hex, name) != FILE_ENTRY || fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW)) return;
    if (s->count == s->capacity) {
        const size_t capacity = s->capacity ? 2 * s->capacity : 256;
        resident *const all = mem_realloc(s->all, capacity * sizeof *all);
        if (!all) {
            s->failed = 1;
            return;
        }
        s->all = all;
        s->capacity = capacity;
    }
    resident *const r = &s->all[s->count++];
    *r = (resident){.used = st.st_mtim, .size = (size_t)st.st_size};
    memcpy(r->key, name, CACHE_KEY_CHARS);
    s->total += r->size;
}

static void note_folder(void *user, int format, const char *name) {
    survey *s = user;
    if (strlen(name) != 2 || strspn(name, "0123456789abcdef") != 2) return;
    const int folder = openat(format, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    s->hex = name;
    const int sound = folder < 0 ? errno == ENOENT : folder_each(folder, note_entry, s);
    if (!sound) s->failed = 1;
    if (folder >= 0) close(folder);
}

static int by_use(const void *a, const void *b) {
    const resident *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec) return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    return x->used.tv_nsec < y->used.tv_nsec ? -1 : x->used.tv_nsec > y->used.tv_nsec;
}

/* evict: 1 if the entry is gone. */
static int evict(int format, const char *key) {
    const off_t mark = range_of(key) + PIN_BYTES;
    const char hex[3] = {key[0], key[1], 0};
    if (lock_bytes(format, F_OFD_SETLK, F_RDLCK, mark, 1, NULL)) return 0;
    int gone = 0;
    if (!pinned(format, key)) {
        const int folder = openat(format, hex, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        gone = folder < 0 ? errno == ENOENT : !unlinkat(folder, key, 0) || errno == ENOENT;
        if (folder >= 0) close(folder);
    }
    lock_bytes(format, F_OFD_SETLK, F_UNLCK, mark, 1, NULL);
    return gone;
}

/* can_make_room: without what living processes hold. Where they hold too much nothing is evicted for nothing. */
static int can_make_room(int format, const survey *s, size_t wanted, size_t high) {
    size_t held = 0;
    for (size_t i = 0; i < s->count; i++)
        if (pinned(format, s->all[i].key)) held += s->all[i].size;
    return !held || (wanted <= high && held <= high - wanted);
}

/* A look at the whole directory costs some milliseconds for a thousand entries: this process writes a 64th of the limit
 * between two, and stays a 16th below it, which is for what other processes write at the same moment. */
static int survey_and_evict(cache *c, size_t wanted) {
    const int format = open_format(c->writer);
    if (format < 0) return 1; /* nothing is there yet, or the write will tell why not */
    survey s = {0};
    if (!folder_each(format, note_folder, &s)) s.failed = 1;
    const size_t limit = c->disk_bytes, high = limit - limit / 16, low = limit - limit / 8;
    const int is_over = s.total > high || wanted > high - s.total;
    if (!s.failed && is_over && can_make_room(format, &s, wanted, high)) {
        const size_t goal = wanted < low ? low - wanted : 0;
        size_t count = 0;
        qsort(s.all, s.count, sizeof *s.all, by_use);
        for (size_t i = 0; i < s.count && s.total > goal; i++)
            if (evict(format, s.all[i].key)) {
                s.total -= s.all[i].size;
                count++;
            }
        if (count)
            cache_log(c, CDNAGEN_LOG_INFO, "%zu entries of %s, not used for longest, made room within %zu bytes", count,
                      c->writer, limit);
    }
    mem_free(s.all);
    close(format);
    return !s.failed && (!s.total || (s.total <= high && wanted <= high - s.total));
}

int evict_for(cache *c, size_t wanted) {
    if (!c->disk_bytes) return 1;
    if (wanted > c->disk_bytes) return 0;
    pthread_mutex_lock(&c->mutex);
    const int known = c->disk_room >= wanted;
    if (known) c->disk_room -= wanted;
    pthread_mutex_unlock(&c->mutex);
    if (known) return 1;
    const int room = survey_and_evict(c, wanted);
    pthread_mutex_lock(&c->mutex);
    c->disk_room = room ? c->disk_bytes / 64 : 0;
    pthread_mutex_unlock(&c->mutex);
    return room;
}
