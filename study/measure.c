/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Timing two launches against each other: graphs, events, flushes, turns. */
#include "study/measure.h"

#include <stdlib.h>

#include "core/clock.h"
#include "core/memory.h"
#include "runtime/hip.h"

const measure_counts measure_standard = {
    .ramp_ms = 500, .turns = 4, .samples = 5, .replays = 50, .flush_bytes = (size_t)512 << 20};

enum { HOT, COLD, WAYS };

/* bench: what a measurement holds until it is over. */
typedef struct bench {
    const hip_table *hip;
    const measure_counts *n;
    hip_stream stream;
    hip_event start, stop;
    hip_graph_exec graph[2];
    void *flush;
    double *sample[2][WAYS]; /* of each side, in microseconds */
} bench;

#define HIP(call, name) TRY(hip_check(b->hip, b->hip->call, name))

static cdnagen_status capture(bench *b, const measure_side *side, hip_graph_exec *out) {
    hip_graph graph = NULL;
    size_t nodes = 0;
    HIP(stream_begin_capture(b->stream, HIP_CAPTURE_THREAD_LOCAL), "hipStreamBeginCapture");
    cdnagen_status status = side->launch(side->user, b->stream);
    const hip_error ended =
        b->hip->stream_end_capture(b->stream, &graph); /* also after a failure: the stream is ours */
    if (!status) status = hip_check(b->hip, ended, "hipStreamEndCapture");
    if (!status) status = hip_check(b->hip, b->hip->graph_get_nodes(graph, NULL, &nodes), "hipGraphGetNodes");
    if (!status && !nodes)
        status = fail(CDNAGEN_BAD_ARGUMENT, "a launch that is to be timed queues nothing: give a shape with work");
    if (!status) status = hip_check(b->hip, b->hip->graph_instantiate(out, graph, 0), "hipGraphInstantiateWithFlags");
    if (graph) b->hip->graph_destroy(graph);
    return status;
}

static cdnagen_status ramp(bench *b, hip_graph_exec graph) {
    const double until = clock_ms() + b->n->ramp_ms;
    while (clock_ms() < until) {
        HIP(graph_launch(graph, b->stream), "hipGraphLaunch");
        HIP(stream_synchronize(b->stream), "hipStreamSynchronize");
    }
    return CDNAGEN_OK;
}

static cdnagen_status replay(bench *b, hip_graph_exec graph, int way, double *us) {
    float ms = 0;
    if (way == COLD) HIP(memset_async(b->flush, 0, b->n->flush_bytes, b->stream), "hipMemsetAsync");
    HIP(event_record(b->start, b->stream), "hipEventRecord");
    HIP(graph_launch(graph, b->stream), "hipGraphLaunch");
    HIP(event_record(b->stop, b->stream), "hipEventRecord");
    HIP(event_synchronize(b->stop), "hipEventSynchronize");
    HIP(event_elapsed_time(&ms, b->start, b->stop), "hipEventElapsedTime");
    *us += 1e3 * (double)ms;
    return CDNAGEN_OK;
}

/* take_turn: a side's samples of one turn, hot and cold in turn. */
static cdnagen_status take_turn(bench *b, int side, int turn) {
    TRY(ramp(b, b->graph[side]));
    for (int s = 0; s < b->n->samples; s++)
        for (int way = HOT; way < WAYS; way++) {
            double us = 0;
            for (int r = 0; r < b->n->replays; r++) TRY(replay(b, b->graph[side], way, &us));
            b->sample[side][way][turn * b->n->samples + s] = us / b->n->replays;
        }
    return CDNAGEN_OK;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, size_t count) {
    qsort(x, count, sizeof *x, by_size);
    return count % 2 ? x[count / 2] : (x[count / 2 - 1] + x[count / 2]) / 2;
}

static cdnagen_status prepare(bench *b, const measure_side sides[2]) {
    const size_t count = (size_t)b->n->turns * (size_t)b->n->samples;
    HIP(stream_create(&b->stream), "hipStreamCreate");
    HIP(event_create(&b->start), "hipEventCreate");
    HIP(event_create(&b->stop), "hipEventCreate");
    HIP(malloc(&b->flush, b->n->flush_bytes), "hipMalloc");
    for (int i = 0; i < 2; i++) {
        for (int way = HOT; way < WAYS; way++)
            if (!(b->sample[i][way] = mem_alloc(count * sizeof(double)))) return fail_no_memory();
        /* Once as it is: what a first launch does is not part of the graph. */
        TRY(sides[i].launch(sides[i].user, b->stream));
        HIP(stream_synchronize(b->stream), "hipStreamSynchronize");
        TRY(capture(b, &sides[i], &b->graph[i]));
    }
    return CDNAGEN_OK;
}

static void release(bench *b) {
    for (int i = 0; i < 2; i++) {
        if (b->graph[i]) b->hip->graph_exec_destroy(b->graph[i]);
        for (int way = HOT; way < WAYS; way++) mem_free(b->sample[i][way]);
    }
    if (b->flush) b->hip->free(b->flush);
    if (b->stop) b->hip->event_destroy(b->stop);
    if (b->start) b->hip->event_destroy(b->start);
    if (b->stream) b->hip->stream_destroy(b->stream);
}

cdnagen_status measure_pair(const hip_table *hip, const measure_counts *n, measure_side sides[2]) {
    bench b = {.hip = hip, .n = n};
    cdnagen_status status = prepare(&b, sides);
    for (int turn = 0; turn < n->turns && !status; turn++)
        for (int side = 0; side < 2 && !status; side++) status = take_turn(&b, side, turn);
    for (int side = 0; side < 2 && !status; side++) {
        const size_t count = (size_t)n->turns * (size_t)n->samples;
        sides[side].hot_us = median(b.sample[side][HOT], count);
        sides[side].cold_us = median(b.sample[side][COLD], count);
    }
    release(&b);
    return status;
}
