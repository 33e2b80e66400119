/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Time from tag to kernel: generated, from the memory tier, from the disk tier; and two threads against one.
 * usage: bench_generate [tuned]; tuned: malloc as the command sets it, else as a host has it. */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cdnagen.h"
#include "core/clock.h"

static const char tag[] = "mqa_logits:mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma", shape[] = "heads=64 dim=128 clean=1";

static void must(cdnagen_status status) {
    if (status == CDNAGEN_OK) return;
    fprintf(stderr, "%s: %s\n", cdnagen_status_name(status), cdnagen_error());
    exit(1);
}

static cdnagen *context(const char *cache_dir, int no_cache) {
    const cdnagen_options options = {
        .size = sizeof options, .target = "gfx950", .device = "none", .cache_dir = cache_dir, .no_cache = no_cache};
    cdnagen *ctx;
    must(cdnagen_create_context(&options, &ctx));
    return ctx;
}

static double generate_us(cdnagen *ctx) {
    cdnagen_kernel *kernel;
    const double started = clock_ms() * 1e3;
    must(gen_kernel(ctx, tag, shape, &kernel));
    const double took = clock_ms() * 1e3 - started;
    cdnagen_free_kernel(kernel);
    return took;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum { RUNS = 21 };

static double median(double *values) {
    qsort(values, RUNS, sizeof *values, ascending);
    return values[RUNS / 2];
}

static double disk_hit_us(const char *dir) {
    double took[RUNS];
    for (int i = 0; i < RUNS; i++) {
        cdnagen *ctx = context(dir, 0);
        took[i] = generate_us(ctx);
        cdnagen_free_context(ctx);
    }
    return median(took);
}

/* Different kernels, so that no thread waits for another's: the thread's number is a dimension of the tag. */
static void *generate_many(void *number) {
    enum { KERNELS = 12 };
    static const char *const heads[] = {"fma", "fma2"};
    cdnagen *ctx = context("", 1);
    for (int i = 0; i < KERNELS; i++) {
        char words[128];
        snprintf(words, sizeof words, "mqa_logits:mfma32x32x64_bkv64_r1_w1_lds%d_swp_rs_h%s", 2 + i % 3,
                 heads[*(const int *)number]);
        cdnagen_kernel *kernel;
        must(gen_kernel(ctx, words, shape, &kernel));
        cdnagen_free_kernel(kernel);
    }
    cdnagen_free_context(ctx);
    return NULL;
}

static double threads_gain(void) {
    static const int numbers[] = {0, 1};
    double gain = 0;
    for (int again = 0; again < 3; again++) {
        const double started = clock_ms() * 1e3;
        for (int i = 0; i < 2; i++) generate_many((void *)(uintptr_t)&numbers[i]);
        const double one = clock_ms() * 1e3;
        pthread_t threads[2];
        for (int i = 0; i < 2; i++)
            if (pthread_create(&threads[i], NULL, generate_many, (void *)(uintptr_t)&numbers[i])) abort();
        for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
        const double two = clock_ms() * 1e3;
        if ((one - started) / (two - one) > gain) gain = (one - started) / (two - one);
    }
    return gain;
}

int main(int argc, char **argv) {
    const int tuned = argc > 1 && !strcmp(argv[1], "tuned");
    if (tuned) {
        mallopt(M_MMAP_THRESHOLD, 32 << 20);
        mallopt(M_TRIM_THRESHOLD, 512 << 20);
        mallopt(M_TOP_PAD, 64 << 20);
    }
    const char *malloc_name = tuned ? "malloc as the command sets it" : "malloc as a host has it";
    double took[RUNS];
    cdnagen *ctx = context("", 1);
    printf("%-58s %10.2f ms\n", "first kernel after main", generate_us(ctx) / 1e3);
    for (int i = 0; i < RUNS; i++) took[i] = generate_us(ctx);
    cdnagen_free_context(ctx);
    printf("generate, warm, %-42s %10.2f ms\n", malloc_name, median(took) / 1e3);

    char dir[] = "/tmp/cdnagen-bench-XXXXXX";
    if (!mkdtemp(dir)) return perror(dir), 1;
    ctx = context(dir, 0);
    generate_us(ctx);
    for (int i = 0; i < RUNS; i++) {
        enum { BATCH = 1000 };
        took[i] = 0;
        for (int k = 0; k < BATCH; k++) took[i] += generate_us(ctx) / (double)BATCH;
    }
    cdnagen_free_context(ctx);
    printf("%-58s %10.2f us\n", "memory hit", median(took));
    printf("%-58s %10.2f us\n", "disk hit", disk_hit_us(dir));
    printf("two threads against one, %-33s %10.2f x\n", malloc_name, threads_gain());
    char line[128];
    snprintf(line, sizeof line, "rm -rf %s", dir);
    return system(line) != 0;
}
