/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Vector memory: buffer, global, flat and scratch instructions up to the lanes' places. access.c does the rest.
 * source: AMD CDNA4 ISA guide, "Vector Memory Operations", "Flat Memory Instructions" */
#include "sim/access.h"

#include <math.h>

#define MEMORY_ROW(space, name, kind, bytes, registers, ...) VALUE_FUNCTION_##kind(name, (__VA_ARGS__))
#include "sim/isa/vmem.def"
#undef MEMORY_ROW

const memory_row *vmem_row(int effect) {
#define MEMORY_ROW(space, name, kind, bytes, registers, ...)                                                           \
    {space, kind, bytes, registers, VALUE_FIELDS_##kind(name, bytes, (__VA_ARGS__))},
    static const memory_row rows[] = {
#include "sim/isa/vmem.def"
    };
#undef MEMORY_ROW
    return &rows[effect];
}

static const char *verb_of(const memory_row *row) {
    return row->kind == STORE ? "store" : row->kind == LOAD || row->kind == LDS_DMA ? "load" : "atomic";
}
static int is_atomic(const memory_row *row) { return row->kind == ATOMIC || row->kind == COMPARE_SWAP; }

static int check_alignment(wave *w, const memory_row *row, int lane, uint64_t address) {
    if (!is_atomic(row) || address % row->bytes == 0) return 1;
    wave_fault(w, lane, "atomic at 0x%llx, not a multiple of %u bytes", (unsigned long long)address, row->bytes);
    return 0;
}

static void perform_load(wave *w, transfer *a);
static void perform_dma(wave *w, transfer *a);

/* ---- places ---- */

/* A descriptor's fields. source: AMD CDNA4 ISA guide, "Buffer Resource Descriptor" */
typedef struct buffer {
    uint64_t base;
    uint32_t stride, records;
    int swizzled, thread_ids;
    uint32_t element, index_stride; /* of a swizzled buffer: bytes, records */
} buffer;

static int read_buffer(wave *w, const operand *o, buffer *out) {
    if (o->kind != K_SGPR || o->count != 4) {
        wave_fault(w, -1, "the buffer descriptor is not four SGPRs");
        return 0;
    }
    const uint32_t *word = &w->sgpr[o->index];
    *out = (buffer){.base = word[0] | (uint64_t)(word[1] & 0xffff) << 32,
                    .stride = word[1] >> 16 & 0x3fff,
                    .records = word[2],
                    .swizzled = (int)(word[1] >> 31),
                    .thread_ids = (int)(word[3] >> 23 & 1),
                    .element = 2u << (word[3] >> 19 & 3),
                    .index_stride = 8u << (word[3] >> 21 & 3)};
    if (out->thread_ids) out->stride |= (word[3] >> 15 & 15) << 14; /* the data format's bits */
    return 1;
}

/* Swizzled: elements of `index_stride` records lie side by side. */
static uint64_t buffer_offset(const buffer *b, uint32_t index, uint32_t offset) {
    if (!b->swizzled) return (uint64_t)index * b->stride + offset;
    const uint32_t within = index % b->index_stride;
    return (uint64_t)(index / b->index_stride) * b->index_stride * b->stride +
           (uint64_t)(offset / b->element) * b->element * b->index_stride + within * b->element + offset % b->element;
}

/* Dwords of the lane's value that the descriptor lets through. */
static uint8_t buffer_range(const inst *in, const buffer *b, const memory_row *row, uint32_t index, uint32_t offset,
                            uint32_t soffset) {
    if ((in->idxen || b->thread_ids) && b->stride) return index < b->records ? 0xff : 0;
    uint8_t bits = 0;
    const uint32_t step = row->bytes < 4 || is_atomic(row) ? row->bytes : 4;
    for (uint32_t d = 0; d * step < row->bytes; d++)
        if ((uint64_t)offset + soffset + (uint64_t)(d + 1) * step <= b->records) bits |= (uint8_t)(1 << d);
    return bits;
}

static int buffer_places(wave *w, const inst *in, const memory_row *row, transfer *a, int at) {
    const operand *address = &in->op[at];
    buffer b;
    if (!read_buffer(w, &in->op[at + 1], &b)) return 0;
    const uint32_t soffset = (uint32_t)scalar_read(w, &in->op[at + 2], T_u32);
    FOR_LANES(a->exec, l) {
        const uint32_t index = (in->idxen ? w->vgpr[address->index][l] : 0) + (b.thread_ids ? (uint32_t)l : 0);
        const uint32_t voffset = in->offen ? w->vgpr[address->index + in->idxen][l] : 0;
        const uint32_t offset = voffset + (uint32_t)in->offset;
        const uint64_t place = b.base + buffer_offset(&b, index, offset) + soffset;
        a->in_range[l] = buffer_range(in, &b, row, index, offset, soffset);
        a->place[l] = (unsigned char *)(uintptr_t)place;
        const uint32_t step = row->bytes < 4 || is_atomic(row) ? row->bytes : 4;
        uint32_t first = 0, last = 0; /* the in-range dwords are a run: offsets only grow */
        for (uint32_t d = 0; d * step < row->bytes; d++)
            if (a->in_range[l] >> d & 1) {
                if (last == 0) first = d * step;
                last = (d + 1) * step;
            }
        if (last == 0) continue;
        if (!check_alignment(w, row, (int)l, place) ||
            !wave_memory(w, (int)l, place + first, last - first, verb_of(row)))
            return 0;
        if (b.swizzled && offset % b.element + row->bytes > b.element) {
            wave_fault(w, (int)l, "%u bytes at offset %u of a swizzled buffer cross its elements of %u bytes",
                       row->bytes, offset, b.element);
            return 0;
        }
    }
    return 1;
}

static unsigned char *scratch_place(wave *w, const memory_row *row, int lane, uint64_t offset) {
    const uint32_t size = w->group->launch->scratch_bytes;
    if (offset <= size && row->bytes <= size - offset) return w->scratch + (uint64_t)(unsigned)lane * size + offset;
    wave_fault(w, lane, "scratch %s of %u bytes at offset %lld of %u allocated", verb_of(row), row->bytes,
               (long long)offset, size);
    return NULL;
}

static unsigned char *flat_place(wave *w, const memory_row *row, int lane, uint64_t address) {
    if (!check_alignment(w, row, lane, address)) return NULL;
    if ((address & APERTURE_MASK) == PRIVATE_BASE) return scratch_place(w, row, lane, address - PRIVATE_BASE);
    if ((address & APERTURE_MASK) != SHARED_BASE) return wave_memory(w, lane, address, row->bytes, verb_of(row));
    const uint64_t offset = address - SHARED_BASE;
    if (offset <= w->group->lds_bytes && row->bytes <= w->group->lds_bytes - offset) return w->group->lds + offset;
    wave_fault(w, lane, "flat %s of %u bytes at LDS address %llu of %u allocated", verb_of(row), row->bytes,
               (unsigned long long)offset, w->group->lds_bytes);
    return NULL;
}

/* Global, flat and scratch: 64-bit VGPR pair, or SGPR base plus 32-bit VGPR. */
static int flat_places(wave *w, const inst *in, const memory_row *row, transfer *a, int at) {
    const int after = at + (a->perform == perform_load || a->perform == perform_dma ? 1 : 2); /* data lie between */
    const operand *v = &in->op[at], *s = &in->op[after];
    const int has_base = row->space != SPACE_ANY && after < in->op_count && s->kind != K_OFF;
    const uint64_t base = has_base ? scalar_read(w, s, row->space == SPACE_PRIVATE ? T_u32 : T_u64) : 0;
    FOR_LANES(a->exec, l) {
        uint64_t offset = 0;
        if (v->kind == K_VGPR) {
            offset = w->vgpr[v->index][l];
            if (v->count == 2) offset |= (uint64_t)w->vgpr[v->index + 1][l] << 32;
        }
        const uint64_t address = base + offset + (uint64_t)(int64_t)in->offset;
        switch (row->space) {
        case SPACE_PRIVATE: a->place[l] = scratch_place(w, row, (int)l, (uint32_t)address); break;
        case SPACE_ANY: a->place[l] = flat_place(w, row, (int)l, address); break;
        default:
            if (!check_alignment(w, row, (int)l, address)) return 0;
            a->place[l] = wave_memory(w, (int)l, address, row->bytes, verb_of(row));
        }
        if (!a->place[l]) return 0;
    }
    return 1;
}

/* ---- LDS DMA: memory to LDS, the LDS side linear in the lane ---- */

static uint32_t dma_pitch(const memory_row *row) { return row->bytes <= 4 ? 4 : 16; }

static int dma_target(wave *w, const inst *in, const memory_row *row, transfer *a) {
    const chip *c = w->program->chip;
    const uint32_t m0 = w->sgpr[SGPR_M0] & (c->lds_bytes > 0x10000 ? 0x3ffffu : 0xffffu);
    a->lds_base = m0 + (uint32_t)in->offset;
    if ((int)row->bytes > c->lds_dma_bytes) {
        wave_fault(w, -1, "%s has no LDS DMA of %u bytes a lane", c->name, row->bytes);
        return 0;
    }
    FOR_LANES(a->exec, l) {
        const uint64_t to = a->lds_base + l * dma_pitch(row);
        if (to % 4 == 0 && to + 4 * row->registers <= w->group->lds_bytes) continue;
        wave_fault(w, (int)l, "LDS DMA to LDS address %llu (%u bytes): %s", (unsigned long long)to, row->bytes,
                   to % 4 ? "not a multiple of 4" : "beyond the workgroup's LDS");
        return 0;
    }
    return 1;
}

static void perform_dma(wave *w, transfer *a) {
    const memory_row *row = vmem_row(a->in->row->effect);
    FOR_LANES(a->exec, l) {
        unsigned char *to = w->group->lds + a->lds_base + l * dma_pitch(row);
        for (uint32_t r = 0; r < row->registers; r++) {
            uint32_t x = 0;
            if (a->in_range[l] >> r & 1) memcpy(&x, a->place[l] + 4 * r, row->bytes < 4 ? row->bytes : 4);
            if (row->load) x = row->load(x, 0);
            memcpy(to + 4 * r, &x, 4);
        }
    }
}

static void perform_load(wave *w, transfer *a) { access_load(w, a, vmem_row(a->in->row->effect)); }
static void perform_store(wave *w, transfer *a) {
    (void)w;
    access_store(a, vmem_row(a->in->row->effect));
}
static void perform_atomic(wave *w, transfer *a) { access_atomic(w, a, vmem_row(a->in->row->effect), a->in->sc0); }

void run_vmem(wave *w, const inst *in) {
    const memory_row *row = vmem_row(in->row->effect);
    if (row->kind == CACHE) return;
    const int dma = row->kind == LDS_DMA || in->lds;
    /* Where the address operands start, and where the data is. */
    const int is_buffer = row->space == SPACE_BUFFER;
    const int returns = is_atomic(row) && in->sc0;
    int address = dma ? 0 : is_buffer || row->kind == LOAD || returns ? 1 : 0, data = 0;
    if (!is_buffer && !dma && row->kind != LOAD) data = address + 1;
    if (in->op_count < address + (is_buffer ? 3 : 1) || in->op_count <= data) {
        wave_fault(w, -1, "unexpected number of operands");
        return;
    }
    transfer *a = access_new(w, in, wave_exec(w));
    if (!a) return;
    a->on_vm = 1;
    a->on_lgkm = row->space == SPACE_ANY;
    a->perform = dma                  ? perform_dma
                 : row->kind == LOAD  ? perform_load
                 : row->kind == STORE ? perform_store
                                      : perform_atomic;
    const int placed = is_buffer ? buffer_places(w, in, row, a, address) : flat_places(w, in, row, a, address);
    if (!placed || (dma && !dma_target(w, in, row, a))) {
        a->next = w->spare;
        w->spare = a;
        return;
    }
    if (!dma && row->kind != LOAD)
        take_data(w, a, &in->op[data], row->registers * (row->kind == COMPARE_SWAP ? 2 : 1), 0);
    if ((row->kind == LOAD && !dma) || returns) poison_target(w, a, row, row->registers);
    access_issue(w, a);
}
