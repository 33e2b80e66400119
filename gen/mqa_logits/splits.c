/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Into how many parts each window is cut, so that a launch fills the device. source: README.md of this folder,
 * "Splits" */
#include <stdint.h>

#include "core/integer.h"
#include "gen/mqa_logits/mqa_logits.h"

enum {
    SPLIT_OVERHEAD_TILES = 8, /* what starting one more workgroup costs, in tiles */
    SPLIT_SEARCH_MAX = 64,
    CU_OVERSUBSCRIPTION = 4 /* workgroups a CU asked for when their occupancy is unknown */
};

/* What a part is at least. */
static const struct {
    int64_t seq_kv_min; /* shorter windows are not cut */
    int64_t tiles_min;
} policies[CHIP_COUNT] = {[CHIP_GFX942] = {4096, 8}, [CHIP_GFX950] = {0, 2}};

/* fewest_passes: a pass is as many workgroups as the device holds at once; its length is one part and its start. */
static int64_t fewest_passes(int64_t grid_x, int64_t tiles, int64_t at_once, int64_t most) {
    int64_t best = 1, best_cost = INT64_MAX;
    for (int64_t splits = 1; splits <= SPLIT_SEARCH_MAX && splits <= most; splits++) {
        const int64_t cost = ceil_div(grid_x * splits, at_once) * (ceil_div(tiles, splits) + SPLIT_OVERHEAD_TILES);
        if (cost >= best_cost) continue;
        best = splits;
        best_cost = cost;
    }
    return best;
}

int mqa_split_count(const chip *c, int64_t grid_x, int64_t seq_kv, int64_t bkv, int cus, uint32_t workgroups_per_cu) {
    const int k = chip_index(c);
    if (grid_x <= 0 || seq_kv <= 0 || seq_kv < policies[k].seq_kv_min) return 1;
    const int64_t tiles = larger(seq_kv / bkv, 1);
    const int64_t most = larger(tiles / policies[k].tiles_min, 1);
    if (workgroups_per_cu) return (int)fewest_passes(grid_x, tiles, cus * (int64_t)workgroups_per_cu, most);
    const int64_t wanted = (int64_t)CU_OVERSUBSCRIPTION * cus;
    return grid_x >= wanted ? 1 : (int)smaller(smaller(ceil_div(wanted, grid_x), most), MQA_SPLITS_MAX);
}

int mqa_splits(const plan *p, const device_facts *facts, int asked, int64_t grid_x, int64_t seq_kv) {
    const mqa_variant *const v = (const mqa_variant *)p->variant;
    const chip *const c = p->target.chip;
    if (asked) return asked;
    if (v->splits) return (int)v->splits;
    const int cus = facts && facts->cus ? facts->cus : c->cus;
    return mqa_split_count(c, grid_x, seq_kv, v->bkv, cus, facts ? facts->workgroups_per_cu : 0);
}

int mqa_splits_are_guessed(const plan *p, const device_facts *facts, int asked) {
    const mqa_variant *const v = (const mqa_variant *)p->variant;
    return !asked && !v->splits && (!facts || !facts->workgroups_per_cu);
}
