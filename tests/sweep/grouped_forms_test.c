/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The forms of gemm_grouped that take tensors, end to end on the simulator: called once, and captured cold: generated,
 * loaded and launched inside a stream capture that is then replayed; and what they leave or clear where there is
 * nothing to do. */
#include "tests/sweep/grouped_runs.h"

#include <math.h>
#include <stdlib.h>

#include "sim/sim.h"
#include "tests/sweep/machine.h"

enum { GUARD = 1024, ROOM_FOR_WORDS = 200 };

typedef struct tensors {
    cdnagen_tensor xq, wq, x_scale, w_scale, extents, out;
} tensors;

typedef cdnagen_status form_call(cdnagen *ctx, const tensors *t, void *stream);
static cdnagen_status stacked(cdnagen *ctx, const tensors *t, void *stream) {
    return cdnagen_rowwise_grouped_stacked(ctx, &t->xq, &t->wq, &t->x_scale, &t->w_scale, &t->extents, &t->out, stream);
}
static cdnagen_status stacked_preshuffle(cdnagen *ctx, const tensors *t, void *stream) {
    return cdnagen_rowwise_grouped_stacked_preshuffle(ctx, &t->xq, &t->wq, &t->x_scale, &t->w_scale, &t->extents,
                                                      &t->out, stream);
}
static cdnagen_status dynamic(cdnagen *ctx, const tensors *t, void *stream) {
    return cdnagen_rowwise_grouped_dynamic(ctx, &t->xq, &t->wq, &t->x_scale, &t->w_scale, &t->extents, 1, &t->out,
                                           stream);
}
static cdnagen_status dynamic_preshuffle(cdnagen *ctx, const tensors *t, void *stream) {
    return cdnagen_rowwise_grouped_dynamic_preshuffle(ctx, &t->xq, &t->wq, &t->x_scale, &t->w_scale, &t->extents, 1,
                                                      &t->out, stream);
}
static cdnagen_status mm(cdnagen *ctx, const tensors *t, void *stream) {
    return cdnagen_rowwise_grouped_mm(ctx, &t->xq, &t->wq, &t->x_scale, &t->w_scale,
                                      t->extents.rank ? &t->extents : NULL, &t->out, stream);
}
static cdnagen_status mm_preshuffle(cdnagen *ctx, const tensors *t, void *stream) {
    return cdnagen_rowwise_grouped_mm_preshuffle(ctx, &t->xq, &t->wq, &t->x_scale, &t->w_scale,
                                                 t->extents.rank ? &t->extents : NULL, &t->out, stream);
}
static cdnagen_status groupwise(cdnagen *ctx, const tensors *t, void *stream) {
    return cdnagen_groupwise_grouped(ctx, &t->xq, &t->wq, &t->x_scale, &t->w_scale, &t->extents, &t->out, stream);
}
static cdnagen_status groupwise_preshuffle(cdnagen *ctx, const tensors *t, void *stream) {
    return cdnagen_groupwise_grouped_preshuffle(ctx, &t->xq, &t->wq, &t->x_scale, &t->w_scale, &t->extents, &t->out,
                                                stream);
}

static const struct {
    form_call *call;
    cdnagen_grouped_form form;
    const char *words;
} forms[] = {
    {stacked, CDNAGEN_GROUPED_STACKED, "layout=sizes"},
    {stacked_preshuffle, CDNAGEN_GROUPED_STACKED_PRESHUFFLE, "layout=sizes b=preshuffled"},
    {dynamic, CDNAGEN_GROUPED_DYNAMIC, "layout=padded"},
    {dynamic_preshuffle, CDNAGEN_GROUPED_DYNAMIC_PRESHUFFLE, "layout=padded b=preshuffled"},
    {mm, CDNAGEN_GROUPED_MM, "layout=offsets"},
    {mm, CDNAGEN_GROUPED_MM, "layout=batched"},
    {mm, CDNAGEN_GROUPED_MM, "layout=n_offsets"},
    {mm, CDNAGEN_GROUPED_MM, "layout=k_offsets empty_k=leave"},
    {mm_preshuffle, CDNAGEN_GROUPED_MM_PRESHUFFLE, "layout=offsets b=preshuffled"},
    {mm_preshuffle, CDNAGEN_GROUPED_MM_PRESHUFFLE, "layout=batched b=preshuffled"},
    {groupwise, CDNAGEN_GROUPED_GROUPWISE, "layout=sizes scale=block"},
    {groupwise_preshuffle, CDNAGEN_GROUPED_GROUPWISE_PRESHUFFLE, "layout=sizes scale=block b=preshuffled"},
};

static cdnagen_tensor matrix(void *ptr, int type, int slabs, int64_t groups, int64_t rows, int64_t columns) {
    cdnagen_tensor t = {.ptr = ptr, .type = type};
    if (slabs) t.size[t.rank++] = groups;
    t.size[t.rank++] = rows;
    t.size[t.rank++] = columns;
    return t;
}

static cdnagen_tensor vector(void *ptr, int type, int64_t count) {
    return (cdnagen_tensor){.ptr = ptr, .type = type, .rank = 1, .size = {count}};
}

static tensors tensors_of(const plan *p, void *const *device) {
    const grouped_shape *const s = (const grouped_shape *)p->shape;
    const grouped_traits *const t = &grouped_layouts[s->layout];
    const grouped_problem lengths = {(grouped_layout)s->layout, (grouped_scale)s->scale, s->groups, s->m, s->n, s->k};
    const int fp8 = p->target.chip->fp8 == CDNAGEN_FP8_E4M3FN ? CDNAGEN_TYPE_E4M3FN : CDNAGEN_TYPE_E4M3FNUZ;
    int64_t elements[GROUPED_WORKSPACE];
    char *at[GROUPED_WORKSPACE];
    grouped_lengths(&lengths, elements);
    for (int i = 0; i < GROUPED_WORKSPACE; i++) at[i] = (char *)device[i] + GUARD;
    tensors all = {matrix(at[GROUPED_A], fp8, t->a_slabs, s->groups, s->m, s->k),
                   matrix(at[GROUPED_B], fp8, t->b_slabs, s->groups, s->n, s->k),
                   vector(at[GROUPED_A_SCALES], CDNAGEN_TYPE_F32, elements[GROUPED_A_SCALES]),
                   vector(at[GROUPED_B_SCALES], CDNAGEN_TYPE_F32, elements[GROUPED_B_SCALES]),
                   vector(at[GROUPED_EXTENTS], t->extent_bytes == 8 ? CDNAGEN_TYPE_I64 : CDNAGEN_TYPE_I32,
                          elements[GROUPED_EXTENTS]),
                   matrix(at[GROUPED_C], CDNAGEN_TYPE_BF16, t->c_slabs, s->groups, s->m, s->n)};
    if (!t->extent_bytes) all.extents.rank = 0;
    return all;
}

/* call: one form's tensors on the device, and the host's copy of them. */
typedef struct call {
    cdnagen *ctx;
    size_t row;
    plan plan;
    problem data;
    void *device[PROBLEM_BUFFERS_MAX];
    tensors tensors;
} call;

static call begin(const char *chip_name, size_t row, const char *lengths, cdnagen *ctx) {
    char words[ROOM_FOR_WORDS];
    snprintf(words, sizeof words, "%s %s", forms[row].words, lengths);
    call c = {.ctx = ctx, .row = row, .plan = plan_on(chip_name, "gemm_grouped:auto", words)};
    const workload *const w = c.plan.family->workload;
    if (w->make(&c.plan, row, &c.data) || w->reference(&c.plan, &c.data)) fail_msg("%s: %s", words, cdnagen_error());
    for (size_t b = 0; b < c.data.buffer_count; b++)
        if (cdnagen_alloc(ctx, c.data.buffers[b].bytes, &c.device[b]) ||
            cdnagen_copy_to_device(ctx, c.device[b], c.data.buffers[b].data, c.data.buffers[b].bytes))
            fail_msg("%s", cdnagen_error());
    c.tensors = tensors_of(&c.plan, c.device);
    return c;
}

static void end(call *c) {
    for (size_t b = 0; b < c->data.buffer_count; b++) cdnagen_free_memory(c->ctx, c->device[b]);
    problem_release(&c->data);
}

/* What the device holds passes; C is poison again. */
static void assert_passes(call *c, const char *when) {
    const problem_buffer *const out = &c->data.buffers[GROUPED_C];
    void *back[PROBLEM_BUFFERS_MAX] = {NULL};
    for (size_t b = 0; b < c->data.buffer_count; b++) {
        back[b] = malloc(c->data.buffers[b].bytes);
        assert_non_null(back[b]);
        if (cdnagen_copy_to_host(c->ctx, back[b], c->device[b], c->data.buffers[b].bytes))
            fail_msg("%s", cdnagen_error());
    }
    grade g;
    assert_int_equal(c->plan.family->workload->grade_outputs(&c->plan, &c->data, back, &g), CDNAGEN_OK);
    if (!g.pass) fail_msg("%s on %s, %s: %s", forms[c->row].words, c->plan.target.chip->name, when, g.first);
    for (size_t b = 0; b < c->data.buffer_count; b++) free(back[b]);
    assert_int_equal(cdnagen_copy_to_device(c->ctx, c->device[GROUPED_C], out->data, out->bytes), CDNAGEN_OK);
}

static void forms_end_to_end(void **state) {
    (void)state;
    for (int which = 0; which < CHIP_COUNT; which++)
        for (size_t row = 0; row < COUNT(forms); row++) {
            call c = begin(chips[which].name, row, "groups=3 m=70 n=256 k=256",
                           runs_on(chips[which].name, "late poison check=all threads=1"));
            const tensors *const t = &c.tensors;
            cdnagen_tensor out;
            if (cdnagen_grouped_output(forms[row].form, &t->xq, &t->wq, t->extents.rank ? &t->extents : NULL, &out) ||
                forms[row].call(c.ctx, t, NULL) || cdnagen_synchronize(c.ctx, NULL))
                fail_msg("%s: %s", forms[row].words, cdnagen_error());
            assert_true(out.rank == t->out.rank && !memcmp(out.size, t->out.size, sizeof out.size));
            assert_passes(&c, "called");
            end(&c);
        }
}

/* ---- in a stream capture ---- */

static void ok(const hip_table *hip, hip_error error) {
    if (error) fail_msg("%d, %s", error, hip->get_error_name(error));
}

/* cold: a context that has no kernel. */
static cdnagen *cold(const char *chip_name, const hip_table **hip) {
    const cdnagen_options options = {
        .size = sizeof options, .device = "sim", .target = chip_name, .cache_dir = "", .no_cache = 1, .log = no_log};
    const target t = target_of(chip_name);
    const char *name;
    cdnagen *ctx = NULL;
    if (cdnagen_create_context(&options, &ctx) || cdnagen_device_name(ctx, &name) ||
        sim_open(t.chip, "late poison threads=1", hip))
        fail_msg("%s", cdnagen_error());
    return ctx;
}

/* The first call of each form generates, loads and launches its kernel inside the capture; one of other lengths takes
 * the same kernel; one without K clears its output. Nothing runs before the replays, each of which finds C dirty. */
static void forms_are_captured_cold(void **state) {
    (void)state;
    enum { REPLAYS = 2 };
    static const char *const lengths[] = {"groups=3 m=70 n=256 k=256", "groups=3 m=66 n=256 k=512",
                                          "groups=3 m=70 n=256 k=0"};
    for (int which = 0; which < CHIP_COUNT; which++) {
        const hip_table *hip = NULL;
        cdnagen *const ctx = cold(chips[which].name, &hip);
        for (size_t row = 0; row < COUNT(forms); row++) {
            call calls[COUNT(lengths)];
            hip_stream stream;
            hip_graph graph;
            hip_graph_exec executable;
            for (size_t i = 0; i < COUNT(lengths); i++) calls[i] = begin(chips[which].name, row, lengths[i], ctx);
            ok(hip, hip->stream_create(&stream));
            const int before = machine_modules();
            ok(hip, hip->stream_begin_capture(stream, MACHINE_CAPTURE_GLOBAL));
            for (size_t i = 0; i < COUNT(lengths); i++)
                if (forms[row].call(ctx, &calls[i].tensors, stream))
                    fail_msg("%s %s: %s", forms[row].words, lengths[i], cdnagen_error());
            assert_int_equal(machine_modules(), before + 1);
            ok(hip, hip->stream_end_capture(stream, &graph));
            ok(hip, hip->graph_instantiate(&executable, graph, 0));
            for (int replay = 0; replay < REPLAYS; replay++) {
                ok(hip, hip->graph_launch(executable, stream));
                assert_int_equal(cdnagen_synchronize(ctx, stream), CDNAGEN_OK);
                for (size_t i = 0; i < COUNT(lengths); i++) assert_passes(&calls[i], "replayed");
            }
            ok(hip, hip->graph_exec_destroy(executable));
            ok(hip, hip->graph_destroy(graph));
            ok(hip, hip->stream_destroy(stream));
            for (size_t i = 0; i < COUNT(lengths); i++) end(&calls[i]);
        }
        cdnagen_free_context(ctx);
    }
}

/* ---- what is left, what is cleared ---- */

/* Rows of a dynamic slab past its own keep what they held where they are not to be zeroed; without any K they are
 * cleared all the same. */
static void dynamic_without_zeroing(void **state) {
    (void)state;
    static const size_t rows[] = {2, 3};
    for (int which = 0; which < CHIP_COUNT; which++)
        for (size_t i = 0; i < COUNT(rows); i++)
            for (int has_k = 0; has_k < 2; has_k++) {
                const char *const chip_name = chips[which].name;
                call c = begin(chip_name, rows[i], has_k ? "groups=4 m=70 n=256 k=256" : "groups=4 m=70 n=256 k=0",
                               runs_on(chip_name, "late poison check=all threads=1"));
                const tensors *const t = &c.tensors;
                const char *const extents = (const char *)c.data.buffers[GROUPED_EXTENTS].data + GUARD;
                float *const right = c.data.reference;
                for (int64_t g = 0, n = t->out.size[2], m = t->out.size[1]; g < t->out.size[0] && has_k; g++) {
                    int64_t valid;
                    memcpy(&valid, extents + g * 8, sizeof valid);
                    for (int64_t place = (g * m + valid) * n; place < (g + 1) * m * n; place++) right[place] = NAN;
                }
                assert_int_equal(
                    rows[i] == 2 ? cdnagen_rowwise_grouped_dynamic(c.ctx, &t->xq, &t->wq, &t->x_scale, &t->w_scale,
                                                                   &t->extents, 0, &t->out, NULL)
                                 : cdnagen_rowwise_grouped_dynamic_preshuffle(
                                       c.ctx, &t->xq, &t->wq, &t->x_scale, &t->w_scale, &t->extents, 0, &t->out, NULL),
                    CDNAGEN_OK);
                assert_int_equal(cdnagen_synchronize(c.ctx, NULL), CDNAGEN_OK);
                assert_passes(&c, "without zeroing");
                end(&c);
            }
}

/* Every form takes calls without groups, rows, columns or K: a success, and zeros wherever there is an output. */
static void forms_without_anything_to_multiply(void **state) {
    (void)state;
    static const char *const lengths[] = {"groups=3 m=0 n=256 k=256", "groups=3 m=20 n=0 k=256",
                                          "groups=3 m=20 n=256 k=0", "groups=0 m=20 n=256 k=256"};
    for (size_t row = 0; row < COUNT(forms); row++)
        for (size_t i = 0; i < COUNT(lengths); i++) {
            call c = begin("gfx950", row, lengths[i], runs_on("gfx950", "threads=1"));
            if (forms[row].call(c.ctx, &c.tensors, NULL) || cdnagen_synchronize(c.ctx, NULL))
                fail_msg("%s %s: %s", forms[row].words, lengths[i], cdnagen_error());
            assert_passes(&c, lengths[i]);
            end(&c);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_end_to_end),
        cmocka_unit_test(forms_are_captured_cold),
        cmocka_unit_test(dynamic_without_zeroing),
        cmocka_unit_test(forms_without_anything_to_multiply),
    };
    runs_open();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    runs_close();
    return failed;
}
