/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The HIP program's second part: stream capture, what it refuses, and graphs. */
#include "tests/hip_sim/program.h"

#include <pthread.h>
#include <string.h>

static hipStream_t stream, side;
static hipEvent_t event, other_event;
static int *counter, *copy;

static int setup(void **state) {
    ok(hipStreamCreate(&stream));
    ok(hipStreamCreate(&side));
    ok(hipEventCreate(&event));
    ok(hipEventCreate(&other_event));
    ok(hipMalloc((void **)&counter, 256));
    ok(hipMalloc((void **)&copy, 256));
    ok(hipMemset(counter, 0, 256));
    ok(hipMemset(copy, 0, 256));
    return state == NULL;
}
static int teardown(void **state) {
    ok(hipFree(counter));
    ok(hipFree(copy));
    ok(hipEventDestroy(event));
    ok(hipEventDestroy(other_event));
    ok(hipStreamDestroy(stream));
    ok(hipStreamDestroy(side));
    return state == NULL;
}

static void begin(void) { ok(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal)); }
static hipGraphExec_t end(size_t nodes_wanted) {
    hipGraph_t graph;
    hipGraphExec_t executable;
    size_t nodes;
    ok(hipStreamEndCapture(stream, &graph));
    ok(hipGraphGetNodes(graph, NULL, &nodes));
    assert_int_equal(nodes, nodes_wanted);
    ok(hipGraphInstantiate(&executable, graph, NULL, NULL, 0));
    ok(hipGraphDestroy(graph));
    return executable;
}
static void end_fails(hipError_t error) {
    hipGraph_t graph;
    hipStreamCaptureStatus status;
    expect(error, hipStreamEndCapture(stream, &graph));
    assert_null(graph);
    ok(hipStreamIsCapturing(stream, &status));
    assert_int_equal(status, hipStreamCaptureStatusNone);
}

static void launches_copies_and_fills_are_replayed(void **state) {
    (void)state;
    hipStreamCaptureStatus status;
    begin();
    ok(hipStreamIsCapturing(stream, &status));
    assert_int_equal(status, hipStreamCaptureStatusActive);
    add(counter, 10, stream); /* its argument lives no longer than the call */
    ok(hipMemcpyAsync(copy, counter, 256, hipMemcpyDeviceToDevice, stream));
    add(copy, 1, stream);
    ok(hipMemsetAsync(counter + 32, 0, 128, stream));
    const hipGraphExec_t graph = end(4);
    assert_int_equal(first_of(counter), 0); /* nothing ran yet */
    for (int i = 1; i <= 3; i++) {
        ok(hipGraphLaunch(graph, i == 3 ? NULL : stream));
        ok(hipStreamSynchronize(stream));
        assert_int_equal(first_of(counter), 10 * i);
        assert_int_equal(first_of(counter + 32), 0);
        assert_int_equal(first_of(copy), 10 * i + 1);
    }
    ok(hipGraphExecDestroy(graph));
    expect(hipErrorInvalidValue, hipGraphLaunch(graph, stream));
}

static void a_graph_can_be_captured(void **state) {
    (void)state;
    begin();
    add(counter, 2, stream);
    const hipGraphExec_t inner = end(1);
    begin();
    ok(hipGraphLaunch(inner, stream));
    ok(hipGraphLaunch(inner, stream));
    const hipGraphExec_t outer = end(2);
    ok(hipGraphExecDestroy(inner));
    ok(hipGraphLaunch(outer, stream));
    assert_int_equal(first_of(counter), 4);
    ok(hipGraphExecDestroy(outer));
}

static void loading_is_allowed(void **state) {
    (void)state;
    hipModule_t loaded;
    hipFunction_t f;
    int value = 6;
    void *arguments[] = {&counter, &value};
    begin();
    ok(hipModuleLoad(&loaded, OBJECTS "/gfx950.co"));
    ok(hipModuleGetFunction(&f, loaded, "add"));
    ok(hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, stream, arguments, NULL));
    const hipGraphExec_t graph = end(1);
    ok(hipGraphLaunch(graph, stream));
    assert_int_equal(first_of(counter), 6);
    ok(hipModuleUnload(loaded));
    expect(hipErrorInvalidHandle, hipGraphLaunch(graph, stream)); /* its kernel is gone */
    ok(hipGraphExecDestroy(graph));
}

static void unloading_is_refused_and_ends_it(void **state) {
    (void)state;
    hipModule_t loaded;
    hipStreamCaptureStatus status;
    ok(hipModuleLoad(&loaded, OBJECTS "/gfx950.co"));
    begin();
    add(counter, 1, stream);
    expect(hipErrorStreamCaptureUnsupported, hipModuleUnload(loaded));
    ok(hipStreamIsCapturing(stream, &status));
    assert_int_equal(status, hipStreamCaptureStatusInvalidated);
    expect(hipErrorStreamCaptureInvalidated, hipMemsetAsync(counter, 0, 4, stream));
    end_fails(hipErrorStreamCaptureInvalidated);
    ok(hipModuleUnload(loaded));
    add(counter, 1, stream); /* the stream works again */
    assert_int_equal(first_of(counter), 1);
}

static void *free_it(void *p) { return (void *)(uintptr_t)hipFree(p); }
static hipError_t free_in_another_thread(void *p) {
    pthread_t thread;
    void *error;
    assert_int_equal(pthread_create(&thread, NULL, free_it, p), 0);
    assert_int_equal(pthread_join(thread, &error), 0);
    return (hipError_t)(uintptr_t)error;
}
static void modes_say_who_may_allocate(void **state) {
    (void)state;
    static const struct {
        hipStreamCaptureMode mode;
        hipError_t own, other;
    } rows[] = {{hipStreamCaptureModeGlobal, hipErrorStreamCaptureUnsupported, hipErrorStreamCaptureUnsupported},
                {hipStreamCaptureModeThreadLocal, hipErrorStreamCaptureUnsupported, hipSuccess},
                {hipStreamCaptureModeRelaxed, hipSuccess, hipSuccess}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int own = 0; own < 2; own++) {
            hipGraph_t graph;
            void *p;
            ok(hipMalloc(&p, 64));
            ok(hipStreamBeginCapture(stream, rows[i].mode));
            const hipError_t wanted = own ? rows[i].own : rows[i].other;
            expect(wanted, own ? hipFree(p) : free_in_another_thread(p));
            expect(wanted ? hipErrorStreamCaptureInvalidated : hipSuccess, hipStreamEndCapture(stream, &graph));
            if (wanted)
                ok(hipFree(p));
            else
                ok(hipGraphDestroy(graph));
        }
}

static void waiting_and_the_null_stream_are_refused(void **state) {
    (void)state;
    int x;
    static const struct {
        const char *what;
        hipError_t error;
    } rows[] = {{"stream", hipErrorStreamCaptureUnsupported}, {"query", hipErrorStreamCaptureUnsupported},
                {"device", hipErrorStreamCaptureUnsupported}, {"copy", hipErrorStreamCaptureImplicit},
                {"fill", hipErrorStreamCaptureImplicit},      {"record", hipErrorStreamCaptureImplicit}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin();
        expect(rows[i].error, i == 0   ? hipStreamSynchronize(stream)
                              : i == 1 ? hipStreamQuery(stream)
                              : i == 2 ? hipDeviceSynchronize()
                              : i == 3 ? hipMemcpyDtoH(&x, counter, 4)
                              : i == 4 ? hipMemset(counter, 0, 4)
                                       : hipEventRecord(event, NULL));
        end_fails(hipErrorStreamCaptureInvalidated);
    }
}

static void other_streams_join_by_events(void **state) {
    (void)state;
    begin();
    add(counter, 1, stream);
    ok(hipEventRecord(event, stream));
    expect(hipErrorCapturedEvent, hipEventSynchronize(event));
    ok(hipStreamWaitEvent(side, event, 0));
    add(counter, 2, side);
    ok(hipEventRecord(other_event, side));
    ok(hipStreamWaitEvent(stream, other_event, 0));
    const hipGraphExec_t graph = end(2);
    ok(hipGraphLaunch(graph, stream));
    assert_int_equal(first_of(counter), 3);
    ok(hipGraphExecDestroy(graph));
    add(counter, 4, side); /* no longer captured */
    assert_int_equal(first_of(counter), 7);
}

static void a_fork_must_be_joined(void **state) {
    (void)state;
    begin();
    ok(hipEventRecord(event, stream));
    ok(hipStreamWaitEvent(side, event, 0));
    ok(hipEventRecord(other_event, side));
    ok(hipStreamWaitEvent(stream, other_event, 0));
    add(counter, 2, side); /* after what the origin waits for */
    end_fails(hipErrorStreamCaptureUnjoined);
}

static void captures_stay_apart(void **state) {
    (void)state;
    hipGraph_t graph;
    begin();
    expect(hipErrorIllegalState, hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    ok(hipStreamBeginCapture(side, hipStreamCaptureModeGlobal));
    ok(hipEventRecord(event, stream));
    expect(hipErrorStreamCaptureMerge, hipStreamWaitEvent(side, event, 0));
    expect(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(side, &graph));
    end_fails(hipErrorStreamCaptureInvalidated);

    ok(hipEventRecord(event, side)); /* outside of a capture */
    begin();
    expect(hipErrorStreamCaptureIsolation, hipStreamWaitEvent(stream, event, 0));
    end_fails(hipErrorStreamCaptureInvalidated);

    begin();
    ok(hipEventRecord(event, stream));
    ok(hipStreamWaitEvent(side, event, 0));
    expect(hipErrorStreamCaptureUnmatched, hipStreamEndCapture(side, &graph));
    end_fails(hipErrorStreamCaptureUnjoined);
    expect(hipErrorIllegalState, hipStreamEndCapture(stream, &graph));
    expect(hipErrorStreamCaptureUnsupported, hipStreamBeginCapture(NULL, hipStreamCaptureModeGlobal));
}

static void destroying_the_stream_ends_it(void **state) {
    (void)state;
    hipStream_t brief;
    ok(hipStreamCreate(&brief));
    ok(hipStreamBeginCapture(brief, hipStreamCaptureModeGlobal));
    add(counter, 1, brief);
    ok(hipStreamDestroy(brief));
    assert_int_equal(first_of(counter), 0);
}

#define TEST(name) {#name, name, setup, teardown, NULL}
int run_capture_tests(void) {
    const struct CMUnitTest tests[] = {
        TEST(launches_copies_and_fills_are_replayed),
        TEST(a_graph_can_be_captured),
        TEST(loading_is_allowed),
        TEST(unloading_is_refused_and_ends_it),
        TEST(modes_say_who_may_allocate),
        TEST(waiting_and_the_null_stream_are_refused),
        TEST(other_streams_join_by_events),
        TEST(a_fork_must_be_joined),
        TEST(captures_stay_apart),
        TEST(destroying_the_stream_ends_it),
    };
    return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
