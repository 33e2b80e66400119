/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LDS bank conflicts: an access is done in phases; lanes of one phase that want different words of one bank take turns.
 * source: HipKittens analysis of LDS phases (gfx950); AMD composable_kernel documentation, "LDS bank conflicts" */
#include <string.h>

#include "sim/access.h"
#include "sim/timing/model.h"

enum { PHASES_MAX = 8, BANKS_MAX = 64 };

typedef struct phases {
    int count, banks;
    uint64_t lanes[PHASES_MAX];
} phases;

#define BOTH_HALVES(x) (x), (uint64_t)(x) << 32
#define OCTETS(shift) 0xffull << (shift), 0xffull << ((shift) + 8), 0xffull << ((shift) + 16), 0xffull << ((shift) + 24)
static const phases halves32 = {2, 32, {BOTH_HALVES(0xffffffffu)}};
static const phases halves64 = {2, 64, {BOTH_HALVES(0xffffffffu)}};
static const phases quarters = {4, 32, {0xffffull, 0xffffull << 16, 0xffffull << 32, 0xffffull << 48}};
static const phases octets = {8, 32, {OCTETS(0), OCTETS(32)}};
/* Eight lanes: four neighbours and the four that follow them by 20, in the half. */
static const phases paired = {
    8, 32, {BOTH_HALVES(0x00f0000fu), BOTH_HALVES(0x000f00f0u), BOTH_HALVES(0xf0000f00u), BOTH_HALVES(0x0f00f000u)}};
static const phases sixteens = {4, 64, {BOTH_HALVES(0x0ff0f00fu), BOTH_HALVES(0xf00f0ff0u)}};

static const phases *read_phases(const chip *c, uint32_t width) {
    const int wide = c->lds_read_banks == BANKS_MAX;
    if (width == 16) return wide ? &sixteens : &paired;
    if (width == 12) return &paired;
    if (width == 8) return wide ? &halves64 : &quarters;
    return wide ? &halves64 : &halves32;
}
static const phases *write_phases(uint32_t width) { return width >= 12 ? &octets : width == 8 ? &quarters : &halves32; }

/* turns: the most that one bank is asked in a phase. Lanes that read one word share it; atomics do not. */
static int turns(const phases *p, uint64_t active, const uint32_t *address, uint32_t width, int shared) {
    uint32_t word[BANKS_MAX][LANES];
    int asked[BANKS_MAX] = {0}, most = 0;
    FOR_LANES(active, l) {
        for (uint32_t at = address[l] / 4; at <= (address[l] + width - 1) / 4; at++) {
            const uint32_t bank = at % (uint32_t)p->banks;
            int known = 0;
            for (int i = 0; shared && i < asked[bank] && !known; i++) known = word[bank][i] == at;
            if (known || asked[bank] == LANES) continue;
            word[bank][asked[bank]++] = at;
            if (asked[bank] > most) most = asked[bank];
        }
    }
    return most;
}

static int all_turns(const phases *p, uint64_t exec, const uint32_t *address, uint32_t width, int shared) {
    int sum = 0;
    for (int i = 0; i < p->count; i++) sum += turns(p, exec & p->lanes[i], address, width, shared);
    return sum;
}

static int store_port(const parameters *q, uint32_t width) {
    return (int)(width <= 4    ? q->lds_store_b32
                 : width == 8  ? q->lds_store_b64
                 : width == 12 ? q->lds_store_b96
                               : q->lds_store_b128);
}

lds_cost lds_access(const chip *c, const parameters *q, const transfer *a, const unsigned char *lds) {
    const memory_row *row = lds_row(a->in->row->effect);
    const int permutes = row->kind == BPERMUTE || row->kind == PERMUTE || row->kind == SWIZZLE;
    const int writes = row->kind == STORE || row->kind == WRITE2 || row->kind == WRITE2_ST64;
    const int atomic = row->kind == ATOMIC || row->kind == COMPARE_SWAP || row->kind == ATOMIC_RETURN ||
                       row->kind == COMPARE_SWAP_RETURN;
    const phases *p = writes || atomic ? write_phases(row->bytes) : read_phases(c, row->bytes);
    lds_cost cost = {0};
    int phases_used = 0;
    for (int i = 0; i < p->count; i++) phases_used += (a->exec & p->lanes[i]) != 0;
    for (uint32_t e = 0; e < a->elements; e++) {
        uint32_t address[LANES] = {0};
        if (!permutes) FOR_LANES(a->exec, l) address[l] = (uint32_t)(a->place[l] + (e ? a->second : 0) - lds);
        cost.bank += permutes ? phases_used : all_turns(p, a->exec, address, row->bytes, !atomic);
        cost.conflict -= phases_used;
        cost.port += writes || atomic ? store_port(q, row->bytes)
                                      : (int)((row->bytes < 4 ? 4 : row->bytes) * LANES / q->lds_read_port);
    }
    cost.conflict += cost.bank;
    return cost;
}
