/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The commands annotate and diff, and --trace: their figures are explain's and add up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "tests/cli/command.h"
#include "tests/timing/json.h"

#define DIRECT "mqa_logits:mfma32x32x64_bkv64_r1_w1"
#define STAGED "mqa_logits:mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma"
#define SHAPE " seq=64 seq_kv=2048 heads=64 dim=128 window=causal clean=1 --target gfx950"
#define LAUNCH " --grid 2 --block 128 --args args.json"

static json_t *parse(const char *printed) {
    json_t *all = json_loads(printed, 0, NULL);
    if (!all) fail_msg("not JSON:\n%s", printed);
    return all;
}
/* A loop of 10 trips; each lane's word lies 32 words from the next one's: one of the banks that all 64 lanes want. */
static void make_file(void) {
    command_shell("printf '%s' '"
                  "kernel void strided(global float *out, int trips) {"
                  "    local volatile float words[64 * 32];"
                  "    const int lane = __builtin_amdgcn_workitem_id_x() & 63;"
                  "    float sum = 0;"
                  "    words[lane * 32] = (float)lane;"
                  "    _Pragma(\"unroll 1\") for (int i = 0; i < trips; i++) sum += words[lane * 32];"
                  "    out[__builtin_amdgcn_workgroup_id_x() * 128 + __builtin_amdgcn_workitem_id_x()] = sum;"
                  "}' > strided.cl");
    command_shell("clang-22 -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=gfx950 -nogpulib -O2 strided.cl -o "
                  "strided.co 2>clang.log");
    command_shell("printf '%s' '{\"args\": [{\"buffer\": \"f32\", \"count\": 256, \"fill\": \"zeros\", \"write\": "
                  "\"out.bin\"}, {\"i32\": 10}]}' > args.json");
}

/* ---- annotate ---- */

typedef struct row {
    unsigned address;
    unsigned long long issued, clk, wait;
    double share, conflict, banks;
    char each[16], cause[32], line[512];
} row;

/* row_of: an instruction of the listing; its line starts with the marks of loops. */
static int row_of(const char *line, row *r) {
    char cause[64];
    int used = 0;
    snprintf(r->line, sizeof r->line, "%.*s", (int)strcspn(line, "\n"), line);
    const char *p = r->line + strspn(r->line, " /|\\");
    r->conflict = r->banks = 0;
    if (sscanf(p, "%x %llu %llu %lf%% %15s %llu %n", &r->address, &r->issued, &r->clk, &r->share, r->each, &r->wait,
               &used) != 6)
        return 0;
    snprintf(cause, sizeof cause, "%.19s", p + used);
    snprintf(r->cause, sizeof r->cause, "%.*s", (int)strcspn(cause, " "), cause);
    if (strlen(p + used) > 19) sscanf(p + used + 19, "%lf/%lf", &r->conflict, &r->banks);
    return 1;
}

static const char *next_line(const char *p) {
    p += strcspn(p, "\n");
    return *p ? p + 1 : p;
}

static unsigned long long number_after(const char *where, const char *what) {
    says(where, what);
    return strtoull(strstr(where, what) + strlen(what), NULL, 10);
}

static void rows_add_up_and_agree_with_explain(void **state) {
    (void)state;
    outcome listing = command_good("annotate " STAGED SHAPE), report = command_good("explain --json " STAGED SHAPE);
    json_t *all = parse(report.out);
    const json_t *instructions = json_object_get(all, "instructions");
    unsigned long long clk = 0, wait = 0;
    size_t seen = 0, never = 0;
    row r;
    for (const char *p = strstr(listing.out, "\nloops"); p && *p; p = next_line(p)) {
        if (!row_of(p, &r)) continue;
        clk += r.clk;
        wait += r.wait;
        never += !r.issued;
        if (!r.issued) continue;
        const json_t *x = json_array_get(instructions, seen++);
        assert_int_equal(r.address, integer(x, "address"));
        assert_int_equal(r.issued, integer(x, "issued"));
        assert_int_equal(r.clk - r.wait, integer(x, "active"));
        const double banks = (double)integer(x, "lds") / (double)r.issued;
        assert_true(r.banks > banks - 0.06 && r.banks < banks + 0.06);
        says(r.line, json_string_value(json_object_get(x, "text")));
        if (r.wait) assert_true(integer(json_object_get(x, "stall"), r.cause) * 9 >= (json_int_t)r.wait);
    }
    assert_int_equal(seen, json_array_size(instructions));
    assert_true(never > 0); /* code that these rows do not reach is shown, too */
    const json_t *waves = json_object_get(all, "waves");
    assert_int_equal(clk, integer(waves, "wave_cycles"));
    assert_int_equal(wait, integer(waves, "wait_any") + integer(waves, "wait_inst"));
    assert_int_equal(clk, number_after(listing.out, "wave cycles  "));
    says(listing.out, "modelled     all figures below are a model's; nothing was measured");
    json_decref(all);
    command_free(&listing);
    command_free(&report);
}

/* loop_rows: rows that lie under the first mark; *first and *last: their addresses, which '/' and '\' show. */
static size_t loop_rows(const char *listing, row *first, row *last) {
    size_t count = 0;
    for (const char *p = strstr(listing, "\nloops"); p && *p; p = next_line(p)) {
        row r;
        if (!row_of(p, &r) || !strchr("/|\\", *p)) continue;
        if (*p == '/') *first = r;
        if (*p == '\\') *last = r;
        count++;
    }
    return count;
}

static void loops_are_marked(void **state) {
    (void)state;
    row first = {0}, last = {0};
    char arrow[32];
    outcome o = command_good("annotate " STAGED SHAPE);
    says(o.out, "-- loop 1 to 0x");
    assert_true(loop_rows(o.out, &first, &last) > 100);
    says(last.line, "s_cbranch");
    snprintf(arrow, sizeof arrow, "-> 0x%x", first.address);
    says(last.line, arrow);
    command_free(&o);
}

/* Two workgroups of two waves, 10 trips. A read of 32 bits has 2 phases of 32 lanes: here 32 clk each instead of 1 if
 * all of a phase want one bank of 64, and 16 if two banks share them, as a stride of 32 words has it. */
static void annotates_any_code_object(void **state) {
    (void)state;
    make_file();
    row first = {0}, last = {0}, r;
    int reads = 0;
    outcome o = command_good("annotate strided.co" LAUNCH);
    says(o.out, "target       gfx950");
    says(o.out, "-- loop 1 to 0x");
    assert_true(loop_rows(o.out, &first, &last) >= 4);
    assert_int_equal(last.issued, 4 * 10 / 2); /* a workgroup a CU */
    for (const char *p = strstr(o.out, "\nloops"); p && *p; p = next_line(p))
        if (row_of(p, &r) && strstr(r.line, "ds_read_b32")) {
            reads++;
            assert_int_equal(r.issued, 20);
            assert_true(r.banks == 32 && r.conflict == 30);
        }
    assert_int_equal(reads, 1);
    command_shell("test ! -e out.bin");
    command_free(&o);
}

/* 3 trips of 5. The outer loop's mark comes first. */
static void nested_loops_are_marked_side_by_side(void **state) {
    (void)state;
    command_shell("printf '%s' '"
                  "kernel void nested(global float *out) {"
                  "    local volatile float words[64];"
                  "    _Pragma(\"unroll 1\") for (int i = 0; i < 3; i++) {"
                  "        words[__builtin_amdgcn_workitem_id_x()] = 1;"
                  "        _Pragma(\"unroll 1\") for (int j = 0; j < 5; j++) words[j] += 2;"
                  "    }"
                  "}' > nested.cl");
    command_shell("clang-22 -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=gfx942 -nogpulib -O2 nested.cl -o "
                  "nested.co 2>clang.log");
    command_shell("printf '%s' '{\"args\": [{\"buffer\": \"f32\", \"count\": 64, \"fill\": \"zeros\"}]}' > one.json");
    outcome o = command_good("annotate nested.co --grid 1 --block 64 --args one.json");
    says(o.out, "target       gfx942");
    const char *inner = strstr(o.out, "\n|/ "), *outer = strstr(o.out, "\n/ ");
    assert_true(outer && inner && outer < inner);
    row r;
    assert_true(row_of(inner + 1, &r));
    assert_int_equal(r.issued, 3 * 5);
    assert_true(row_of(outer + 1, &r));
    assert_int_equal(r.issued, 3);
    const char *inner_end = strstr(inner, "\n|\\ "), *outer_end = strstr(inner, "\n\\ ");
    assert_true(inner_end && outer_end && inner_end < outer_end);
    says(o.out, "-- loop 1 to");
    says(o.out, "-- loop 2 to");
    command_free(&o);
}

/* ---- diff ---- */

static void diff_shows_both_variants(void **state) {
    (void)state;
    outcome o = command_good("diff " DIRECT " " STAGED SHAPE), a = command_good("explain --json " DIRECT SHAPE),
            b = command_good("explain --json " STAGED SHAPE);
    json_t *x = parse(a.out), *y = parse(b.out);
    static const char *const words[] = {"A            " DIRECT "\n",
                                        "B            " STAGED "\n",
                                        "modelled     all figures below are a model's; nothing was measured",
                                        "loop 1, a trip of a wave",
                                        "limited by",
                                        "points"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) says(o.out, words[i]);
    double p, q;
    const char *line = strstr(o.out, "  kernel ");
    assert_non_null(line);
    assert_int_equal(sscanf(line, " kernel %lf %lf", &p, &q), 2);
    assert_true(p == json_number_value(json_object_get(x, "cycles")));
    assert_true(q == json_number_value(json_object_get(y, "cycles")));
    line = strstr(strstr(o.out, "loop 1,"), "  valu ");
    assert_int_equal(sscanf(line, " valu %lf %lf", &p, &q), 2);
    const json_t *mix = json_object_get(json_array_get(json_object_get(x, "loops"), 0), "mix");
    assert_true(p == json_number_value(json_object_get(mix, "valu")));
    mix = json_object_get(json_array_get(json_object_get(y, "loops"), 0), "mix");
    assert_true(q == json_number_value(json_object_get(mix, "valu")));
    line = strstr(o.out, "  LDS  ");
    assert_non_null(line);
    assert_int_equal(sscanf(line, " LDS %lf %lf", &p, &q), 2);
    assert_true(p == 0 && q == 16384);
    json_decref(x);
    json_decref(y);
    command_free(&o);
    command_free(&a);
    command_free(&b);
}

static void diff_of_a_kernel_with_itself_is_equal(void **state) {
    (void)state;
    make_file();
    outcome o = command_good("diff strided.co ./strided.co" LAUNCH);
    assert_null(strstr(o.out, "(+"));
    assert_null(strstr(o.out, "(-"));
    says(o.out, "loop 1, a trip of a wave");
    command_free(&o);
}

/* ---- traces ---- */

/* assert_trace: each wave's events follow one another without a gap.   Returns their clk, and in *active the
 * issues'. */
static json_int_t assert_trace(const json_t *trace, json_int_t *active) {
    json_int_t end[256] = {0}, sum = 0;
    size_t i;
    json_t *e;
    *active = 0;
    json_array_foreach(json_object_get(trace, "traceEvents"), i, e) {
        if (strcmp(json_string_value(json_object_get(e, "ph")), "X")) continue;
        const json_int_t tid = integer(e, "tid");
        const json_int_t at = (json_int_t)(json_number_value(json_object_get(e, "ts")) * 1000 + 0.5),
                         clk = (json_int_t)(json_number_value(json_object_get(e, "dur")) * 1000 + 0.5);
        assert_true(tid > 0 && tid < 256 && clk > 0);
        if (end[tid]) assert_int_equal(at, end[tid]);
        end[tid] = at + clk;
        sum += clk;
        if (strncmp(json_string_value(json_object_get(e, "name")), "wait: ", 6)) *active += clk;
        assert_true(json_is_string(json_object_get(json_object_get(e, "args"), "instruction")));
    }
    return sum;
}

static void trace_of_explain_adds_up(void **state) {
    (void)state;
    outcome o = command_good("explain --json --trace t.json " STAGED SHAPE);
    json_t *all = parse(o.out);
    char *written = command_read("t.json");
    json_t *trace = parse(written);
    json_int_t active;
    const json_t *waves = json_object_get(all, "waves"), *other = json_object_get(trace, "otherData");
    assert_int_equal(assert_trace(trace, &active), integer(waves, "wave_cycles"));
    assert_int_equal(active, integer(waves, "active"));
    assert_true(json_is_true(json_object_get(other, "complete")));
    assert_string_equal(json_string_value(json_object_get(other, "modelled")), "nothing here was measured");
    says(written, "\"SIMD 3\"");
    says(written, "wait: lgkmcnt");
    says(written, "\"name\":\"v_mfma_f32_32x32x64_f8f6f4\",\"cat\":\"mfma\"");
    free(written);
    json_decref(trace);
    json_decref(all);
    command_free(&o);
}

static void sim_runs_and_traces(void **state) {
    (void)state;
    make_file();
    json_int_t active;
    outcome o = command_good("sim strided.co --trace s.json" LAUNCH);
    says(o.out, "trace        s.json, modelled: ");
    says(o.out, "wrote        out.bin, 1024 bytes");
    char *written = command_read("s.json");
    json_t *trace = parse(written);
    outcome listing = command_good("annotate strided.co" LAUNCH);
    assert_int_equal(assert_trace(trace, &active), number_after(listing.out, "wave cycles  "));
    command_shell("od -An -f -j4 -N4 out.bin | grep -q '^ *10$'"); /* lane 1: 10 times 1 */
    free(written);
    json_decref(trace);
    command_free(&listing);
    command_free(&o);
}

static void refusals(void **state) {
    (void)state;
    make_file();
    static const struct {
        const char *words, *message;
    } rows[] = {
        {"annotate", "what kernel?"},
        {"annotate strided.co", "a code object, here strided.co, needs --grid X[,Y,Z]"},
        {"annotate nowhere.co" LAUNCH, "nowhere.co"},
        {"annotate mqa_logits:frob" SHAPE, "frob"},
        {"diff " DIRECT, "which two kernels?"},
        {"sim strided.co strided.co" LAUNCH, "sim takes one code object, 2 words were given"},
        {"explain --trace /nowhere/t.json " DIRECT SHAPE, "/nowhere/t.json"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) command_refused(rows[i].words, rows[i].message);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_add_up_and_agree_with_explain),
        cmocka_unit_test(loops_are_marked),
        cmocka_unit_test(annotates_any_code_object),
        cmocka_unit_test(nested_loops_are_marked_side_by_side),
        cmocka_unit_test(diff_shows_both_variants),
        cmocka_unit_test(diff_of_a_kernel_with_itself_is_equal),
        cmocka_unit_test(trace_of_explain_adds_up),
        cmocka_unit_test(sim_runs_and_traces),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, command_setup, command_teardown);
}
