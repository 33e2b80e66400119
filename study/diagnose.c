/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Running a diagnosis: the kernel, its changes one after the other, lengths of the inner loop. */
#include "study/diagnose.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/integer.h"
#include "runtime/context.h"
#include "sim/timing/parameters.h"
#include "study/made.h"

enum { CHANGES_MAX = 64 };

typedef struct diagnosing {
    cdnagen *ctx;
    const plan *plan;
    const diagnose_options *options;
    diagnosis_report *out;
} diagnosing;

static void tell(const diagnosing *d, const char *what, size_t done) {
    if (d->options->progress) d->options->progress(d->options->user, what, done);
}

/* ---- one kernel under the model ---- */

static cdnagen_status model(const diagnosing *d, const plan *p, const made *m, double traffic, explanation *out) {
    const sim_timing_options how = {.parameters = d->options->parameters, .traffic = traffic};
    return explain_run(d->ctx, m->kernel, &m->info, p, &how, out);
}

/* look_at: counts, resources and waits of a kernel from one look, then its time with twice the traffic. */
static cdnagen_status look_at(const diagnosing *d, const plan *p, const made *m, const explanation *e, diagnosed *out) {
    const sim_timing *const t = &e->timing;
    const double waves = (double)t->groups_detailed * t->waves_per_group;
    explanation twice;
    snprintf(out->tag, sizeof out->tag, "%s", p->tag);
    out->clk = t->kernel_clk;
    out->load = (load){.clk = t->kernel_clk,
                       .memory_bytes = t->l2_miss_bytes + t->store_bytes,
                       .active = (double)t->active / waves,
                       .scratch_bytes = m->info.scratch_bytes,
                       .agpr = m->info.agpr,
                       .spills = m->info.vgpr_spills + m->info.sgpr_spills,
                       .waves_per_simd = t->waves_per_simd,
                       .limit = t->limit};
    for (int s = 0; s < STALL_COUNT; s++) out->load.stall[s] = (double)t->stall[s] / waves;
    for (size_t i = 0; i < t->instruction_count; i++) {
        out->counts[t->instructions[i].kind]++;
        if (t->instructions[i].kind == KIND_MFMA) out->load.mfma += (double)t->instructions[i].issued / waves;
    }
    TRY(model(d, p, m, 2, &twice));
    out->clk_at_twice = twice.timing.kernel_clk;
    explain_free(&twice);
    return CDNAGEN_OK;
}

/* ---- two kernels on a GPU ---- */

static cdnagen_status measure(const diagnosing *d, const plan *p, diagnosed *out) {
    cdnagen *const gpu = d->options->gpu;
    made one = {.kernel = NULL}, other = {.kernel = NULL};
    measure_side sides[2] = {{.cold_us = 0}};
    cdnagen_status status = made_from(gpu, d->plan, &one);
    if (!status) status = made_from(gpu, p, &other);
    gpu->diagnosis = 1;
    if (!status)
        status = made_measure(gpu, d->options->counts, (const plan *[]){d->plan, p},
                              (cdnagen_kernel *[]){one.kernel, other.kernel}, sides);
    gpu->diagnosis = 0;
    out->us_beside = sides[0].cold_us;
    out->us = sides[1].cold_us;
    cdnagen_free_kernel(other.kernel);
    cdnagen_free_kernel(one.kernel);
    return status;
}

/* ---- changes ---- */

/* compare_counts: a twin does the kernel's matrix, memory and LDS instructions, what leaves something out the matrix
 * instructions: the compiler has removed no more than was meant. */
static void compare_counts(const diagnosed *kernel, change_kind kind, diagnosed *x) {
    static const sim_kind kinds[] = {KIND_MFMA,    KIND_VMEM_LOAD, KIND_VMEM_STORE,
                                     KIND_LDS_DMA, KIND_LDS_READ,  KIND_LDS_WRITE};
    const size_t count = kind == CHANGE_TWIN ? sizeof kinds / sizeof *kinds : kind == CHANGE_LEFT_OUT ? 1 : 0;
    for (size_t i = 0; i < count && !*x->lacking; i++)
        if (x->counts[kinds[i]] != kernel->counts[kinds[i]])
            snprintf(x->lacking, sizeof x->lacking, "it has %u %s instructions and the kernel %u", x->counts[kinds[i]],
                     sim_kind_names[kinds[i]], kernel->counts[kinds[i]]);
}

static double gain(double kernel, double changed) { return changed > 0 ? kernel / changed - 1 : 0; }

/* try_change: run it. What it lacks is told in *x; only what is not its own fault is an error. */
static cdnagen_status try_change(const diagnosing *d, const change *c, diagnosed *x, trial *t) {
    plan p;
    made m = {.kernel = NULL};
    explanation e = {0};
    const diagnosed *const kernel = &d->out->runs[0];
    *t = (trial){.kind = c->kind, .lever = c->lever};
    x->name = c->name;
    tell(d, c->name, d->out->count);
    cdnagen_status status = plan_from_structs(d->plan->family, c->variant, d->plan->shape, &d->plan->target, &p);
    if (!status) snprintf(x->tag, sizeof x->tag, "%s", p.tag);
    if (!status) status = made_from(d->ctx, &p, &m);
    if (!status) status = model(d, &p, &m, 0, &e);
    if (!status) status = look_at(d, &p, &m, &e, x);
    if (!status && d->out->measured) status = measure(d, &p, x);
    if (!status) compare_counts(kernel, c->kind, x);
    if (!status && !*x->lacking) {
        t->valid = 1;
        t->gain_modelled = gain(kernel->clk, x->clk);
        t->gain = d->out->measured ? gain(x->us_beside, x->us) : t->gain_modelled;
        t->gain_at_twice = gain(kernel->clk_at_twice, x->clk_at_twice);
        x->difference =
            x->clk > kernel->clk ? difference_of(&x->load, &kernel->load) : difference_of(&kernel->load, &x->load);
    }
    explain_free(&e);
    cdnagen_free_kernel(m.kernel);
    if (!status || status == CDNAGEN_NO_MEMORY || status == CDNAGEN_IO || status == CDNAGEN_HIP) return status;
    snprintf(x->lacking, sizeof x->lacking, "%s", cdnagen_error());
    return CDNAGEN_OK;
}

static cdnagen_status try_changes(diagnosing *d) {
    change c;
    for (int i = 0; i + 1 < CHANGES_MAX && d->plan->family->diagnosis->change(d->plan, i, &c); i++) {
        TRY(try_change(d, &c, &d->out->runs[d->out->count], &d->out->trials[d->out->count]));
        d->out->count++;
    }
    return CDNAGEN_OK;
}

/* ---- lengths ---- */

static double mfmas_a_wave(const sim_timing *t) {
    double count = 0;
    for (size_t i = 0; i < t->instruction_count; i++)
        if (t->instructions[i].kind == KIND_MFMA) count += (double)t->instructions[i].issued;
    return count / ((double)t->groups_detailed * t->waves_per_group);
}

/* bound_trip: what the hot loop's bounds say of as many matrix instructions as a trip has. */
static void bound_trip(const sim_timing *t, double mfmas, sweep *s) {
    const sim_loop *const l = sim_hot_loop(t);
    if (!l || !(mfmas > 0)) return;
    const char *name;
    const double clk = sim_loop_bound(l, &name) * mfmas / l->mix[KIND_MFMA];
    if (clk <= s->bound_clk) return;
    s->bound_clk = clk;
    s->bound = name;
}

static cdnagen_status model_length(const diagnosing *d, const void *variant, const void *shape, double *clk,
                                   double *mfmas, int *complete) {
    plan p;
    made m = {.kernel = NULL};
    explanation e = {0};
    cdnagen_status status = plan_from_structs(d->plan->family, variant, shape, &d->plan->target, &p);
    if (!status) status = made_from(d->ctx, &p, &m);
    if (!status) status = model(d, &p, &m, 0, &e);
    *clk = e.timing.kernel_clk;
    *complete &= e.timing.complete;
    if (!status) *mfmas = mfmas_a_wave(&e.timing);
    explain_free(&e);
    cdnagen_free_kernel(m.kernel);
    return status;
}

static cdnagen_status try_lengths(diagnosing *d) {
    const diagnosis *const has = d->plan->family->diagnosis;
    const sim_timing *const t = &d->out->kernel.timing;
    sweep *const s = &d->out->sweep;
    _Alignas(16) unsigned char variant[VARIANT_BYTES_MAX] = {0}, shape[SHAPE_BYTES_MAX] = {0};
    double mfmas[SWEEP_POINTS_MAX];
    int complete = 1;
    line issued;
    for (int i = 0; i < SWEEP_POINTS_MAX && has->sweep && has->sweep(d->plan, i, variant, shape, &s->trips[i]); i++) {
        tell(d, "lengths of the inner loop", d->out->count + (size_t)i);
        TRY(model_length(d, variant, shape, &s->clk[i], &mfmas[i], &complete));
        s->count++;
    }
    if (s->count < 2) return s->count = 0, CDNAGEN_OK;
    TRY(line_fit(s->trips, s->clk, (size_t)s->count, &s->line));
    TRY(line_fit(s->trips, mfmas, (size_t)s->count, &issued));
    const uint64_t rounds = (uint64_t)ceil_div((int64_t)d->out->kernel.groups, t->chip->cus);
    s->waves = (double)rounds * t->waves_per_group / t->chip->simds;
    s->trip_clk = s->line.slope / fmax(s->waves, 1);
    s->launch_clk = (t->launch_ns_fast + t->launch_ns_slow) / 2 * t->mhz * 1e-3;
    s->write_clk = t->store_bytes / d->out->bytes_per_clk;
    if (complete) bound_trip(t, issued.slope, s);
    return CDNAGEN_OK;
}

/* ---- all ---- */

static cdnagen_status look_at_kernel(diagnosing *d, cdnagen_kernel *kernel, const cdnagen_kernel_info *info) {
    diagnosis_report *const r = d->out;
    const diagnosis *const has = d->plan->family->diagnosis;
    const made m = {.kernel = kernel, .info = *info};
    parameters q;
    tell(d, "the kernel", 0);
    TRY(model(d, d->plan, &m, 0, &r->kernel));
    TRY(look_at(d, d->plan, &m, &r->kernel, &r->runs[0]));
    r->runs[0].name = "the kernel";
    r->count = 1;
    const sim_timing *const t = &r->kernel.timing;
    TRY(wave_identity(t, &r->residual));
    TRY(parameters_of(t->chip, d->options->parameters, &q));
    r->bytes_per_clk = q.hbm_width * 1e6 / t->mhz;
    r->traffic = r->runs[0].load.memory_bytes;
    if (has->traffic) TRY(has->traffic(d->plan, &r->traffic));
    r->duty = duty_of(t);
    r->roofs = roofs_of(t->mfma_busy, r->traffic, t->kernel_clk, r->bytes_per_clk);
    return CDNAGEN_OK;
}

cdnagen_status diagnose(cdnagen *ctx, cdnagen_kernel *kernel, const cdnagen_kernel_info *info, const plan *p,
                        const diagnose_options *options, diagnosis_report *out) {
    diagnosing d = {.ctx = ctx, .plan = p, .options = options, .out = out};
    const diagnosis *const has = p->family->diagnosis;
    *out = (diagnosis_report){.measured = options->gpu != NULL};
    if (!has) return fail(CDNAGEN_BAD_ARGUMENT, "%s has nothing to be compared with", p->family->name);
    if (has->is_wrong && has->is_wrong(p->variant))
        return fail(CDNAGEN_BAD_ARGUMENT,
                    "%s: %s is itself a kernel for diagnosis: give the tag without what it leaves out", p->family->name,
                    p->tag);
    out->runs = mem_alloc(CHANGES_MAX * sizeof *out->runs);
    out->trials = mem_alloc(CHANGES_MAX * sizeof *out->trials);
    if (!out->runs || !out->trials) return fail_no_memory();
    TRY(look_at_kernel(&d, kernel, info));
    TRY(try_changes(&d));
    TRY(try_lengths(&d));
    out->verdict = verdict_of(out->trials, out->count);
    return CDNAGEN_OK;
}

void diagnosis_report_free(diagnosis_report *r) {
    explain_free(&r->kernel);
    mem_free(r->runs);
    mem_free(r->trials);
    *r = (diagnosis_report){0};
}
