/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The HIP function table: what runtime calls, and what a provider (libamdhip64 by dlopen, or the simulator) fills. */
#ifndef CORE_HIP_H
#define CORE_HIP_H

#include <stddef.h>

#include "core/chip.h"

typedef int hip_error; /* hipError_t */
typedef struct hip_stream_object *hip_stream;
typedef struct hip_event_object *hip_event;
typedef struct hip_graph_object *hip_graph;
typedef struct hip_graph_exec_object *hip_graph_exec;
typedef struct hip_graph_node_object *hip_graph_node;
typedef struct hip_module_object *hip_module;
typedef struct hip_function_object *hip_function;

/* The numbers this project compares with. source: hip/hip_runtime_api.h */
enum {
    HIP_SUCCESS = 0,
    HIP_ERROR_INVALID_VALUE = 1,
    HIP_ERROR_OUT_OF_MEMORY = 2,
    HIP_ERROR_NOT_INITIALIZED = 3,
    HIP_ERROR_INVALID_CONFIGURATION = 9,
    HIP_ERROR_INVALID_DEVICE_FUNCTION = 98,
    HIP_ERROR_NO_DEVICE = 100,
    HIP_ERROR_INVALID_DEVICE = 101,
    HIP_ERROR_INVALID_IMAGE = 200,
    HIP_ERROR_NO_BINARY_FOR_GPU = 209,
    HIP_ERROR_FILE_NOT_FOUND = 301,
    HIP_ERROR_INVALID_HANDLE = 400,
    HIP_ERROR_NOT_FOUND = 500,
    HIP_ERROR_ILLEGAL_ADDRESS = 700,
    HIP_ERROR_LAUNCH_FAILURE = 719,
    HIP_ERROR_NOT_SUPPORTED = 801,
    HIP_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
    HIP_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
    HIP_ERROR_STREAM_CAPTURE_IMPLICIT = 906
};
enum { HIP_MEMCPY_HOST_TO_DEVICE = 1, HIP_MEMCPY_DEVICE_TO_HOST = 2, HIP_MEMCPY_DEVICE_TO_DEVICE = 3 };
enum { HIP_CAPTURE_THREAD_LOCAL = 1, HIP_CAPTURE_RELAXED = 2 }; /* hipStreamCaptureMode */
/* hipModuleLaunchKernel's `extra` markers: pointer, size, end. */
#define HIP_LAUNCH_PARAM_BUFFER_POINTER ((void *)0x01)
#define HIP_LAUNCH_PARAM_BUFFER_SIZE ((void *)0x02)
#define HIP_LAUNCH_PARAM_END ((void *)0x03)

typedef struct hip_table {
#define HIP_FUNCTION(member, symbol, arguments) hip_error(*member) arguments;
#include "core/hip.def"
#undef HIP_FUNCTION
    const char *(*get_error_name)(hip_error);
    const char *(*get_error_string)(hip_error);
    /* Beyond HIP, filled by each provider. */
    const char *provider;                                     /* "libamdhip64.so.6 (/opt/rocm/lib)" or "simulator" */
    cdnagen_status (*device_target)(int device, target *out); /* the device's target id */
    int (*cu_count)(int device);
    const char *(*last_fault)(void); /* what stopped the thread's last failing kernel; "" if unknown. Not NULL */
} hip_table;

#endif
