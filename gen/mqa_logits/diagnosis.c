/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a diagnosis compares a kernel of this operator with: nothing that is left out, every word the other way. */
#include <string.h>

#include "core/integer.h"
#include "gen/change.h"
#include "gen/mqa_logits/mqa_logits.h"

enum { STAGED = 1 /* kernels with lds */ };
#define TAG(member) offsetof(mqa_variant, member)
static const choice choices[] = {
    {"MFMA before the head sum", LEVER_SCHEDULE, STAGED, {{TAG(swp), 1}}},
    {"head sum right after its MFMA", LEVER_SCHEDULE, STAGED, {{TAG(swp), 0}, {TAG(ct), 0}}},
    {"MFMA run on from tile to tile", LEVER_SCHEDULE, STAGED, {{TAG(ct), 1}, {TAG(swp), 1}}},
    {"MFMA stop at each tile", LEVER_SCHEDULE, STAGED, {{TAG(ct), 0}}},
    {"head sum by reduce-scatter", LEVER_STORES, STAGED, {{TAG(rs), 1}}},
    {"head sum in every lane", LEVER_STORES, STAGED, {{TAG(rs), 0}}},
    {"KV scales through LDS", LEVER_SCALES, STAGED, {{TAG(ls), 1}}},
    {"KV scales from memory", LEVER_SCALES, STAGED, {{TAG(ls), 0}}},
    {"tiles outside the window skipped", LEVER_GRID, STAGED, {{TAG(ts), 1}}},
    {"no tile skipped", LEVER_GRID, STAGED, {{TAG(ts), 0}}},
    {"no prefetch past the end", LEVER_MEMORY, STAGED, {{TAG(dg), 1}}},
    {"prefetch past the end", LEVER_MEMORY, STAGED, {{TAG(dg), 0}}},
    {"head sum in any order", LEVER_ARITHMETIC, 0, {{TAG(head_acc), MQA_ADD}}},
    {"head sum in one chain", LEVER_ARITHMETIC, 0, {{TAG(head_acc), MQA_FMA}}},
    {"head sum in two chains", LEVER_ARITHMETIC, 0, {{TAG(head_acc), MQA_FMA2}}},
};
enum { CHOICES = sizeof choices / sizeof *choices };

/* Parts that the launch is cut into, as its grid says. */
static int64_t splits_of(const plan *p) { return p->grid[1] ? p->grid[1] : 1; }

static int is_splits(int *before, const plan *p, const char *name, int64_t splits, change *out) {
    change_set(p, TAG(splits), splits, out);
    return splits && splits <= MQA_SPLITS_MAX && change_is_next(before, name, CHANGE_CHOICE, LEVER_GRID, out);
}

static int change_of(const plan *p, int index, change *out) {
    const int mark = ((const mqa_variant *)p->variant)->slots ? STAGED : 0;
    return change_is_choice(&index, p, choices, CHOICES, mark, out) ||
           is_splits(&index, p, "twice the splits", 2 * splits_of(p), out) ||
           is_splits(&index, p, "half the splits", splits_of(p) / 2, out);
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
