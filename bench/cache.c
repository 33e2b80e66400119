/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Cost of the cache's calls: a hit in memory, a hit on disk, a miss, a publish, a lock taken alone.
 * usage: bench_cache [DIR], the directory to make a cache in (default /tmp: what it is mounted on decides
 * "publish"). */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache/cache.h"
#include "core/clock.h"

enum { OBJECT_BYTES = 16 * 1024 };

/* As long as a real key text. */
static const char *key_text(int i) {
    static char out[400];
    snprintf(
        out, sizeof out,
        "op=mqa_logits\ntag=mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma\nfacts=heads=64 dim=%d clean=1\ntarget=gfx950\n"
        "cov=5\nkernarg=1\nbuild=af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262\nllvm=22.1.8\n"
        "passes=default<O3>,always-inline,verify\n",
        i);
    return out;
}

static char hot[400]; /* the key text of the rows that hit */

static cache *open_at(const char *dir) {
    cache *c = NULL;
    if (cache_open(&(cache_options){.roots = dir}, &c) != CDNAGEN_OK) exit(1);
    return c;
}

/* report: the best of several batches, so that other work on the machine does not count. */
static void report(const char *what, int batches, int calls, void (*run)(void *, int), void *argument) {
    double best = 1e9;
    for (int b = 0; b < batches; b++) {
        const double start = clock_ms() * 1e-3;
        for (int i = 0; i < calls; i++) run(argument, b * calls + i);
        const double each = (clock_ms() * 1e-3 - start) / calls;
        if (each < best) best = each;
    }
    printf("%-34s %10.3f us\n", what, best * 1e6);
}

static void hit(void *c, int i) {
    (void)i;
    cdnagen_cache_tier tier;
    cache_blob *b = cache_get(c, hot, &tier);
    if (!b) exit(1);
    cache_blob_release(b);
}

static void disk_hit(void *dir, int i) {
    cache *c = open_at(dir);
    hit(c, i);
    cache_close(c);
}

static void miss(void *c, int i) {
    cdnagen_cache_tier tier;
    if (cache_get(c, key_text(-1 - i), &tier)) exit(1);
}

static void publish(void *c, int i) {
    static const char object[OBJECT_BYTES];
    cache_blob_release(cache_put(c, key_text(i), object, sizeof object));
}

static void lock_alone(void *c, int i) { cache_unlock(cache_lock(c, key_text(i))); }

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at) {
    (void)st, (void)type, (void)at;
    return remove(path);
}

int main(int argc, char **argv) {
    char dir[4096];
    snprintf(dir, sizeof dir, "%s/cdnagen-bench-XXXXXX", argc > 1 ? argv[1] : "/tmp");
    if (!mkdtemp(dir)) {
        perror(dir);
        return 1;
    }
    cache *c = open_at(dir);
    snprintf(hot, sizeof hot, "%s", key_text(64));
    publish(c, 64);
    report("get: memory hit", 20, 1000, hit, c);
    report("open, get: disk hit, 16 KiB, close", 20, 100, disk_hit, dir);
    report("get: miss on disk", 20, 100, miss, c);
    report("put: publish 16 KiB, with fsync", 5, 20, publish, c);
    report("lock and unlock, nobody else there", 20, 100, lock_alone, c);
    cache_close(c);
    return nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
