/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "tests/cache/life.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DATA_BYTES = 3000, OTHERS = 2, LIMIT = 9 * 1000, SLOW_MS = 5000 };

static const char before[] = "a kernel of before", wanted[] = "the kernel that is wanted",
                  afterwards[] = "a kernel of afterwards";

static long live_before;
static int descriptors_before;

static int descriptors(void) {
    DIR *const list = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(list)) count++;
    closedir(list);
    return count;
}

/* data_of: bytes that their key tells. */
static void data_of(const char *key_text, char data[DATA_BYTES]) {
    for (size_t i = 0; i < DATA_BYTES; i++) data[i] = key_text[i % strlen(key_text)];
}

static int right(const cache_blob *b, const char *key_text) {
    char data[DATA_BYTES];
    data_of(key_text, data);
    return cache_blob_size(b) == DATA_BYTES && !memcmp(cache_blob_data(b), data, DATA_BYTES);
}

static cache_blob *put(cache *c, const char *key_text) {
    char data[DATA_BYTES];
    data_of(key_text, data);
    return cache_put(c, key_text, data, sizeof data);
}

const char *life_prepare(const char *dir, cache_blob **holder) {
    static char root[512];
    live_before = mem_live();
    descriptors_before = descriptors();
    snprintf(root, sizeof root, "%s/root", dir);
    cache *c = scratch_open(root, NULL);
    *holder = put(c, before);
    cache_close(c);
    return root;
}

/* ask: as a caller does; 1 if it got its kernel. */
static int ask(cache *c, const char *key_text) {
    cdnagen_cache_tier tier;
    cache_blob *b = cache_get(c, key_text, &tier);
    if (!b) {
        cache_lock_handle *const lock = cache_lock(c, key_text);
        b = cache_get(c, key_text, &tier);
        if (!b) b = put(c, key_text);
        cache_unlock(lock);
    }
    const int good = b && right(b, key_text);
    cache_blob_release(b);
    return good;
}

int life_live(const char *root, int lock_wait_ms) {
    for (int round = 1; round <= 2; round++) { /* compiled, then from disk */
        cache *c = scratch_open(root, NULL);
        cache_set_lock_wait(c, lock_wait_ms);
        const int good = ask(c, wanted) && ask(c, wanted) && ask(c, before);
        cache_close(c);
        if (!good) return round;
    }
    for (int i = 0; i < OTHERS; i++) { /* the last finds no room */
        const size_t limit = i == OTHERS - 1 ? LIMIT : 0;
        char key_text[32];
        snprintf(key_text, sizeof key_text, "another kernel, %d", i);
        cache *c = scratch_open_with((cache_options){.roots = root, .disk_bytes = limit}, NULL);
        cache_set_lock_wait(c, lock_wait_ms);
        const int good = (!limit || ask(c, before)) && ask(c, key_text);
        cache_close(c);
        if (!good) return 3 + i;
    }
    return 0;
}

/* found: what a new cache has of the key. */
static int found(const char *root, const char *key_text, tally *t) {
    cdnagen_cache_tier tier;
    log_book book = {0};
    cache *c = scratch_open(root, &book);
    cache_blob *b = cache_get(c, key_text, &tier);
    const int is = b != NULL;
    t->wrong += is && !right(b, key_text);
    t->unsound += book.infos + book.warnings;
    cache_blob_release(b);
    cache_close(c);
    return is;
}

void life_judge(const char *root, tally *t) {
    cache_census census = {0};
    t->losses += !found(root, before, t);
    found(root, wanted, t);
    if (cache_walk(root, &(cache_visitor){0}, &census)) t->unsound++;
    t->unsound += (int)(census.damaged + census.foreign);
    const double start = now_ms();
    cache *c = scratch_open(root, NULL);
    t->losses += !ask(c, afterwards);
    cache_close(c);
    t->losses += !found(root, afterwards, t);
    t->slow += (int)(now_ms() - start) > SLOW_MS;
}

void life_end(const char *root, cache_blob *holder, tally *t) {
    cache_blob_release(holder);
    t->leaks += mem_live() != live_before || descriptors() != descriptors_before;
    scratch_empty(root);
    t->trials++;
}

void life_report(const char *what, const tally *t) {
    print_message("%s: %d trials, %d losses, %d wrong loads, %d unsound entries, %d leaks, %d that took too long\n",
                  what, t->trials, t->losses, t->wrong, t->unsound, t->leaks, t->slow);
    assert_true(t->trials > 0);
    assert_int_equal(t->losses + t->wrong + t->unsound + t->leaks + t->slow, 0);
}
