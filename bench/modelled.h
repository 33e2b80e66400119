/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the benchmarks of operators share: launches in the timing model, cases over several processes, compile times. */
#ifndef BENCH_MODELLED_H
#define BENCH_MODELLED_H

#include "study/explain.h"

/* modelled: a kernel and what the model says of its launch. */
typedef struct modelled {
    cdnagen_kernel *kernel;
    cdnagen_kernel_info info;
    plan plan; /* of the tag that the kernel has */
    explanation explained;
} modelled;

/* modelled_launch: generate `tag`, of OP or OP:auto, and model the launch that `words` describe. ctx is on the
 * simulator.
 * owner: modelled_free, where it is OK   errors: as gen_kernel and explain_run */
cdnagen_status modelled_launch(cdnagen *ctx, const target *t, const char *tag, const char *words, modelled *out);
void modelled_free(modelled *m);

/* modelled_clk: the same, of which only the kernel's cycles are wanted. */
cdnagen_status modelled_clk(cdnagen *ctx, const target *t, const char *tag, const char *words, double *clk);

/* cases: work in pieces that processes take in turn. What `run` writes must be memory of cases_memory. */
typedef struct cases {
    const char *program; /* for messages */
    const target *target;
    size_t count;
    void (*run)(void *user, cdnagen *ctx, size_t index);
    void *user;
} cases;

/* cases_memory: zeroed memory that processes share; NULL if there is none. It stays until the program ends. */
void *cases_memory(size_t size);

/* cases_run: each with a context on the simulator, of one thread. 1 if a process could not be started or did not end
 * well. */
int cases_run(const cases *c, int processes);

/* compile_ms: the median of warm compiles in this thread, of a context without a cache; *code_bytes may be NULL.
 * units: milliseconds of the thread's own   errors: as gen_kernel */
cdnagen_status compile_ms(cdnagen *ctx, const char *tag, const char *shape, double *ms, uint32_t *code_bytes);

#endif
