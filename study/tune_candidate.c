/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The way of one variant: legal? worth compiling? timed before? spills? can it be faster? budget left? right? how fast?
 * Answers that took a compile are recorded; that the budget is spent is not. */
#include "study/tune_candidate.h"

#include <stdio.h>
#include <string.h>

#include "cache/cache.h"
#include "runtime/context.h"
#include "study/check.h"
#include "study/explain.h"
#include "study/made.h"

/* stops: a status that is not the variant's fault. */
static int stops(cdnagen_status s) {
    return s == CDNAGEN_NO_MEMORY || s == CDNAGEN_IO || s == CDNAGEN_NO_DEVICE || s == CDNAGEN_NO_HIP ||
           s == CDNAGEN_HIP;
}

/* candidate: a kernel and its plan. */
typedef struct candidate {
    plan plan;
    made made;
    char code[CACHE_KEY_CHARS + 1]; /* of the object; "" if there is none */
} candidate;

static cdnagen_status plan_for(const tuner *t, const char *words, const void *variant, plan *out) {
    _Alignas(16) unsigned char shape[SHAPE_BYTES_MAX] = {0};
    TRY(shape_parse(&t->family->shape, words, shape));
    return plan_from_structs(t->family, variant, shape, t->target, out);
}

static cdnagen_status make(const tuner *t, candidate *c) {
    const cdnagen_status status = made_from(t->ctx, &c->plan, &c->made);
    if (c->made.info.object) cache_hash(c->made.info.object, c->made.info.object_bytes, c->code);
    return status;
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
    candidate c = {.code = ""};
    int found = 0;
    *right = 0;
    TRY(plan_for(t, words, variant, &c.plan));
    cdnagen_status status = make(t, &c);
    tune_record r = {.op = t->family->name, .tag = c.plan.tag, .shape = c.plan.shape_text, .code = c.code};
    if (!status) status = tune_store_find(t->store, &r, &found);
    if (!status && found) *right = !strcmp(r.status, "right");
    if (!status && !found) {
        check_report report = {0};
        const check_options how = {.seed = 1};
        const cdnagen_status ran = check_run(t->ctx, c.made.kernel, &c.plan, &how, &report);
        *right = !ran && report.grade.pass;
        if (stops(ran))
            status = ran;
        else
            status = record(t, &r, *right ? "right" : "wrong", 0, ran ? cdnagen_error() : report.grade.first);
    }
    cdnagen_free_kernel(c.made.kernel);
    return status;
}

/* ---- how fast? ---- */

static cdnagen_status model(const tuner *t, const candidate *c, double *cost) {
    const sim_timing_options how = {0};
    explanation e;
    TRY(explain_run(t->ctx, c->made.kernel, &c->made.info, &c->plan, &how, &e));
    *cost = e.timing.kernel_clk;
    explain_free(&e);
    return CDNAGEN_OK;
}

/* measure: against the best so far, whose recorded time the ratio is applied to, so that times of different hours
 * compare; the first of a class runs against itself. */
static cdnagen_status measure(const tuner *t, const tune_point *point, const candidate *c, const contender *best,
                              double *cost, char *note, size_t room) {
    plan p;
    made beside = {.kernel = NULL};
    measure_side sides[2];
    TRY(plan_for(t, point->shape, *best->tag ? best->variant : c->plan.variant, &p));
    cdnagen_status status = made_from(t->ctx, &p, &beside);
    if (!status)
        status = made_measure(t->ctx, t->options->counts, (const plan *[]){&p, &c->plan},
                              (cdnagen_kernel *[]){beside.kernel, c->made.kernel}, sides);
    if (!status) {
        *cost = *best->tag ? best->cost * sides[1].cold_us / sides[0].cold_us : sides[1].cold_us;
        snprintf(note, room, "cold %.3f us, hot %.3f us; beside it %s: cold %.3f us, hot %.3f us", sides[1].cold_us,
                 sides[1].hot_us, p.tag, sides[0].cold_us, sides[0].hot_us);
    }
    cdnagen_free_kernel(beside.kernel);
    return status;
}

/* ---- the way ---- */

/* least: what the code's own loops cost at least on this many SIMDs, in modelled cycles. */
static cdnagen_status least(const tuner *t, const candidate *c, double *clk) {
    const chip *const on = t->target->chip;
    double each = 0;
    TRY(sim_bound(c->made.info.object, c->made.info.object_bytes, &each));
    *clk = each * t->family->tuning->mfmas(&c->plan) / ((double)on->cus * on->simds);
    return CDNAGEN_OK;
}

/* look: a kernel that was made. Of the records of this code on this shape only one that is ranked is taken as it is: a
 * bound holds for the best of its time, and all else is found again. The budget is asked before the proof, which costs
 * most. */
static cdnagen_status look(tuner *t, const tune_point *point, const candidate *c, const contender *best, int may_time,
                           candidate_outcome *out) {
    tune_record r = {.op = t->family->name, .tag = c->plan.tag, .shape = c->plan.shape_text, .code = c->code};
    char note[512] = "";
    int found, right = 1;
    TRY(tune_store_find(t->store, &r, &found));
    if (found && !strcmp(r.status, "ranked")) {
        *out = (candidate_outcome){.status = "ranked", .cost = r.cost};
        t->totals->recalled++;
        return CDNAGEN_OK;
    }
    if (c->made.info.vgpr_spills || c->made.info.sgpr_spills || c->made.info.scratch_bytes) {
        out->status = "spills";
        return record(t, &r, "spills", 0, "");
    }
    double clk = 0;
    if (!t->measured) TRY(least(t, c, &clk));
    if (*best->tag && clk >= best->cost) {
        out->status = "bound";
        return record(t, &r, "bound", clk, "");
    }
    if (!may_time) {
        out->status = "left";
        return CDNAGEN_OK;
    }
    for (int i = 0; i < TUNE_PROOFS && right; i++) TRY(prove(t, point->proof[i], c->plan.variant, &right));
    if (!right) {
        out->status = "wrong";
        return record(t, &r, "wrong", 0, "");
    }
    out->fresh = 1;
    TRY(t->measured ? measure(t, point, c, best, &out->cost, note, sizeof note) : model(t, c, &out->cost));
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
    candidate c = {.code = ""};
    const diagnosis *const d = t->family->diagnosis;
    if ((d && d->is_wrong && d->is_wrong(variant)) || plan_for(t, point->shape, variant, &c.plan)) {
        out->status = "illegal";
        return CDNAGEN_OK;
    }
    if (t->family->tuning->prune(&c.plan)) {
        out->status = "pruned";
        return CDNAGEN_OK;
    }
    cdnagen_status status = make(t, &c);
    if (!status) status = look(t, point, &c, best, may_time, out);
    if (status && !stops(status)) {
        tune_record r = {.op = t->family->name, .tag = c.plan.tag, .shape = c.plan.shape_text, .code = c.code};
        out->status = status == CDNAGEN_SPILLS ? "spills" : "refused";
        status = record(t, &r, out->status, 0, cdnagen_error());
    }
    cdnagen_free_kernel(c.made.kernel);
    snprintf(out->tag, sizeof out->tag, "%s", c.plan.tag);
    return status;
}

cdnagen_status candidate_try(tuner *t, const tune_point *point, const void *variant, const contender *best,
                             int may_time, candidate_outcome *out) {
    *out = (candidate_outcome){.status = "illegal"};
    TRY(way(t, point, variant, best, may_time, out));
    count(t->totals, out->status);
    return CDNAGEN_OK;
}
