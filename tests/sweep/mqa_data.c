/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Data on the device, launches and grades for the sweeps of mqa_logits. */
#include "tests/sweep/mqa_data.h"

#include <math.h>

#include "sim/sim.h"

const char *sweep_chip = "gfx950";

fp8_kind data_kind(int64_t word) { return chip_fp8(target_of(sweep_chip).chip, word); }

void simulate(const char *mode) {
    const target t = target_of(sweep_chip);
    const hip_table *table;
    if (sim_open(t.chip, mode, &table)) fail_msg("%s: %s", mode, cdnagen_error());
}

cdnagen *sim_context(void) {
    const cdnagen_options options = {
        .size = sizeof options, .device = "sim", .target = sweep_chip, .sim_mode = "", .cache_dir = "", .log = no_log};
    cdnagen *ctx = NULL;
    if (cdnagen_create_context(&options, &ctx)) fail_msg("%s", cdnagen_error());
    /* The device is opened at its first use, which sets the mode: from here on simulate() does. */
    const char *name;
    if (cdnagen_device_name(ctx, &name)) fail_msg("%s", cdnagen_error());
    return ctx;
}

cdnagen_kernel *kernel_of(cdnagen *ctx, const char *tag, const char *shape) {
    char full[SYMBOL_MAX];
    snprintf(full, sizeof full, "mqa_logits:%s", tag);
    cdnagen_kernel *kernel = NULL;
    if (gen_kernel(ctx, full, shape, &kernel)) fail_msg("%s %s: %s", tag, shape, cdnagen_error());
    return kernel;
}

void data_make(mqa_data *d, cdnagen *ctx, const char *shape) {
    *d = (mqa_data){.ctx = ctx, .plan = plan_on(sweep_chip, "mqa_logits:auto", shape)};
    if (mqa_workload.make(&d->plan, 1, &d->host)) fail_msg("%s: %s", shape, cdnagen_error());
}

static void to_device(mqa_data *d, int buffer) {
    const problem_buffer *const b = &d->host.buffers[buffer];
    if (cdnagen_copy_to_device(d->ctx, d->device[buffer], b->data, b->bytes)) fail_msg("%s", cdnagen_error());
}

static float *whole_logits(mqa_data *d) {
    const mqa_shape *const s = data_shape(d);
    int32_t *const starts = mem_alloc((size_t)s->seq * sizeof *starts);
    int32_t *const ends = mem_alloc((size_t)s->seq * sizeof *ends);
    float *const whole = mem_alloc((size_t)(s->seq * s->seq_kv) * sizeof *whole);
    assert_true(starts && ends && whole);
    for (int64_t m = 0; m < s->seq; m++) starts[m] = 0, ends[m] = (int32_t)s->seq_kv;
    mqa_operands in = mqa_workload_operands(&d->plan, &d->host);
    in.q_fp8 = data_kind(s->q_fp8);
    in.kv_fp8 = data_kind(s->kv_fp8);
    in.cu_starts = starts;
    in.cu_ends = ends;
    assert_int_equal(mqa_reference_logits(&in, whole), CDNAGEN_OK);
    mem_free(starts);
    mem_free(ends);
    return whole;
}

void data_upload(mqa_data *d) {
    const mqa_shape *const s = data_shape(d);
    d->whole = whole_logits(d);
    d->host.reference = mem_alloc((size_t)(s->seq * s->seq_kv) * sizeof(float));
    d->back = mem_alloc(d->host.buffers[MQA_LOGITS].bytes);
    assert_true(d->host.reference && d->back);
    for (int i = 0; i < MQA_BUFFERS; i++) {
        if (cdnagen_alloc(d->ctx, d->host.buffers[i].bytes, &d->device[i])) fail_msg("%s", cdnagen_error());
        to_device(d, i);
    }
    data_windows(d);
}

void data_free(mqa_data *d) {
    for (int i = 0; i < MQA_BUFFERS; i++) cdnagen_free_memory(d->ctx, d->device[i]);
    mem_free(d->whole);
    mem_free(d->back);
    if (d->host.buffer_count) problem_release(&d->host);
    *d = (mqa_data){0};
}

void data_windows(mqa_data *d) {
    const mqa_shape *const s = data_shape(d);
    const int32_t *const starts = data_starts(d), *const ends = data_ends(d);
    float *const masked = d->host.reference;
    for (int64_t m = 0; m < s->seq; m++)
        for (int64_t n = 0; n < s->seq_kv; n++) {
            const int64_t at = m * s->seq_kv + n;
            masked[at] = n >= starts[m] && n < ends[m] ? d->whole[at] : -INFINITY;
        }
    to_device(d, MQA_CU_STARTS);
    to_device(d, MQA_CU_ENDS);
}

cdnagen_mqa_logits_args data_args(const mqa_data *d) {
    cdnagen_mqa_logits_args args;
    mqa_workload.arguments(&d->plan, &d->host, d->device, &args);
    return args;
}

void data_launch(mqa_data *d, cdnagen_kernel *kernel, const char *name, const cdnagen_mqa_logits_args *args) {
    to_device(d, MQA_LOGITS); /* poison: in the rows, between and around them */
    if (cdnagen_launch_mqa_logits(kernel, args, NULL) || cdnagen_synchronize(d->ctx, NULL))
        fail_msg("%s: %s", name, cdnagen_error());
    if (cdnagen_copy_to_host(d->ctx, d->back, d->device[MQA_LOGITS], d->host.buffers[MQA_LOGITS].bytes))
        fail_msg("%s: %s", name, cdnagen_error());
}

grade data_run(mqa_data *d, cdnagen_kernel *kernel, const char *name, int clean, int splits) {
    cdnagen_mqa_logits_args args = data_args(d);
    args.num_splits = splits;
    data_launch(d, kernel, name, &args);
    data_shape(d)->clean = clean;
    void *const back[MQA_BUFFERS] = {[MQA_LOGITS] = d->back};
    grade g;
    if (mqa_workload.grade_outputs(&d->plan, &d->host, back, &g)) fail_msg("%s: %s", name, cdnagen_error());
    return g;
}

const float *data_logits(const mqa_data *d) {
    const size_t before = (size_t)((const char *)data_args(d).logits.ptr - (const char *)d->device[MQA_LOGITS]);
    return (const float *)(const void *)((const char *)d->back + before);
}
