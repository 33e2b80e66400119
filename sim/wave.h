/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A wave's state, a workgroup, a launch, and the verbs that executors use on them. */
#ifndef SIM_WAVE_H
#define SIM_WAVE_H

#include <stdatomic.h>

#include "sim/isa.h"

/* Flat addresses that mean LDS and scratch. Device addresses lie below. */
#define SHARED_BASE 0x0001000000000000ull
#define PRIVATE_BASE 0x0002000000000000ull
#define APERTURE_MASK 0xffff000000000000ull

#define FOR_LANES(bits, l)                                                                                             \
    for (uint64_t left = (bits), l = 0; left && (l = (uint64_t)__builtin_ctzll(left), 1); left &= left - 1)

#define POISON_WORD 0x7fa0deadu /* a signalling NaN as f32, and as f16 a NaN in its high half */

typedef struct launch launch;
typedef struct group group;
typedef struct wave wave;

/* check_level: which checks of sim/check.h a launch runs. */
typedef enum check_level {
    CHECK_OFF,
    CHECK_RACES, /* waits, LDS races, barriers */
    CHECK_ALL    /* and wait states and undefined values */
} check_level;

/* Bits of MODE. */
enum {
    MODE_ROUND_F32 = 0x3,
    MODE_ROUND_F16_F64 = 0xc,
    MODE_ALLOW_F32_DENORMALS_IN = 0x10,
    MODE_ALLOW_F16_F64_DENORMALS_IN = 0x40,
    MODE_ALLOW_F16_F64_DENORMALS_OUT = 0x80,
    MODE_F16_F64_DENORMALS = 0xc0,
    MODE_FP16_OVFL = 1 << 23,
    MODE_GPR_IDX_EN = 1 << 27
};

typedef enum wave_state { WAVE_READY, WAVE_AT_BARRIER, WAVE_ENDED, WAVE_FAULTED } wave_state;

/* transfer: one memory instruction of a wave, with places and store data taken at issue. */
typedef struct transfer transfer;
struct transfer {
    transfer *next;
    const inst *in;
    void (*perform)(wave *, transfer *);
    uint8_t on_vm, on_lgkm, scalar; /* counters that hold it */
    uint64_t exec;
    unsigned char *place[LANES]; /* host address of the lane's memory, LDS or scratch */
    uint8_t in_range[LANES];     /* descriptor check, one bit a dword */
    uint32_t elements;           /* 2: the second lies `second` bytes from the first */
    ptrdiff_t second;
    uint32_t lds_base;        /* LDS DMA: LDS address of lane 0 */
    uint32_t data[4 * LANES]; /* [register][lane] */
};

struct wave {
    uint32_t vgpr[512][LANES];
    uint32_t mask[LANES]; /* EXEC spread over lanes: 0 or ~0 */
    uint64_t mask_exec;   /* the EXEC that `mask` shows */
    uint32_t sgpr[SGPR_COUNT];
    uint32_t scc, mode;
    int saturate; /* MODE.FP16_OVFL of the instruction that runs */
    const inst *pc, *current;
    const program *program;
    wave_state state;
    group *group;
    unsigned id;                              /* within the workgroup */
    uint64_t issued;                          /* instructions */
    transfer *pending, **pending_end, *spare; /* oldest first */
    int vm_count, lgkm_count, scalar_count;
    unsigned char *scratch; /* [lane][bytes] */
    const struct allocation *last_hit;
    void *memory;             /* what this wave was allocated as */
    struct check_wave *check; /* NULL: not checked */
};

struct group {
    launch *launch;
    uint32_t id[3];
    unsigned char *lds;
    uint32_t lds_bytes;
    unsigned waves;
    wave **wave;
    struct check_group *check;
};

struct launch {
    const chip *chip;
    const program *program;
    struct memory *memory;
    int late, poison;
    check_level check_level;
    struct check_program *check;
    unsigned threads;
    uint64_t limit; /* instructions of a wave, beyond which the kernel counts as endless; 0: none */
    const inst *entry;
    uint32_t rsrc1, rsrc2, properties, preload;
    uint32_t vgprs;           /* to clear before each workgroup */
    uint64_t kernarg, packet; /* device addresses: arguments, dispatch packet */
    uint32_t grid[3], block[3];
    uint32_t lds_bytes, scratch_bytes;
    void (*observe)(void *observer, wave *w, const transfer *a); /* each access before it is performed; NULL: nobody */
    void *observer;
    /* results */
    atomic_ullong next_group;
    atomic_int faulted;
    char fault[1024];
};

static inline uint64_t sgpr_pair(const wave *w, int index) {
    return w->sgpr[index] | (uint64_t)w->sgpr[index + 1] << 32;
}
static inline void set_sgpr_pair(wave *w, int index, uint64_t x) {
    w->sgpr[index] = (uint32_t)x;
    w->sgpr[index + 1] = (uint32_t)(x >> 32);
}
static inline uint64_t wave_exec(const wave *w) { return sgpr_pair(w, SGPR_EXEC); }

/* scalar_read, scalar_write: a wave-uniform operand; 64-bit types take a pair. */
uint64_t scalar_read(const wave *w, const operand *o, value_type type);
void scalar_write(wave *w, const operand *o, value_type type, uint64_t x);

/* wave_fault: stop the launch; the first fault of a launch is the one reported. lane -1: none in particular. */
void wave_fault(wave *w, int lane, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* wave_jump: continue at a device address. */
void wave_jump(wave *w, uint64_t address);

/* wave_memory: host address of `size` bytes at a device address, NULL after a fault if no live allocation holds them
 * all. */
unsigned char *wave_memory(wave *w, int lane, uint64_t address, uint32_t size, const char *verb);

/* access_new: a transfer record; access_issue: perform it now, or in late mode when a wait covers it.
 * access_wait: let accesses complete until the counters are at most vm and lgkm (0xffff: any). */
transfer *access_new(wave *w, const inst *in, uint64_t exec);
void access_issue(wave *w, transfer *a);
void access_wait(wave *w, uint32_t vm, uint32_t lgkm);
void access_free_all(wave *w);

/* wave_step: one instruction of a wave that is ready. */
void wave_step(wave *w);

/* group_run: run the workgroup's waves to their ends, or to the launch's fault. */
void group_run(group *g);

/* Executors by format. */
run_function *scalar_runner(int effect);
run_function *lane_runner(int effect);
run_function run_vector, run_compare, run_vmem, run_lds, run_smem, run_matrix;

#endif
