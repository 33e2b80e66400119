/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Device memory: reservation, allocations, search. */
#include "sim/memory.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "core/memory.h"

#define PAGE 4096ull
#define RESERVE_MAX (1ull << 42)
#define RESERVE_MIN (1ull << 34)

cdnagen_status memory_open(memory *m) {
    *m = (memory){0};
    for (uint64_t size = RESERVE_MAX; size >= RESERVE_MIN; size /= 2) {
        void *p = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) continue;
        m->base = p;
        m->reserved = size;
        return CDNAGEN_OK;
    }
    return fail(CDNAGEN_NO_MEMORY, "the simulator could not reserve %llu GiB of addresses for device memory",
                (unsigned long long)(RESERVE_MIN >> 30));
}

void memory_close(memory *m) {
    if (m->base) munmap(m->base, m->reserved);
    mem_free(m->list);
    *m = (memory){0};
}

uint64_t memory_allocate(memory *m, uint64_t size, int internal) {
    if (size > m->reserved) return 0;
    const uint64_t span = (size + PAGE - 1) / PAGE * PAGE + PAGE;
    if (span > m->reserved - m->next) return 0;
    if (m->count == m->capacity) {
        const size_t capacity = m->capacity ? 2 * m->capacity : 64;
        allocation *list = mem_realloc(m->list, capacity * sizeof *list);
        if (!list) return 0;
        m->list = list;
        m->capacity = capacity;
    }
    unsigned char *p = m->base + m->next;
    if (span > PAGE && mprotect(p, span - PAGE, PROT_READ | PROT_WRITE) != 0) return 0;
    m->next += span;
    m->list[m->count++] =
        (allocation){.address = (uint64_t)(uintptr_t)p, .bytes = size, .live = 1, .internal = internal};
    return (uint64_t)(uintptr_t)p;
}

/* The last allocation that starts at or before the address, live or not. */
static allocation *at_or_before(const memory *m, uint64_t address) {
    size_t low = 0, high = m->count;
    while (low < high) {
        const size_t mid = (low + high) / 2;
        if (m->list[mid].address <= address)
            low = mid + 1;
        else
            high = mid;
    }
    return low ? &m->list[low - 1] : NULL;
}

int memory_release(memory *m, uint64_t address, int internal) {
    allocation *a = at_or_before(m, address);
    if (!a || a->address != address || !a->live || a->internal != internal) return 0;
    a->live = 0;
    while (m->oldest < m->count && !m->list[m->oldest].live) m->oldest++;
    const size_t pages = (a->bytes + PAGE - 1) / PAGE * PAGE;
    if (pages) {
        madvise((void *)(uintptr_t)address, pages, MADV_DONTNEED);
        mprotect((void *)(uintptr_t)address, pages, PROT_NONE);
    }
    return 1;
}

const allocation *memory_find(const memory *m, uint64_t address, uint64_t size) {
    const allocation *a = at_or_before(m, address);
    if (a && a->live && address - a->address <= a->bytes && size <= a->bytes - (address - a->address)) return a;
    return m->beyond ? memory_find(m->beyond, address, size) : NULL;
}

void memory_describe(const memory *m, uint64_t address, char *out, size_t size) {
    const allocation *a = at_or_before(m, address);
    if (!a && !m->count) {
        snprintf(out, size, "there are no allocations");
        return;
    }
    const allocation *after = a ? (a + 1 < m->list + m->count ? a + 1 : NULL) : m->list;
    if (a && address - a->address < a->bytes + PAGE)
        snprintf(out, size, "byte %llu of %s %llu-byte allocation at 0x%llx",
                 (unsigned long long)(address - a->address), a->live ? "the" : "a freed", (unsigned long long)a->bytes,
                 (unsigned long long)a->address);
    else if (after && after->address - address < PAGE)
        snprintf(out, size, "%llu bytes before the %llu-byte allocation at 0x%llx",
                 (unsigned long long)(after->address - address), (unsigned long long)after->bytes,
                 (unsigned long long)after->address);
    else
        snprintf(out, size, "nearest allocation: %llu bytes at 0x%llx", (unsigned long long)(a ? a : after)->bytes,
                 (unsigned long long)(a ? a : after)->address);
}
