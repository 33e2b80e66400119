/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Timelines from events that are made up: what is joined, what is cut, what is escaped, what happens without memory. */
#include "study/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

static sim_instruction instructions[] = {{.address = 0x10, .kind = KIND_SALU, .text = "s_nop 0"},
                                         {.address = 0x14, .kind = KIND_VALU, .text = "v_odd \"\\\", \tv1"}};
static const chip *some_chip;

static sim_timing launch(void) {
    return (sim_timing){.chip = some_chip,
                        .kernel = "quoted\"name",
                        .complete = 1,
                        .cu_clk = 2000,
                        .instructions = instructions,
                        .instruction_count = 2};
}

static json_t *written(const timeline *t) {
    char path[] = "/tmp/cdnagen-trace-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    const sim_timing timing = launch();
    assert_int_equal(timeline_write(t, &timing, path), CDNAGEN_OK);
    json_error_t error;
    json_t *all = json_load_file(path, 0, &error);
    if (!all) fail_msg("line %d: %s", error.line, error.text);
    unlink(path);
    return all;
}

static void tell(timeline *t, uint64_t group, size_t instruction, int stall, uint64_t clk, uint64_t length) {
    const sim_event e = {
        .group = group, .wave = 1, .simd = 2, .instruction = instruction, .stall = stall, .clk = clk, .length = length};
    timeline_take(t, &e);
}

static const char *word(const json_t *o, const char *key) {
    const json_t *x = json_object_get(o, key);
    if (!json_is_string(x)) fail_msg("no text %s", key);
    return json_string_value(x);
}

static void waits_are_joined_and_texts_escaped(void **state) {
    (void)state;
    timeline t;
    timeline_start(&t);
    tell(&t, 7, 0, STALL_FETCH, 0, 500);
    tell(&t, 7, 0, EVENT_ISSUE, 500, 4);
    tell(&t, 9, 0, STALL_FETCH, 2, 8); /* another wave between */
    tell(&t, 7, 1, STALL_ARBITRATION, 504, 4);
    tell(&t, 9, 0, EVENT_ISSUE, 10, 4);
    tell(&t, 7, 1, STALL_ARBITRATION, 508, 4);  /* joined */
    tell(&t, 7, 1, STALL_DEPENDENCY, 512, 600); /* another cause */
    tell(&t, 7, 1, EVENT_ISSUE, 1112, 4);
    tell(&t, 7, 1, EVENT_ISSUE, 1116, 4); /* issues are never joined */
    tell(&t, 9, 1, STALL_QUEUE, 14, 4);
    tell(&t, 9, 1, STALL_QUEUE, 22, 4); /* nor waits apart */
    static const struct {
        const char *ph, *name;
        double ts, dur;
        int tid;
    } rows[] = {{"M", "process_name", 0, 0, 0},
                {"M", "thread_name", 0, 0, 1},
                {"M", "thread_name", 0, 0, 2},
                {"X", "wait: fetch", 0, 0.5, 1},
                {"X", "s_nop", 0.5, 0.004, 1},
                {"X", "wait: fetch", 0.002, 0.008, 2},
                {"X", "wait: arbitration", 0.504, 0.008, 1},
                {"X", "s_nop", 0.01, 0.004, 2},
                {"X", "wait: dependency", 0.512, 0.6, 1},
                {"X", "v_odd", 1.112, 0.004, 1},
                {"X", "v_odd", 1.116, 0.004, 1},
                {"X", "wait: queue", 0.014, 0.004, 2},
                {"X", "wait: queue", 0.022, 0.004, 2}};
    json_t *all = written(&t);
    const json_t *events = json_object_get(all, "traceEvents");
    assert_int_equal(json_array_size(events), sizeof rows / sizeof *rows);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const json_t *e = json_array_get(events, i);
        assert_string_equal(word(e, "ph"), rows[i].ph);
        assert_string_equal(word(e, "name"), rows[i].name);
        assert_int_equal(json_integer_value(json_object_get(e, "pid")), 3);
        assert_int_equal(json_integer_value(json_object_get(e, "tid")), rows[i].tid);
        assert_true(json_number_value(json_object_get(e, "ts")) == rows[i].ts);
        assert_true(json_number_value(json_object_get(e, "dur")) == rows[i].dur);
    }
    assert_string_equal(word(json_object_get(json_array_get(events, 1), "args"), "name"), "workgroup 7 wave 1");
    const json_t *last = json_object_get(json_array_get(events, 10), "args");
    assert_string_equal(word(last, "instruction"), "v_odd \"\\\",  v1");
    assert_string_equal(word(last, "address"), "0x14");
    assert_string_equal(word(json_array_get(events, 6), "cat"), "wait_inst");
    assert_string_equal(word(json_array_get(events, 8), "cat"), "wait_any");
    assert_string_equal(word(json_object_get(all, "otherData"), "kernel"), "quoted\"name");
    assert_true(json_is_true(json_object_get(json_object_get(all, "otherData"), "complete")));
    json_decref(all);
    timeline_free(&t);
}

static void a_full_timeline_says_where_it_was_cut(void **state) {
    (void)state;
    timeline t;
    timeline_start(&t);
    for (uint64_t i = 0; i < 400001; i++) tell(&t, 0, 0, EVENT_ISSUE, 4 * i, 4);
    tell(&t, 0, 0, EVENT_ISSUE, 4 * 400001, 4);
    assert_int_equal(t.event_count, 400000);
    assert_int_equal(t.cut, 4 * 400000);
    json_t *all = written(&t);
    const json_t *other = json_object_get(all, "otherData");
    assert_true(json_is_false(json_object_get(other, "complete")));
    assert_int_equal(json_integer_value(json_object_get(other, "cut_at_clk")), 4 * 400000);
    json_decref(all);
    timeline_free(&t);
}

static void memory_that_runs_out_is_an_error(void **state) {
    (void)state;
    const sim_timing timing = launch();
    const long before = mem_live();
    int failures = 0;
    for (long k = 1;; k++) {
        timeline t;
        timeline_start(&t);
        mem_fail_at(k);
        for (uint64_t i = 0; i < 200; i++) tell(&t, i, 0, EVENT_ISSUE, 4 * i, 4);
        const cdnagen_status status = timeline_write(&t, &timing, "/dev/null");
        mem_fail_at(0);
        timeline_free(&t);
        assert_int_equal(mem_live(), before);
        if (status == CDNAGEN_OK) break;
        assert_int_equal(status, CDNAGEN_NO_MEMORY);
        failures++;
    }
    assert_true(failures > 6); /* two arrays that grow, the text, what writing needs */
}

int main(void) {
    some_chip = chip_find("gfx950", 6);
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_are_joined_and_texts_escaped),
        cmocka_unit_test(a_full_timeline_says_where_it_was_cut),
        cmocka_unit_test(memory_that_runs_out_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
