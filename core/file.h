/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Whole writes to a file descriptor. */
#ifndef CORE_FILE_H
#define CORE_FILE_H

#include <stddef.h>

/* write_all: every byte, over short writes and signals; 0 with errno set where that fails. */
int write_all(int fd, const void *from, size_t size);

#endif
