/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Scalar memory instructions: expands sim/isa/smem.def.   source: AMD CDNA4 ISA guide, "Scalar Memory Operations" */
#include <string.h>

#include "sim/wave.h"

typedef enum scalar_kind { SCALAR_LOAD, SCALAR_BUFFER_LOAD, SCALAR_TIME, SCALAR_CACHE } scalar_kind;
typedef struct scalar_row {
    scalar_kind kind;
    uint32_t dwords;
} scalar_row;

static const scalar_row *smem_row(int effect) {
#define SMEM_ROW(name, kind, dwords) {kind, dwords},
    static const scalar_row rows[] = {
#include "sim/isa/smem.def"
    };
#undef SMEM_ROW
    return &rows[effect];
}

/* place[0] is the address, lds_base the dwords that the descriptor lets through: the others read 0. */
static void perform_load(wave *w, transfer *a) {
    const scalar_row *row = smem_row(a->in->row->effect);
    uint32_t *d = &w->sgpr[a->in->op[0].index];
    memset(d, 0, row->dwords * sizeof *d);
    if (a->lds_base) memcpy(d, a->place[0], a->lds_base * sizeof *d);
}
static void perform_time(wave *w, transfer *a) { memcpy(&w->sgpr[a->in->op[0].index], a->data, 8); }

static int place(wave *w, const inst *in, const scalar_row *row, transfer *a) {
    uint64_t offset = (uint64_t)(int64_t)in->offset;
    if (in->op_count > 2)
        offset +=
            in->op[2].kind == K_CONST ? (uint64_t)(int64_t)(int32_t)in->op[2].value : scalar_read(w, &in->op[2], T_u32);
    uint64_t address = sgpr_pair(w, in->op[1].index);
    a->lds_base = row->dwords;
    if (row->kind == SCALAR_BUFFER_LOAD) {
        const uint32_t *word = &w->sgpr[in->op[1].index];
        const uint32_t stride = word[1] >> 16 & 0x3fff;
        const uint64_t size = (uint64_t)word[2] * (stride ? stride : 1), at = offset & ~3ull;
        a->lds_base = at >= size ? 0 : size - at < 4ull * row->dwords ? (uint32_t)(size - at) / 4 : row->dwords;
        address &= 0xffffffffffffull;
    }
    a->place[0] = (unsigned char *)(uintptr_t)((address + offset) & ~3ull);
    return a->lds_base == 0 || wave_memory(w, -1, (address + offset) & ~3ull, 4 * a->lds_base, "scalar load") != NULL;
}

void run_smem(wave *w, const inst *in) {
    const scalar_row *row = smem_row(in->row->effect);
    if (row->kind == SCALAR_CACHE) return;
    if (in->op[0].kind != K_SGPR || (row->kind != SCALAR_TIME && in->op[1].kind != K_SGPR)) {
        wave_fault(w, -1, "unexpected operands");
        return;
    }
    transfer *a = access_new(w, in, 0);
    if (!a) return;
    a->on_lgkm = a->scalar = 1;
    a->perform = row->kind == SCALAR_TIME ? perform_time : perform_load;
    if (row->kind == SCALAR_TIME)
        memcpy(a->data, &w->issued, 8);
    else if (!place(w, in, row, a)) {
        a->next = w->spare;
        w->spare = a;
        return;
    }
    if (w->group->launch->late)
        for (uint32_t i = 0; i < row->dwords; i++) w->sgpr[in->op[0].index + i] = POISON_WORD;
    access_issue(w, a);
}
