/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LDS instructions, and the lane permutations that share their unit.
 * source: AMD CDNA4 ISA guide, "Data Share Operations"; CDNA4 instruction list for the transposing reads */
#include "sim/access.h"

/* Each half whose top bit is set in the data is replaced by the rest of that half. */
static uint64_t exchange_where_signed(uint64_t m, uint64_t b) {
    const uint64_t low = b >> 31 & 1 ? b & 0x7fffffff : m & 0xffffffff, high = b >> 63 ? b >> 32 & 0x7fffffff : m >> 32;
    return low | high << 32;
}

#define LDS_ROW(name, kind, bytes, registers, ...) VALUE_FUNCTION_##kind(name, (__VA_ARGS__))
#include "sim/isa/lds.def"
#undef LDS_ROW

const memory_row *lds_row(int effect) {
#define LDS_ROW(name, kind, bytes, registers, ...)                                                                     \
    {SPACE_LDS, kind, bytes, registers, VALUE_FIELDS_##kind(name, bytes, (__VA_ARGS__))},
    static const memory_row rows[] = {
#include "sim/isa/lds.def"
    };
#undef LDS_ROW
    return &rows[effect];
}

static void perform_load(wave *w, transfer *a) { access_load(w, a, lds_row(a->in->row->effect)); }
static void perform_store(wave *w, transfer *a) {
    (void)w;
    access_store(a, lds_row(a->in->row->effect));
}
static void perform_atomic(wave *w, transfer *a) { access_atomic(w, a, lds_row(a->in->row->effect), 0); }
static void perform_atomic_return(wave *w, transfer *a) { access_atomic(w, a, lds_row(a->in->row->effect), 1); }
static void perform_move(wave *w, transfer *a) { FOR_LANES(a->exec, l) w->vgpr[a->in->op[0].index][l] = a->data[l]; }

/* ---- permutations: the result is in a->data when the instruction issues ---- */

static void bpermute(const wave *w, const inst *in, const uint32_t *data, transfer *a) {
    const uint32_t *address = w->vgpr[in->op[1].index];
    for (int l = 0; l < LANES; l++) {
        const uint32_t from = (address[l] + (uint32_t)in->offset) / 4 % LANES;
        a->data[l] = a->exec >> from & 1 ? data[from] : 0;
    }
}
static void permute(const wave *w, const inst *in, const uint32_t *data, transfer *a) {
    const uint32_t *address = w->vgpr[in->op[1].index];
    for (int l = 0; l < LANES; l++) a->data[l] = 0;
    FOR_LANES(a->exec, l) a->data[(address[l] + (uint32_t)in->offset) / 4 % LANES] = data[l];
}
static void swizzle(const wave *w, const inst *in, const uint32_t *data, transfer *a) {
    (void)w;
    for (int l = 0; l < LANES; l++) {
        const unsigned s = in->swizzle;
        const int from = s & 0x8000 ? (l & ~3) | (int)(s >> (2 * (l & 3)) & 3)
                                    : (l & 32) | (int)((((unsigned)l & 31 & s) | (s >> 5 & 31)) ^ (s >> 10 & 31));
        a->data[l] = a->exec >> from & 1 ? data[from] : 0;
    }
}

void lds_move(const wave *w, const inst *in, const uint32_t *data, transfer *a) {
    const memory_kind kind = lds_row(in->row->effect)->kind;
    (kind == BPERMUTE ? bpermute : kind == PERMUTE ? permute : swizzle)(w, in, data, a);
}

/* Transposing read: within 16 lanes the elements are laid end to end, and lane t takes every 16th from t on. */
static void perform_transpose(wave *w, transfer *a) {
    const memory_row *row = lds_row(a->in->row->effect);
    const int bits = row->kind == TRANSPOSE_4 ? 4 : row->kind == TRANSPOSE_6 ? 6 : row->kind == TRANSPOSE_8 ? 8 : 16;
    const int per_lane = (int)row->bytes * 8 / bits;
    uint32_t (*const d)[LANES] = &w->vgpr[a->in->op[0].index];
    for (int l = 0; l < LANES; l++) {
        uint32_t words[4] = {0};
        for (int n = 0; n < per_lane; n++) {
            const int e = (l & 15) + 16 * n, from = (l & ~15) + e / per_lane, at = e % per_lane * bits;
            uint32_t x = 0;
            if (a->exec >> from & 1)
                for (int i = 0; i < bits; i++) x |= (uint32_t)(a->place[from][(at + i) / 8] >> (at + i) % 8 & 1) << i;
            for (int i = 0; i < bits; i++) words[(n * bits + i) / 32] |= (x >> i & 1) << (n * bits + i) % 32;
        }
        if (a->exec >> l & 1)
            for (uint32_t r = 0; r < row->registers; r++) d[r][l] = words[r];
    }
}

/* ---- addresses ---- */

static unsigned char *lds_place(wave *w, const memory_row *row, int lane, uint32_t address) {
    const group *g = w->group;
    const int is_atomic = row->kind == ATOMIC || row->kind == ATOMIC_RETURN || row->kind == COMPARE_SWAP ||
                          row->kind == COMPARE_SWAP_RETURN;
    if (is_atomic && address % row->bytes) {
        wave_fault(w, lane, "LDS atomic at LDS address %u, not a multiple of %u bytes", address, row->bytes);
        return NULL;
    }
    if (address <= g->lds_bytes && row->bytes <= g->lds_bytes - address) return g->lds + address;
    wave_fault(w, lane, "LDS access of %u bytes at LDS address %u of %u allocated", row->bytes, address, g->lds_bytes);
    return NULL;
}

static int places(wave *w, const inst *in, const memory_row *row, transfer *a, const operand *address, uint32_t unit) {
    const uint32_t first = unit ? (uint32_t)in->offset0 * unit : (uint32_t)in->offset;
    FOR_LANES(a->exec, l) {
        const uint32_t at = w->vgpr[address->index][l];
        a->place[l] = lds_place(w, row, (int)l, at + first);
        if (!a->place[l] || (unit && !lds_place(w, row, (int)l, at + (uint32_t)in->offset1 * unit))) return 0;
    }
    if (unit) {
        a->elements = 2;
        a->second = ((ptrdiff_t)in->offset1 - in->offset0) * unit;
    }
    return 1;
}

void run_lds(wave *w, const inst *in) {
    const memory_row *row = lds_row(in->row->effect);
    transfer *a = access_new(w, in, wave_exec(w));
    if (!a) return;
    a->on_lgkm = 1;
    const operand *o = in->op;
    int placed = 1;
    switch (row->kind) {
    case LOAD:
        placed = places(w, in, row, a, &o[1], 0);
        a->perform = perform_load;
        break;
    case READ2:
    case READ2_ST64:
        placed = places(w, in, row, a, &o[1], row->bytes * (row->kind == READ2 ? 1 : 64));
        a->perform = perform_load;
        break;
    case TRANSPOSE_4:
    case TRANSPOSE_6:
    case TRANSPOSE_8:
    case TRANSPOSE_16:
        placed = places(w, in, row, a, &o[1], 0);
        a->perform = perform_transpose;
        break;
    case STORE:
        placed = places(w, in, row, a, &o[0], 0);
        take_data(w, a, &o[1], row->registers, 0);
        a->perform = perform_store;
        break;
    case WRITE2:
    case WRITE2_ST64:
        placed = places(w, in, row, a, &o[0], row->bytes * (row->kind == WRITE2 ? 1 : 64));
        take_data(w, a, &o[1], row->registers, 0);
        take_data(w, a, &o[2], row->registers, row->registers);
        a->perform = perform_store;
        break;
    case ATOMIC:
    case COMPARE_SWAP:
        placed = places(w, in, row, a, &o[0], 0);
        take_data(w, a, &o[1], row->registers, 0);
        if (row->kind == COMPARE_SWAP) take_data(w, a, &o[2], row->registers, row->registers);
        a->perform = perform_atomic;
        break;
    case ATOMIC_RETURN:
    case COMPARE_SWAP_RETURN:
        placed = places(w, in, row, a, &o[1], 0);
        take_data(w, a, &o[2], row->registers, 0);
        if (row->kind == COMPARE_SWAP_RETURN) take_data(w, a, &o[3], row->registers, row->registers);
        a->perform = perform_atomic_return;
        break;
    default: lds_move(w, in, w->vgpr[o[row->kind == SWIZZLE ? 1 : 2].index], a); a->perform = perform_move;
    }
    if (!placed) {
        a->next = w->spare;
        w->spare = a;
        return;
    }
    if (a->perform != perform_store && a->perform != perform_atomic)
        poison_target(w, a, row, row->registers * (a->perform == perform_load && row->kind != LOAD ? 2 : 1));
    access_issue(w, a);
}
