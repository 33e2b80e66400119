/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Grids at their limits: every workgroup of 65535 on an axis, ids and counts of grids that are too large to run, and
 * what HIP refuses. */
#include "tests/sim/gpu.h"

#include <string.h>

#include "sim/dispatch.h"

static hip_error launch_grid(hip_module m, const unsigned grid[3], const unsigned block[3], uint64_t buffer) {
    hip_function f;
    void *params[] = {&buffer};
    assert_int_equal(gpu->module_get_function(&f, m, "k"), HIP_SUCCESS);
    const hip_error error =
        gpu->module_launch_kernel(f, grid[0], grid[1], grid[2], block[0], block[1], block[2], 0, NULL, params, NULL);
    return error ? error : gpu->device_synchronize();
}

/* One byte a workgroup at its linear id, so that each id must appear once. */
static void every_workgroup_of_65535_on_an_axis_runs(void **state) {
    (void)state;
    enum { GROUPS = 65535 };
    static const unsigned grids[][3] = {{GROUPS, 1, 1}, {1, GROUPS, 1}, {1, 1, GROUPS}}, one[3] = {1, 1, 1};
    static unsigned char seen[GROUPS];
    gpu_open("threads=2");
    const hip_module m =
        gpu_compile("kernel void k(global uchar *out) {"
                    " uint x = __builtin_amdgcn_workgroup_id_x(), y = __builtin_amdgcn_workgroup_id_y(),"
                    " z = __builtin_amdgcn_workgroup_id_z();"
                    " constant uint *n = (constant uint *)__builtin_amdgcn_implicitarg_ptr();"
                    " out[((ulong)z * n[1] + y) * n[0] + x] += 1 + (x + y + z) % 7; }",
                    "-O3");
    for (int axis = 0; axis < 3; axis++) {
        const uint64_t buffer = gpu_buffer(NULL, GROUPS);
        assert_int_equal(launch_grid(m, grids[axis], one, buffer), HIP_SUCCESS);
        gpu_read(seen, buffer, GROUPS);
        for (unsigned i = 0; i < GROUPS; i++) assert_int_equal(seen[i], 1 + i % 7);
        gpu->free((void *)(uintptr_t)buffer);
    }
    gpu->module_unload(m);
}

/* Work-items that all run, more than 16 bits count: the global id from block and local id. */
static void work_items_beyond_16_bits_have_their_ids(void **state) {
    (void)state;
    enum { GROUPS = 65535, EACH = 4 };
    static const unsigned grid[3] = {1, 1, GROUPS}, block[3] = {1, 1, EACH};
    static uint32_t ids[GROUPS * EACH];
    gpu_open("threads=2");
    const hip_module m =
        gpu_compile("kernel void k(global uint *out) {"
                    " constant uint *n = (constant uint *)__builtin_amdgcn_implicitarg_ptr();"
                    " uint size = ((constant ushort *)(n + 3))[2],"
                    " id = __builtin_amdgcn_workgroup_id_z() * size + __builtin_amdgcn_workitem_id_z();"
                    " out[id] = id ^ n[2] << 8; }",
                    "-O3");
    const uint64_t buffer = gpu_buffer(NULL, sizeof ids);
    assert_int_equal(launch_grid(m, grid, block, buffer), HIP_SUCCESS);
    gpu_read(ids, buffer, sizeof ids);
    for (uint32_t i = 0; i < GROUPS * EACH; i++) assert_int_equal(ids[i], i ^ GROUPS << 8);
    gpu->module_unload(m);
    gpu->free((void *)(uintptr_t)buffer);
}

static void ids_of_workgroups_that_no_run_reaches(void **state) {
    (void)state;
    static const struct {
        uint32_t grid[3], id[3];
    } cases[] = {
        {{2147483647, 65535, 65535}, {2147483646, 65534, 65534}},
        {{2147483647, 65535, 65535}, {2147483646, 0, 65534}},
        {{2147483647, 65535, 65535}, {0, 65534, 1}},
        {{4294967295, 2, 1}, {4294967294, 1, 0}},
        {{1, 4294967295, 4294967295}, {0, 4294967294, 4294967294}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint32_t *n = cases[i].grid, *id = cases[i].id;
        launch l = {.grid = {n[0], n[1], n[2]}};
        group g = {.launch = &l};
        group_start(&g, ((uint64_t)id[2] * n[1] + id[1]) * n[0] + id[0]);
        for (int axis = 0; axis < 3; axis++) assert_int_equal(g.id[axis], id[axis]);
    }
}

/* The first workgroup leaves what it was told and traps, which ends the launch. */
static void counts_of_grids_at_the_limit(void **state) {
    (void)state;
    static const struct {
        unsigned grid[3], block[3];
        hip_error error;
    } cases[] = {
        {{2147483647, 65535, 65535}, {2, 1, 1}, HIP_ERROR_LAUNCH_FAILURE},
        {{67108863, 65535, 65535}, {64, 2, 2}, HIP_ERROR_LAUNCH_FAILURE},
        {{4194304, 2097152, 2097152}, {1, 1, 1}, HIP_ERROR_LAUNCH_FAILURE}, /* 2^64 workgroups */
        {{1, 4294967295, 1}, {1, 1, 1}, HIP_ERROR_LAUNCH_FAILURE},
        {{2147483647, 1, 1}, {3, 1, 1}, HIP_ERROR_INVALID_CONFIGURATION},
        {{67108864, 1, 1}, {64, 1, 1}, HIP_ERROR_INVALID_CONFIGURATION},
        {{1, 67108864, 1}, {1, 64, 1}, HIP_ERROR_INVALID_CONFIGURATION},
        {{1, 1, 67108864}, {1, 1, 64}, HIP_ERROR_INVALID_CONFIGURATION},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gpu_open("threads=1");
        const hip_module m = gpu_compile("kernel void k(global uint *out) {"
                                         " constant uint *n = (constant uint *)__builtin_amdgcn_implicitarg_ptr(),"
                                         " *packet = (constant uint *)__builtin_amdgcn_dispatch_ptr();"
                                         " for (int i = 0; i < 3; i++) { out[i] = n[i]; out[3 + i] = packet[3 + i]; }"
                                         " ulong items = (ulong)n[0] * ((constant ushort *)(n + 3))[0] * n[1];"
                                         " out[6] = (uint)items; out[7] = (uint)(items >> 32); __builtin_trap(); }",
                                         "-O3");
        const uint64_t buffer = gpu_buffer(NULL, 32);
        const unsigned *grid = cases[i].grid, *block = cases[i].block;
        assert_int_equal(launch_grid(m, grid, block, buffer), cases[i].error);
        uint32_t told[8];
        memcpy(told, (const void *)(uintptr_t)buffer, sizeof told); /* a device that has faulted copies nothing */
        const int ran = cases[i].error == HIP_ERROR_LAUNCH_FAILURE;
        const uint64_t items = (uint64_t)grid[0] * block[0] * grid[1];
        for (int axis = 0; axis < 3; axis++) {
            assert_int_equal(told[axis], ran ? grid[axis] : 0);
            assert_int_equal(told[3 + axis], ran ? grid[axis] * block[axis] : 0);
        }
        assert_int_equal(told[6], ran ? (uint32_t)items : 0);
        assert_int_equal(told[7], ran ? items >> 32 : 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_workgroup_of_65535_on_an_axis_runs),
        cmocka_unit_test(work_items_beyond_16_bits_have_their_ids),
        cmocka_unit_test(ids_of_workgroups_that_no_run_reaches),
        cmocka_unit_test(counts_of_grids_at_the_limit),
    };
    return cmocka_run_group_tests_name("grids", tests, NULL, NULL);
}
