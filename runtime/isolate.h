/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compiling in a process of its own. */
#ifndef RUNTIME_ISOLATE_H
#define RUNTIME_ISOLATE_H

#include "core/memory.h"
#include "gen/family.h"

/* isolate_compile: the plan's code object, made by cdnagen-worker: the file that CDNAGEN_WORKER names, else beside this
 * library (beside the program, where the library has no absolute path), else in ../libexec/cdnagen. `key` is the
 * plan's, which the worker must come to as well.
 * units: seconds and MB (2^20 bytes of data) that it may take; 0: no limit
 * errors: IO (no worker, or a lost one), NO_MEMORY (it ran out under its limit), COMPILE (it crashed or was
 *         late), and its own */
cdnagen_status isolate_compile(const plan *p, const char *key, int seconds, int megabytes, bytes *object);

#endif
