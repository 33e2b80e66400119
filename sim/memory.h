/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Device memory: one reserved range of host addresses in which allocations are made sparse, apart and checkable. A
 * device address is the host address. */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

typedef struct allocation {
    uint64_t address, bytes;
    int live;
    int internal; /* code and kernel arguments: free() by the user is refused */
} allocation;

typedef struct memory {
    unsigned char *base;
    size_t reserved, next;
    allocation *list; /* by address */
    size_t count, capacity;
    size_t oldest;               /* the first that is live; count: none is */
    const struct memory *beyond; /* more memory that is reachable from here, for memory_find only; or NULL */
} memory;

/* memory_open: reserve the range.   errors: NO_MEMORY */
cdnagen_status memory_open(memory *m);
void memory_close(memory *m);

/* memory_allocate: zero bytes until written, on its own pages, with an unmapped gap behind. 0 if there is no room.
 * memory_release: 0 if `address` is not the start of a live allocation. The addresses are not used again. */
uint64_t memory_allocate(memory *m, uint64_t size, int internal);
int memory_release(memory *m, uint64_t address, int internal);

/* memory_find: the live allocation that holds all the bytes, else NULL.
 * memory_describe: where an address lies, for a fault's text. */
const allocation *memory_find(const memory *m, uint64_t address, uint64_t size);
void memory_describe(const memory *m, uint64_t address, char *out, size_t size);

#endif
