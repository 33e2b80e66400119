/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Fits, shares, identities and verdicts of a diagnosis. */
#include "study/verdict.h"

#include <math.h>
#include <string.h>

const char *const lever_names[LEVER_COUNT] = {
    [LEVER_ARITHMETIC] = "arithmetic beside the MFMA",
    [LEVER_SCALES] = "loads of scales",
    [LEVER_MEMORY] = "loads of operands",
    [LEVER_LDS] = "LDS",
    [LEVER_STORES] = "stores",
    [LEVER_SCHEDULE] = "schedule",
    [LEVER_GRID] = "how the work is cut",
};
const char *const lever_remedies[LEVER_COUNT] = {
    [LEVER_ARITHMETIC] = "fewer instructions an MFMA: arithmetic shared by more atoms, scales that the MFMA takes",
    [LEVER_SCALES] = "scales loaded earlier or wider",
    [LEVER_MEMORY] = "order of tiles, larger tiles, operands asked for earlier",
    [LEVER_LDS] = "fewer or wider LDS reads, operands straight from memory, another swizzle",
    [LEVER_STORES] = "wider stores, an epilogue that runs beside the next tile or is fused with what follows",
    [LEVER_SCHEDULE] = "another order of the same instructions",
    [LEVER_GRID] = "splits, tile sizes, workgroups that fill the last round",
};

static double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

/* ---- changes ---- */

/* What is slower than the kernel bounds nothing. */
static int is_limit(const trial *t) {
    return (t->kind == CHANGE_TWIN || t->kind == CHANGE_FLOOR) && t->gain >= -VERDICT_NOISE;
}

/* best: the largest gain so far of those that pay, and every lever that has one. */
typedef struct best {
    double gain;
    int at; /* trial, -1: none */
    unsigned levers;
} best;

static void take(best *b, double gain, int at, lever l) {
    if (gain <= VERDICT_NOISE) return;
    b->levers |= 1u << l;
    if (b->at >= 0 && gain <= b->gain) return;
    b->gain = gain;
    b->at = at;
}

verdict verdict_of(const trial *trials, size_t count) {
    verdict v = {.ceiling = -1};
    unsigned tried = 0;
    int is_beaten = 0; /* by another way to do all of the work */
    best most = {.at = -1}, modelled = most, at_twice = most;
    for (int i = 0; i < (int)count; i++) {
        const trial *const t = &trials[i];
        if (!t->valid) continue;
        if (is_limit(t) && (v.ceiling < 0 || t->gain > trials[v.ceiling].gain)) v.ceiling = i;
        if (t->kind == CHANGE_FLOOR) continue; /* another kernel altogether: says how far, not why */
        tried |= 1u << t->lever;
        is_beaten |= t->kind == CHANGE_CHOICE && t->gain > VERDICT_NOISE;
        take(&most, t->gain, i, t->lever);
        take(&modelled, t->gain_modelled, i, t->lever);
        take(&at_twice, t->gain_at_twice, i, t->lever);
        if (t->gain > VERDICT_NOISE && t->gain > v.gain[t->lever]) v.gain[t->lever] = t->gain;
    }
    v.most = most.at;
    v.helps = most.levers;
    v.cannot = tried & ~v.helps;
    v.hangs = modelled.levers ^ at_twice.levers;
    v.done = !is_beaten && v.ceiling >= 0 && trials[v.ceiling].gain <= VERDICT_DONE;
    v.holds =
        modelled.at < 0 ? at_twice.at < 0 : at_twice.at >= 0 && trials[at_twice.at].lever == trials[modelled.at].lever;
    return v;
}

/* ---- the time of a trip ---- */

cdnagen_status line_fit(const double *trips, const double *time, size_t count, line *out) {
    double x = 0, y = 0, xx = 0, xy = 0;
    for (size_t i = 0; i < count; i++) {
        x += trips[i] / (double)count;
        y += time[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        xx += (trips[i] - x) * (trips[i] - x);
        xy += (trips[i] - x) * (time[i] - y);
    }
    if (!(xx > 0)) return fail(CDNAGEN_BAD_ARGUMENT, "a line needs two different numbers of trips");
    *out = (line){.slope = xy / xx};
    out->fixed = y - out->slope * x;
    for (size_t i = 0; i < count; i++) {
        const double off = fabs(time[i] - out->fixed - out->slope * trips[i]);
        if (ratio(off, time[i]) > out->residual) out->residual = ratio(off, time[i]);
    }
    return CDNAGEN_OK;
}

/* ---- one launch ---- */

duty duty_of(const sim_timing *t) {
    const double simds = t->chip->simds, matrix_clk = t->mfma_busy * simds * t->cu_clk;
    duty d = {.waves = t->waves_reached, .fraction = ratio(matrix_clk, (double)t->wave_clk), .busy = t->mfma_busy};
    d.ceiling = d.waves * d.fraction;
    if (d.ceiling > 1) d.ceiling = 1;
    d.reached = ratio(d.busy, d.ceiling);
    return d;
}

static double off(uint64_t a, uint64_t b) { return a > b ? (double)(a - b) : (double)(b - a); }

cdnagen_status wave_identity(const sim_timing *t, double *residual) {
    uint64_t any = 0, inst = 0;
    for (int s = 0; s < STALL_COUNT; s++) *(s < STALL_WAIT_ANY ? &any : &inst) += t->stall[s];
    const double differences[] = {off(t->wave_clk, t->active + t->wait_any + t->wait_inst), off(t->wait_any, any),
                                  off(t->wait_inst, inst)};
    double most = 0;
    for (int i = 0; i < 3; i++)
        if (differences[i] > most) most = differences[i];
    *residual = ratio(most, (double)t->wave_clk);
    if (*residual <= VERDICT_RESIDUAL) return CDNAGEN_OK;
    return fail(CDNAGEN_FAULT,
                "%s: active + wait_any + wait_inst differ from the wave cycles by %.3g of them; nothing that is read "
                "from them holds",
                t->kernel, *residual);
}

roofs roofs_of(double matrix, double beyond_l2, double clk, double bytes_per_clk) {
    roofs r = {.matrix = matrix, .memory = ratio(beyond_l2, clk * bytes_per_clk)};
    r.latency_bound = matrix < VERDICT_LATENCY && r.memory < VERDICT_LATENCY;
    r.latency_bound_at_twice = matrix < VERDICT_LATENCY && 2 * r.memory < VERDICT_LATENCY;
    return r;
}

/* ---- two launches of the same work ---- */

const char *const place_names[] = {
    [PLACE_NOT_COMPARABLE] = "not the same work",
    [PLACE_NOISE] = "no difference beyond noise",
    [PLACE_MEMORY] = "memory",
    [PLACE_REGISTERS] = "registers",
    [PLACE_SCHEDULE] = "schedule",
};

static int alike(double a, double b) { return fabs(a - b) <= VERDICT_NOISE * fmax(a, b); }
static int loses_to_registers(const load *slow, const load *fast) {
    const int falls = slow->waves_per_simd < fast->waves_per_simd && strcmp(slow->limit, "lds") != 0;
    return falls || slow->scratch_bytes > fast->scratch_bytes || slow->agpr > fast->agpr || slow->spills > fast->spills;
}

difference difference_of(const load *slow, const load *fast) {
    difference d = {.stall = -1, .clk = slow->active - fast->active};
    if (!alike(slow->mfma, fast->mfma)) return d;
    for (int s = 0; s < STALL_COUNT; s++)
        if (slow->stall[s] - fast->stall[s] > d.clk) {
            d.clk = slow->stall[s] - fast->stall[s];
            d.stall = s;
        }
    if (alike(slow->clk, fast->clk))
        d.place = PLACE_NOISE;
    else if (loses_to_registers(slow, fast))
        d.place = PLACE_REGISTERS;
    else if (!alike(slow->memory_bytes, fast->memory_bytes) && slow->memory_bytes > fast->memory_bytes &&
             (d.stall == STALL_VMCNT || d.stall == STALL_QUEUE))
        d.place = PLACE_MEMORY;
    else
        d.place = PLACE_SCHEDULE;
    return d;
}
