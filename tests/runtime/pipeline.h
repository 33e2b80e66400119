/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the tests of the pipeline share: one kernel's tag and shape, contexts on the fake compiler, warnings counted. */
#ifndef TESTS_RUNTIME_PIPELINE_H
#define TESTS_RUNTIME_PIPELINE_H

#include "core/memory.h"
#include "tests/core/cmocka_tests.h"
#include "tests/runtime/fake_compile.h"
#include "tests/runtime/fake_sim.h"
#include "tests/runtime/scratch.h"

extern const char pipeline_tag[], pipeline_shape[];
extern char pipeline_warning[2048]; /* the last one */
extern int pipeline_warnings;

int pipeline_clean(void **state); /* no variables, fakes as they were, no warnings */

/* pipeline_context: of compile-only device "none", for gfx950. */
cdnagen *pipeline_context(const char *cache_dir, int no_cache, cdnagen_spill_policy spills);

/* pipeline_tier: generate, free, and say where it came from. */
cdnagen_cache_tier pipeline_tier(cdnagen *ctx, const char *tag, const char *shape);

void assert_error_says(const char *words);

#endif
