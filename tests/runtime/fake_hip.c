/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A libamdhip64 for tests, built with the device property layout of HIP 5 or (FAKE_HIP_6) of HIP 6. It records calls,
 * checks arguments, and fails where it is told to: fake_hip.fail_function, or the environment's
 * FAKE_HIP_FAIL=hipMalloc=2 for programs that cannot reach it. With FAKE_HIP_TELL it says on stderr what it unloads. */
#include "tests/runtime/fake_hip.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hip.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT extern fake_hip_state fake_hip;
fake_hip_state fake_hip = {.devices = 2,
                           .arch = {"gfx950:sramecc+:xnack-", "gfx950:sramecc+:xnack-"},
                           .cus = 208,
                           .runtime_version = 60342131};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int current;

struct hip_module_object {
    int device, live;
};
struct hip_event_object {
    hip_stream stream;
    int number; /* `now` at its recording, 0 = none yet */
};
static atomic_int now; /* ms: one a recording, and what launches take */
struct hip_function_object {
    struct hip_module_object *module;
    char name[256];
};

static int told_to_fail(const char *function) {
    if (fake_hip.fail_function && !strcmp(fake_hip.fail_function, function)) return fake_hip.fail_error;
    const char *variable = getenv("FAKE_HIP_FAIL");
    const size_t length = strlen(function);
    return variable && !strncmp(variable, function, length) && variable[length] == '=' ? atoi(variable + length + 1)
                                                                                       : 0;
}

static int wrong(const char *what) {
    fake_hip.wrong++;
    snprintf(fake_hip.wrong_what, sizeof fake_hip.wrong_what, "%s", what);
    return HIP_ERROR_INVALID_VALUE;
}

/* Every function: its prototype is the table's, and its first act is to obey. */
#define BEGIN                                                                                                          \
    const int told = told_to_fail(__func__);                                                                           \
    if (told) return told;
#define HIP_FUNCTION(member, symbol, arguments) EXPORT hip_error symbol arguments;
#include "core/hip.def"
#undef HIP_FUNCTION
EXPORT const char *hipGetErrorName(hip_error error);
EXPORT const char *hipGetErrorString(hip_error error);

const char *hipGetErrorName(hip_error error) { return error == 100 ? "hipErrorNoDevice" : "hipErrorFake"; }
const char *hipGetErrorString(hip_error error) { return error ? "a fake error" : "no error"; }

hip_error hipInit(unsigned flags) {
    BEGIN fake_hip.inits++;
    return flags ? wrong("hipInit flags") : fake_hip.devices ? 0 : HIP_ERROR_NO_DEVICE;
}
hip_error hipRuntimeGetVersion(int *version) {
    BEGIN *version = fake_hip.runtime_version;
    return 0;
}
hip_error hipGetDeviceCount(int *count) {
    BEGIN *count = fake_hip.devices;
    return 0;
}
hip_error hipGetDevice(int *device) {
    BEGIN *device = current;
    return 0;
}
hip_error hipSetDevice(int device) {
    BEGIN if (device < 0 || device >= fake_hip.devices) return HIP_ERROR_INVALID_DEVICE;
    fake_hip.set_devices++;
    current = device;
    return 0;
}
hip_error hipDeviceGetName(char *name, int length, int device) {
    BEGIN snprintf(name, (size_t)length, "AMD Instinct Fake %d", device);
    return 0;
}
hip_error hipDeviceGetAttribute(int *value, int attribute, int device) {
    BEGIN if (device >= fake_hip.devices) return HIP_ERROR_INVALID_DEVICE;
    if (attribute != 63 || !fake_hip.cus) return HIP_ERROR_INVALID_VALUE;
    *value = fake_hip.cus;
    return 0;
}

/* The property block of one HIP generation: size and place of gcnArchName. A word before it looks like one. */
#ifdef FAKE_HIP_6
enum { PROPERTIES_BYTES = 1472, ARCH_OFFSET = 1160 };
#define GET_PROPERTIES hipGetDevicePropertiesR0600
#else
enum { PROPERTIES_BYTES = 792, ARCH_OFFSET = 396 };
#define GET_PROPERTIES hipGetDeviceProperties
#endif
EXPORT hip_error GET_PROPERTIES(void *properties, int device);
hip_error GET_PROPERTIES(void *properties, int device) {
    BEGIN if (device < 0 || device >= fake_hip.devices) return HIP_ERROR_INVALID_DEVICE;
    memset(properties, 0x11, PROPERTIES_BYTES);
    snprintf(properties, 256, "gfx000 is this product's name");
    snprintf((char *)properties + ARCH_OFFSET, 256, "%s", fake_hip.arch[device]);
    return 0;
}
#ifdef FAKE_HIP_6
/* HIP 6 still exports the old layout under the old name; nothing should ask for it. */
EXPORT hip_error hipGetDeviceProperties(void *properties, int device);
hip_error hipGetDeviceProperties(void *properties, int device) {
    (void)properties;
    (void)device;
    return wrong("hipGetDeviceProperties of the old layout");
}
#endif

hip_error hipMalloc(void **ptr, size_t size) {
    if (ptr) *ptr = NULL; /* also where it fails, as HIP may */
    BEGIN if (!ptr || !size) return wrong("hipMalloc");
    *ptr = aligned_alloc(256, (size + 255) / 256 * 256);
    fake_hip.allocations++;
    return *ptr ? 0 : HIP_ERROR_OUT_OF_MEMORY;
}
hip_error hipFree(void *ptr) {
    BEGIN free(ptr);
    fake_hip.frees++;
    return 0;
}
hip_error hipMemcpy(void *to, const void *from, size_t size, int kind) {
    BEGIN if (kind != HIP_MEMCPY_HOST_TO_DEVICE && kind != HIP_MEMCPY_DEVICE_TO_HOST) return wrong("hipMemcpy kind");
    memcpy(to, from, size);
    return 0;
}
hip_error hipMemcpyAsync(void *to, const void *from, size_t size, int kind, hip_stream stream) {
    BEGIN(void) kind;
    (void)stream;
    memcpy(to, from, size);
    return 0;
}
hip_error hipMemsetAsync(void *to, int value, size_t size, hip_stream stream) {
    BEGIN fake_hip.stream = stream;
    memset(to, value, size);
    return 0;
}
hip_error hipDeviceSynchronize(void) { BEGIN return 0; }
hip_error hipStreamCreate(hip_stream *stream) {
    BEGIN *stream = NULL;
    return 0;
}
hip_error hipStreamDestroy(hip_stream stream) { BEGIN return stream ? wrong("hipStreamDestroy") : 0; }
hip_error hipStreamSynchronize(hip_stream stream) {
    BEGIN(void) stream;
    return 0;
}
hip_error hipStreamIsCapturing(hip_stream stream, int *status) {
    BEGIN fake_hip.stream = stream;
    *status = fake_hip.capturing;
    return 0;
}
hip_error hipThreadExchangeStreamCaptureMode(int *mode) {
    static _Thread_local int own;
    BEGIN const int before = own;
    own = *mode;
    *mode = before;
    return own >= 0 && own <= HIP_CAPTURE_RELAXED ? 0 : wrong("hipThreadExchangeStreamCaptureMode");
}
/* Graphs: handles only. */
hip_error hipStreamBeginCapture(hip_stream stream, int mode) {
    BEGIN fake_hip.stream = stream;
    fake_hip.capturing = 1;
    return mode == HIP_CAPTURE_THREAD_LOCAL ? 0 : wrong("hipStreamBeginCapture mode");
}
hip_error hipStreamEndCapture(hip_stream stream, hip_graph *graph) {
    BEGIN fake_hip.stream = stream;
    fake_hip.capturing = 0;
    *graph = malloc(1);
    return *graph ? 0 : HIP_ERROR_OUT_OF_MEMORY;
}
hip_error hipGraphGetNodes(hip_graph graph, hip_graph_node *nodes, size_t *count) {
    BEGIN *count = nodes ? 0 : 1;
    return graph ? 0 : HIP_ERROR_INVALID_HANDLE;
}
hip_error hipGraphInstantiateWithFlags(hip_graph_exec *executable, hip_graph graph, unsigned long long flags) {
    BEGIN *executable = malloc(1);
    return graph && !flags ? 0 : wrong("hipGraphInstantiateWithFlags");
}
hip_error hipGraphLaunch(hip_graph_exec executable, hip_stream stream) {
    BEGIN fake_hip.stream = stream;
    return executable ? 0 : HIP_ERROR_INVALID_HANDLE;
}
hip_error hipGraphDestroy(hip_graph graph) {
    BEGIN free(graph);
    return 0;
}
hip_error hipGraphExecDestroy(hip_graph_exec executable) {
    BEGIN free(executable);
    return 0;
}
hip_error hipEventCreate(hip_event *event) {
    BEGIN *event = calloc(1, sizeof **event);
    return *event ? 0 : HIP_ERROR_OUT_OF_MEMORY;
}
hip_error hipEventDestroy(hip_event event) {
    BEGIN free(event);
    return event ? 0 : HIP_ERROR_INVALID_HANDLE;
}
hip_error hipEventRecord(hip_event event, hip_stream stream) {
    BEGIN event->stream = stream;
    event->number = atomic_fetch_add(&now, 1) + 1;
    return 0;
}
hip_error hipEventSynchronize(hip_event event) {
    BEGIN fake_hip.stream = event->stream;
    return event->number ? 0 : HIP_ERROR_INVALID_HANDLE;
}
/* A millisecond a recording. */
hip_error hipEventElapsedTime(float *ms, hip_event start, hip_event stop) {
    BEGIN if (!start->number || !stop->number) return HIP_ERROR_INVALID_HANDLE;
    *ms = (float)(stop->number - start->number);
    return 0;
}

hip_error hipModuleLoadData(hip_module *module, const void *image) {
    BEGIN if (memcmp(image,
                     "\x7f"
                     "ELF",
                     4) != 0) return HIP_ERROR_INVALID_IMAGE;
    struct hip_module_object *m = calloc(1, sizeof *m);
    if (!m) return HIP_ERROR_OUT_OF_MEMORY;
    m->device = current;
    m->live = 1;
    *module = m;
    fake_hip.loads++;
    return 0;
}
hip_error hipModuleLoad(hip_module *module, const char *path) {
    BEGIN(void) module;
    (void)path;
    return HIP_ERROR_FILE_NOT_FOUND;
}

/* Functions live until their module goes; a list of them, so that nothing leaks. */
static struct hip_function_object *functions[4096];
static int function_count;

hip_error hipModuleUnload(hip_module module) {
    BEGIN if (!module || !module->live) return wrong("hipModuleUnload");
    if (module->device != current) return wrong("hipModuleUnload with another device current");
    pthread_mutex_lock(&lock);
    for (int i = 0; i < function_count; i++)
        if (functions[i] && functions[i]->module == module) {
            free(functions[i]);
            functions[i] = NULL;
        }
    pthread_mutex_unlock(&lock);
    free(module);
    fake_hip.unloads++;
    if (getenv("FAKE_HIP_TELL")) fputs("unload\n", stderr);
    return 0;
}
hip_error hipModuleGetFunction(hip_function *function, hip_module module, const char *name) {
    BEGIN if (!module || !module->live) return wrong("hipModuleGetFunction");
    struct hip_function_object *f = calloc(1, sizeof *f);
    if (!f) return HIP_ERROR_OUT_OF_MEMORY;
    f->module = module;
    snprintf(f->name, sizeof f->name, "%s", name);
    pthread_mutex_lock(&lock);
    int place = 0;
    while (place < function_count && functions[place]) place++;
    if (place < 4096) functions[place] = f;
    if (place == function_count) function_count++;
    pthread_mutex_unlock(&lock);
    *function = f;
    return 0;
}
hip_error hipModuleLaunchKernel(hip_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                unsigned block_x, unsigned block_y, unsigned block_z, unsigned lds_bytes,
                                hip_stream stream, void **params, void **extra) {
    BEGIN if (!function || !function->module->live) return wrong("hipModuleLaunchKernel function");
    if (function->module->device != current) return HIP_ERROR_INVALID_DEVICE_FUNCTION;
    if (params || !extra || extra[0] != HIP_LAUNCH_PARAM_BUFFER_POINTER || extra[2] != HIP_LAUNCH_PARAM_BUFFER_SIZE ||
        extra[4] != HIP_LAUNCH_PARAM_END)
        return wrong("hipModuleLaunchKernel extra");
    const size_t size = *(const size_t *)extra[3];
    if (size > FAKE_KERNARG_MAX) return wrong("hipModuleLaunchKernel kernarg size");
    memcpy(fake_hip.kernarg, extra[1], size);
    fake_hip.kernarg_bytes = size;
    memcpy(fake_hip.grid, (unsigned[]){grid_x, grid_y, grid_z}, sizeof fake_hip.grid);
    memcpy(fake_hip.block, (unsigned[]){block_x, block_y, block_z}, sizeof fake_hip.block);
    fake_hip.lds_bytes = lds_bytes;
    fake_hip.stream = stream;
    fake_hip.launch_device = current;
    snprintf(fake_hip.function_name, sizeof fake_hip.function_name, "%s", function->name);
    fake_hip.launches++;
    if (fake_hip.fast) atomic_fetch_add(&now, strstr(function->name, fake_hip.fast) ? 1 : 10);
    return 0;
}
hip_error hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, hip_function function, int block_threads,
                                                             size_t lds_bytes) {
    BEGIN if (!function || !function->module->live) return wrong("occupancy of no function");
    fake_hip.occupancy_threads = block_threads;
    fake_hip.occupancy_lds_bytes = lds_bytes;
    *blocks = 3;
    return 0;
}
hip_error hipFuncGetAttribute(int *value, int attribute, hip_function function) {
    BEGIN if (!function || !function->module->live) return wrong("attribute of no function");
    fake_hip.attribute_asked = attribute;
    *value = 96;
    return 0;
}
