/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The text that a cache key is the hash of: everything that reaches a kernel's bytes, one fact a line. */
#ifndef RUNTIME_KEY_H
#define RUNTIME_KEY_H

#include "core/memory.h"
#include "gen/family.h"

/* key_text: append the key's text. Host fields and run-time words are not in it.   errors: NO_MEMORY */
cdnagen_status key_text(const plan *p, text *out);

#endif
