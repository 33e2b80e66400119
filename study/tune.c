/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The search: from the best of an operator's seeds, change one field at a time for as long as that is faster. */
#include "study/tune.h"

#include <stdio.h>
#include <string.h>

#include "cache/cache.h"
#include "runtime/context.h"
#include "sim/timing.h"
#include "study/tune_candidate.h"

/* GAIN: a variant that is not this much faster than the best is its equal, and the earlier one stays. */
#define GAIN 0.99
enum { VISITED_MAX = 4096, AUTO_SEEDS_MAX = 2, MODEL_BYTES = 64 };

/* search: one class. */
typedef struct search {
    tuner *tuner;
    tune_point point;
    int index, points;
    contender best;
    int fresh; /* timed now */
    size_t visited;
    unsigned char (*seen)[VARIANT_BYTES_MAX];
} search;

static const char *unit_of(const tuner *t) { return t->measured ? "us measured" : "clk modelled"; }

static void tell(const search *s, const candidate_outcome *o) {
    const tuner *const t = s->tuner;
    if (!t->options->report) return;
    const tune_event e = {.target = t->target->text,
                          .shape = s->point.shape,
                          .point = s->index + 1,
                          .points = s->points,
                          .tag = o ? o->tag : NULL,
                          .status = o ? o->status : "",
                          .cost = o ? o->cost : 0,
                          .best_tag = s->best.tag,
                          .best = s->best.cost,
                          .unit = unit_of(t),
                          .totals = t->totals};
    t->options->report(t->options->user, &e);
}

static int is_new(search *s, const void *variant) {
    const size_t size = s->tuner->family->tag.struct_bytes;
    for (size_t i = 0; i < s->visited; i++)
        if (!memcmp(s->seen[i], variant, size)) return 0;
    memcpy(s->seen[s->visited++], variant, size);
    return 1;
}

/* visit: one variant, once a class; *better where it is the best from now on. */
static cdnagen_status visit(search *s, const void *variant, int *better) {
    candidate_outcome o;
    *better = 0;
    if (s->visited == VISITED_MAX || !is_new(s, variant)) return CDNAGEN_OK;
    TRY(candidate_try(s->tuner, &s->point, variant, &s->best, s->fresh < s->tuner->options->budget, &o));
    s->fresh += o.fresh;
    if (o.cost > 0 && (!*s->best.tag || o.cost < GAIN * s->best.cost)) {
        *better = 1;
        s->best.cost = o.cost;
        memcpy(s->best.variant, variant, s->tuner->family->tag.struct_bytes);
        snprintf(s->best.tag, sizeof s->best.tag, "%s", o.tag);
    }
    if (*o.tag) tell(s, &o);
    return CDNAGEN_OK;
}

/* ---- values of a field ---- */

static const field *field_of(const family *f, const char *name) {
    for (size_t i = 0; i < f->tag.count; i++)
        if (!strcmp(f->tag.fields[i].name, name)) return &f->tag.fields[i];
    return NULL;
}

static size_t value_count(const field *f, const tune_axis *a) {
    size_t words = 0;
    if (f->kind == FIELD_FLAG) return 2;
    if (f->kind != FIELD_WORD) return a->count;
    while (f->words[words]) words++;
    return words;
}

static int64_t value_at(const field *f, const tune_axis *a, size_t i) {
    return f->kind == FIELD_FLAG || f->kind == FIELD_WORD ? (int64_t)i : a->values[i];
}

static double grid_of(const family *f) {
    double all = 1;
    for (size_t i = 0; i < f->tuning->axis_count; i++)
        all *= (double)value_count(field_of(f, f->tuning->axes[i].field), &f->tuning->axes[i]);
    return all;
}

/* ---- where a class begins, and how it goes on ---- */

static cdnagen_status visit_seeds(search *s) {
    const family *const f = s->tuner->family;
    _Alignas(16) unsigned char variant[VARIANT_BYTES_MAX] = {0};
    _Alignas(16) unsigned char shape[SHAPE_BYTES_MAX] = {0};
    int better;
    TRY(shape_parse(&f->shape, s->point.shape, shape));
    for (const char *const *tag = f->tuning->seeds; *tag; tag++) {
        TRY(tag_parse(&f->tag, *tag, variant));
        TRY(visit(s, variant, &better));
    }
    for (int i = 0; i < AUTO_SEEDS_MAX && !f->route(s->tuner->target, shape, i, variant); i++)
        TRY(visit(s, variant, &better));
    return CDNAGEN_OK;
}

/* step: every other value of one field of the best. */
static cdnagen_status step(search *s, const tune_axis *axis, int *moved) {
    const field *const f = field_of(s->tuner->family, axis->field);
    for (size_t i = 0; i < value_count(f, axis); i++) {
        _Alignas(16) unsigned char variant[VARIANT_BYTES_MAX];
        int better;
        memcpy(variant, s->best.variant, sizeof variant);
        field_set(f, variant, value_at(f, axis, i));
        TRY(visit(s, variant, &better));
        *moved |= better;
    }
    return CDNAGEN_OK;
}

static cdnagen_status climb(search *s) {
    const tuning *const g = s->tuner->family->tuning;
    for (int moved = *s->best.tag != 0; moved;) {
        moved = 0;
        for (size_t i = 0; i < g->axis_count; i++) TRY(step(s, &g->axes[i], &moved));
    }
    return CDNAGEN_OK;
}

static void add_row(const search *s, text *table) {
    const tuner *const t = s->tuner;
    if (*s->best.tag)
        text_add(table, "ROUTE(\"%s\", %s, \"%s\") /* %.6g %s */\n", t->target->chip->name, s->point.bounds,
                 s->best.tag, s->best.cost, unit_of(t));
    else
        text_add(table, "/* nothing was timed for %s */\n", s->point.shape);
}

static cdnagen_status run_point(search *s, text *table) {
    s->best = (contender){.cost = 0};
    s->fresh = 0;
    s->visited = 0;
    TRY(visit_seeds(s));
    TRY(climb(s));
    add_row(s, table);
    tell(s, NULL);
    return CDNAGEN_OK;
}

/* ---- a run ---- */

/* has_words: every word of `wanted` is a word of `shape`. */
static int has_words(const char *shape, const char *wanted) {
    for (const char *w = wanted ? wanted : ""; *(w += strspn(w, " ,"));) {
        const size_t n = strcspn(w, " ,");
        int found = 0;
        for (const char *p = shape; *(p += strspn(p, " ")) && !found; p += strcspn(p, " "))
            found = strcspn(p, " ") == n && !strncmp(p, w, n);
        if (!found) return 0;
        w += n;
    }
    return 1;
}

/* model_of: which times compare: the model's rules and parameters, or those of a GPU's clock. */
static cdnagen_status model_of(const tuner *t, char out[MODEL_BYTES]) {
    text words = {0};
    char key[CACHE_KEY_CHARS + 1];
    if (t->measured) return snprintf(out, MODEL_BYTES, "measured"), CDNAGEN_OK;
    sim_timing_parameters(t->target->chip, &words);
    if (!words.failed) cache_key(words.data, key);
    const int failed = words.failed;
    text_free(&words);
    if (failed) return fail_no_memory();
    snprintf(out, MODEL_BYTES, "model %d.%.8s", SIM_TIMING_VERSION, key);
    return CDNAGEN_OK;
}

static void add_heading(const tuner *t, const char *where, const char *model, text *table) {
    text_add(table,
             "/* Written by `cdnagen tune %s --target %s`; %s.\n"
             " * Device: %s; times: %s;\n"
             " * cdnagen %s.\n"
             " * ROUTE(chip, what a class has at most of each of its bounds, tag) */\n",
             t->family->name, t->target->chip->name,
             t->measured ? "times are measured" : "times are a model's: nothing was measured", where, model,
             cdnagen_version());
}

static cdnagen_status run_points(tuner *t, search *s, text *table) {
    const tuning *const g = t->family->tuning;
    int chosen = 0;
    while (g->point(t->target, s->points, &s->point)) s->points++;
    for (s->index = 0; s->index < s->points; s->index++) {
        g->point(t->target, s->index, &s->point);
        if (!has_words(s->point.shape, t->options->shapes)) continue;
        chosen++;
        t->totals->grid += grid_of(t->family);
        TRY(run_point(s, table));
    }
    if (chosen) return table->failed ? fail_no_memory() : CDNAGEN_OK;
    return fail(CDNAGEN_BAD_ARGUMENT, "%s is tuned for no class of shapes that has the words \"%s\"", t->family->name,
                t->options->shapes);
}

cdnagen_status tune_run(cdnagen *ctx, const family *f, const tune_options *options, text *table, tune_totals *totals) {
    char model[MODEL_BYTES];
    const char *where;
    if (!f->tuning) return fail(CDNAGEN_BAD_ARGUMENT, "operator %s has nothing to tune", f->name);
    TRY(cdnagen_device_name(ctx, &where));
    if (!ctx->device.hip) return fail(CDNAGEN_NO_DEVICE, "tuning needs a device: \"gpu\" or \"sim\", not \"none\"");
    tuner t = {.ctx = ctx, .family = f, .target = &ctx->target, .options = options, .totals = totals};
    t.measured = device_is_gpu(&ctx->device);
    TRY(model_of(&t, model));
    search s = {.tuner = &t, .seen = mem_alloc(VISITED_MAX * sizeof *s.seen)};
    cdnagen_status status = s.seen ? tune_store_open(options->db, where, model, &t.store) : fail_no_memory();
    if (!status) add_heading(&t, where, model, table);
    if (!status) status = run_points(&t, &s, table);
    tune_store_close(t.store);
    mem_free(s.seen);
    return status;
}
