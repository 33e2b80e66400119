/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the rows of vmem.def and lds.def hold, and how their accesses are done once the places are known. */
#ifndef SIM_ACCESS_H
#define SIM_ACCESS_H

#include "sim/lane_math.h"
#include "sim/wave.h"

typedef enum memory_kind {
    LOAD,
    STORE,
    ATOMIC, /* returns the old value if the instruction's sc0 says so */
    COMPARE_SWAP,
    ATOMIC_RETURN,
    COMPARE_SWAP_RETURN,
    LDS_DMA,
    CACHE, /* write back or invalidate: nothing to do here */
    READ2,
    READ2_ST64,
    WRITE2,
    WRITE2_ST64,
    BPERMUTE,
    PERMUTE,
    SWIZZLE,
    TRANSPOSE_4,
    TRANSPOSE_6,
    TRANSPOSE_8,
    TRANSPOSE_16
} memory_kind;

typedef enum memory_space { SPACE_BUFFER, SPACE_GLOBAL, SPACE_ANY, SPACE_PRIVATE, SPACE_LDS } memory_space;

typedef struct memory_row {
    memory_space space;
    memory_kind kind;
    uint32_t bytes, registers;
    uint32_t (*load)(uint32_t m, uint32_t d); /* NULL: whole registers as they are */
    uint32_t shift;
    uint64_t (*atomic)(uint64_t m, uint64_t b, uint64_t a);
} memory_row;

/* One function per row that has one; the table's last fields. */
#define VALUE_FUNCTION_LOAD(name, value)                                                                               \
    static uint32_t name##_value(uint32_t M, uint32_t D) {                                                             \
        (void)D;                                                                                                       \
        return value;                                                                                                  \
    }
#define VALUE_FUNCTION_ATOMIC(name, value)                                                                             \
    static uint64_t name##_value(uint64_t M, uint64_t B, uint64_t A) {                                                 \
        (void)M, (void)A;                                                                                              \
        return value;                                                                                                  \
    }
#define VALUE_FUNCTION_STORE(name, value)
#define VALUE_FUNCTION_COMPARE_SWAP VALUE_FUNCTION_ATOMIC
#define VALUE_FUNCTION_ATOMIC_RETURN VALUE_FUNCTION_ATOMIC
#define VALUE_FUNCTION_COMPARE_SWAP_RETURN VALUE_FUNCTION_ATOMIC
#define VALUE_FUNCTION_LDS_DMA VALUE_FUNCTION_LOAD
#define VALUE_FUNCTION_CACHE VALUE_FUNCTION_STORE
#define VALUE_FUNCTION_READ2 VALUE_FUNCTION_STORE
#define VALUE_FUNCTION_READ2_ST64 VALUE_FUNCTION_STORE
#define VALUE_FUNCTION_WRITE2 VALUE_FUNCTION_STORE
#define VALUE_FUNCTION_WRITE2_ST64 VALUE_FUNCTION_STORE
#define VALUE_FUNCTION_BPERMUTE VALUE_FUNCTION_STORE
#define VALUE_FUNCTION_PERMUTE VALUE_FUNCTION_STORE
#define VALUE_FUNCTION_SWIZZLE VALUE_FUNCTION_STORE
#define VALUE_FUNCTION_TRANSPOSE_4 VALUE_FUNCTION_STORE
#define VALUE_FUNCTION_TRANSPOSE_6 VALUE_FUNCTION_STORE
#define VALUE_FUNCTION_TRANSPOSE_8 VALUE_FUNCTION_STORE
#define VALUE_FUNCTION_TRANSPOSE_16 VALUE_FUNCTION_STORE
#define VALUE_FIELDS_LOAD(name, bytes, value) .load = (bytes) < 4 ? name##_value : NULL
#define VALUE_FIELDS_STORE(name, bytes, value) .shift = (value)
#define VALUE_FIELDS_ATOMIC(name, bytes, value) .atomic = name##_value
#define VALUE_FIELDS_COMPARE_SWAP VALUE_FIELDS_ATOMIC
#define VALUE_FIELDS_ATOMIC_RETURN VALUE_FIELDS_ATOMIC
#define VALUE_FIELDS_COMPARE_SWAP_RETURN VALUE_FIELDS_ATOMIC
#define VALUE_FIELDS_NONE(name, bytes, value) .shift = 0
#define VALUE_FIELDS_LDS_DMA VALUE_FIELDS_LOAD
#define VALUE_FIELDS_CACHE VALUE_FIELDS_NONE
#define VALUE_FIELDS_READ2 VALUE_FIELDS_NONE
#define VALUE_FIELDS_READ2_ST64 VALUE_FIELDS_NONE
#define VALUE_FIELDS_WRITE2 VALUE_FIELDS_NONE
#define VALUE_FIELDS_WRITE2_ST64 VALUE_FIELDS_NONE
#define VALUE_FIELDS_BPERMUTE VALUE_FIELDS_NONE
#define VALUE_FIELDS_PERMUTE VALUE_FIELDS_NONE
#define VALUE_FIELDS_SWIZZLE VALUE_FIELDS_NONE
#define VALUE_FIELDS_TRANSPOSE_4 VALUE_FIELDS_NONE
#define VALUE_FIELDS_TRANSPOSE_6 VALUE_FIELDS_NONE
#define VALUE_FIELDS_TRANSPOSE_8 VALUE_FIELDS_NONE
#define VALUE_FIELDS_TRANSPOSE_16 VALUE_FIELDS_NONE

const memory_row *vmem_row(int effect);
const memory_row *lds_row(int effect);

/* access_load: memory to the registers from op[0] on; of two elements the second follows.
 * access_store: a->data to memory.   access_atomic: returns the old value to op[0] if `returns`. */
void access_load(wave *w, transfer *a, const memory_row *row);
void access_store(transfer *a, const memory_row *row);
void access_atomic(wave *w, transfer *a, const memory_row *row, int returns);

/* lds_move: a->data of a permutation or swizzle: `data`'s lanes moved as the instruction says. */
void lds_move(const wave *w, const inst *in, const uint32_t *data, transfer *a);

/* take_data: copy `registers` of a source operand into a->data from register `at` on.
 * poison_target: in late mode, what a load's destination holds until it completes. */
void take_data(const wave *w, transfer *a, const operand *o, uint32_t registers, uint32_t at);
void poison_target(wave *w, const transfer *a, const memory_row *row, uint32_t registers);

#endif
