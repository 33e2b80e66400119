/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the parts of the timing model share: classified instructions, the memory system of one XCD, the CU. */
#ifndef SIM_TIMING_MODEL_H
#define SIM_TIMING_MODEL_H

#include "sim/timing.h"
#include "sim/timing/parameters.h"
#include "sim/wave.h"

/* Not an enum: these meet doubles, and clang warns of arithmetic between an enumerator and a double. */
#define SLOT_CLK 4
#define SIMDS 4
#define LINE_BYTES 128
#define SEGMENT_BYTES 64
#define VMEM_ENTRIES_MAX 64

/* ---- classify.c: what the rules need to know of an instruction ---- */

/* The categories of which a SIMD issues one instruction each in a slot, from different waves. */
typedef enum category { CATEGORY_VALU, CATEGORY_VMEM, CATEGORY_SCALAR, CATEGORY_LDS, CATEGORY_BRANCH } category;

typedef enum op_group {
    GROUP_PLAIN,
    GROUP_PACKED, /* packed f32 and dot products: not beside a matrix instruction */
    GROUP_MATRIX,
    GROUP_LDS,
    GROUP_VMEM,
    GROUP_SMEM,
    GROUP_WAIT,
    GROUP_BARRIER,
    GROUP_BRANCH,
    GROUP_NOP, /* s_nop, s_sleep: `idle` slots */
    GROUP_SETPRIO,
    GROUP_END
} op_group;

/* span: registers of the vector file. */
typedef struct span {
    uint16_t first, count;
} span;
enum { READS_MAX = 6, WRITES_MAX = 2, NO_LOOP = -1 };

typedef struct op {
    sim_kind kind;
    category category;
    op_group group;
    int slots; /* that the wave and its category are taken */
    int idle;  /* GROUP_NOP: slots in which the wave waits */
    span read[READS_MAX], write[WRITES_MAX];
    int reads, writes;
    /* GROUP_MATRIX */
    int passes, gate, gate_packed; /* slots after issue at which plain and packed VALU may follow */
    int read_after, c_after;       /* slots after which others may read D, or an overlapping C */
    int scaled;
    span c;                /* count 0: a constant */
    uint16_t sgpr_read[2]; /* GROUP_VMEM: descriptor or base, offset; 0xffff none */
    uint16_t sgpr_write;   /* VALU: a scalar result; 0xffff none */
    int loop;              /* this backward branch's loop, NO_LOOP */
} op;

/* ops_classify: one op an instruction of the program.   owner: mem_free   errors: NULL = no memory */
op *ops_classify(const program *p, const parameters *q);

/* ---- lds.c: the banks ---- */

typedef struct lds_cost {
    int bank, conflict; /* clk at the bank array, and how many of them are conflicts */
    int port;           /* clk at the port of a pair of SIMDs */
} lds_cost;
/* lds_access: cost of a transfer of an LDS instruction. */
lds_cost lds_access(const chip *c, const parameters *q, const transfer *a, const unsigned char *lds);

/* ---- traffic.c: caches and rate servers of one XCD, as one CU sees them ---- */

/* trace: the lines that a workgroup's vector memory instructions ask of L2, instruction by instruction. */
typedef struct trace {
    uint64_t *line; /* line number * 2 + store */
    uint32_t *end;  /* by instruction: index into `line` after its lines */
    uint32_t lines, line_capacity, accesses, access_capacity;
    uint32_t replayed; /* accesses */
    uint64_t instructions;
} trace;
int trace_add(trace *t, uint64_t line, int store); /* 0: no memory */
int trace_next(trace *t);                          /* end of an instruction's lines */
void trace_free(trace *t);

/* tags: of a set-associative cache, least recently used out. */
typedef struct tag_line {
    uint64_t tag, used; /* tag 0: empty, else line + 1 */
    uint64_t ready;     /* clk at which the fill arrives */
    int dirty;
} tag_line;
typedef struct tags {
    tag_line *line;
    uint32_t sets, ways;
    uint64_t clock;
} tags;
int tags_make(tags *c, double kib, double ways);
void tags_clear(tags *c);
void tags_free(tags *c);
/* tags_take: the line's entry; *hit says whether it was there. */
tag_line *tags_take(tags *c, uint64_t line, int *hit);

/* line_set: numbers of lines, each with a mask. */
typedef struct line_set {
    uint64_t *line;
    uint8_t *mask;
    size_t count, capacity;
} line_set;
int line_set_add(line_set *s, uint64_t line, uint8_t mask, int *fresh); /* 0: no memory */
uint8_t line_set_mask(const line_set *s, uint64_t line);
void line_set_free(line_set *s);

typedef struct traffic {
    const parameters *q;
    tags l1, l2;
    double clk_per_l2_byte, clk_per_l2_written, clk_per_mall_byte, clk_per_hbm_byte;
    double l2_free, mall_free, hbm_free, ta_free; /* clk at which each server has done what it was asked */
    double weight;                                /* workgroups of the XCD that one walked workgroup stands for */
    line_set xcds;                                /* which XCDs read a line, in the sample */
    line_set fetched;                             /* lines that have been in the MALL */
    /* sums: of the CU in detail, and of all walked workgroups */
    uint64_t loaded, stored, l1_asked, l1_missed; /* bytes, bytes, lines, lines */
    uint64_t l2_asked, l2_missed, hbm_read, l2_stored;
    int failed;
} traffic;
int traffic_make(traffic *t, const parameters *q, const chip *c, double active_groups);
void traffic_free(traffic *t);
/* traffic_replay: another CU's workgroup goes on to `accesses` of its vector memory instructions, at `now`. */
void traffic_replay(traffic *t, trace *other, uint32_t accesses, double now);
/* traffic_access: a vector memory instruction of the CU.   units: clk
 * Returns when its data is there; *taken: when the address unit is done with it. */
double traffic_access(traffic *t, const wave *w, const transfer *a, double now, double *taken);

/* footprint: 64-byte segments and bytes of a transfer's lanes in device memory; 0 for LDS and scratch by flat
 * addresses. */
enum { SEGMENTS_MAX = 2 * LANES };
typedef struct footprint {
    uint64_t segment[SEGMENTS_MAX]; /* numbers from address 0 on, ascending */
    uint64_t base;                  /* segment of the first live allocation, which starts a page */
    int segments;
    uint32_t bytes;
    int store, dwords; /* registers a lane */
    int scratch;
} footprint;
void footprint_of(const wave *w, const transfer *a, footprint *out);
/* footprint_line: the line of the i-th segment, counted from the first live allocation: where it lies, in a process and
 * after other launches, has nothing to do with the kernel. */
static inline uint64_t footprint_line(const footprint *f, int i) {
    return (f->segment[i] - f->base) * SEGMENT_BYTES / LINE_BYTES;
}

/* ---- cu.c: one CU, its waves slot by slot ---- */

typedef struct runner runner;
enum { LOOP_WAVES_MAX = 16 }; /* of a SIMD */
typedef struct loop_sum {
    size_t first, last;         /* instructions */
    uint64_t trips, clk, times; /* times: the branch was issued */
    /* by how many waves of a SIMD are in timed trips: clk for which that was so, and trips made in it, in parts */
    struct {
        uint32_t waves; /* now */
        uint64_t since, clk[LOOP_WAVES_MAX + 1];
    } simd[SIMDS];
    double made[LOOP_WAVES_MAX + 1];
} loop_sum;

typedef struct cu {
    const parameters *q;
    const chip *chip;
    const op *ops;
    launch *launch;
    traffic traffic;
    sim_instruction *instruction; /* sums by instruction index */
    loop_sum *loop;
    size_t loops;
    runner **runner; /* resident waves, oldest first */
    size_t runners;
    uint64_t age;
    struct simd {
        uint64_t mfma_free, valu_free, gate, gate_packed; /* clk */
        uint64_t mfma_clk, valu_clk;
        uint32_t waves;
    } simd[SIMDS];
    double lds_bank_free, lds_port_free[2];
    double vmem_done[VMEM_ENTRIES_MAX]; /* ring of the address unit's queue */
    uint32_t vmem_first, vmem_count;
    uint32_t waves_reached;
    uint64_t instructions, wave_clk;
    void (*event)(void *user, const sim_event *e); /* NULL: nobody asked */
    void *event_user;
    const transfer *seen; /* what the instruction that runs now asked of memory */
    /* peers of the workgroups in detail, by position of the workgroup in the CU's list */
    trace **peers;
    uint32_t *peer_count;
} cu;

/* cu_run: the workgroups `group_id` (linear ids) of `positions` workgroups, `resident` at a time, each as soon as one
 * ends.
 * units:  done[i]: clk at which the i-th to end ended
 * errors: through launch->faulted; 0: the limit of instructions was reached first */
int cu_run(cu *c, const uint64_t *group_id, uint32_t positions, uint32_t resident, uint64_t instructions_most,
           uint64_t *done, uint64_t *clk);

#endif
