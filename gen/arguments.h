/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the operators' bind functions ask of every argument, each refusal naming the value and what is allowed; and how
 * an argument gets into a launch. */
#ifndef GEN_ARGUMENTS_H
#define GEN_ARGUMENTS_H

#include "gen/family.h"

/* argument: device memory that a launch reads or writes. */
typedef struct argument {
    const char *name;
    cdnagen_buffer buffer;
    uint64_t needed;    /* bytes; 0: the launch does not touch it, and it may be NULL */
    unsigned alignment; /* bytes, a power of two */
    int is_written;
} argument;

/* argument_bytes: of `rows` rows, `stride` elements apart, of `columns` elements; UINT64_MAX if 64 bits cannot hold it,
 * which no buffer has. */
uint64_t argument_bytes(int64_t rows, int64_t stride, int64_t columns, int element_bytes);

/* argument_check: there, aligned and large enough.   errors: BAD_ARGUMENT
 * arguments_check: each of them; and no byte of one that is written is also another's.   errors: BAD_ARGUMENT */
cdnagen_status argument_check(const char *op, const argument *a);
cdnagen_status arguments_check(const char *op, const argument *arguments, int count);

/* argument_length: 0 to `most`.   errors: BAD_ARGUMENT, LIMIT */
cdnagen_status argument_length(const char *op, const char *name, int64_t length, int64_t most);

/* workgroups_most: that HIP launches along one dimension of the plan's kernel: as many as have 32 bits of work items.
 * check_workgroups: no more of them in x; `instead` is what else to do, as in "take a tag with a larger tile".
 * errors: LIMIT   source: hip/hip_runtime_api.h */
static inline int64_t workgroups_most(const plan *p) { return UINT32_MAX / p->block[0]; }
cdnagen_status check_workgroups(const char *op, const plan *p, int64_t workgroups, const char *instead);

/* argument_put: a number as the kernel's argument `which`, in the width that the plan gives it.
 * arguments_put: addresses, as the kernel's first arguments. */
void argument_put(launch *l, const plan *p, int which, int64_t value);
void arguments_put(launch *l, const plan *p, const argument *arguments, int count);

#endif
