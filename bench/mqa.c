/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* mqa_logits in the timing model: each case with the tag and the split that `auto` resolves to.
 * usage: bench_mqa [--full] [--target ID] [--shapes-csv FILE] [-o FILE] [-j PROCESSES]
 * Exit code 1 if a case has an error. */
#include "bench/mqa.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/modelled.h"
#include "core/clock.h"

enum { PROCESSES_MAX = 1024 };

static void fill(mqa_result *r, const modelled *m) {
    const plan *const p = &m->plan;
    const cdnagen_kernel_info *const info = &m->info;
    const explanation *const e = &m->explained;
    const sim_timing *const t = &e->timing;
    const mqa_variant *const v = (const mqa_variant *)p->variant;
    const mqa_geometry g = mqa_geometry_of(v, (const mqa_shape *)p->shape, p->target.chip);
    const sim_loop *const hot = sim_hot_loop(t);
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
        mfma_clk = PASS_CLK * atom_find(g.m, g.n, g.k)->passes;
    }
    r->roof = mqa_tuning.mfmas(p) * mfma_clk / (p->target.chip->cus * p->target.chip->simds) / r->clk;
}

/* run: what cases_run has for each process. */
typedef struct run {
    const target *target;
    const mqa_case *cases;
    mqa_result *results;
} run;

static void run_case(void *user, cdnagen *ctx, size_t index) {
    const run *const of = user;
    mqa_result *const r = &of->results[index];
    modelled m;
    if (modelled_launch(ctx, of->target, "mqa_logits:auto", of->cases[index].words, &m)) {
        snprintf(r->error, sizeof r->error, "%s", cdnagen_error());
    } else {
        fill(r, &m);
        modelled_free(&m);
    }
    r->done = 1;
}

/* run_all: 1 if a process failed or a case has an error. */
static int run_all(run *of, size_t count, int processes) {
    const cases c = {.program = "bench_mqa", .target = of->target, .count = count, .run = run_case, .user = of};
    int failed = cases_run(&c, processes);
    for (size_t i = 0; i < count; i++) {
        mqa_result *const r = &of->results[i];
        if (!r->done) snprintf(r->error, sizeof r->error, "its process ended before it");
        failed |= *r->error != 0;
    }
    return failed;
}

static int stop(void) {
    fprintf(stderr, "bench_mqa: %s\n", cdnagen_error());
    return 1;
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
    static mqa_case all[MQA_CASES_MAX];
    size_t count = 0;
    target t;
    if (target_parse(id, &t)) return stop();
    if (csv && mqa_cases_from_csv(csv, all, &count)) return stop();
    if (!csv) count = mqa_cases_standard(full, all);
    run of = {.target = &t, .cases = all, .results = cases_memory(MQA_CASES_MAX * sizeof *of.results)};
    FILE *const to = output ? fopen(output, "w") : stdout;
    if (!of.results || !to) return perror(output ? output : "memory"), 1;
    const double started = clock_ms();
    const int failed = run_all(&of, count, processes);
    mqa_report(to, t.text, all, of.results, count);
    fprintf(to, "\n%.1f s on this machine, %d processes.\n", (clock_ms() - started) * 1e-3, processes);
    return to != stdout && fclose(to) ? perror(output), 1 : failed;
}
