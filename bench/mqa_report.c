/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Results as markdown. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/mqa.h"

/* mean: geometric means of the cases that were modelled, of one group. */
typedef struct mean {
    int count;
    double us, roof, ratio, busy;
    int looped, roofed; /* cases that have such a figure */
} mean;

static void mean_add(mean *m, const mqa_result *r) {
    m->count++;
    m->us += log(r->us);
    m->busy += r->busy;
    if (r->roof > 0) m->roof += log(r->roof), m->roofed++;
    if (r->ratio > 0) m->ratio += log(r->ratio), m->looped++;
}

static void mean_print(FILE *to, const char *name, const mean *m) {
    if (!m->count) return;
    fprintf(to, "| %s | %d | %.2f | %.1f %% | %.2f | %.1f %% |\n", name, m->count, exp(m->us / m->count),
            100 * m->busy / m->count, m->looped ? exp(m->ratio / m->looped) : 0,
            m->roofed ? 100 * exp(m->roof / m->roofed) : 0);
}

static void print_case(FILE *to, const mqa_case *c, const mqa_result *r) {
    const mqa_shape *const s = &c->shape;
    fprintf(to, "| %lldx%lld | %lld | %lld | %s | %lld | ", (long long)s->seq, (long long)s->seq_kv,
            (long long)s->heads, (long long)s->dim, mqa_window_names[s->window], (long long)s->clean);
    if (*r->error) {
        fprintf(to, "%s | | | | | | | |\n", r->error);
        return;
    }
    fprintf(to, "%s%s | %u | %.0f | %.2f%s | %.1f %% | ", r->tag, r->spills ? " (spills)" : "", r->splits, r->clk,
            r->us, r->reduced ? " *" : "", 100 * r->busy);
    if (r->ratio > 0)
        fprintf(to, "%.0f | %.2f | ", r->loop_clk, r->ratio);
    else
        fprintf(to, "| | ");
    fprintf(to, "%.1f %% |\n", 100 * r->roof);
}

static void print_groups(FILE *to, const mqa_case *cases, const mqa_result *results, size_t count) {
    fprintf(to,
            "\n| group | cases | us, geometric mean | mfma_busy, mean | loop / bound, geometric mean | of the matrix "
            "roof, geometric mean |\n|---|---|---|---|---|---|\n");
    for (int window = 0; window <= WINDOW_BATCH_CAUSAL; window++) {
        mean m = {0};
        for (size_t i = 0; i < count; i++)
            if (!*results[i].error && cases[i].shape.window == window) mean_add(&m, &results[i]);
        mean_print(to, mqa_window_names[window], &m);
    }
    char *const told = calloc(count + 1, 1);
    for (size_t i = 0; told && i < count; i++) {
        const mqa_shape *const a = &cases[i].shape;
        mean m = {0};
        char name[64];
        for (size_t k = i; k < count && !told[i]; k++) {
            const mqa_shape *const b = &cases[k].shape;
            if (told[k] || a->heads != b->heads || a->dim != b->dim || a->clean != b->clean) continue;
            told[k] = k > i;
            if (!*results[k].error) mean_add(&m, &results[k]);
        }
        snprintf(name, sizeof name, "heads=%lld dim=%lld clean=%lld", (long long)a->heads, (long long)a->dim,
                 (long long)a->clean);
        mean_print(to, name, &m);
    }
    free(told);
}

/* worst_first: launches that last long enough to judge, by their share of the roof. Those with clean=1 also write all
 * that the windows leave out, which is no matter of the matrix pipe. */
#define JUDGED_CLK 20000.0
static const mqa_result *judged;
static int worst_first(const void *a, const void *b) {
    const double x = judged[*(const size_t *)a].roof, y = judged[*(const size_t *)b].roof;
    return (x > y) - (x < y);
}

static void print_worst(FILE *to, const mqa_case *cases, const mqa_result *results, size_t count) {
    enum { WORST = 10 };
    size_t *const order = calloc(count + 1, sizeof *order), *at = order;
    if (!order) return;
    for (size_t i = 0; i < count; i++)
        if (!*results[i].error && !cases[i].shape.clean && results[i].roof > 0 && results[i].clk > JUDGED_CLK)
            *at++ = i;
    judged = results;
    qsort(order, (size_t)(at - order), sizeof *order, worst_first);
    fprintf(to, "\nWorst of the %d with clean=0 that last more than %.0f clk, by their share of the matrix roof:\n\n",
            (int)(at - order), JUDGED_CLK);
    for (const size_t *k = order; k < at && k < order + WORST; k++)
        fprintf(to, "- %.1f %%: %s, %s, %u splits\n", 100 * results[*k].roof, cases[*k].words, results[*k].tag,
                results[*k].splits);
    free(order);
}

void mqa_report(FILE *to, const char *target_id, const mqa_case *cases, const mqa_result *results, size_t count) {
    size_t failed = 0, reduced = 0;
    uint64_t groups = 0, detailed = 0;
    for (size_t i = 0; i < count; i++) {
        failed += *results[i].error != 0;
        reduced += results[i].reduced != 0;
        groups += results[i].groups;
        detailed += results[i].detailed;
    }
    fprintf(
        to,
        "# mqa_logits on %s, modelled\n\nNothing here was measured: cycles and times are the timing model's "
        "(docs/timing.md). %zu cases, %zu refused. %llu of %llu workgroups were simulated in detail, on one CU each "
        "launch; the rest follows from their steady pace. %zu launches, marked *, were looked at on fewer rows.\n\n"
        "loop / bound: the hot loop's cycles over the larger of matrix pipe and issue, both of a SIMD; clk / 64: its "
        "cycles for 64 columns of a row; roof: what the windows' matrix instructions take at least, over the "
        "launch's cycles.\n\n"
        "| rows x columns | heads | dim | window | clean | tag | splits | clk | us | mfma_busy | clk / 64 | loop / "
        "bound | roof |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        target_id, count, failed, (unsigned long long)detailed, (unsigned long long)groups, reduced);
    for (size_t i = 0; i < count; i++) print_case(to, &cases[i], &results[i]);
    print_groups(to, cases, results, count);
    print_worst(to, cases, results, count);
}
