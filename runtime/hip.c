/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The dlopen provider: finds libamdhip64, fills the HIP table, and reads what depends on the HIP version. */
#include "runtime/hip.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

/* source: hip/hip_runtime_api.h; the number is the same in HIP 5, 6 and 7 (before HIP 5 it was another) */
enum { ATTRIBUTE_MULTIPROCESSOR_COUNT = 63, HIP_VERSION_5 = 50000000 };

/* hipDeviceProp_t: 792 bytes in HIP 5, 1472 in HIP 6 and 7; both start with name[256]. */
enum { PROPERTIES_BYTES = 16384, NAME_BYTES = 256, ARCH_BYTES_MAX = 64 };

static const char *const spellings[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"};
enum { SPELLINGS = sizeof spellings / sizeof *spellings };

/* The process has one libamdhip64, so there is one table; `lock` guards its opening. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready;
static hip_table table;
static char provider[512];
static hip_error (*get_properties)(void *properties, int device);

static void *open_in(const char *folder, int flags) {
    void *library = NULL;
    for (size_t i = 0; i < SPELLINGS && !library; i++) {
        char path[4096];
        if (snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", spellings[i]) < (int)sizeof path)
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
    }
    return library;
}

static cdnagen_status open_library(void **library) {
    const char *explicit_file = getenv("CDNAGEN_HIP_LIBRARY");
    if (explicit_file && *explicit_file) {
        *library = dlopen(explicit_file, RTLD_NOW | RTLD_LOCAL);
        return *library ? CDNAGEN_OK
                        : fail(CDNAGEN_NO_HIP, "CDNAGEN_HIP_LIBRARY=%s cannot be opened: %s", explicit_file, dlerror());
    }
    const char *rocm = getenv("ROCM_PATH");
    char folder[3072] = "";
    if (rocm && *rocm) snprintf(folder, sizeof folder, "%s/lib", rocm);
    *library = open_in("", RTLD_NOLOAD);
    if (!*library && *folder) *library = open_in(folder, 0);
    if (!*library) *library = open_in("", 0);
    if (!*library) *library = open_in("/opt/rocm/lib", 0);
    if (*library) return CDNAGEN_OK;
    return fail(CDNAGEN_NO_HIP,
                "no HIP library: tried libamdhip64.so.7, .6, .5 and libamdhip64.so in %s%sthe loader's search path and "
                "/opt/rocm/lib (last: %s); install ROCm, set ROCM_PATH, or use device \"sim\" or \"none\"",
                *folder ? folder : "", *folder ? ", " : "", dlerror());
}

/* dlsym answers a data pointer; POSIX gives both kinds one representation. */
static int find(void *library, const char *name, void *function) {
    void *const symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static cdnagen_status fill_table(void *library, const char *file) {
    char missing[1024] = "";
    size_t length = 0;
#define NEED(symbol, member)                                                                                           \
    if (!find(library, #symbol, &table.member) && length < sizeof missing)                                             \
        length += (size_t)snprintf(missing + length, sizeof missing - length, "%s" #symbol, length ? ", " : "");
#define HIP_FUNCTION(member, symbol, arguments) NEED(symbol, member)
#include "core/hip.def"
#undef HIP_FUNCTION
    NEED(hipGetErrorName, get_error_name)
    NEED(hipGetErrorString, get_error_string)
#undef NEED
    /* HIP 6 keeps the old layout under the old name and exports the new one beside it. */
    if (!find(library, "hipGetDevicePropertiesR0600", &get_properties) &&
        !find(library, "hipGetDeviceProperties", &get_properties) && length < sizeof missing)
        snprintf(missing + length, sizeof missing - length, "%shipGetDeviceProperties", length ? ", " : "");
    if (!*missing) return CDNAGEN_OK;
    return fail(CDNAGEN_NO_HIP, "%s lacks %s: HIP 5.2 or newer is needed", file, missing);
}

const char *hip_find_arch(const char *properties, size_t size) {
    for (size_t i = NAME_BYTES; i + ARCH_BYTES_MAX <= size; i++) {
        if (memcmp(properties + i, "gfx", 3) != 0) continue;
        const size_t length = strnlen(properties + i, ARCH_BYTES_MAX);
        const size_t legal = strspn(properties + i + 3, "0123456789abcdefghijklmnopqrstuvwxyz-:+");
        if (length < ARCH_BYTES_MAX && length > 3 && legal == length - 3) return properties + i;
    }
    return NULL;
}

static cdnagen_status device_target(int device, target *out) {
    char *properties = mem_alloc(PROPERTIES_BYTES);
    if (!properties) return fail_no_memory();
    cdnagen_status s = hip_check(&table, get_properties(properties, device), "hipGetDeviceProperties");
    const char *arch = s ? NULL : hip_find_arch(properties, PROPERTIES_BYTES);
    if (!s && !arch) s = fail(CDNAGEN_NO_DEVICE, "%s does not say which architecture GPU %d has", provider, device);
    if (!s && target_parse(arch, out) != CDNAGEN_OK)
        s = fail(CDNAGEN_NO_DEVICE,
                 "GPU %d is %s: this version runs on %s and %s; use device \"sim\", or \"none\" to compile only",
                 device, arch, chips[0].name, chips[1].name);
    mem_free(properties);
    return s;
}

/* 0 where HIP cannot be asked safely: the caller takes the full product's count from the chip table. */
static int cu_count(int device) {
    int version = 0, cus = 0;
    if (table.runtime_get_version(&version) != HIP_SUCCESS || version < HIP_VERSION_5) return 0;
    if (table.device_get_attribute(&cus, ATTRIBUTE_MULTIPROCESSOR_COUNT, device) != HIP_SUCCESS) return 0;
    return cus > 0 && cus < 4096 ? cus : 0;
}

static const char *last_fault(void) { return ""; }

static cdnagen_status initialise(void) {
    const hip_error error = table.init(0);
    int count = 0;
    const hip_error counted = error ? error : table.get_device_count(&count);
    if (counted == HIP_ERROR_NO_DEVICE || counted == HIP_ERROR_INVALID_DEVICE || (!counted && count < 1))
        return fail(CDNAGEN_NO_DEVICE,
                    "%s finds no GPU (%s answers %d, %s): check the amdgpu driver and the rights on /dev/kfd, or use "
                    "device \"sim\", or \"none\" to compile only",
                    provider, error ? "hipInit" : "hipGetDeviceCount", counted, table.get_error_name(counted));
    return hip_check(&table, counted, error ? "hipInit" : "hipGetDeviceCount");
}

static cdnagen_status open_once(void) {
    void *library;
    TRY(open_library(&library));
    Dl_info where;
    void *const known = dlsym(library, "hipInit");
    snprintf(provider, sizeof provider, "%s", known && dladdr(known, &where) ? where.dli_fname : "libamdhip64");
    table = (hip_table){
        .provider = provider, .device_target = device_target, .cu_count = cu_count, .last_fault = last_fault};
    cdnagen_status s = fill_table(library, provider);
    if (!s) s = initialise();
    /* A library that failed stays open: HIP starts threads and registers exit handlers, and does not survive
     * dlclose. */
    ready = s == CDNAGEN_OK;
    return s;
}

cdnagen_status hip_open(const hip_table **out) {
    pthread_mutex_lock(&lock);
    const cdnagen_status s = ready ? CDNAGEN_OK : open_once();
    pthread_mutex_unlock(&lock);
    if (s == CDNAGEN_OK) *out = &table;
    return s;
}

cdnagen_status hip_check(const hip_table *hip, hip_error error, const char *function) {
    if (error == HIP_SUCCESS) return CDNAGEN_OK;
    const int stopped = error == HIP_ERROR_ILLEGAL_ADDRESS || error == HIP_ERROR_LAUNCH_FAILURE;
    const char *fault = stopped ? hip->last_fault() : "";
    if (*fault) return fail(CDNAGEN_FAULT, "%s", fault);
    return fail(CDNAGEN_HIP, "%s answers %d, %s: %s", function, error, hip->get_error_name(error),
                hip->get_error_string(error));
}
