/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Stream capture on the simulator: kernels are generated, launched and freed in it, and it comes out whole. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cdnagen.h"
#include "sim/hip/machine.h"
#include "sim/sim.h"

#include <cmocka.h> /* after core/status.h: it has a macro fail() */

enum { SEQ = 4, SEQ_KV = 64, HEADS = 16, DIM = 128, STRIDE = 256 };
static const char tag[] = "mqa_logits:auto";

static const hip_table *hip;

/* open_context: kept 0: a kernel goes with its last handle. */
static cdnagen *open_context(int refuse, int kept) {
    const cdnagen_options options = {.size = sizeof options,
                                     .device = "sim",
                                     .target = "gfx950",
                                     .cache_dir = "",
                                     .no_cache = !kept,
                                     .kernels_kept = kept,
                                     .refuse_loads_in_capture = refuse};
    cdnagen *ctx = NULL;
    assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
    const char *name;
    assert_int_equal(cdnagen_device_name(ctx, &name), CDNAGEN_OK);
    target t;
    assert_int_equal(target_parse("gfx950", &t), CDNAGEN_OK);
    assert_int_equal(sim_open(t.chip, "", &hip), CDNAGEN_OK);
    return ctx;
}

static cdnagen *context(int refuse) { return open_context(refuse, 0); }

static int modules(void) {
    int count = 0;
    for (const struct hip_module_object *m = sim.devices[0].modules; m; m = m->next) count++;
    return count;
}

static void good(cdnagen_status s) {
    if (s) fail_msg("%s", cdnagen_error());
}
static void ok(hip_error error) {
    if (error) fail_msg("%d, %s", error, hip->get_error_name(error));
}

static cdnagen_buffer upload(cdnagen *ctx, const void *data, size_t size) {
    cdnagen_buffer b = {NULL, size};
    good(cdnagen_alloc(ctx, size, &b.ptr));
    good(cdnagen_copy_to_device(ctx, b.ptr, data, size));
    return b;
}

/* Q, KV and weights are 1, scales 1/2: every logit is HEADS * DIM / 2. */
static cdnagen_mqa_logits_args arguments(cdnagen *ctx) {
    static unsigned char ones[SEQ_KV * DIM * HEADS];
    static float weights[SEQ * HEADS], scales[SEQ_KV], logits[SEQ * STRIDE];
    int32_t starts[SEQ] = {0}, ends[SEQ];
    memset(ones, 0x38, sizeof ones); /* 1.0 in e4m3fn */
    for (int i = 0; i < SEQ * HEADS; i++) weights[i] = 1;
    for (int i = 0; i < SEQ_KV; i++) scales[i] = 0.5f;
    for (int i = 0; i < SEQ; i++) ends[i] = SEQ_KV;
    return (cdnagen_mqa_logits_args){.size = sizeof(cdnagen_mqa_logits_args),
                                     .q = upload(ctx, ones, SEQ * HEADS * DIM),
                                     .kv = upload(ctx, ones, SEQ_KV * DIM),
                                     .kv_scales = upload(ctx, scales, sizeof scales),
                                     .weights = upload(ctx, weights, sizeof weights),
                                     .cu_starts = upload(ctx, starts, sizeof starts),
                                     .cu_ends = upload(ctx, ends, sizeof ends),
                                     .logits = upload(ctx, logits, sizeof logits),
                                     .seq = SEQ,
                                     .seq_kv = SEQ_KV};
}

static float first_logit(cdnagen *ctx, const cdnagen_mqa_logits_args *args) {
    float logit = 0;
    good(cdnagen_copy_to_host(ctx, &logit, args->logits.ptr, sizeof logit));
    return logit;
}

static cdnagen_kernel *gen(cdnagen *ctx, int heads) {
    char shape[64];
    snprintf(shape, sizeof shape, "heads=%d dim=%d", heads, DIM);
    cdnagen_kernel *kernel = NULL;
    good(gen_kernel(ctx, tag, shape, &kernel));
    return kernel;
}

static const struct way {
    unsigned flags; /* of the stream */
    int mode;       /* of the capture */
} ways[] = {{0, CAPTURE_GLOBAL},
            {0, CAPTURE_THREAD_LOCAL},
            {0, CAPTURE_RELAXED},
            {STREAM_NON_BLOCKING, CAPTURE_GLOBAL},
            {STREAM_NON_BLOCKING, CAPTURE_THREAD_LOCAL}};
enum { WAYS = sizeof ways / sizeof *ways };

static void kernels_are_made_launched_and_freed_in_a_capture(void **state) {
    (void)state;
    for (int i = 0; i < WAYS; i++) {
        cdnagen *ctx = context(0);
        const int before = modules();
        const cdnagen_mqa_logits_args args = arguments(ctx);
        cdnagen_kernel *earlier = gen(ctx, HEADS + 16);
        hip_stream stream;
        ok(sim_stream_create_with_flags(&stream, ways[i].flags));
        ok(hip->stream_begin_capture(stream, ways[i].mode));
        cdnagen_kernel *cold = gen(ctx, HEADS), *unused = gen(ctx, HEADS + 32);
        good(cdnagen_launch_mqa_logits(cold, &args, stream));
        assert_int_equal(modules(), before + 3);
        cdnagen_free_kernel(cold);
        cdnagen_free_kernel(unused);
        cdnagen_free_kernel(earlier);
        assert_int_equal(modules(), before + 3); /* unloading would be refused, and the capture lost */
        hip_graph graph;
        hip_graph_exec executable;
        ok(hip->stream_end_capture(stream, &graph));
        ok(hip->graph_instantiate(&executable, graph, 0));
        for (int replay = 0; replay < 2; replay++) {
            assert_true(replay == 0 || first_logit(ctx, &args) == HEADS * DIM * 0.5f);
            good(cdnagen_copy_to_device(ctx, args.logits.ptr, &(float){77}, sizeof(float)));
            ok(hip->graph_launch(executable, stream));
            good(cdnagen_synchronize(ctx, stream));
        }
        assert_true(first_logit(ctx, &args) == HEADS * DIM * 0.5f);
        assert_int_equal(modules(), before + 1); /* the graph's */
        ok(hip->graph_exec_destroy(executable));
        ok(hip->graph_destroy(graph));
        ok(hip->stream_destroy(stream));
        cdnagen_free_context(ctx);
        assert_int_equal(modules(), before);
    }
}

/* A stream of others that never ran a kernel of ours: nobody knows that it captures, and it is not damaged. */
static void a_capture_of_others_is_not_damaged(void **state) {
    (void)state;
    for (int i = 0; i < WAYS; i++) {
        cdnagen *ctx = context(0);
        cdnagen_kernel *kernel = gen(ctx, HEADS);
        void *early, *late;
        good(cdnagen_alloc(ctx, 64, &early));
        hip_stream stream;
        hip_graph graph;
        ok(sim_stream_create_with_flags(&stream, ways[i].flags));
        ok(hip->stream_begin_capture(stream, ways[i].mode));
        good(cdnagen_free_memory(ctx, early));
        good(cdnagen_alloc(ctx, 64, &late));
        good(cdnagen_free_memory(ctx, late));
        cdnagen_free_kernel(kernel);
        cdnagen_free_kernel(gen(ctx, HEADS));
        cdnagen_free_context(ctx);
        ok(hip->stream_end_capture(stream, &graph));
        ok(hip->graph_destroy(graph));
        ok(hip->stream_destroy(stream));
        ctx = context(0);
        cdnagen_free_kernel(gen(ctx, HEADS));
        assert_int_equal(modules(), 0); /* with what the freed context left */
        cdnagen_free_context(ctx);
    }
}

static void loads_in_a_capture_are_refused_where_that_is_wanted(void **state) {
    (void)state;
    cdnagen *ctx = context(1);
    const cdnagen_mqa_logits_args args = arguments(ctx);
    cdnagen_kernel *prepared = gen(ctx, HEADS), *refused = NULL;
    for (int i = 0; i < WAYS; i++) {
        hip_stream stream;
        hip_graph graph;
        ok(sim_stream_create_with_flags(&stream, ways[i].flags));
        ok(hip->stream_begin_capture(stream, ways[i].mode));
        good(cdnagen_launch_mqa_logits(prepared, &args, stream));
        assert_int_equal(gen_kernel(ctx, tag, "heads=48 dim=128", &refused), CDNAGEN_CAPTURING);
        assert_non_null(strstr(cdnagen_error(), "before the capture"));
        cdnagen_free_kernel(gen(ctx, HEADS)); /* loaded already */
        ok(hip->stream_end_capture(stream, &graph));
        ok(hip->graph_destroy(graph));
        ok(hip->stream_destroy(stream));
        cdnagen_free_kernel(gen(ctx, 48));
    }
    cdnagen_free_kernel(prepared);
    cdnagen_free_context(ctx);
    assert_int_equal(modules(), 0);
}

static void what_was_prepared_is_at_hand_in_a_capture(void **state) {
    (void)state;
    for (int i = 0; i < WAYS; i++) {
        cdnagen *ctx = open_context(1, 4);
        const cdnagen_mqa_logits_args args = arguments(ctx);
        good(cdnagen_prepare(ctx, tag, "heads=16 dim=128"));
        for (int n = 1; n <= 5; n++) cdnagen_free_kernel(gen(ctx, HEADS + n));
        hip_stream stream;
        hip_graph graph;
        ok(sim_stream_create_with_flags(&stream, ways[i].flags));
        ok(hip->stream_begin_capture(stream, ways[i].mode));
        cdnagen_kernel *prepared = gen(ctx, HEADS), *refused = NULL;
        good(cdnagen_launch_mqa_logits(prepared, &args, stream));
        assert_int_equal(gen_kernel(ctx, tag, "heads=48 dim=128", &refused), CDNAGEN_CAPTURING);
        assert_int_equal(cdnagen_prepare(ctx, tag, "heads=48 dim=128"), CDNAGEN_CAPTURING);
        good(cdnagen_prepare(ctx, tag, "heads=16 dim=128"));
        cdnagen_free_kernel(prepared);
        ok(hip->stream_end_capture(stream, &graph));
        ok(hip->graph_destroy(graph));
        ok(hip->stream_destroy(stream));
        cdnagen_free_context(ctx);
        assert_int_equal(modules(), 0);
    }
}

static void kernels_that_a_capture_pushes_out_are_unloaded_after_it(void **state) {
    (void)state;
    enum { KEPT = 4, MADE = 8 };
    for (int i = 0; i < WAYS; i++) {
        cdnagen *ctx = open_context(0, KEPT);
        const cdnagen_mqa_logits_args args = arguments(ctx);
        cdnagen_kernel *held = gen(ctx, HEADS);
        hip_stream stream;
        hip_graph graph;
        ok(sim_stream_create_with_flags(&stream, ways[i].flags));
        ok(hip->stream_begin_capture(stream, ways[i].mode));
        good(cdnagen_launch_mqa_logits(held, &args, stream));
        for (int n = 1; n < MADE; n++) cdnagen_free_kernel(gen(ctx, HEADS + n));
        assert_int_equal(modules(), MADE);
        ok(hip->stream_end_capture(stream, &graph));
        cdnagen_free_kernel(gen(ctx, HEADS + MADE));
        assert_int_equal(modules(), KEPT + 1); /* and the held one, which was pushed out too */
        ok(hip->graph_destroy(graph));
        ok(hip->stream_destroy(stream));
        cdnagen_free_kernel(held);
        cdnagen_free_context(ctx);
        assert_int_equal(modules(), 0);
    }
}

/* What a thread does that captures nothing itself. */
static void *make_and_free(void *ctx) {
    void *memory_of_thread;
    cdnagen_kernel *kernel;
    cdnagen_status s = gen_kernel(ctx, tag, "heads=48 dim=128", &kernel);
    if (s) return (void *)(uintptr_t)s;
    cdnagen_free_kernel(kernel);
    s = cdnagen_alloc(ctx, 64, &memory_of_thread);
    if (!s) s = cdnagen_free_memory(ctx, memory_of_thread);
    return (void *)(uintptr_t)s;
}

static void a_capture_is_not_damaged_by_other_threads(void **state) {
    (void)state;
    for (int i = 0; i < WAYS; i++) {
        cdnagen *ctx = context(0);
        const cdnagen_mqa_logits_args args = arguments(ctx);
        cdnagen_kernel *kernel = gen(ctx, HEADS);
        hip_stream stream;
        hip_graph graph;
        pthread_t thread;
        void *status;
        ok(sim_stream_create_with_flags(&stream, ways[i].flags));
        ok(hip->stream_begin_capture(stream, ways[i].mode));
        good(cdnagen_launch_mqa_logits(kernel, &args, stream));
        assert_int_equal(pthread_create(&thread, NULL, make_and_free, ctx), 0);
        assert_int_equal(pthread_join(thread, &status), 0);
        assert_null(status);
        assert_int_equal(modules(), 2);
        ok(hip->stream_end_capture(stream, &graph));
        ok(hip->graph_destroy(graph));
        ok(hip->stream_destroy(stream));
        cdnagen_free_kernel(kernel);
        cdnagen_free_context(ctx);
        assert_int_equal(modules(), 0);
    }
}

static cdnagen_tensor device_tensor(cdnagen *ctx, int type, int groups, int rows, int columns) {
    cdnagen_tensor t = {.type = type, .rank = 3, .size = {groups, rows, columns}};
    good(cdnagen_alloc(ctx, (size_t)groups * rows * columns * 4, &t.ptr));
    return t;
}

/* A form that takes tensors generates at its first call, which before a capture prepares those in it. */
static void a_form_is_prepared_by_a_call(void **state) {
    (void)state;
    enum { M = 8, N = 64, K = 128 };
    cdnagen *ctx = context(1);
    const cdnagen_tensor xq = device_tensor(ctx, CDNAGEN_TYPE_E4M3FN, 1, M, K),
                         wq = device_tensor(ctx, CDNAGEN_TYPE_E4M3FN, 1, N, K),
                         x_scale = device_tensor(ctx, CDNAGEN_TYPE_F32, 1, M, 1),
                         w_scale = device_tensor(ctx, CDNAGEN_TYPE_F32, 1, N, 1),
                         out = device_tensor(ctx, CDNAGEN_TYPE_BF16, 1, M, N);
    for (int prepared = 0; prepared < 2; prepared++) {
        hip_stream stream;
        hip_graph graph;
        ok(sim_stream_create_with_flags(&stream, 0));
        if (prepared) good(cdnagen_rowwise_grouped_mm(ctx, &xq, &wq, &x_scale, &w_scale, NULL, &out, stream));
        ok(hip->stream_begin_capture(stream, CAPTURE_GLOBAL));
        assert_int_equal(cdnagen_rowwise_grouped_mm(ctx, &xq, &wq, &x_scale, &w_scale, NULL, &out, stream),
                         prepared ? CDNAGEN_OK : CDNAGEN_CAPTURING);
        ok(hip->stream_end_capture(stream, &graph));
        ok(hip->graph_destroy(graph));
        ok(hip->stream_destroy(stream));
    }
    cdnagen_free_context(ctx);
    assert_int_equal(modules(), 0);
}

int main(void) {
    static const char *const variables[] = {"CDNAGEN_TARGET", "CDNAGEN_DEVICE", "CDNAGEN_SIM", "CDNAGEN_CACHE",
                                            "CDNAGEN_CACHE_ONLY"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) unsetenv(variables[i]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_made_launched_and_freed_in_a_capture),
        cmocka_unit_test(a_capture_of_others_is_not_damaged),
        cmocka_unit_test(loads_in_a_capture_are_refused_where_that_is_wanted),
        cmocka_unit_test(what_was_prepared_is_at_hand_in_a_capture),
        cmocka_unit_test(kernels_that_a_capture_pushes_out_are_unloaded_after_it),
        cmocka_unit_test(a_capture_is_not_damaged_by_other_threads),
        cmocka_unit_test(a_form_is_prepared_by_a_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
