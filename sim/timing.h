/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Modelled time of a launch on the simulator. Every figure here is a model's, none is a measurement.
 * source: docs/timing.md */
#ifndef SIM_TIMING_H
#define SIM_TIMING_H

#include "core/chip.h"
#include "core/memory.h"

/* sim_stall: why a wave that is not issuing does not. The first four are the wave's own waits (wait_any), the others
 * are waits for the unit to take an instruction that is ready (wait_inst). */
typedef enum sim_stall {
    STALL_VMCNT,
    STALL_LGKMCNT,
    STALL_BARRIER,
    STALL_DEPENDENCY, /* a result that is not there yet, s_nop, s_sleep */
    STALL_ARBITRATION,
    STALL_MFMA_PIPE,
    STALL_VALU_GATE, /* a VALU instruction behind a matrix instruction that it cannot run beside */
    STALL_QUEUE,     /* LDS or vector memory takes no more */
    STALL_FETCH,     /* taken branches, start of a wave */
    STALL_COUNT
} sim_stall;
enum { STALL_WAIT_ANY = STALL_ARBITRATION }; /* the first of wait_inst */
extern const char *const sim_stall_names[STALL_COUNT];

typedef enum sim_kind {
    KIND_MFMA,
    KIND_VALU,
    KIND_SALU,
    KIND_SMEM,
    KIND_LDS_READ,
    KIND_LDS_WRITE,
    KIND_VMEM_LOAD,
    KIND_VMEM_STORE,
    KIND_LDS_DMA,
    KIND_BRANCH,
    KIND_WAIT,
    KIND_BARRIER,
    KIND_OTHER, /* s_nop, s_setprio, s_endpgm, ... */
    KIND_COUNT
} sim_kind;
extern const char *const sim_kind_names[KIND_COUNT];

/* sim_instruction: one instruction of the kernel, summed over the waves that were simulated in detail. units: clk */
typedef struct sim_instruction {
    uint32_t address; /* bytes from the start of the text section */
    sim_kind kind;
    const char *text;
    uint64_t issued, active, stall[STALL_COUNT];
    uint64_t lds, lds_conflict; /* bank array; conflict: beyond a conflict-free access */
    uint64_t vmem;              /* address unit of vector memory */
} sim_instruction;

/* sim_loop: a backward branch and what lies under it. Figures are per trip of one wave. units: clk */
typedef struct sim_loop {
    size_t first, last; /* indices of instructions; `last` is the branch */
    int inner;          /* no other loop inside */
    uint64_t trips;     /* timed: all but the first of each entry */
    double instructions, mix[KIND_COUNT];
    double clk;        /* of the wave */
    double simd_clk;   /* of a SIMD, with as many waves in the loop as for most trips: compare it with the bounds */
    double mfma_bound; /* matrix pipe */
    double issue_bound;
    double lds_bound; /* bank array of the CU over its SIMDs */
    double vmem_bound;
    double mfma_busy; /* mfma_bound / simd_clk */
    const char *binds;
} sim_loop;

typedef struct sim_timing {
    const chip *chip;
    char kernel[256];
    /* what was simulated */
    uint64_t groups, groups_detailed, groups_walked; /* walked: their memory accesses only, for the shared caches */
    uint32_t waves_per_group;
    int complete; /* 0: the detailed waves were stopped before their ends */
    text notes;   /* one sentence a line: what was extrapolated, assumed, left out */
    /* occupancy */
    uint32_t groups_per_cu, waves_per_simd, waves_reached; /* reached: most waves that stood on one SIMD at once */
    const char *limit;
    /* cycles of the CU that was simulated, and of the whole kernel on the device */
    double cu_clk, kernel_clk;
    double ns_fast, ns, ns_slow; /* with launch: peak clock, sustained clock, slowest sustained clock */
    double mhz_fast, mhz, mhz_slow;
    double launch_ns_fast, launch_ns_slow;
    double mfma_busy, valu_busy; /* share of the SIMDs' clk */
    /* sums over the waves; wave_clk = active + wait_any + wait_inst */
    uint64_t wave_clk, active, wait_any, wait_inst, stall[STALL_COUNT];
    uint64_t lds_clk, lds_conflict;
    /* bytes of the whole grid, extrapolated */
    double load_bytes, l1_miss_bytes, l2_miss_bytes, hbm_bytes, store_bytes;
    double l1_hit, l2_hit, mall_hit; /* loads */
    sim_loop *loops;
    size_t loop_count;
    sim_instruction *instructions;
    size_t instruction_count;
    arena memory; /* holds the arrays and texts above */
} sim_timing;

/* sim_event: what a wave in detail did for a while. units: clk from the start of the CU's first workgroup */
enum { EVENT_ISSUE = -1 };
typedef struct sim_event {
    uint64_t group;     /* linear id of the workgroup */
    unsigned wave;      /* of the workgroup */
    int simd, stall;    /* EVENT_ISSUE, or the sim_stall for which `instruction` waits */
    size_t instruction; /* index in sim_timing.instructions */
    uint64_t clk, length;
} sim_event;

typedef struct sim_timing_options {
    const char *parameters;     /* file of lines "name = value" that replace values of the table; NULL: none */
    int only;                   /* 1: model only, leave device memory as it was; 0: then run the launch as ever */
    uint64_t instructions_most; /* of waves in detail; 0: a default that takes seconds */
    uint64_t stands_for; /* workgroups of a larger launch that this one is a part of: each CU is given as many as there,
                                   and the figures are the larger launch's; 0: the launch is what it is */
    double
        traffic; /* each byte between L2, MALL and HBM counts so often: what a verdict on traffic must stand; 0: once */
    void (*event)(void *user,
                  const sim_event *e); /* told as the model goes, in no order across waves; NULL: not told */
    void *event_user;
} sim_timing_options;

/* sim_timing_next: model the time of the next kernel that this process launches on the simulator.
 * The workgroups that the model looks at run on the launch's memory, which is put back as it was before the launch
 * proper.
 * owner:  *out is the caller's and must live until then; sim_timing_free, also instead of the launch
 * errors: BAD_ARGUMENT (unknown parameter, value that is not a number), IO. What goes wrong at the launch is its
 * error. */
cdnagen_status sim_timing_next(const chip *c, const sim_timing_options *options, sim_timing *out);
void sim_timing_free(sim_timing *t);

/* sim_hot_loop: the innermost loop that issues most matrix instructions; NULL: there is none. */
const sim_loop *sim_hot_loop(const sim_timing *t);

/* sim_loop_bound: the largest of a loop's four bounds; *name: which one that is, static; NULL if all are 0.   units:
 * clk */
double sim_loop_bound(const sim_loop *l, const char **name);

/* sim_bound: what the loop of a code object's first kernel that is cheapest by this measure costs a SIMD for each of
 * its matrix instructions, by the larger of matrix pipe and issue; 0 for a kernel without matrix instructions.
 * units:  clk   math: max(passes * 4, 4 * (VALU slots + gate of each matrix instruction)) / matrix instructions
 * errors: BAD_OBJECT, NO_MEMORY, UNAVAILABLE   source: docs/timing.md, "The report" */
cdnagen_status sim_bound(const void *object, size_t size, double *clk_per_mfma);

/* SIM_TIMING_VERSION: of the model's rules; raised where figures change, so that stored ones are not mixed with new
 * ones.
 * sim_timing_parameters: the table of the model's parameters, one line each with unit, tag and source. */
enum { SIM_TIMING_VERSION = 1 };
void sim_timing_parameters(const chip *c, text *out);

#endif
