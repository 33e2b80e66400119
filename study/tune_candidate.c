/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The way of one variant: legal? worth compiling? timed before? spills? can it be faster? budget left? right? how fast?
 * Answers that took a compile are recorded; that the budget is spent is not. */
#include "study/tune_candidate.h"

#include <stdio.h>
#include <string.h>

#include "runtime/context.h"
#include "study/check.h"
#include "study/explain.h"
#include "study/operands.h"

/* stops: a status that is not the variant's fault. */
static int stops(cdnagen_status s) {
    return s == CDNAGEN_NO_MEMORY || s == CDNAGEN_IO || s == CDNAGEN_NO_DEVICE || s == CDNAGEN_NO_HIP ||
           s == CDNAGEN_HIP;
}

/* made: a generated kernel and its plan. */
typedef struct made {
    plan plan;
    cdnagen_kernel *kernel;
    cdnagen_kernel_info info;
} made;

static cdnagen_status plan_for(const tuner *t, const char *words, const void *variant, plan *out) {
    _Alignas(16) unsigned char shape[SHAPE_BYTES_MAX] = {0};
    TRY(shape_parse(&t->family->shape, words, shape));
    return plan_from_structs(t->family, variant, shape, t->target, out);
}

static cdnagen_status make_kernel(const tuner *t, made *m) {
    char tag[SYMBOL_MAX + 64];
    snprintf(tag, sizeof tag, "%s:%s", t->family->name, m->plan.tag);
    TRY(gen_kernel(t->ctx, tag, m->plan.shape_text, &m->kernel));
    m->info.size = sizeof m->info;
    return cdnagen_get_kernel_info(m->kernel, &m->info);
}

/* code_of: FNV-1a of the code object. source: RFC 9923 */
static uint64_t code_of(const cdnagen_kernel_info *info) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < info->object_bytes; i++)
        hash = (hash ^ ((const unsigned char *)info->object)[i]) * 0x100000001b3u;
    return hash;
}

static cdnagen_status record(const tuner *t, tune_record *r, const char *status, double cost, const char *note) {
    r->status = status;
    r->cost = cost;
    r->note = note;
    return tune_store_put(t->store, r);
}

/* ---- right? ---- */

/* prove: run the grading rules on one odd shape, on the context's device; what was run before is read from the
 * file. *right: 1 if it passes. */
static cdnagen_status prove(const tuner *t, const char *words, const void *variant, int *right) {
    made m = {.kernel = NULL};
    int found = 0;
    *right = 0;
    TRY(plan_for(t, words, variant, &m.plan));
    cdnagen_status status = make_kernel(t, &m);
    tune_record r = {.op = t->family->name, .tag = m.plan.tag, .shape = m.plan.shape_text};
    if (!status) {
        r.code = code_of(&m.info);
        status = tune_store_find(t->store, &r, &found);
    }
    if (!status && found) *right = !strcmp(r.status, "right");
    if (!status && !found) {
        check_report report = {0};
        const check_options how = {.seed = 1};
        const cdnagen_status ran = check_run(t->ctx, m.kernel, &m.plan, &how, &report);
        *right = !ran && report.grade.pass;
        if (stops(ran))
            status = ran;
        else
            status = record(t, &r, *right ? "right" : "wrong", 0, ran ? cdnagen_error() : report.grade.first);
    }
    cdnagen_free_kernel(m.kernel);
    return status;
}

/* ---- how fast? ---- */

static cdnagen_status model(const tuner *t, made *m, double *cost) {
    const sim_timing_options how = {0};
    explanation e;
    TRY(explain_run(t->ctx, m->kernel, &m->info, &m->plan, &how, &e));
    *cost = e.timing.kernel_clk;
    explain_free(&e);
    return CDNAGEN_OK;
}

/* measure: against the best so far, whose recorded time the ratio is applied to, so that times of different hours
 * compare; the first of a class runs against itself. */
static cdnagen_status measure(const tuner *t, const tune_point *point, const made *m, const contender *best,
                              double *cost, char *note, size_t room) {
    made beside = {.kernel = NULL};
    operands a = {.ctx = t->ctx, .plan = &beside.plan}, b = {.ctx = t->ctx, .plan = &m->plan, .kernel = m->kernel};
    cdnagen_status status = plan_for(t, point->shape, *best->tag ? best->variant : m->plan.variant, &beside.plan);
    if (!status) status = make_kernel(t, &beside);
    a.kernel = beside.kernel;
    if (!status) status = operands_open(&a);
    if (!status) status = operands_open(&b);
    measure_side sides[2] = {{.launch = operands_launch, .user = &a}, {.launch = operands_launch, .user = &b}};
    if (!status) status = measure_pair(t->ctx->device.hip, t->options->counts, sides);
    if (!status) {
        *cost = *best->tag ? best->cost * sides[1].cold_us / sides[0].cold_us : sides[1].cold_us;
        snprintf(note, room, "cold %.3f us, hot %.3f us; beside it %s: cold %.3f us, hot %.3f us", sides[1].cold_us,
                 sides[1].hot_us, beside.plan.tag, sides[0].cold_us, sides[0].hot_us);
    }
    operands_close(&b);
    operands_close(&a);
    cdnagen_free_kernel(beside.kernel);
    return status;
}

/* ---- the way ---- */

/* least: what the code's own loops cost at least on this many SIMDs, in modelled cycles. */
static cdnagen_status least(const tuner *t, const made *m, double *clk) {
    const chip *const c = t->target->chip;
    double each = 0;
    TRY(sim_bound(m->info.object, m->info.object_bytes, &each));
    *clk = each * t->family->tuning->mfmas(&m->plan) / ((double)c->cus * c->simds);
    return CDNAGEN_OK;
}

/* look: a kernel that was made. Of the records of this code on this shape only one that is ranked is taken as it is: a bound
 * holds for the best of its time, and all else is found again. The budget is asked before the proof, which costs most. */
static cdnagen_status look(tuner *t, const tune_point *point, made *m, const contender *best, int may_time,
                           candidate_outcome *out) {
    tune_record r = {.op = t->family->name, .tag = m->plan.tag, .shape = m->plan.shape_text, .code = code_of(&m->info)};
    char note[512] = "";
    int found, right = 1;
    TRY(tune_store_find(t->store, &r, &found));
    if (found && !strcmp(r.status, "ranked")) {
        *out = (candidate_outcome){.status = "ranked", .cost = r.cost};
        t->totals->recalled++;
        return CDNAGEN_OK;
    }
    if (m->info.vgpr_spills || m->info.sgpr_spills || m->info.scratch_bytes) {
        out->status = "spills";
        return record(t, &r, "spills", 0, "");
    }
    double clk = 0;
    if (!t->measured) TRY(least(t, m, &clk));
    if (*best->tag && clk >= best->cost) {
        out->status = "bound";
        return record(t, &r, "bound", clk, "");
    }
    if (!may_time) {
        out->status = "left";
        return CDNAGEN_OK;
    }
    for (int i = 0; i < TUNE_PROOFS && right; i++) TRY(prove(t, point->proof[i], m->plan.variant, &right));
    if (!right) {
        out->status = "wrong";
        return record(t, &r, "wrong", 0, "");
    }
    out->fresh = 1;
    TRY(t->measured ? measure(t, point, m, best, &out->cost, note, sizeof note) : model(t, m, &out->cost));
    out->status = "ranked";
    return record(t, &r, "ranked", out->cost, note);
}

static void count(tune_totals *n, const char *status) {
    const struct {
        const char *status;
        uint64_t *count;
    } rows[] = {{"illegal", &n->illegal}, {"pruned", &n->pruned}, {"refused", &n->refused}, {"spills", &n->spills},
                {"bound", &n->bound},     {"wrong", &n->wrong},   {"ranked", &n->ranked},   {"left", &n->left}};
    n->seen++;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) *rows[i].count += !strcmp(rows[i].status, status);
}

static cdnagen_status way(tuner *t, const tune_point *point, const void *variant, const contender *best, int may_time,
                          candidate_outcome *out) {
    made m = {.kernel = NULL};
    const diagnosis *const d = t->family->diagnosis;
    if ((d && d->is_wrong && d->is_wrong(variant)) || plan_for(t, point->shape, variant, &m.plan)) {
        out->status = "illegal";
        return CDNAGEN_OK;
    }
    if (t->family->tuning->prune(&m.plan)) {
        out->status = "pruned";
        return CDNAGEN_OK;
    }
    cdnagen_status status = make_kernel(t, &m);
    if (!status) status = look(t, point, &m, best, may_time, out);
    if (status && !stops(status)) {
        tune_record r = {.op = t->family->name, .tag = m.plan.tag, .shape = m.plan.shape_text};
        if (m.kernel) r.code = code_of(&m.info);
        out->status = status == CDNAGEN_SPILLS ? "spills" : "refused";
        status = record(t, &r, out->status, 0, cdnagen_error());
    }
    cdnagen_free_kernel(m.kernel);
    snprintf(out->tag, sizeof out->tag, "%s", m.plan.tag);
    return status;
}

cdnagen_status candidate_try(tuner *t, const tune_point *point, const void *variant, const contender *best,
                             int may_time, candidate_outcome *out) {
    *out = (candidate_outcome){.status = "illegal"};
    TRY(way(t, point, variant, best, may_time, out));
    count(t->totals, out->status);
    return CDNAGEN_OK;
}
