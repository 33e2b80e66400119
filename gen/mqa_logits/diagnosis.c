/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a diagnosis compares a kernel of this operator with: nothing that is left out, every word the other way. */
#include <string.h>

#include "core/integer.h"
#include "gen/mqa_logits/mqa_logits.h"

static void with_swp(mqa_variant *v) { v->swp = 1; }
static void without_swp(mqa_variant *v) { v->swp = v->ct = 0; }
static void with_ct(mqa_variant *v) { v->ct = v->swp = 1; }
static void without_ct(mqa_variant *v) { v->ct = 0; }
static void with_rs(mqa_variant *v) { v->rs = 1; }
static void without_rs(mqa_variant *v) { v->rs = 0; }
static void with_ls(mqa_variant *v) { v->ls = 1; }
static void without_ls(mqa_variant *v) { v->ls = 0; }
static void with_ts(mqa_variant *v) { v->ts = 1; }
static void without_ts(mqa_variant *v) { v->ts = 0; }
static void with_dg(mqa_variant *v) { v->dg = 1; }
static void without_dg(mqa_variant *v) { v->dg = 0; }
static void with_add(mqa_variant *v) { v->head_acc = MQA_ADD; }
static void with_fma(mqa_variant *v) { v->head_acc = MQA_FMA; }
static void with_fma2(mqa_variant *v) { v->head_acc = MQA_FMA2; }

static const struct {
    const char *name;
    lever lever;
    int staged; /* of kernels with lds only */
    void (*make)(mqa_variant *v);
} choices[] = {
    {"MFMA before the head sum", LEVER_SCHEDULE, 1, with_swp},
    {"head sum right after its MFMA", LEVER_SCHEDULE, 1, without_swp},
    {"MFMA run on from tile to tile", LEVER_SCHEDULE, 1, with_ct},
    {"MFMA stop at each tile", LEVER_SCHEDULE, 1, without_ct},
    {"head sum by reduce-scatter", LEVER_STORES, 1, with_rs},
    {"head sum in every lane", LEVER_STORES, 1, without_rs},
    {"KV scales through LDS", LEVER_SCALES, 1, with_ls},
    {"KV scales from memory", LEVER_SCALES, 1, without_ls},
    {"tiles outside the window skipped", LEVER_GRID, 1, with_ts},
    {"no tile skipped", LEVER_GRID, 1, without_ts},
    {"no prefetch past the end", LEVER_MEMORY, 1, with_dg},
    {"prefetch past the end", LEVER_MEMORY, 1, without_dg},
    {"head sum in any order", LEVER_ARITHMETIC, 0, with_add},
    {"head sum in one chain", LEVER_ARITHMETIC, 0, with_fma},
    {"head sum in two chains", LEVER_ARITHMETIC, 0, with_fma2},
};
enum { CHOICES = sizeof choices / sizeof *choices };

/* Parts that the launch is cut into, as its grid says. */
static int64_t splits_of(const plan *p) { return p->grid[1] ? p->grid[1] : 1; }

static int offer(int *before, change *out, const char *name, lever helped, const mqa_variant *v) {
    if ((*before)--) return 0;
    *out = (change){.name = name, .kind = CHANGE_CHOICE, .lever = helped};
    memcpy(out->variant, v, sizeof *v);
    return 1;
}

static int change_of(const plan *p, int index, change *out) {
    const mqa_variant *const own = (const mqa_variant *)p->variant;
    mqa_variant v;
    for (int i = 0; i < CHOICES; i++) {
        v = *own;
        choices[i].make(&v);
        if ((choices[i].staged && !own->slots) || !memcmp(&v, own, sizeof v)) continue;
        if (offer(&index, out, choices[i].name, choices[i].lever, &v)) return 1;
    }
    v = *own;
    v.splits = 2 * splits_of(p);
    if (v.splits <= MQA_SPLITS_MAX && offer(&index, out, "twice the splits", LEVER_GRID, &v)) return 1;
    v.splits = splits_of(p) / 2;
    return v.splits && offer(&index, out, "half the splits", LEVER_GRID, &v);
}

/* So many tiles a part that every row sees some. A row has the trips of the columns in its window. */
static int sweep(const plan *p, int index, void *variant, void *shape, double *trips) {
    static const int tiles[] = {8, 16, 32, 64, 128};
    mqa_variant v = *(const mqa_variant *)p->variant;
    mqa_shape s = *(const mqa_shape *)p->shape;
    if (index >= (int)(sizeof tiles / sizeof *tiles) || s.seq <= 0) return 0;
    v.splits = splits_of(p);
    const int64_t width = v.bkv * v.splits;
    s.seq_kv = (ceil_div(s.seq, width) + tiles[index]) * width;
    memcpy(variant, &v, sizeof v);
    memcpy(shape, &s, sizeof s);
    *trips = (double)mqa_window_columns(&s) / (double)(s.seq * width);
    return 1;
}

const diagnosis mqa_diagnosis = {.change = change_of, .sweep = sweep};
