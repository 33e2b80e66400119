/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a measurement asks of HIP, in which order and how often: the code that runs on a GPU, on the simulator's table
 * with every call written down. */
#include "tests/core/cmocka_tests.h"

#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"
#include "study/measure.h"

/* One letter a call: F flush, R event, A or B a side's graph, a or b a side's own launch, w a wait for an event, S for
 * the stream, E an elapsed time. */
static char calls[65536];
static size_t call_count;
static const hip_table *real;
static hip_graph_exec graphs[2];
static int graph_count, live_graphs, live_streams, live_events;
static size_t flushed;

static void note(char letter) {
    if (call_count + 1 < sizeof calls) calls[call_count++] = letter;
    calls[call_count] = 0;
}

static hip_error graph_instantiate(hip_graph_exec *out, hip_graph graph, unsigned long long flags) {
    const hip_error e = real->graph_instantiate(out, graph, flags);
    if (!e && graph_count < 2) graphs[graph_count++] = *out;
    live_graphs += !e;
    return e;
}
static hip_error graph_exec_destroy(hip_graph_exec graph) {
    live_graphs--;
    return real->graph_exec_destroy(graph);
}
static hip_error graph_launch(hip_graph_exec graph, hip_stream stream) {
    note(graph == graphs[0] ? 'A' : graph == graphs[1] ? 'B' : '?');
    return real->graph_launch(graph, stream);
}
static hip_error memset_async(void *to, int value, size_t size, hip_stream stream) {
    note('F');
    flushed = size;
    return real->memset_async(to, value, size, stream);
}
static hip_error event_record(hip_event event, hip_stream stream) {
    note('R');
    return real->event_record(event, stream);
}
static hip_error event_synchronize(hip_event event) {
    note('w');
    return real->event_synchronize(event);
}
static const float *series; /* what elapsed times are, one after the other; NULL: as below */
/* B takes twice as long as A, cold twice as long as hot. */
static hip_error event_elapsed_time(float *ms, hip_event start, hip_event stop) {
    const hip_error e = real->event_elapsed_time(ms, start, stop);
    const char side = calls[call_count - 3], before = call_count > 4 ? calls[call_count - 5] : ' ';
    if (series)
        *ms = *series++;
    else
        *ms = (side == 'B' ? 2.0f : 1.0f) * (before == 'F' ? 2.0f : 1.0f);
    note('E');
    return e;
}
static hip_error stream_synchronize(hip_stream stream) {
    note('S');
    return real->stream_synchronize(stream);
}
static hip_error stream_create(hip_stream *stream) {
    live_streams++;
    return real->stream_create(stream);
}
static hip_error stream_destroy(hip_stream stream) {
    live_streams--;
    return real->stream_destroy(stream);
}
static hip_error event_create(hip_event *event) {
    live_events++;
    return real->event_create(event);
}
static hip_error event_destroy(hip_event event) {
    live_events--;
    return real->event_destroy(event);
}

static hip_table recorder(void) {
    assert_int_equal(sim_open(chip_find("gfx950", 6), "threads=1", &real), CDNAGEN_OK);
    hip_table t = *real;
    t.graph_instantiate = graph_instantiate;
    t.graph_exec_destroy = graph_exec_destroy;
    t.graph_launch = graph_launch;
    t.memset_async = memset_async;
    t.event_record = event_record;
    t.event_synchronize = event_synchronize;
    t.event_elapsed_time = event_elapsed_time;
    t.stream_synchronize = stream_synchronize;
    t.stream_create = stream_create;
    t.stream_destroy = stream_destroy;
    t.event_create = event_create;
    t.event_destroy = event_destroy;
    call_count = 0;
    graph_count = live_graphs = live_streams = live_events = 0;
    return t;
}

/* work: a side that sets a few bytes. */
typedef struct work {
    char letter;
    void *memory;
    int launches, idle;
    cdnagen_status refuses;
} work;

static cdnagen_status launch(void *user, void *stream) {
    work *w = user;
    w->launches++;
    note(w->letter);
    if (w->refuses) return fail(w->refuses, "refused");
    if (w->idle) return CDNAGEN_OK;
    return real->memset_async(w->memory, w->letter, 64, stream) ? fail(CDNAGEN_HIP, "memset") : CDNAGEN_OK;
}

static void nothing_is_left(void) {
    assert_int_equal(live_graphs, 0);
    assert_int_equal(live_streams, 0);
    assert_int_equal(live_events, 0);
}

static int count_of(const char *letters) {
    int n = 0;
    for (const char *p = calls; *p; p++) n += strchr(letters, *p) != NULL;
    return n;
}

static void turns_samples_replays(void **state) {
    (void)state;
    hip_table t = recorder();
    work a = {.letter = 'a'}, b = {.letter = 'b'};
    assert_int_equal(real->malloc(&a.memory, 64), 0);
    assert_int_equal(real->malloc(&b.memory, 64), 0);
    measure_side sides[2] = {{.launch = launch, .user = &a}, {.launch = launch, .user = &b}};
    const measure_counts n = {.ramp_ms = 0, .turns = 2, .samples = 1, .replays = 2, .flush_bytes = 4096};
    if (measure_pair(&t, &n, sides)) fail_msg("%s", cdnagen_error());
    /* Each side: once as it is, waited for, once into its graph. Then A's turn and B's, twice: two hot replays and two
     * cold ones, the flush before the first event. */
    assert_string_equal(calls, "aSa"
                               "bSb"
                               "RARwERARwE"
                               "FRARwEFRARwE"
                               "RBRwERBRwE"
                               "FRBRwEFRBRwE"
                               "RARwERARwE"
                               "FRARwEFRARwE"
                               "RBRwERBRwE"
                               "FRBRwEFRBRwE");
    assert_int_equal(flushed, 4096);
    assert_int_equal(a.launches, 2);
    assert_int_equal(b.launches, 2);
    const double expected[] = {1000, 2000, 2000, 4000};
    const double got[] = {sides[0].hot_us, sides[0].cold_us, sides[1].hot_us, sides[1].cold_us};
    for (int i = 0; i < 4; i++) assert_true(got[i] == expected[i]);
    unsigned char byte = 0;
    assert_int_equal(real->memcpy(&byte, b.memory, 1, HIP_MEMCPY_DEVICE_TO_HOST), 0);
    assert_int_equal(byte, 'b');
    nothing_is_left();
    real->free(a.memory);
    real->free(b.memory);
}

static void each_turn_is_ramped(void **state) {
    (void)state;
    hip_table t = recorder();
    work a = {.letter = 'a'}, b = {.letter = 'b'};
    assert_int_equal(real->malloc(&a.memory, 64), 0);
    b.memory = a.memory;
    measure_side sides[2] = {{.launch = launch, .user = &a}, {.launch = launch, .user = &b}};
    const measure_counts n = {.ramp_ms = 0.02, .turns = 3, .samples = 1, .replays = 1, .flush_bytes = 64};
    assert_int_equal(measure_pair(&t, &n, sides), CDNAGEN_OK);
    const char *at = calls + strlen("aSabSb");
    for (int turn = 0; turn < 6; turn++) {
        const char *const ramped = turn % 2 ? "BS" : "AS", *const timed = turn % 2 ? "RBRwEFRBRwE" : "RARwEFRARwE";
        assert_true(!strncmp(at, ramped, 2));
        while (!strncmp(at, ramped, 2)) at += 2;
        assert_true(!strncmp(at, timed, strlen(timed)));
        at += strlen(timed);
    }
    assert_int_equal(*at, 0);
    nothing_is_left();
    real->free(a.memory);
}

static void medians_of_means(void **state) {
    (void)state;
    hip_table t = recorder();
    work a = {.letter = 'a'};
    assert_int_equal(real->malloc(&a.memory, 64), 0);
    measure_side sides[2] = {{.launch = launch, .user = &a}, {.launch = launch, .user = &a}};
    measure_counts n = {.turns = 1, .samples = 3, .replays = 2, .flush_bytes = 64};
    /* Samples of two replays: hot, cold, hot, cold, hot, cold. */
    series = (const float[]){1, 3, 10, 10, 9, 9, 30, 30, 1, 4, 20, 22, 7, 7, 1, 1, 5, 5, 2, 2, 6, 6, 3, 3};
    assert_int_equal(measure_pair(&t, &n, sides), CDNAGEN_OK);
    const double got[] = {sides[0].hot_us, sides[0].cold_us, sides[1].hot_us, sides[1].cold_us};
    const double odd[] = {2500, 21000, 6000, 2000};
    for (int i = 0; i < 4; i++) assert_true(got[i] == odd[i]);
    n.samples = 2, n.replays = 1;
    series = (const float[]){1, 5, 2, 7, 4, 1, 8, 2};
    assert_int_equal(measure_pair(&t, &n, sides), CDNAGEN_OK);
    assert_true(sides[0].hot_us == 1500 && sides[0].cold_us == 6000 && sides[1].hot_us == 6000);
    series = NULL;
    real->free(a.memory);
}

static void the_standard_is_20_samples_of_50(void **state) {
    (void)state;
    assert_int_equal(measure_standard.turns * measure_standard.samples, 20);
    assert_int_equal(measure_standard.replays, 50);
    assert_true(measure_standard.ramp_ms == 500);
    assert_true(measure_standard.flush_bytes > (size_t)256 << 20);
}

static void a_side_that_fails_or_does_nothing_is_an_error(void **state) {
    (void)state;
    const measure_counts n = {.turns = 1, .samples = 1, .replays = 1, .flush_bytes = 64};
    hip_table t = recorder();
    work a = {.letter = 'a'}, idle = {.letter = 'b', .idle = 1}, bad = {.letter = 'b', .refuses = CDNAGEN_LIMIT};
    assert_int_equal(real->malloc(&a.memory, 64), 0);
    measure_side sides[2] = {{.launch = launch, .user = &a}, {.launch = launch, .user = &idle}};
    assert_int_equal(measure_pair(&t, &n, sides), CDNAGEN_BAD_ARGUMENT);
    assert_non_null(strstr(cdnagen_error(), "queues nothing"));
    sides[1].user = &bad;
    assert_int_equal(measure_pair(&t, &n, sides), CDNAGEN_LIMIT);
    assert_int_equal(count_of("R"), 0);
    nothing_is_left();
    real->free(a.memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_samples_replays),
        cmocka_unit_test(each_turn_is_ramped),
        cmocka_unit_test(medians_of_means),
        cmocka_unit_test(the_standard_is_20_samples_of_50),
        cmocka_unit_test(a_side_that_fails_or_does_nothing_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
