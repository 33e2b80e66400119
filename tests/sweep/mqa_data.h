/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One problem of mqa_logits on the simulated device, with logits of every place, so that any windows, tags, splits and
 * simulator modes can be run on it without making data or reference again. */
#ifndef TESTS_SWEEP_MQA_DATA_H
#define TESTS_SWEEP_MQA_DATA_H

#include "tests/gen/mqa_testing.h"

enum { MQA_BUFFERS = MQA_LOGITS + 1 };

typedef struct mqa_data {
    cdnagen *ctx;
    plan plan; /* what the workload's functions take of it: target and shape */
    problem host;
    float *whole; /* [seq, seq_kv], as if no place were outside a window */
    void *device[MQA_BUFFERS];
    void *back; /* the logits buffer after a launch, guards included */
} mqa_data;

/* sweep_chip: what contexts, plans and the simulator are for; set before the first of them. One a process, "gfx950"
 * unless a test says another. data_kind: what the operand's bytes mean, CDNAGEN_FP8_NATIVE resolved. */
extern const char *sweep_chip;
fp8_kind data_kind(int64_t word);
/* simulate: the process's simulator takes these mode words from the next launch on. */
void simulate(const char *mode);
/* sim_context: kernels in memory only; warnings about spills are not printed. */
cdnagen *sim_context(void);
cdnagen_kernel *kernel_of(cdnagen *ctx, const char *tag, const char *shape);

/* data_make: operands as the workload makes them; data_upload: reference and device copies of what `host` holds now. */
void data_make(mqa_data *d, cdnagen *ctx, const char *shape);
void data_upload(mqa_data *d);
void data_free(mqa_data *d);

static inline mqa_shape *data_shape(mqa_data *d) { return (mqa_shape *)(void *)d->host.shape; }
static inline int32_t *data_starts(mqa_data *d) { return d->host.buffers[MQA_CU_STARTS].data; }
static inline int32_t *data_ends(mqa_data *d) { return d->host.buffers[MQA_CU_ENDS].data; }

/* data_windows: starts and ends as they are in `host` now go to the device and into the reference. */
void data_windows(mqa_data *d);
/* data_args: what the workload passes. data_launch: one launch over a poisoned output; logits come back to data_logits.
 * data_run: both, and the grade. `clean` is what the kernel was made for. */
cdnagen_mqa_logits_args data_args(const mqa_data *d);
void data_launch(mqa_data *d, cdnagen_kernel *kernel, const char *name, const cdnagen_mqa_logits_args *args);
grade data_run(mqa_data *d, cdnagen_kernel *kernel, const char *name, int clean, int splits);

/* data_logits: what the last launch left, from the first row on; data_poison: what it wrote over. */
const float *data_logits(const mqa_data *d);
static inline uint32_t data_poison(const mqa_data *d) { return *(const uint32_t *)d->host.buffers[MQA_LOGITS].data; }

#endif
