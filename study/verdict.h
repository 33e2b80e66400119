/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What follows from figures of a kernel and of what it was compared with: fits, shares, identities, verdicts. Nothing
 * is run here. source: docs/diagnosis.md */
#ifndef STUDY_VERDICT_H
#define STUDY_VERDICT_H

#include "gen/family.h"
#include "sim/timing.h"

/* A change pays if the kernel takes so much longer than without it; less is noise. A kernel this near to the fastest of
 * its twin and the bare product is done, unless a choice pays. An identity may be off by as much. */
#define VERDICT_NOISE 0.05
#define VERDICT_DONE 0.02
#define VERDICT_RESIDUAL 1e-4
#define VERDICT_LATENCY 0.35 /* both roofs below it: neither is what the kernel waits for */

/* ---- changes ---- */

/* trial: what a change was found to gain; `gain` is measured where there is a GPU, else gain_modelled.
 * math: gain = time of the kernel / time with the change - 1 */
typedef struct trial {
    change_kind kind;
    lever lever;
    int valid;                                 /* 0: it was not run, or does not compare */
    double gain, gain_modelled, gain_at_twice; /* at_twice: modelled, with every byte beyond L2 counted twice */
} trial;

/* verdict: bits 1u << lever. `helps`: something of the lever pays; `cannot`: it was tried and nothing does.
 * How the verdict hangs on the traffic is the model's answer to a question of the model, also where gains are
 * measured. */
typedef struct verdict {
    unsigned helps, cannot;
    unsigned hangs;           /* modelled, they pay with the traffic or with twice of it, not with both */
    double gain[LEVER_COUNT]; /* the largest of a lever that helps */
    int most;                 /* index of the trial that pays most, the bare product left out; -1: none pays */
    int ceiling;              /* index of the fastest of twin and floor; -1: there is none */
    int done;                 /* within VERDICT_DONE of the ceiling, and no choice pays */
    int holds;                /* modelled, the lever that pays most does so at twice the traffic too */
} verdict;
verdict verdict_of(const trial *trials, size_t count);

extern const char *const lever_names[LEVER_COUNT];
extern const char *const lever_remedies[LEVER_COUNT];

/* ---- the time of a trip ---- */

/* line: time = fixed + slope * trips, by least squares; `residual` is the largest share by which a point is off. */
typedef struct line {
    double fixed, slope, residual;
} line;
/* line_fit.   errors: BAD_ARGUMENT (fewer than two different trips) */
cdnagen_status line_fit(const double *trips, const double *time, size_t count, line *out);

/* ---- one launch ---- */

/* duty: how busy the matrix pipe can be.
 * math: ceiling = waves a SIMD holds * matrix clk of a wave / clk of a wave's life; reached = busy / ceiling */
typedef struct duty {
    double waves, fraction, ceiling, busy, reached;
} duty;
duty duty_of(const sim_timing *t);

/* wave_identity: active + wait_any + wait_inst = wave cycles, and the causes of each wait its sum.
 * math: residual = the largest difference / wave cycles   errors: FAULT (more than VERDICT_RESIDUAL) */
cdnagen_status wave_identity(const sim_timing *t, double *residual);

/* roofs: shares of what matrix pipe and memory can do in the kernel's time, and with the bytes doubled. */
typedef struct roofs {
    double matrix, memory;
    int latency_bound, latency_bound_at_twice; /* both below VERDICT_LATENCY */
} roofs;
/* roofs_of.   units: bytes, clk, bytes a clk */
roofs roofs_of(double matrix, double beyond_l2, double clk, double bytes_per_clk);

/* ---- two launches of the same work ---- */

/* load: what two kernels are compared by: static and dynamic counts, resources, waits.   units: clk of a wave */
typedef struct load {
    double mfma, memory_bytes, clk, stall[STALL_COUNT], active;
    uint32_t scratch_bytes, agpr, spills, waves_per_simd;
    const char *limit; /* of the occupancy */
} load;
typedef enum place { PLACE_NOT_COMPARABLE, PLACE_NOISE, PLACE_MEMORY, PLACE_REGISTERS, PLACE_SCHEDULE } place;
extern const char *const place_names[];
/* difference: where the slower one loses its time. */
typedef struct difference {
    place place;
    int stall;  /* sim_stall that grew most, -1: it issues more */
    double clk; /* by which it grew */
} difference;
difference difference_of(const load *slow, const load *fast);

#endif
