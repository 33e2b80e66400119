/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* mqa_logits in the timing model: each case with the tag and the split that `auto` resolves to.
 * usage: bench_mqa [--full] [--target ID] [--shapes-csv FILE] [-o FILE] [-j PROCESSES]
 * Exit code 1 if a case has an error. */
#include "bench/mqa.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "study/explain.h"

enum { PROCESSES_MAX = 1024 };

/* shared: what the processes fill. */
typedef struct shared {
    atomic_size_t next;
    mqa_result results[MQA_CASES_MAX];
} shared;

/* hot_loop: the innermost loop with most matrix instructions. */
static const sim_loop *hot_loop(const sim_timing *t) {
    const sim_loop *hot = NULL;
    double most = 0;
    for (size_t i = 0; i < t->loop_count; i++) {
        const sim_loop *const l = &t->loops[i];
        const double mfmas = (double)l->trips * l->mix[KIND_MFMA];
        if (!l->inner || mfmas <= most) continue;
        hot = l;
        most = mfmas;
    }
    return hot;
}

static void fill(mqa_result *r, const plan *p, const cdnagen_kernel_info *info, const explanation *e) {
    const sim_timing *const t = &e->timing;
    const mqa_variant *const v = (const mqa_variant *)p->variant;
    const mqa_geometry g = mqa_geometry_of(v, (const mqa_shape *)p->shape, p->target.chip);
    const sim_loop *const hot = hot_loop(t);
    double mfma_clk = 0;
    snprintf(r->tag, sizeof r->tag, "%s", p->tag);
    r->splits = info->grid[1];
    r->spills = info->vgpr_spills + info->sgpr_spills;
    r->waves_per_simd = t->waves_reached;
    r->clk = t->kernel_clk;
    r->us = t->ns * 1e-3;
    r->busy = t->mfma_busy;
    r->reduced = e->reduced;
    r->groups = e->groups;
    r->detailed = t->groups_detailed;
    if (hot && hot->simd_clk > 0) {
        const double bound = hot->mfma_bound > hot->issue_bound ? hot->mfma_bound : hot->issue_bound;
        const double columns = hot->mix[KIND_MFMA] / (g.m_tiles * g.k_steps) * g.n;
        r->ratio = hot->simd_clk / bound;
        r->loop_clk = hot->simd_clk * 64 / columns;
        mfma_clk = hot->mfma_bound / hot->mix[KIND_MFMA];
    } else {
        mfma_clk = 2.0 * g.m * g.n * g.k / (p->target.chip->fp8 == CDNAGEN_FP8_E4M3FN ? 2048 : 1024);
    }
    r->roof = mqa_tuning.mfmas(p) * mfma_clk / (p->target.chip->cus * p->target.chip->simds) / r->clk;
}

static cdnagen_status run_case(cdnagen *ctx, const target *t, const mqa_case *c, mqa_result *r) {
    static const sim_timing_options how;
    cdnagen_kernel *kernel = NULL;
    cdnagen_kernel_info info = {.size = sizeof info};
    explanation e;
    plan p;
    char tag[SYMBOL_MAX + 32];
    TRY(gen_kernel(ctx, "mqa_logits:auto", c->words, &kernel));
    cdnagen_status status = cdnagen_get_kernel_info(kernel, &info);
    snprintf(tag, sizeof tag, "mqa_logits:%s", status ? "" : info.tag);
    if (!status) status = plan_make(tag, c->words, t, 0, &p);
    if (!status) status = explain_run(ctx, kernel, &info, &p, &how, &e);
    if (!status) {
        fill(r, &p, &info, &e);
        explain_free(&e);
    }
    cdnagen_free_kernel(kernel);
    return status;
}

static int stop(void) {
    fprintf(stderr, "bench_mqa: %s\n", cdnagen_error());
    return 1;
}

/* work: take cases until there is none left; 1 if it cannot begin. */
static int work(const target *t, const mqa_case *cases, size_t count, shared *s) {
    const cdnagen_options options = {
        .size = sizeof options, .device = "sim", .target = t->text, .sim_mode = "threads=1"};
    cdnagen *ctx = NULL;
    if (cdnagen_create_context(&options, &ctx)) return stop();
    for (size_t i; (i = atomic_fetch_add(&s->next, 1)) < count;) {
        mqa_result *const r = &s->results[i];
        if (run_case(ctx, t, &cases[i], r)) snprintf(r->error, sizeof r->error, "%s", cdnagen_error());
        r->done = 1;
        if (isatty(STDERR_FILENO)) fprintf(stderr, "\r\033[K%zu of %zu", i + 1, count);
    }
    cdnagen_free_context(ctx);
    return 0;
}

/* work_all: 1 if a process could not be started or did not end well, or a case has an error. */
static int work_all(const target *t, const mqa_case *cases, size_t count, shared *s, int processes) {
    int failed = 0, status;
    for (int i = 1; i < processes && !failed; i++) {
        const pid_t child = fork();
        if (!child) _exit(work(t, cases, count, s));
        if (child < 0) perror("bench_mqa: a process cannot be started"), failed = 1;
    }
    failed |= work(t, cases, count, s);
    while (wait(&status) > 0) failed |= status != 0;
    if (isatty(STDERR_FILENO)) fprintf(stderr, "\r\033[K");
    for (size_t i = 0; i < count; i++) {
        if (!s->results[i].done)
            snprintf(s->results[i].error, sizeof s->results[i].error, "its process ended before it");
        failed |= *s->results[i].error != 0;
    }
    return failed;
}

/* process_count: 0: no number of processes. */
static int process_count(const char *words) {
    char *end;
    const long n = strtol(words, &end, 10);
    return *end || n < 1 || n > PROCESSES_MAX ? 0 : (int)n;
}

int main(int argc, char **argv) {
    const char *csv = NULL, *output = NULL, *id = "gfx950";
    int full = 0, processes = (int)sysconf(_SC_NPROCESSORS_ONLN);
    for (int i = 1; i < argc; i++) {
        const char *const value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--full"))
            full = 1;
        else if (!strcmp(argv[i], "--shapes-csv") && *value)
            csv = argv[++i];
        else if (!strcmp(argv[i], "-o") && *value)
            output = argv[++i];
        else if (!strcmp(argv[i], "--target") && *value)
            id = argv[++i];
        else if (!strcmp(argv[i], "-j") && process_count(value))
            processes = process_count(argv[++i]);
        else
            return fprintf(stderr, "usage: %s [--full] [--target ID] [--shapes-csv FILE] [-o FILE] [-j PROCESSES]\n",
                           argv[0]),
                   2;
    }
    static mqa_case cases[MQA_CASES_MAX];
    size_t count = 0;
    target t;
    if (target_parse(id, &t)) return stop();
    if (csv && mqa_cases_from_csv(csv, cases, &count)) return stop();
    if (!csv) count = mqa_cases_standard(full, cases);
    shared *const s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    FILE *const to = output ? fopen(output, "w") : stdout;
    if (s == MAP_FAILED || !to) return perror(output ? output : "memory"), 1;
    const double started = clock_ms();
    const int failed = work_all(&t, cases, count, s, processes);
    mqa_report(to, t.text, cases, s->results, count);
    fprintf(to, "\n%.1f s on this machine, %d processes.\n", (clock_ms() - started) * 1e-3, processes);
    return to != stdout && fclose(to) ? perror(output), 1 : failed;
}
