/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Launches of 8 groups as layers of models have them, in every layout. */
#include <stdio.h>
#include <string.h>

#include "bench/grouped.h"

enum { GROUPS = 8 };

/* layer: N and K of each group's weights. */
typedef struct layer {
    int n, k;
} layer;
static const layer ds_up = {2048, 7168}, ds_down = {7168, 2304}, llama_70b_qkv = {1280, 8192},
                   llama_70b_out = {8192, 1024}, llama_405b_up = {13312, 16384}, llama_405b_down = {16384, 6656};

/* list: cases as they are added. */
typedef struct list {
    grouped_case *at;
    size_t count;
} list;

/* even: "extents=96,96,...": of every group the same; less than a group each: the first `total` have 1. */
static void even(int total, char *out, size_t room) {
    size_t used = (size_t)snprintf(out, room, "extents=");
    for (int g = 0; g < GROUPS && used < room; g++) {
        const int share = total >= GROUPS ? total / GROUPS : g < total;
        used += (size_t)snprintf(out + used, room - used, "%s%d", g ? "," : "", share);
    }
}

/* add: `cut` is what the groups share between them; 0: nothing. */
static void add(list *l, const char *heading, const char *words, int m, int n, int k, int cut, double published) {
    grouped_case *const c = &l->at[l->count++];
    char extents[96] = "";
    if (cut) even(cut, extents, sizeof extents);
    *c = (grouped_case){.heading = heading, .published = published};
    snprintf(c->words, sizeof c->words, "%s groups=%d m=%d n=%d k=%d %s", words, GROUPS, m, n, k, extents);
    snprintf(c->name, sizeof c->name, "%d x %d x %d", m, n, k);
}

/* Rows of slabs, of which three quarters take part: MSLK pull request 471, MI350X, graph replay, plain B. */
static void add_padded(list *l) {
    static const struct {
        const layer *of;
        double us[2]; /* of slabs of 128 and of 512 rows */
    } rows[] = {{&ds_up, {44.1, 86.6}},         {&ds_down, {41.6, 99.1}},          {&llama_70b_qkv, {48.6, 96.4}},
                {&llama_70b_out, {29.2, 61.7}}, {&llama_405b_up, {443.6, 1097.2}}, {&llama_405b_down, {217.4, 551.2}}};
    for (int packed = 0; packed < 2; packed++)
        for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
            const layer *const w = rows[i / 2].of;
            const int m = i % 2 ? 512 : 128;
            const char *const heading =
                packed ? "padded, three quarters valid, preshuffled" : "padded, three quarters valid, plain";
            add(l, i ? NULL : heading, packed ? "layout=padded b=preshuffled" : "layout=padded", m, w->n, w->k,
                GROUPS * m * 3 / 4, packed ? 0 : rows[i / 2].us[i % 2]);
        }
}

static const layer *const layers[] = {&ds_up,         &ds_down,       &llama_70b_qkv,
                                      &llama_70b_out, &llama_405b_up, &llama_405b_down};
enum { LAYERS = sizeof layers / sizeof *layers };

/* The other layouts: uniform groups. */
static void add_uniform(list *l) {
    static const int slabs[] = {128, 512}, totals[] = {1, 128, 1024, 16384};
    static const struct {
        const char *heading, *words;
        const int *rows;
        int count;
        char cuts;
    } tables[] = {{"batched, plain", "layout=batched", slabs, 2, 0},
                  {"batched, preshuffled", "layout=batched b=preshuffled", slabs, 2, 0},
                  {"n_offsets", "layout=n_offsets", slabs, 2, 'n'},
                  {"k_offsets", "layout=k_offsets", slabs, 2, 'k'},
                  {"offsets, plain", "layout=offsets", totals, 4, 'm'},
                  {"offsets, preshuffled", "layout=offsets b=preshuffled", totals, 4, 'm'},
                  {"sizes, plain", "layout=sizes", totals, 4, 'm'},
                  {"sizes, preshuffled", "layout=sizes b=preshuffled", totals, 4, 'm'}};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (int i = 0; i < LAYERS * tables[t].count; i++) {
            const layer *const w = layers[i / tables[t].count];
            const int m = tables[t].rows[i % tables[t].count];
            const int n = tables[t].cuts == 'n' ? GROUPS * w->n : w->n,
                      k = tables[t].cuts == 'k' ? GROUPS * w->k : w->k;
            const int cut = tables[t].cuts == 'm' ? m : tables[t].cuts == 'n' ? n : tables[t].cuts == 'k' ? k : 0;
            add(l, i ? NULL : tables[t].heading, tables[t].words, m, n, k, cut, 0);
        }
}

/* Scales of blocks: MSLK pull request 470, MI350X, graph replay. */
static void add_blocks(list *l) {
    static const struct {
        int m, n, k;
        double us[2]; /* plain, preshuffled */
    } rows[] = {
        {32, 1280, 8192, {65.2, 53.5}},      {128, 1280, 8192, {66, 54.5}},      {1024, 2048, 7168, {62.2, 53}},
        {16384, 2048, 7168, {470.9, 405.4}}, {1024, 7168, 2304, {42.8, 43.5}},   {16384, 7168, 2304, {547, 482.6}},
        {128, 7168, 8192, {116.2, 102}},     {1, 8192, 1024, {13.4, 12}},        {128, 8192, 1024, {19.8, 19.9}},
        {128, 8192, 3584, {43.4, 41}},       {128, 13312, 6656, {157.2, 148.6}}, {128, 13312, 16384, {463.6, 380.7}},
        {128, 16384, 6656, {186.2, 174.2}}};
    for (int packed = 0; packed < 2; packed++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            const char *const heading =
                packed ? "sizes, scales of blocks, preshuffled" : "sizes, scales of blocks, plain";
            add(l, i ? NULL : heading, packed ? "layout=sizes scale=block b=preshuffled" : "layout=sizes scale=block",
                rows[i].m, rows[i].n, rows[i].k, rows[i].m, rows[i].us[packed]);
        }
}

size_t grouped_cases(grouped_case out[GROUPED_CASES_MAX]) {
    list l = {.at = out};
    add_padded(&l);
    add_blocks(&l);
    add_uniform(&l);
    return l.count;
}

/* ---- one of them ---- */

void grouped_look(cdnagen *ctx, const target *t, const grouped_case *c, grouped_outcome *out) {
    modelled m;
    out->done = 1;
    if (modelled_launch(ctx, t, "gemm_grouped:auto", c->words, &m)) {
        snprintf(out->error, sizeof out->error, "%s", cdnagen_error());
        return;
    }
    const sim_timing *const s = &m.explained.timing;
    const sim_loop *const hot = sim_hot_loop(s);
    snprintf(out->tag, sizeof out->tag, "%s", m.info.tag);
    snprintf(out->binds, sizeof out->binds, "%s", hot ? hot->binds : "no loop");
    out->spills = m.info.vgpr_spills + m.info.sgpr_spills;
    out->clk = s->kernel_clk;
    out->us = s->ns * 1e-3;
    out->busy = s->mfma_busy;
    out->hbm_tb_s = s->hbm_bytes / s->ns * 1e-3;
    out->workgroups = (double)m.explained.groups;
    modelled_free(&m);
}

int grouped_report(const grouped_case *all, const grouped_outcome *results, size_t count) {
    int missed = 0;
    for (size_t i = 0; i < count; i++) {
        const grouped_case *const c = &all[i];
        const grouped_outcome *const r = &results[i];
        const int miss = *r->error || r->spills || (c->published > 0 && r->us > c->published);
        missed += miss;
        if (c->heading)
            printf(
                "\n%s, 8 groups:\n\n| m x n x k | tag | workgroups | clk | us | published us | MFMA busy | HBM TB/s | "
                "loop bound by | |\n|---|---|---|---|---|---|---|---|---|---|\n",
                c->heading);
        if (*r->error) {
            printf("| %s | %s | | | | | | | | MISSED |\n", c->name, r->error);
            continue;
        }
        char published[24] = "";
        if (c->published > 0) snprintf(published, sizeof published, "%.1f", c->published);
        printf("| %s | %s%s | %.0f | %.0f | %.1f | %s | %.1f %% | %.2f | %s | %s |\n", c->name, r->tag,
               r->spills ? " (spills)" : "", r->workgroups, r->clk, r->us, published, 100 * r->busy, r->hbm_tb_s,
               r->binds, miss ? "MISSED" : "");
    }
    return missed;
}
