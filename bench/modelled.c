/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Modelled launches, processes that share cases, compile times. */
#include "bench/modelled.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- one launch ---- */

cdnagen_status modelled_launch(cdnagen *ctx, const target *t, const char *tag, const char *words, modelled *out) {
    static const sim_timing_options how;
    char taken[SYMBOL_MAX + 32];
    *out = (modelled){.info.size = sizeof out->info};
    TRY(gen_kernel(ctx, tag, words, &out->kernel));
    cdnagen_status s = cdnagen_get_kernel_info(out->kernel, &out->info);
    if (!s) {
        snprintf(taken, sizeof taken, "%s:%s", out->info.op, out->info.tag);
        s = plan_make(taken, words, t, 0, &out->plan);
    }
    if (!s) s = explain_run(ctx, out->kernel, &out->info, &out->plan, &how, &out->explained);
    if (s) cdnagen_free_kernel(out->kernel);
    return s;
}

void modelled_free(modelled *m) {
    explain_free(&m->explained);
    cdnagen_free_kernel(m->kernel);
}

cdnagen_status modelled_clk(cdnagen *ctx, const target *t, const char *tag, const char *words, double *clk) {
    modelled m;
    TRY(modelled_launch(ctx, t, tag, words, &m));
    *clk = m.explained.timing.kernel_clk;
    modelled_free(&m);
    return CDNAGEN_OK;
}

/* ---- many ---- */

void *cases_memory(size_t size) {
    void *const m = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return m == MAP_FAILED ? NULL : m;
}

/* work: take cases until there is none left; 1 if it cannot begin. */
static int work(const cases *c, atomic_size_t *next) {
    const cdnagen_options options = {
        .size = sizeof options, .device = "sim", .target = c->target->text, .sim_mode = "threads=1"};
    cdnagen *ctx = NULL;
    if (cdnagen_create_context(&options, &ctx)) {
        fprintf(stderr, "%s: %s\n", c->program, cdnagen_error());
        return 1;
    }
    for (size_t i; (i = atomic_fetch_add(next, 1)) < c->count;) {
        c->run(c->user, ctx, i);
        if (isatty(STDERR_FILENO)) fprintf(stderr, "\r\033[K%zu of %zu", i + 1, c->count);
    }
    cdnagen_free_context(ctx);
    return 0;
}

int cases_run(const cases *c, int processes) {
    int failed = 0, status;
    atomic_size_t *const next = cases_memory(sizeof *next);
    if (!next) return perror(c->program), 1;
    fflush(NULL); /* or each process would write it */
    for (int i = 1; i < processes && !failed; i++) {
        const pid_t child = fork();
        if (!child) _exit(work(c, next));
        if (child < 0) perror(c->program), failed = 1;
    }
    failed |= work(c, next);
    while (wait(&status) > 0) failed |= status != 0;
    if (isatty(STDERR_FILENO)) fprintf(stderr, "\r\033[K");
    return failed;
}

/* ---- compiling ---- */

/* process_ms: what this process has computed for so far, lld's thread among it, whatever else the machine does. */
static double process_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

cdnagen_status compile_ms(cdnagen *ctx, const char *tag, const char *shape, double *out, uint32_t *code_bytes) {
    enum { TIMES = 7 };
    double ms[TIMES];
    for (int i = -1; i < TIMES; i++) {
        cdnagen_kernel *kernel = NULL;
        cdnagen_kernel_info info = {.size = sizeof info};
        const double start = process_ms();
        TRY(gen_kernel(ctx, tag, shape, &kernel));
        if (i >= 0) ms[i] = process_ms() - start;
        const cdnagen_status s = cdnagen_get_kernel_info(kernel, &info);
        if (code_bytes) *code_bytes = info.code_bytes;
        cdnagen_free_kernel(kernel);
        TRY(s);
    }
    qsort(ms, TIMES, sizeof *ms, by_size);
    *out = ms[TIMES / 2];
    return CDNAGEN_OK;
}
