/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the fake libamdhip64 records and obeys; tests reach it with dlsym("fake_hip"). */
#ifndef TESTS_RUNTIME_FAKE_HIP_H
#define TESTS_RUNTIME_FAKE_HIP_H

#include <stdatomic.h>
#include <stddef.h>

enum { FAKE_KERNARG_MAX = 256, FAKE_DEVICES_MAX = 4 };

typedef struct fake_hip_state {
    /* obeyed */
    int devices;
    char arch[FAKE_DEVICES_MAX][64];
    const char *fail_function; /* "hipMalloc": answers fail_error */
    int fail_error;
    int cus; /* of every device; 0: the attribute is an error */
    int runtime_version;
    int capturing; /* what streams say of capture */
    /* Kernels with this in their name take 1 ms of the events\' clock, others 10; NULL: all take none. */
    const char *fast;
    /* recorded */
    atomic_int inits, loads, unloads, allocations, frees, launches, set_devices;
    int wrong; /* a call with arguments that HIP would not take */
    char wrong_what[128];
    unsigned grid[3], block[3], lds_bytes;
    void *stream;
    int launch_device;
    size_t kernarg_bytes;
    unsigned char kernarg[FAKE_KERNARG_MAX];
    char function_name[256];
    int occupancy_threads, attribute_asked;
    size_t occupancy_lds_bytes;
} fake_hip_state;

#endif
