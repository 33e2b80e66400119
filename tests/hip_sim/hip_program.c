/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A HIP program as anybody writes one: devices, memory, modules, launches, streams, events, errors. */
#include "tests/hip_sim/program.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hipModule_t module;

void expect_error(hipError_t wanted, hipError_t got, const char *call, int line) {
    if (wanted != got)
        fail_msg("line %d: %s answers %d %s, not %d %s", line, call, got, hipGetErrorName(got), wanted,
                 hipGetErrorName(wanted));
}

int program_setup(void **state) {
    (void)state;
    ok(hipInit(0));
    ok(hipSetDevice(0));
    ok(hipModuleLoad(&module, OBJECTS "/gfx950.co"));
    return 0;
}
int program_teardown(void **state) {
    (void)state;
    ok(hipSetDevice(0));
    ok(hipModuleUnload(module));
    return 0;
}

hipFunction_t kernel(const char *name) {
    hipFunction_t f;
    ok(hipModuleGetFunction(&f, module, name));
    return f;
}
void add(int *to, int value, hipStream_t stream) {
    void *arguments[] = {&to, &value};
    ok(hipModuleLaunchKernel(kernel("add"), 1, 1, 1, 64, 1, 1, 0, stream, arguments, NULL));
}
int first_of(const int *device) {
    int x;
    ok(hipMemcpyDtoH(&x, (hipDeviceptr_t)(uintptr_t)device, sizeof x));
    return x;
}

/* ---- devices ---- */

static void devices_are_those_that_were_asked_for(void **state) {
    (void)state;
    int count, device, version, cus, lds, major, minor;
    char name[64];
    ok(hipGetDeviceCount(&count));
    assert_int_equal(count, 2);
    ok(hipGetDevice(&device));
    assert_int_equal(device, 0);
    expect(hipErrorInvalidDevice, hipSetDevice(2));
    ok(hipRuntimeGetVersion(&version));
    assert_true(version >= 50000000);
    ok(hipDeviceGetName(name, sizeof name, 1));
    assert_non_null(strstr(name, "gfx942"));
    ok(hipDeviceGetAttribute(&cus, hipDeviceAttributeMultiprocessorCount, 0));
    assert_int_equal(cus, 256);
    ok(hipDeviceGetAttribute(&lds, hipDeviceAttributeMaxSharedMemoryPerBlock, 1));
    assert_int_equal(lds, 65536);
    ok(hipDeviceComputeCapability(&major, &minor, 1));
    assert_int_equal(major, 9);
    assert_int_equal(minor, 4);
    expect(hipErrorInvalidDevice, hipDeviceGetName(name, sizeof name, 2));
}

/* The header is HIP 5's, whose layout the old name answers. */
static void properties_have_the_layout_of_the_header(void **state) {
    (void)state;
    struct {
        hipDeviceProp_t p;
        unsigned char behind[64];
    } it;
    memset(&it, 0xa5, sizeof it);
    ok(hipGetDeviceProperties(&it.p, 0));
    assert_string_equal(it.p.gcnArchName, "gfx950:sramecc+:xnack-");
    assert_string_equal(it.p.name, "gfx950 simulator");
    assert_int_equal(it.p.warpSize, 64);
    assert_int_equal(it.p.maxThreadsPerBlock, 1024);
    assert_int_equal(it.p.maxThreadsDim[2], 1024);
    assert_int_equal(it.p.sharedMemPerBlock, 163840);
    assert_int_equal(it.p.maxSharedMemoryPerMultiProcessor, 163840);
    assert_int_equal(it.p.multiProcessorCount, 256);
    assert_int_equal(it.p.maxThreadsPerMultiProcessor, 2048);
    assert_int_equal(it.p.major, 9);
    assert_int_equal(it.p.minor, 5);
    assert_int_equal(it.p.arch.hasWarpShuffle, 1);
    assert_int_equal(it.p.arch.hasDynamicParallelism, 0);
    assert_int_equal(it.p.concurrentKernels, 1);
    assert_true(it.p.totalGlobalMem >= (size_t)1 << 34);
    for (size_t i = 0; i < sizeof it.behind; i++) assert_int_equal(it.behind[i], 0xa5);
}

/* HIP 6 and 7 ask by another name and with another layout. source: hip/hip_runtime_api.h of HIP 6.2 */
static void newer_programs_find_their_layout(void **state) {
    (void)state;
    enum { SIZE = 1472, WARP = 308, CUS = 388, ARCH = 1160 };
    static unsigned char p[SIZE + 64];
    int (*get)(void *, int); /* as the library declares it */
    void *const symbol = dlsym(RTLD_DEFAULT, "hipGetDevicePropertiesR0600");
    assert_non_null(symbol);
    memcpy(&get, &symbol, sizeof get);
    memset(p, 0xa5, sizeof p);
    assert_int_equal(get(p, 1), hipSuccess);
    int warp, cus;
    memcpy(&warp, p + WARP, sizeof warp);
    memcpy(&cus, p + CUS, sizeof cus);
    assert_int_equal(warp, 64);
    assert_int_equal(cus, 304);
    assert_string_equal((const char *)p + ARCH, "gfx942:sramecc+:xnack-");
    for (size_t i = SIZE; i < sizeof p; i++) assert_int_equal(p[i], 0xa5);
}

static void each_device_runs_its_own_code_on_its_own_memory(void **state) {
    (void)state;
    hipModule_t other;
    hipFunction_t f;
    int *here, *there, value = 5;
    ok(hipMalloc((void **)&here, 256));
    ok(hipMemset(here, 0, 256));
    expect(hipErrorNoBinaryForGpu, hipModuleLoad(&other, OBJECTS "/gfx942.co"));
    ok(hipSetDevice(1));
    ok(hipModuleLoad(&other, OBJECTS "/gfx942.co"));
    ok(hipModuleGetFunction(&f, other, "add"));
    ok(hipMalloc((void **)&there, 256));
    ok(hipMemset(there, 0, 256));
    void *arguments[] = {&there, &value};
    ok(hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL));
    ok(hipMemcpy(here, there, 256, hipMemcpyDeviceToDevice));
    assert_int_equal(first_of(here), 5);
    /* A kernel of the other device, and the other device's memory. */
    expect(hipErrorInvalidDeviceFunction,
           hipModuleLaunchKernel(kernel("add"), 1, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL));
    arguments[0] = &here;
    ok(hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL));
    expect(hipErrorLaunchFailure, hipDeviceSynchronize());
    assert_int_equal(first_of(here), 5);
    ok(hipModuleUnload(other));
    ok(hipFree(there));
    ok(hipFree(here));
    ok(hipSetDevice(0));
}

static void contexts_name_devices(void **state) {
    (void)state;
    hipCtx_t first, second, now;
    int device;
    ok(hipDevicePrimaryCtxRetain(&first, 0));
    ok(hipCtxCreate(&second, 0, 1));
    ok(hipGetDevice(&device));
    assert_int_equal(device, 1);
    ok(hipCtxPushCurrent(first));
    ok(hipCtxGetDevice(&device));
    assert_int_equal(device, 0);
    ok(hipCtxPopCurrent(&now));
    assert_ptr_equal(now, first);
    ok(hipCtxGetCurrent(&now));
    assert_ptr_equal(now, second);
    ok(hipCtxDestroy(second));
    ok(hipCtxSetCurrent(first));
    expect(hipErrorInvalidContext, hipCtxSetCurrent((hipCtx_t)(uintptr_t)64));
    ok(hipGetDevice(&device));
    assert_int_equal(device, 0);
}

/* ---- launches ---- */

enum { N = 1000 };
static void saxpy(void **state) {
    (void)state;
    static float x[N], y[N], out[N];
    float *dx, *dy, a = 2.5f;
    unsigned n = N;
    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = (float)(N - i);
    }
    ok(hipMalloc((void **)&dx, sizeof x));
    ok(hipMalloc((void **)&dy, sizeof y));
    ok(hipMemcpyHtoD(dx, x, sizeof x));
    ok(hipMemcpy(dy, y, sizeof y, hipMemcpyHostToDevice));
    void *arguments[] = {&dy, &dx, &a, &n};
    ok(hipModuleLaunchKernel(kernel("saxpy"), (N + 63) / 64, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL));
    ok(hipDeviceSynchronize());
    ok(hipMemcpy(out, dy, sizeof out, hipMemcpyDefault));
    for (int i = 0; i < N; i++) assert_true(out[i] == 2.5f * x[i] + y[i]);

    /* The same arguments as one buffer. */
    struct buffer {
        float *y, *x;
        float a;
        unsigned n;
    } buffer = {dy, dx, -2.5f, N};
    size_t size = sizeof buffer;
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &buffer, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     HIP_LAUNCH_PARAM_END};
    ok(hipModuleLaunchKernel(kernel("saxpy"), (N + 63) / 64, 1, 1, 64, 1, 1, 0, NULL, NULL, extra));
    ok(hipMemcpyDtoH(out, dy, sizeof out));
    for (int i = 0; i < N; i++) assert_true(out[i] == y[i]);
    /* A buffer that ends before the last argument does, and one of no known size. */
    size = offsetof(struct buffer, n) + 3;
    expect(hipErrorInvalidValue, hipModuleLaunchKernel(kernel("saxpy"), 1, 1, 1, 64, 1, 1, 0, NULL, NULL, extra));
    extra[3] = NULL;
    expect(hipErrorInvalidValue, hipModuleLaunchKernel(kernel("saxpy"), 1, 1, 1, 64, 1, 1, 0, NULL, NULL, extra));
    ok(hipFree(dx));
    ok(hipFree(dy));
}

static void module_variables_are_memory(void **state) {
    (void)state;
    hipDeviceptr_t scale;
    size_t size;
    int *to, factor = 7;
    ok(hipModuleGetGlobal(&scale, &size, module, "scale"));
    assert_int_equal(size, 4);
    assert_int_equal(first_of(scale), 3);
    ok(hipMemcpyHtoD(scale, &factor, sizeof factor));
    ok(hipMalloc((void **)&to, 64 * 4));
    void *arguments[] = {&to};
    ok(hipModuleLaunchKernel(kernel("scaled"), 1, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL));
    assert_int_equal(first_of(to + 63), 63 * 7);
    ok(hipFree(to));
    expect(hipErrorNotFound, hipModuleGetGlobal(&scale, &size, module, "absent"));
}

static void kernels_tell_what_they_need(void **state) {
    (void)state;
    int value, blocks, grid, block;
    const hipFunction_t f = kernel("add");
    ok(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f));
    assert_int_equal(value, 0);
    ok(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_NUM_REGS, f));
    assert_in_range(value, 1, 64);
    ok(hipFuncSetAttribute(f, hipFuncAttributeMaxDynamicSharedMemorySize, 163840));
    expect(hipErrorInvalidValue, hipFuncSetAttribute(f, hipFuncAttributeMaxDynamicSharedMemorySize, 163841));
    ok(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 64, 0));
    assert_int_equal(blocks, 32);
    ok(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 64, 81920));
    assert_int_equal(blocks, 2);
    ok(hipModuleOccupancyMaxPotentialBlockSize(&grid, &block, f, 0, 256));
    assert_int_equal(block, 256);
    assert_int_equal(grid, 8 * 256);
}

/* ---- memory ---- */

static void fills_and_copies(void **state) {
    (void)state;
    unsigned words[4];
    unsigned char *p, *q;
    size_t left, total;
    ok(hipMalloc((void **)&p, 64));
    ok(hipMalloc((void **)&q, 64));
    ok(hipMemsetD32(p, 0x01020304, 16));
    ok(hipMemsetD8(p, 0xee, 4));
    ok(hipMemset(p + 4, 0x11, 4));
    ok(hipMemcpyDtoD(q, p, 64));
    ok(hipMemcpyDtoH(words, q, sizeof words));
    assert_int_equal(words[0], 0xeeeeeeee);
    assert_int_equal(words[1], 0x11111111);
    assert_int_equal(words[2], 0x01020304);
    expect(hipErrorInvalidValue, hipMemcpyDtoH(words, q + 60, 8));
    expect(hipErrorInvalidValue, hipMemcpyHtoD(words, words, 4));
    expect(hipErrorInvalidValue, hipMemsetD32(p, 0, 17));
    ok(hipMemGetInfo(&left, &total));
    assert_true(left < total);
    ok(hipFree(p));
    expect(hipErrorInvalidValue, hipFree(p));
    ok(hipFree(q));
    ok(hipFree(NULL));
}

static void kernels_reach_pinned_host_memory(void **state) {
    (void)state;
    int *host, *seen;
    ok(hipHostMalloc((void **)&host, 256, hipHostMallocDefault));
    for (int i = 0; i < 64; i++) host[i] = i;
    ok(hipHostGetDevicePointer((void **)&seen, host, 0));
    add(seen, 100, NULL);
    ok(hipDeviceSynchronize());
    assert_int_equal(host[63], 163);
    expect(hipErrorInvalidValue, hipHostFree(host + 1));
    ok(hipHostFree(host));
}

/* ---- streams and events ---- */

static void streams_and_events(void **state) {
    (void)state;
    hipStream_t a, b;
    hipEvent_t before, between, never;
    unsigned flags;
    float ms = -1;
    int *p, host[64] = {0};
    ok(hipStreamCreate(&a));
    ok(hipStreamCreateWithFlags(&b, hipStreamNonBlocking));
    ok(hipStreamGetFlags(b, &flags));
    assert_int_equal(flags, hipStreamNonBlocking);
    ok(hipEventCreate(&before));
    ok(hipEventCreateWithFlags(&between, hipEventDefault));
    ok(hipEventCreate(&never));
    ok(hipMalloc((void **)&p, sizeof host));
    ok(hipEventRecord(before, a));
    ok(hipMemsetAsync(p, 0, sizeof host, a));
    add(p, 1, a);
    ok(hipEventRecord(between, a));
    ok(hipStreamWaitEvent(b, between, 0));
    add(p, 2, b);
    ok(hipMemcpyAsync(host, p, sizeof host, hipMemcpyDeviceToHost, b));
    ok(hipStreamSynchronize(b));
    assert_int_equal(host[0], 3);
    ok(hipStreamQuery(a));
    ok(hipEventQuery(between));
    ok(hipEventSynchronize(between));
    ok(hipEventElapsedTime(&ms, before, between));
    assert_true(ms >= 0);
    expect(hipErrorInvalidHandle, hipEventElapsedTime(&ms, before, never));
    hipEvent_t untimed;
    ok(hipEventCreateWithFlags(&untimed, hipEventDisableTiming));
    ok(hipEventRecord(untimed, a));
    expect(hipErrorInvalidHandle, hipEventElapsedTime(&ms, before, untimed));
    ok(hipEventDestroy(untimed));
    ok(hipEventDestroy(before));
    ok(hipEventDestroy(between));
    ok(hipEventDestroy(never));
    expect(hipErrorInvalidHandle, hipEventRecord(never, a));
    ok(hipStreamDestroy(a));
    expect(hipErrorInvalidHandle, hipStreamSynchronize(a));
    ok(hipStreamDestroy(b));
    ok(hipFree(p));
}

/* ---- errors ---- */

static void errors_are_hips(void **state) {
    (void)state;
    hipModule_t m;
    hipFunction_t f;
    int *p = NULL, value = 1;
    (void)hipGetLastError();
    expect(hipErrorNotFound, hipModuleGetFunction(&f, module, "absent"));
    expect(hipErrorNotFound, hipPeekAtLastError());
    ok(hipDeviceSynchronize()); /* success does not forget */
    expect(hipErrorNotFound, hipGetLastError());
    ok(hipGetLastError());
    expect(hipErrorFileNotFound, hipModuleLoad(&m, OBJECTS "/absent.co"));
    expect(hipErrorInvalidImage, hipModuleLoadData(&m, "not an image"));
    assert_string_equal(hipGetErrorName(hipErrorInvalidImage), "hipErrorInvalidImage");
    assert_string_equal(hipGetErrorString(hipSuccess), "no error");
    void *arguments[] = {&p, &value};
    expect(hipErrorInvalidValue, hipModuleLaunchKernel(kernel("add"), 1, 1, 1, 2048, 1, 1, 0, NULL, arguments, NULL));
    expect(hipErrorInvalidValue, hipModuleLaunchKernel(kernel("add"), 0, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL));
    /* 2^64 + 68 work-items, which 64 bits would take for 68. */
    expect(hipErrorInvalidValue,
           hipModuleLaunchKernel(kernel("add"), 1, 1, 1, 109284, 354439, 476235359, 0, NULL, arguments, NULL));
    /* A kernel that stores through NULL: the launch succeeds, the next wait tells, once. */
    ok(hipModuleLaunchKernel(kernel("add"), 1, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL));
    expect(hipErrorLaunchFailure, hipDeviceSynchronize());
    ok(hipDeviceSynchronize());
}

#define TEST(name) {#name, name, NULL, NULL, NULL}
int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(devices_are_those_that_were_asked_for),
        TEST(properties_have_the_layout_of_the_header),
        TEST(newer_programs_find_their_layout),
        TEST(each_device_runs_its_own_code_on_its_own_memory),
        TEST(contexts_name_devices),
        TEST(saxpy),
        TEST(module_variables_are_memory),
        TEST(kernels_tell_what_they_need),
        TEST(fills_and_copies),
        TEST(kernels_reach_pinned_host_memory),
        TEST(streams_and_events),
        TEST(errors_are_hips),
    };
    return cmocka_run_group_tests(tests, program_setup, program_teardown) + run_capture_tests();
}
