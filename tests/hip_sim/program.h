/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the parts of the HIP program share. It knows HIP and nothing else. */
#ifndef TESTS_HIP_SIM_PROGRAM_H
#define TESTS_HIP_SIM_PROGRAM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <hip/hip_runtime_api.h>

/* expect: the call answers this error, else the test fails with what it answers. */
#define expect(error, call) expect_error(error, call, #call, __LINE__)
#define ok(call) expect(hipSuccess, call)
void expect_error(hipError_t wanted, hipError_t got, const char *call, int line);

/* program_setup: device 0 and its module.   kernel: one of its functions.   add: queue to[0..64) += value. */
int program_setup(void **state);
int program_teardown(void **state);
extern hipModule_t module;
hipFunction_t kernel(const char *name);
void add(int *to, int value, hipStream_t stream);
int first_of(const int *device); /* what a device array starts with */

int run_capture_tests(void); /* how many failed */

#endif
