/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The simulator as a HIP provider: what HIP answers to right and wrong calls, kernel arguments, start state. */
#include "tests/sim/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD                                                                                                           \
    "#define LID ((uint)__builtin_amdgcn_workitem_id_x())\n#define GROUP ((uint)__builtin_amdgcn_workgroup_id_x())\n"
#define FILL "kernel void k(global uint *out, uint value) { out[GROUP * 64 + LID] = value + LID; }\n"

static void mode_words_are_checked(void **state) {
    (void)state;
    const chip *c = chip_find("gfx950", 6);
    static const char *const bad[] = {"lat", "threads=", "threads=0", "threads=2x", "threads=-1", "limit=0"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(sim_open(c, bad[i], &gpu), CDNAGEN_BAD_ARGUMENT);
    assert_int_equal(sim_open(c, " late  poison threads=3 ", &gpu), CDNAGEN_OK);
    assert_int_equal(sim_open(c, "late,poison, threads=3,", &gpu), CDNAGEN_OK);
    assert_int_equal(sim_open(c, NULL, &gpu), CDNAGEN_OK);
}

static void device_answers(void **state) {
    (void)state;
    int n;
    char name[64];
    target t;
    gpu_open("");
    assert_int_equal(gpu->init(0), HIP_SUCCESS);
    assert_int_equal(gpu->get_device_count(&n), HIP_SUCCESS);
    assert_int_equal(n, 1);
    assert_int_equal(gpu->set_device(1), HIP_ERROR_INVALID_DEVICE);
    assert_int_equal(gpu->device_get_name(name, sizeof name, 0), HIP_SUCCESS);
    assert_int_equal(gpu->device_target(0, &t), CDNAGEN_OK);
    assert_string_equal(t.chip->name, "gfx950");
    assert_int_equal(gpu->cu_count(0), t.chip->cus);
    assert_string_equal(gpu->get_error_name(HIP_ERROR_NO_BINARY_FOR_GPU), "hipErrorNoBinaryForGpu");
    assert_string_equal(gpu->provider, "simulator");
}

static void memory_is_checked(void **state) {
    (void)state;
    void *p;
    char bytes_back[8] = "";
    gpu_open("");
    assert_int_equal(gpu->malloc(&p, 100), HIP_SUCCESS);
    assert_int_equal(gpu->memset_async(p, 7, 100, NULL), HIP_SUCCESS);
    assert_int_equal(gpu->memset_async(p, 7, 101, NULL), HIP_ERROR_INVALID_VALUE);
    assert_int_equal(gpu->memcpy(bytes_back, (char *)p + 92, 8, HIP_MEMCPY_DEVICE_TO_HOST), HIP_SUCCESS);
    assert_int_equal(bytes_back[7], 7);
    assert_int_equal(gpu->memcpy(bytes_back, (char *)p + 93, 8, HIP_MEMCPY_DEVICE_TO_HOST), HIP_ERROR_INVALID_VALUE);
    assert_int_equal(gpu->memcpy(bytes_back, bytes_back, 8, HIP_MEMCPY_HOST_TO_DEVICE), HIP_ERROR_INVALID_VALUE);
    assert_int_equal(gpu->free((char *)p + 1), HIP_ERROR_INVALID_VALUE);
    assert_int_equal(gpu->free(p), HIP_SUCCESS);
    assert_int_equal(gpu->free(p), HIP_ERROR_INVALID_VALUE);
    assert_int_equal(gpu->free(NULL), HIP_SUCCESS);
    assert_int_equal(gpu->malloc(&p, SIZE_MAX), HIP_ERROR_OUT_OF_MEMORY);
    assert_int_equal(gpu->malloc(&p, 0), HIP_SUCCESS);
    assert_null(p);
}

/* 8 GiB that nobody owns: only what is touched exists. */
static void memory_is_sparse(void **state) {
    (void)state;
    const size_t far = (size_t)8 << 30;
    uint32_t word;
    gpu_open("threads=1");
    const hip_module m =
        gpu_compile(HEAD "kernel void k(global uint *out, ulong at) { out[at + LID] = 5 + LID; }", "-O3");
    const uint64_t big = gpu_buffer(NULL, far + 256);
    assert_int_equal(gpu_launch(m, "k", (gpu_grid){.groups = 1, .threads = 64}, 2, big, (uint64_t)(far / 4)),
                     HIP_SUCCESS);
    gpu_read(&word, big + far + 252, 4);
    assert_int_equal(word, 5 + 63);
    gpu->module_unload(m);
    gpu->free((void *)(uintptr_t)big);
}

static void modules_and_functions_are_checked(void **state) {
    (void)state;
    hip_function f;
    hip_module m;
    static const char junk[128] = "not an ELF";
    gpu_open("");
    assert_int_equal(gpu->module_load(&m, "/nonexistent/k.co"), HIP_ERROR_FILE_NOT_FOUND);
    assert_int_equal(gpu->module_load_data(&m, junk), HIP_ERROR_INVALID_IMAGE);
    m = gpu_compile(FILL, "-DLID=0u -DGROUP=0u");
    assert_int_equal(gpu->module_get_function(&f, m, "nobody"), HIP_ERROR_NOT_FOUND);
    assert_int_equal(gpu->module_get_function(&f, m, "k"), HIP_SUCCESS);
    int value;
    assert_int_equal(gpu->func_get_attribute(&value, 1, f), HIP_SUCCESS);
    assert_int_equal(value, 0);
    assert_int_equal(gpu->module_occupancy(&value, f, 64, 0), HIP_SUCCESS);
    assert_in_range(value, 1, 32);
    assert_int_equal(gpu->module_unload(m), HIP_SUCCESS);
    assert_int_equal(gpu->module_unload(m), HIP_ERROR_INVALID_HANDLE);
    assert_int_equal(gpu->module_get_function(&f, m, "k"), HIP_ERROR_INVALID_HANDLE);
}

static void code_object_of_another_chip_is_refused(void **state) {
    (void)state;
    hip_module m;
    assert_int_equal(
        system("cd /tmp && echo 'kernel void k(void) {}' > cdnagen-other.cl && clang-22 -x cl -target amdgcn-amd-amdhsa"
               " -mcpu=gfx942 -nogpulib -c cdnagen-other.cl -o cdnagen-other.o && ld.lld-22 -shared cdnagen-other.o -o "
               "cdnagen-other.co"),
        0);
    gpu_open("");
    assert_int_equal(gpu->module_load(&m, "/tmp/cdnagen-other.co"), HIP_ERROR_NO_BINARY_FOR_GPU);
    assert_non_null(strstr(cdnagen_error(), "gfx942"));
    assert_int_equal(system("rm /tmp/cdnagen-other.*"), 0);
}

static void launches_are_checked(void **state) {
    (void)state;
    gpu_open("");
    const hip_module m = gpu_compile(HEAD FILL, "-O3");
    const uint64_t buffer = gpu_buffer(NULL, 4096);
    static const struct {
        gpu_grid grid;
        hip_error error;
    } cases[] = {{{.groups = 0, .threads = 64}, HIP_ERROR_INVALID_VALUE},
                 {{.groups = 1, .threads = 0}, HIP_ERROR_INVALID_VALUE},
                 {{.groups = 1, .threads = 1025}, HIP_ERROR_INVALID_VALUE},
                 {{.groups = 1, .threads = 64, .lds = 163841}, HIP_ERROR_INVALID_VALUE},
                 {{.groups = 1, .threads = 64, .lds = 163840}, HIP_SUCCESS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(gpu_launch(m, "k", cases[i].grid, 2, buffer, (uint64_t)1), cases[i].error);
    gpu->module_unload(m);
    gpu->free((void *)(uintptr_t)buffer);
}

static void arguments_by_buffer_equal_arguments_by_pointers(void **state) {
    (void)state;
    hip_function f;
    uint32_t words[64];
    gpu_open("");
    const hip_module m = gpu_compile(HEAD FILL, "-O3");
    assert_int_equal(gpu->module_get_function(&f, m, "k"), HIP_SUCCESS);
    struct {
        uint64_t out;
        uint32_t value;
    } arguments = {gpu_buffer(NULL, sizeof words), 40};
    size_t size = 12;
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &arguments, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     HIP_LAUNCH_PARAM_END};
    assert_int_equal(gpu->module_launch_kernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, extra), HIP_SUCCESS);
    gpu_read(words, arguments.out, sizeof words);
    for (uint32_t i = 0; i < 64; i++) assert_int_equal(words[i], 40 + i);
    gpu->module_unload(m);
    gpu->free((void *)(uintptr_t)arguments.out);
}

/* Block counts, sizes and the dispatch packet, in two dimensions. */
static void hidden_arguments_and_ids(void **state) {
    (void)state;
    uint32_t words[2 * 3 * 5 * 4][4];
    gpu_open("threads=2 poison");
    const hip_module m = gpu_compile("kernel void k(global uint4 *out) { uint gx = __builtin_amdgcn_workgroup_id_x(), "
                                     "gy = __builtin_amdgcn_workgroup_id_y(),"
                                     " x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y();"
                                     " constant uint *hidden = (constant uint *)__builtin_amdgcn_implicitarg_ptr(); "
                                     "constant ushort *sizes = (constant ushort *)(hidden + 3);"
                                     " constant ushort *packet = (constant ushort *)__builtin_amdgcn_dispatch_ptr();"
                                     " out[((gy * 2 + gx) * 4 + y) * 5 + x] = (uint4)(gx << 24 | gy << 16 | x << 8 | "
                                     "y, hidden[0] << 16 | hidden[1], sizes[0] << 16 | sizes[1],"
                                     " packet[2] << 16 | packet[3]); }",
                                     "-O3");
    const uint64_t buffer = gpu_buffer(NULL, sizeof words);
    const hip_error error =
        gpu_launch(m, "k", (gpu_grid){.groups = 2, .groups_y = 3, .threads = 5, .threads_y = 4}, 1, buffer);
    if (error != HIP_SUCCESS) fail_msg("%s", gpu->last_fault());
    gpu_read(words, buffer, sizeof words);
    for (uint32_t gy = 0, i = 0; gy < 3; gy++)
        for (uint32_t gx = 0; gx < 2; gx++)
            for (uint32_t y = 0; y < 4; y++)
                for (uint32_t x = 0; x < 5; x++, i++) {
                    assert_int_equal(words[i][0], gx << 24 | gy << 16 | x << 8 | y);
                    assert_int_equal(words[i][1], 2 << 16 | 3);
                    assert_int_equal(words[i][2], 5 << 16 | 4);
                    assert_int_equal(words[i][3], 5 << 16 | 4);
                }
    gpu->module_unload(m);
    gpu->free((void *)(uintptr_t)buffer);
}

static void preloaded_arguments(void **state) {
    (void)state;
    uint32_t words[64];
    gpu_open("threads=1 poison");
    const hip_module m = gpu_compile(HEAD FILL, "-O3 -mllvm -amdgpu-kernarg-preload-count=2");
    const uint64_t buffer = gpu_buffer(NULL, sizeof words);
    assert_int_equal(gpu_launch(m, "k", (gpu_grid){.groups = 1, .threads = 64}, 2, buffer, (uint64_t)9), HIP_SUCCESS);
    gpu_read(words, buffer, sizeof words);
    for (uint32_t i = 0; i < 64; i++) assert_int_equal(words[i], 9 + i);
    gpu->module_unload(m);
    gpu->free((void *)(uintptr_t)buffer);
}

static void use_after_free_is_told(void **state) {
    (void)state;
    gpu_open("threads=2");
    const hip_module m = gpu_compile(HEAD FILL, "-O3");
    const uint64_t buffer = gpu_buffer(NULL, 256);
    gpu->free((void *)(uintptr_t)buffer);
    assert_int_equal(gpu_launch(m, "k", (gpu_grid){.groups = 1, .threads = 64}, 2, buffer, (uint64_t)9),
                     HIP_ERROR_LAUNCH_FAILURE);
    assert_non_null(strstr(gpu->last_fault(), "byte 0 of a freed 256-byte allocation"));
    gpu->module_unload(m);
}

static void streams_and_events(void **state) {
    (void)state;
    hip_stream s;
    hip_event a, b;
    float ms = -1;
    int capturing = 1;
    gpu_open("");
    assert_int_equal(gpu->stream_create(&s), HIP_SUCCESS);
    assert_int_equal(gpu->stream_is_capturing(s, &capturing), HIP_SUCCESS);
    assert_int_equal(capturing, 0);
    assert_int_equal(gpu->event_create(&a), HIP_SUCCESS);
    assert_int_equal(gpu->event_create(&b), HIP_SUCCESS);
    assert_int_equal(gpu->event_elapsed_time(&ms, a, b), HIP_ERROR_INVALID_HANDLE);
    assert_int_equal(gpu->event_record(a, s), HIP_SUCCESS);
    assert_int_equal(gpu->event_record(b, s), HIP_SUCCESS);
    assert_int_equal(gpu->event_synchronize(b), HIP_SUCCESS);
    assert_int_equal(gpu->event_elapsed_time(&ms, a, b), HIP_SUCCESS);
    assert_true(ms >= 0);
    assert_int_equal(gpu->event_destroy(a), HIP_SUCCESS);
    assert_int_equal(gpu->event_destroy(b), HIP_SUCCESS);
    assert_int_equal(gpu->stream_destroy(s), HIP_SUCCESS);
    assert_int_equal(gpu->stream_synchronize(s), HIP_ERROR_INVALID_HANDLE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mode_words_are_checked),
        cmocka_unit_test(device_answers),
        cmocka_unit_test(memory_is_checked),
        cmocka_unit_test(memory_is_sparse),
        cmocka_unit_test(modules_and_functions_are_checked),
        cmocka_unit_test(code_object_of_another_chip_is_refused),
        cmocka_unit_test(launches_are_checked),
        cmocka_unit_test(arguments_by_buffer_equal_arguments_by_pointers),
        cmocka_unit_test(hidden_arguments_and_ids),
        cmocka_unit_test(preloaded_arguments),
        cmocka_unit_test(use_after_free_is_told),
        cmocka_unit_test(streams_and_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
