/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Whole launches under the model: results stay what they are, sums agree, the same launch gives the same figures. */
#include "tests/timing/model.h"

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In place, with atomics, LDS, barriers in a loop, and a ragged end: everything that a second run would spoil. */
static const char source[] =
    "#define barrier() __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\"); __builtin_amdgcn_s_barrier();"
    " __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"workgroup\")\n"
    "kernel void own(global uint *data) { uint x = 0; const uint i = __builtin_amdgcn_workitem_id_x();"
    " for (uint n = 0; n < 8; n++) x ^= data[__builtin_amdgcn_workgroup_id_x() * 2048 + n * 256 + i];"
    " if (x == 12345) data[0] = x; }\n"
    "kernel void shared(global uint *data) { uint x = 0; const uint i = __builtin_amdgcn_workitem_id_x();"
    " for (uint n = 0; n < 8; n++) x ^= data[n * 256 + i];"
    " if (x == 12345) data[0] = x; }\n"
    "kernel void mix(global uint *data) {\n"
    "  local uint sum[256]; const uint i = __builtin_amdgcn_workitem_id_x();\n"
    "  const uint at = __builtin_amdgcn_workgroup_id_x() * 256 + i; uint x = data[1024 + at];\n"
    "  for (uint n = 128; n; n /= 2) {\n"
    "    sum[i] = x; barrier();\n"
    "    x = i < n ? x * 3 + sum[i + n] : x + 1; barrier();\n"
    "  }\n"
    "  data[1024 + at] = x;\n"
    "  __opencl_atomic_fetch_add((global atomic_uint *)&data[x % 1024], 1u, 0, 2);\n"
    "}\n";
enum { WORDS = 1024 + 256 * 4096 };

static hip_module module;
static uint32_t *content, *plain, *modelled;

static sim_timing launch(unsigned groups, const char *overrides, int only, uint32_t *result) {
    const uint64_t buffer = gpu_buffer(content, WORDS * sizeof *content);
    const sim_timing t = model(module, "mix", (gpu_grid){.groups = groups, .threads = 256}, buffer, overrides, only);
    gpu_read(result, buffer, WORDS * sizeof *result);
    assert_int_equal(gpu->free((void *)(uintptr_t)buffer), HIP_SUCCESS);
    return t;
}

static void results_are_those_of_a_plain_launch(void **state) {
    (void)state;
    const uint64_t buffer = gpu_buffer(content, WORDS * sizeof *content);
    assert_int_equal(gpu_launch(module, "mix", (gpu_grid){.groups = 1500, .threads = 256}, 1, buffer), HIP_SUCCESS);
    gpu_read(plain, buffer, WORDS * sizeof *plain);
    assert_int_equal(gpu->free((void *)(uintptr_t)buffer), HIP_SUCCESS);
    assert_memory_not_equal(plain, content, WORDS * sizeof *plain);
    sim_timing t = launch(1500, NULL, 0, modelled);
    assert_memory_equal(modelled, plain, WORDS * sizeof *plain);
    assert_true(t.kernel_clk > 0);
    sim_timing_free(&t);
}

static void modelling_alone_leaves_memory_as_it_was(void **state) {
    (void)state;
    sim_timing t = launch(1500, NULL, 1, modelled);
    assert_memory_equal(modelled, content, WORDS * sizeof *content);
    sim_timing_free(&t);
}

static void the_same_launch_has_the_same_figures(void **state) {
    (void)state;
    sim_timing a = launch(700, NULL, 1, modelled), b = launch(700, NULL, 1, modelled);
    assert_int_equal(a.wave_clk, b.wave_clk);
    assert_memory_equal(a.stall, b.stall, sizeof a.stall);
    assert_true(a.kernel_clk == b.kernel_clk && a.hbm_bytes == b.hbm_bytes && a.l2_hit == b.l2_hit);
    assert_string_equal(a.notes.data ? a.notes.data : "", b.notes.data ? b.notes.data : "");
    sim_timing_free(&a);
    sim_timing_free(&b);
}

/* One workgroup, one round, several rounds, a sample of many. */
static void sums_agree(void **state) {
    (void)state;
    static const unsigned groups[] = {1, 256, 1500, 4096};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        sim_timing t = launch(groups[i], NULL, 1, modelled);
        assert_sums(&t);
        assert_int_equal(t.groups, groups[i]);
        assert_true(t.complete);
        assert_true(t.stall[STALL_BARRIER] > 0 && t.active > 0);
        assert_true(t.kernel_clk >= t.cu_clk);
        sim_timing_free(&t);
    }
}

static void unoptimised_code_with_scratch(void **state) {
    (void)state;
    const hip_module slow = gpu_compile(source, "-O0");
    const uint64_t buffer = gpu_buffer(content, WORDS * sizeof *content);
    sim_timing t = model(slow, "mix", (gpu_grid){.groups = 300, .threads = 256}, buffer, NULL, 1);
    gpu_read(modelled, buffer, WORDS * sizeof *modelled);
    assert_memory_equal(modelled, content, WORDS * sizeof *content);
    assert_sums(&t);
    sim_timing fast = launch(300, NULL, 1, modelled);
    assert_true(t.kernel_clk > fast.kernel_clk && t.store_bytes > fast.store_bytes);
    sim_timing_free(&t);
    sim_timing_free(&fast);
    assert_int_equal(gpu->free((void *)(uintptr_t)buffer), HIP_SUCCESS);
    assert_int_equal(gpu->module_unload(slow), HIP_SUCCESS);
}

static void more_workgroups_take_longer(void **state) {
    (void)state;
    sim_timing few = launch(256, NULL, 1, modelled), many = launch(4096, NULL, 1, modelled);
    assert_true(many.kernel_clk > few.kernel_clk);
    assert_true(many.kernel_clk < 16 * few.kernel_clk);
    assert_true(many.groups_detailed <= many.groups / 256);
    sim_timing_free(&few);
    sim_timing_free(&many);
}

static void occupancy_and_limit(void **state) {
    (void)state;
    sim_timing t = launch(4096, NULL, 1, modelled);
    assert_int_equal(t.waves_per_group, 4);
    assert_int_equal(t.waves_per_simd, 8);
    assert_int_equal(t.groups_per_cu, 8);
    assert_string_equal(t.limit, "waves");
    assert_int_equal(t.waves_reached, 8);
    sim_timing_free(&t);
}

/* 512 workgroups of 8 KiB each: all different, or all the same. */
static void bytes_at_each_level(void **state) {
    (void)state;
    const uint64_t buffer = gpu_buffer(NULL, WORDS * sizeof *content);
    const gpu_grid grid = {.groups = 512, .threads = 256};
    const double total = 512 * 8192;
    sim_timing own = model(module, "own", grid, buffer, NULL, 1),
               shared = model(module, "shared", grid, buffer, NULL, 1);
    assert_true(own.load_bytes == total && shared.load_bytes == total);
    assert_true(own.l1_hit == 0 && own.l2_hit == 0 && own.mall_hit == 0);
    assert_true(own.hbm_bytes == total);
    assert_true(shared.l1_hit == 0.5); /* two workgroups a CU */
    assert_true(shared.l1_miss_bytes == total / 2);
    /* Of the 32 CUs of an XCD one fetches a line; the others' L1 holds nothing for their second workgroup, so that L2
     * is asked 63 times. Of the 8 XCDs one fetches the line from HBM. */
    assert_true(shared.l2_hit > 61.9 / 63 && shared.l2_hit < 62.1 / 63);
    assert_true(shared.mall_hit > 0.75 && shared.mall_hit < 1);
    assert_true(shared.kernel_clk < own.kernel_clk);
    sim_timing_free(&own);
    sim_timing_free(&shared);
    assert_int_equal(gpu->free((void *)(uintptr_t)buffer), HIP_SUCCESS);
}

static void parameters_come_from_a_file(void **state) {
    (void)state;
    sim_timing near = launch(64, NULL, 1, modelled);
    sim_timing far = launch(64, "# slower memory\nhbm_latency = 20000  # clk\n\nmall_latency=20000\n", 1, modelled);
    assert_true(far.kernel_clk > near.kernel_clk + 15000);
    assert_true(far.stall[STALL_VMCNT] > near.stall[STALL_VMCNT] + 15000);
    sim_timing_free(&near);
    sim_timing_free(&far);
}

static void bad_parameter_files_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *content, *says;
    } files[] = {{"hbm_latncy = 3\n", "no parameter \"hbm_latncy\""},
                 {"hbm_latency = fast\n", "a number is needed"},
                 {"\nhbm_latency 3\n", "line 2"},
                 {"hbm_latency = 3\n\nhbm_latency = 4\n", "line 3: hbm_latency was given in line 1 already"},
                 {"l1_width = 1e-300\n", "out of range (the table has 64 B/clk/CU)"},
                 {"hbm_latency = inf\n", "a number is needed"},
                 {"vmem_queue = 0\n", "out of range (the table has 16 entries a CU)"},
                 {"hbm_width = 0\n", "out of range"},
                 {"branch_slots = -1\n", "out of range"},
                 {"branch_slots = 1e9\n", "out of range"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *path = "/tmp/cdnagen-bad-parameters";
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(files[i].content, f);
        fclose(f);
        sim_timing t;
        const sim_timing_options options = {.parameters = path};
        assert_int_equal(sim_timing_next(chip_find("gfx950", 6), &options, &t), CDNAGEN_BAD_ARGUMENT);
        if (!strstr(cdnagen_error(), files[i].says)) fail_msg("%s", cdnagen_error());
        remove(path);
    }
    sim_timing t;
    const sim_timing_options missing = {.parameters = "/nonexistent/parameters"};
    assert_int_equal(sim_timing_next(chip_find("gfx950", 6), &missing, &t), CDNAGEN_IO);
}

static void a_fault_in_the_sample_is_the_launch_s(void **state) {
    (void)state;
    sim_timing t;
    const sim_timing_options options = {.only = 1};
    assert_int_equal(sim_timing_next(chip_find("gfx950", 6), &options, &t), CDNAGEN_OK);
    assert_int_equal(gpu_launch(module, "mix", (gpu_grid){.groups = 1, .threads = 256}, 1, (uint64_t)64),
                     HIP_ERROR_LAUNCH_FAILURE);
    assert_non_null(strstr(gpu->last_fault(), "no live allocation"));
    sim_timing_free(&t);
}

static void a_question_that_is_withdrawn_changes_nothing(void **state) {
    (void)state;
    const uint64_t buffer = gpu_buffer(content, WORDS * sizeof *content);
    const sim_timing_options options = {.only = 1};
    sim_timing t;
    assert_int_equal(sim_timing_next(chip_find("gfx950", 6), &options, &t), CDNAGEN_OK);
    sim_timing_free(&t);
    assert_int_equal(gpu_launch(module, "mix", (gpu_grid){.groups = 1500, .threads = 256}, 1, buffer), HIP_SUCCESS);
    gpu_read(modelled, buffer, WORDS * sizeof *modelled);
    assert_memory_equal(modelled, plain, WORDS * sizeof *plain);
    assert_int_equal(t.groups, 0);
    assert_int_equal(gpu->free((void *)(uintptr_t)buffer), HIP_SUCCESS);
}

static void stopped_waves_keep_their_sums(void **state) {
    (void)state;
    const uint64_t buffer = gpu_buffer(content, WORDS * sizeof *content);
    const sim_timing_options options = {.only = 1, .instructions_most = 2000};
    sim_timing t;
    assert_int_equal(sim_timing_next(chip_find("gfx950", 6), &options, &t), CDNAGEN_OK);
    assert_int_equal(gpu_launch(module, "mix", (gpu_grid){.groups = 4096, .threads = 256}, 1, buffer), HIP_SUCCESS);
    assert_false(t.complete);
    assert_non_null(strstr(t.notes.data, "Stopped after"));
    assert_sums(&t);
    sim_timing_free(&t);
    assert_int_equal(gpu->free((void *)(uintptr_t)buffer), HIP_SUCCESS);
}

/* Whatever the events tell, laid end to end, is each wave's whole life. */
typedef struct life {
    uint64_t end, sum;
    int broken;
} life;
static void live(void *user, const sim_event *e) {
    life *l = &((life *)user)[e->group * 4 + e->wave];
    if (l->sum && e->clk != l->end) l->broken = 1;
    l->end = e->clk + e->length;
    l->sum += e->length;
}
static void events_follow_each_other(void **state) {
    (void)state;
    enum { GROUPS = 2 };
    static life lives[GROUPS * 4];
    const uint64_t buffer = gpu_buffer(content, WORDS * sizeof *content);
    const sim_timing_options options = {.only = 1, .event = live, .event_user = lives};
    sim_timing t;
    assert_int_equal(sim_timing_next(chip_find("gfx950", 6), &options, &t), CDNAGEN_OK);
    assert_int_equal(gpu_launch(module, "mix", (gpu_grid){.groups = GROUPS, .threads = 256}, 1, buffer), HIP_SUCCESS);
    uint64_t sum = 0;
    for (size_t i = 0; i < 4; i++) {
        assert_false(lives[i].broken);
        assert_true(lives[i].sum > 0);
        sum += lives[i].sum;
    }
    assert_int_equal(sum, t.wave_clk);
    sim_timing_free(&t);
    assert_int_equal(gpu->free((void *)(uintptr_t)buffer), HIP_SUCCESS);
}

/* Any allocation of the model may fail: the launch fails, or does without the model, and nothing leaks. */
static void allocations_may_fail(void **state) {
    (void)state;
    const uint64_t buffer = gpu_buffer(content, WORDS * sizeof *content);
    int failed = 0;
    const long before = mem_live();
    for (long k = 1; k < 400; k++) {
        sim_timing t;
        const sim_timing_options options = {.only = 1};
        assert_int_equal(sim_timing_next(chip_find("gfx950", 6), &options, &t), CDNAGEN_OK);
        mem_fail_at(k);
        const hip_error error = gpu_launch(module, "mix", (gpu_grid){.groups = 600, .threads = 256}, 1, buffer);
        mem_fail_at(0);
        failed += error != HIP_SUCCESS;
        sim_timing_free(&t);
        if (mem_live() != before) fail_msg("allocation %ld: %ld not freed", k, mem_live() - before);
    }
    assert_true(failed > 100);
    assert_int_equal(gpu->free((void *)(uintptr_t)buffer), HIP_SUCCESS);
}

static int open_simulator(void **state) {
    (void)state;
    gpu_open("threads=2");
    module = gpu_compile(source, "-O3");
    content = malloc(WORDS * sizeof *content);
    plain = malloc(WORDS * sizeof *plain);
    modelled = malloc(WORDS * sizeof *modelled);
    if (!content || !plain || !modelled) return -1;
    for (uint32_t i = 0; i < WORDS; i++) content[i] = i < 1024 ? 0 : i * 2654435761u;
    return 0;
}
static int close_simulator(void **state) {
    (void)state;
    free(content);
    free(plain);
    free(modelled);
    return 0;
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_those_of_a_plain_launch),
        cmocka_unit_test(modelling_alone_leaves_memory_as_it_was),
        cmocka_unit_test(the_same_launch_has_the_same_figures),
        cmocka_unit_test(sums_agree),
        cmocka_unit_test(unoptimised_code_with_scratch),
        cmocka_unit_test(more_workgroups_take_longer),
        cmocka_unit_test(occupancy_and_limit),
        cmocka_unit_test(bytes_at_each_level),
        cmocka_unit_test(parameters_come_from_a_file),
        cmocka_unit_test(bad_parameter_files_are_refused),
        cmocka_unit_test(a_fault_in_the_sample_is_the_launch_s),
        cmocka_unit_test(a_question_that_is_withdrawn_changes_nothing),
        cmocka_unit_test(stopped_waves_keep_their_sums),
        cmocka_unit_test(events_follow_each_other),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, open_simulator, close_simulator);
}
