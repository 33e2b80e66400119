/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Inside of the checks: their state beside a launch, a workgroup and a wave, and the verbs between their files. */
#ifndef SIM_CHECK_STATE_H
#define SIM_CHECK_STATE_H

#include "sim/access.h"
#include "sim/check.h"
#include "sim/check_uses.h"

struct check_program {
    inst_uses *uses; /* by instruction index */
};

/* memory_op: a memory instruction that a wave issued. Epochs count the wave's barriers. */
typedef struct memory_op {
    const inst *in;
    uint64_t exec;
    uint32_t id; /* 0: none */
    uint32_t done_epoch;
    uint16_t wave;
    uint8_t counters, flat, is_atomic, by_memory;
} memory_op;
enum { COUNTED_VM = 1, COUNTED_LGKM = 2, COUNTED_SCALAR = 4 };
#define NOT_DONE UINT32_MAX

/* lds_cell: who touched an LDS byte last: the writer, and two readers of different waves. */
typedef struct lds_cell {
    uint32_t writer, reader[2];
    uint8_t writer_lane, reader_lane[2];
} lds_cell;

enum { MEMORY_OPS = 1 << 16, QUEUE_MAX = 80 };
struct check_group {
    memory_op *ops; /* [id % MEMORY_OPS]: the last ones */
    uint32_t last_op;
    lds_cell *cells; /* by LDS byte */
    group undefined; /* its LDS holds undefined bits */
};

typedef struct op_queue {
    uint32_t id[QUEUE_MAX];
    int count;
} op_queue;

/* slot_record: who touched a register last, and the slot after it. */
typedef struct slot_record {
    uint32_t inst, slot;
} slot_record;

struct check_wave {
    uint64_t lanes; /* EXEC at the start */
    uint32_t epoch;
    op_queue vm, lgkm;
    uint32_t vgpr_load[512], sgpr_load[SGPR_COUNT]; /* memory_op that writes the register */
    uint32_t slot;
    slot_record vgpr_write[512], sgpr_write[SGPR_COUNT], vgpr_c[512], vgpr_store[512];
    slot_record ordered; /* the last s_setreg or f64 matrix instruction */
    wave *undefined;     /* its registers and scratch hold undefined bits, shaped as the wave's own */
    uint64_t dirty[512]; /* lanes in which a register has any */
    transfer transfer;   /* an access on undefined bits */
    uint32_t result[32 * LANES];
};

static inline const inst_uses *check_uses(const wave *w, const inst *in) {
    return &w->group->launch->check->uses[in - w->program->code];
}
static inline int check_stopped(const wave *w) { return w->state == WAVE_FAULTED; }

/* check_register: "v7", "a3", "s12", "vcc" for a text. */
typedef struct register_name {
    char text[12];
} register_name;
register_name check_register(const wave *w, int scalar, int index);

/* check_find: a memory operation by id, NULL if it is 0 or longer ago than MEMORY_OPS.
 * check_wait_text: the s_waitcnt that covers an open operation. */
memory_op *check_find(const group *g, uint32_t id);
typedef struct wait_text {
    char text[40];
} wait_text;
wait_text check_wait_text(const wave *w, const memory_op *op);

/* By file: waits, LDS, slots, undefined. A *_step runs before an instruction, a *_access before a memory access. */
void check_waits_step(wave *w, const inst *in, const inst_uses *u);
memory_op *check_waits_access(wave *w, const transfer *a);
void check_lds_access(wave *w, const transfer *a, memory_op *op);
uint64_t check_slots_of(const inst_uses *u, int second); /* rules, as a producer or as the second */
void check_slots_step(wave *w, const inst *in, const inst_uses *u);
void check_undefined_start(wave *w);
void check_undefined_step(wave *w, const inst *in, const inst_uses *u);
void check_undefined_access(wave *w, const transfer *a, const inst_uses *u);

#endif
