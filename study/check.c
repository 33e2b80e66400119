/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What `cdnagen run --check` does: workload -> device -> launch -> back -> grade. Public API only, as a user would. */
#include "study/check.h"

#include <string.h>

#include "core/clock.h"

const char *const check_step_names[CHECK_STEPS] = {"make data", "copy in", "launch", "copy out", "reference", "grade"};

/* One launch function an operator, found by name. */
#define CDNAGEN_FAMILY(op)                                                                                             \
    static cdnagen_status launch_##op(cdnagen_kernel *kernel, const void *args, void *stream) {                        \
        return cdnagen_launch_##op(kernel, args, stream);                                                              \
    }
#include "gen/families.def"
#undef CDNAGEN_FAMILY

static const struct {
    const char *op;
    cdnagen_status (*launch)(cdnagen_kernel *kernel, const void *args, void *stream);
} launchers[] = {
#define CDNAGEN_FAMILY(op) {#op, launch_##op},
#include "gen/families.def"
#undef CDNAGEN_FAMILY
};

cdnagen_status launch_operator(const family *f, cdnagen_kernel *kernel, const void *args, void *stream) {
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (!strcmp(launchers[i].op, f->name)) return launchers[i].launch(kernel, args, stream);
    return fail(CDNAGEN_BAD_ARGUMENT, "operator %s has no launch function", f->name);
}

/* run: one checked run in progress; every pointer is freed in one place. */
typedef struct run {
    cdnagen *ctx;
    const check_options *options;
    check_report *report;
    problem problem;
    int made;
    void *device[PROBLEM_BUFFERS_MAX], *back[PROBLEM_BUFFERS_MAX];
    void *args;
    check_step step;
    double started;
} run;

static void begin(run *r, check_step step) {
    r->step = step;
    if (r->options->begin) r->options->begin(r->options->user, step);
    r->started = clock_ms();
}

static void end(run *r) { r->report->step_ms[r->step] = clock_ms() - r->started; }

static cdnagen_status copy_in(run *r) {
    for (size_t i = 0; i < r->problem.buffer_count; i++) {
        const problem_buffer *b = &r->problem.buffers[i];
        if (!b->bytes) continue;
        TRY(cdnagen_alloc(r->ctx, b->bytes, &r->device[i]));
        if (b->data) TRY(cdnagen_copy_to_device(r->ctx, r->device[i], b->data, b->bytes));
    }
    return CDNAGEN_OK;
}

static cdnagen_status copy_out(run *r) {
    for (size_t i = 0; i < r->problem.buffer_count; i++) {
        const problem_buffer *b = &r->problem.buffers[i];
        if (!b->output || !b->bytes || r->options->modelled) continue;
        r->back[i] = mem_alloc(b->bytes);
        if (!r->back[i]) return fail_no_memory();
        TRY(cdnagen_copy_to_host(r->ctx, r->back[i], r->device[i], b->bytes));
    }
    return CDNAGEN_OK;
}

static cdnagen_status steps(run *r, cdnagen_kernel *kernel, const plan *p) {
    const workload *w = p->family->workload;
    begin(r, CHECK_MAKE);
    TRY(r->options->modelled && w->make_modelled ? w->make_modelled(p, &r->problem)
                                                 : w->make(p, r->options->seed, &r->problem));
    r->made = 1;
    end(r);

    begin(r, CHECK_COPY_IN);
    TRY(copy_in(r));
    end(r);

    begin(r, CHECK_LAUNCH);
    r->args = mem_alloc(p->family->args_bytes);
    if (!r->args) return fail_no_memory();
    w->arguments(p, &r->problem, r->device, r->args);
    TRY(launch_operator(p->family, kernel, r->args, NULL));
    TRY(cdnagen_synchronize(r->ctx, NULL));
    end(r);

    begin(r, CHECK_COPY_OUT);
    TRY(copy_out(r));
    end(r);
    if (r->options->run_only) return CDNAGEN_OK;

    begin(r, CHECK_REFERENCE);
    TRY(w->reference(p, &r->problem));
    end(r);

    begin(r, CHECK_GRADE);
    TRY(w->grade_outputs(p, &r->problem, r->back, &r->report->grade));
    end(r);
    return CDNAGEN_OK;
}

cdnagen_status check_run(cdnagen *ctx, cdnagen_kernel *kernel, const plan *p, const check_options *options,
                         check_report *out) {
    memset(out, 0, sizeof *out);
    run r = {.ctx = ctx, .options = options, .report = out};
    const cdnagen_status status = steps(&r, kernel, p);
    for (size_t i = 0; i < r.problem.buffer_count; i++) {
        if (r.device[i]) cdnagen_free_memory(ctx, r.device[i]);
        mem_free(r.back[i]);
    }
    mem_free(r.args);
    if (r.made) problem_release(&r.problem);
    return status;
}
