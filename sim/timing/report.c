/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sums, shares, bounds of loops. */
#include "sim/timing/report.h"

#include <string.h>

const char *const sim_stall_names[STALL_COUNT] = {"vmcnt",     "lgkmcnt",   "barrier", "dependency", "arbitration",
                                                  "mfma_pipe", "valu_gate", "queue",   "fetch"};
const char *const sim_kind_names[KIND_COUNT] = {"mfma",      "valu",      "salu",       "smem",    "lds_read",
                                                "lds_write", "vmem_load", "vmem_store", "lds_dma", "branch",
                                                "wait",      "barrier",   "other"};

/* A loop this much longer than its nearest bound is bound by what its waves wait for. */
#define WAITS_BOUND 1.25

static double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

/* own_occupancy: clk of a SIMD for a trip, while it has as many waves in the loop as it has for most trips. */
static double own_occupancy(const loop_sum *sum) {
    int waves = 0;
    uint64_t clk = 0;
    for (int i = 1; i <= LOOP_WAVES_MAX; i++)
        if (sum->made[i] > sum->made[waves]) waves = i;
    for (int i = 0; i < SIMDS; i++) clk += sum->simd[i].clk[waves];
    return ratio((double)clk, sum->made[waves]);
}

double sim_loop_bound(const sim_loop *l, const char **name) {
    const struct {
        const char *name;
        double clk;
    } bounds[] = {{"matrix pipe", l->mfma_bound},
                  {"issue", l->issue_bound},
                  {"LDS banks", l->lds_bound},
                  {"vector memory", l->vmem_bound}};
    double most = 0;
    *name = NULL;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        if (bounds[i].clk > most) {
            most = bounds[i].clk;
            *name = bounds[i].name;
        }
    return most;
}

static void fill_loop(sim_loop *l, const cu *c, const sim_timing *out, const loop_sum *sum) {
    double lds = 0, vmem = 0, gate = 0;
    *l = (sim_loop){.first = sum->first, .last = sum->last, .trips = sum->trips, .inner = 1};
    for (size_t i = 0; i < c->loops; i++)
        if (&c->loop[i] != sum && c->loop[i].first >= sum->first && c->loop[i].last < sum->last) l->inner = 0;
    for (size_t i = sum->first; i <= sum->last; i++) {
        const sim_instruction *x = &out->instructions[i];
        const double count = (double)x->issued / (double)sum->times;
        const op *o = &c->ops[i];
        l->mix[x->kind] += count;
        l->instructions += count;
        l->mfma_bound += count * o->passes * SLOT_CLK;
        gate += x->kind == KIND_MFMA ? count * o->gate : x->kind == KIND_VALU ? count * o->slots : 0;
        lds += (double)x->lds / (double)sum->times;
        vmem += (double)x->vmem / (double)sum->times;
    }
    /* The bank array and the address unit serve all SIMDs that have waves. */
    const double waves = ratio((double)c->wave_clk, out->cu_clk),
                 simds = waves < SIMDS ? (waves > 1 ? waves : 1) : SIMDS;
    l->issue_bound = gate * SLOT_CLK;
    l->lds_bound = lds * simds;
    l->vmem_bound = vmem * simds;
    l->clk = ratio((double)sum->clk, (double)sum->trips);
    l->simd_clk = own_occupancy(sum);
    l->mfma_busy = ratio(l->mfma_bound, l->simd_clk);
    const double most = sim_loop_bound(l, &l->binds);
    if (!l->binds || l->simd_clk > WAITS_BOUND * most) l->binds = "waits";
}

static int fill_loops(sim_timing *out, const cu *c) {
    out->loops = arena_alloc(&out->memory, (c->loops ? c->loops : 1) * sizeof *out->loops);
    if (!out->loops) return 0;
    for (size_t i = 0; i < c->loops; i++)
        if (c->loop[i].trips) fill_loop(&out->loops[out->loop_count++], c, out, &c->loop[i]);
    return 1;
}

static int fill_instructions(sim_timing *out, const cu *c, const program *p) {
    out->instructions = arena_alloc(&out->memory, (p->count ? p->count : 1) * sizeof *out->instructions);
    if (!out->instructions) return 0;
    out->instruction_count = p->count;
    for (size_t i = 0; i < p->count; i++) {
        sim_instruction *x = &out->instructions[i];
        *x = c->instruction[i];
        x->address = p->code[i].address;
        x->kind = c->ops[i].kind;
        x->text = arena_format(&out->memory, "%s", p->code[i].text);
        if (!x->text) return 0;
        out->active += x->active;
        out->lds_clk += x->lds;
        out->lds_conflict += x->lds_conflict;
        for (int s = 0; s < STALL_COUNT; s++) {
            out->stall[s] += x->stall[s];
            *(s < STALL_WAIT_ANY ? &out->wait_any : &out->wait_inst) += x->stall[s];
        }
    }
    return 1;
}

static void fill_time(sim_timing *out, const parameters *q) {
    out->mhz_fast = q->clock_peak;
    out->mhz = q->clock_sustained_high;
    out->mhz_slow = q->clock_sustained_low;
    out->launch_ns_fast = q->launch_low;
    out->launch_ns_slow = q->launch_high;
    out->ns_fast = out->kernel_clk / q->clock_peak * 1e3 + q->launch_low;
    out->ns = out->kernel_clk / q->clock_sustained_high * 1e3 + (q->launch_low + q->launch_high) / 2;
    out->ns_slow = out->kernel_clk / q->clock_sustained_low * 1e3 + q->launch_high;
}

int report_fill(sim_timing *out, const cu *c, const program *p, double scale) {
    const traffic *t = &c->traffic;
    if (!fill_instructions(out, c, p) || !fill_loops(out, c)) return 0;
    out->wave_clk = c->wave_clk;
    out->waves_reached = c->waves_reached;
    uint64_t mfma = 0, valu = 0;
    for (int i = 0; i < SIMDS; i++) {
        mfma += c->simd[i].mfma_clk;
        valu += c->simd[i].valu_clk;
    }
    out->mfma_busy = ratio((double)mfma, SIMDS * out->cu_clk);
    out->valu_busy = ratio((double)valu, SIMDS * out->cu_clk);
    out->load_bytes = (double)t->loaded * scale;
    out->store_bytes = (double)t->stored * scale;
    out->l1_hit = 1 - ratio((double)t->l1_missed, (double)t->l1_asked);
    out->l2_hit = 1 - ratio((double)t->l2_missed, (double)t->l2_asked);
    out->mall_hit = 1 - ratio((double)t->hbm_read, (double)t->l2_missed);
    out->l1_miss_bytes = (double)t->l1_missed * LINE_BYTES * scale;
    out->l2_miss_bytes = out->l1_miss_bytes * (1 - out->l2_hit);
    out->hbm_bytes = out->l2_miss_bytes * (1 - out->mall_hit);
    fill_time(out, c->q);
    return !out->notes.failed;
}

const sim_loop *sim_hot_loop(const sim_timing *t) {
    const sim_loop *hot = NULL;
    double most = 0;
    for (size_t i = 0; i < t->loop_count; i++) {
        const sim_loop *const l = &t->loops[i];
        const double mfmas = (double)l->trips * l->mix[KIND_MFMA];
        if (!l->inner || mfmas <= most) continue;
        hot = l;
        most = mfmas;
    }
    return hot;
}
