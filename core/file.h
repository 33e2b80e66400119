/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Whole writes, and names for files that are renamed when they are whole. */
#ifndef CORE_FILE_H
#define CORE_FILE_H

#include <stddef.h>

#include "core/memory.h"

/* write_all: every byte, over short writes and signals; 0 with errno set where that fails. */
int write_all(int fd, const void *from, size_t size);

/* add_beside: a template for mkstemp in the folder of `path`; short, as the file's own name may be as long as names can
 * be. */
void add_beside(text *out, const char *path);

#endif
