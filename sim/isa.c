/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The instruction table: every row of sim/isa/ as data, and the search by name. */
#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "sim/isa.h"

/* Row positions within a format are the effect numbers, in the same order in which the executors expand the rows. */
enum {
#define V1(name, ...) VECTOR_##name,
#define V2 V1
#define V3 V1
#define VI2 V1
#define VI3 V1
#define VO2 V1
#define VIO2 V1
#define VO3 V1
#define VP2 V1
#define VP3 V1
#define VC(name, ...)
#include "sim/isa/vector.def"
#undef V1
#undef VC
    VECTOR_COUNT
};
enum {
#define V1(name, ...)
#define VC(name, ...) COMPARE_##name,
#include "sim/isa/vector.def"
#undef V1
#undef V2
#undef V3
#undef VI2
#undef VI3
#undef VO2
#undef VIO2
#undef VO3
#undef VP2
#undef VP3
#undef VC
    COMPARE_COUNT
};
enum {
#define S1(name, ...) SCALAR_##name,
#define S2 S1
#define SC S1
#define SX S1
#include "sim/isa/scalar.def"
#undef S1
#undef S2
#undef SC
#undef SX
    SCALAR_COUNT
};
enum {
#define L(name, ...) LANE_##name,
#include "sim/isa/lane.def"
#undef L
    LANE_COUNT
};
enum {
#define MEMORY_ROW(space, name, ...) VMEM_##name,
#include "sim/isa/vmem.def"
#undef MEMORY_ROW
    VMEM_COUNT
};
enum {
#define LDS_ROW(name, ...) LDS_##name,
#include "sim/isa/lds.def"
#undef LDS_ROW
    LDS_COUNT
};
enum {
#define SMEM_ROW(name, ...) SMEM_##name,
#include "sim/isa/smem.def"
#undef SMEM_ROW
    SMEM_COUNT
};

static const isa_row rows[] = {
#define VECTOR(name, carry_out, carry_in, body, ...)                                                                   \
    {#name, F_VECTOR, VECTOR_##name, {__VA_ARGS__}, carry_out, carry_in, body},
#define V1(name, dt, at, ...) VECTOR(name, -1, -1, #__VA_ARGS__, T_##dt, T_##at)
#define V2(name, dt, at, bt, ...) VECTOR(name, -1, -1, #__VA_ARGS__, T_##dt, T_##at, T_##bt)
#define V3(name, dt, at, bt, ct, ...) VECTOR(name, -1, -1, #__VA_ARGS__, T_##dt, T_##at, T_##bt, T_##ct)
#define VI2(name, dt, at, bt, ...) VECTOR(name, -1, 3, #__VA_ARGS__, T_##dt, T_##at, T_##bt, T_mask)
#define VI3(name, dt, at, bt, ct, ...) VECTOR(name, -1, -2, #__VA_ARGS__, T_##dt, T_##at, T_##bt, T_##ct)
#define VO2(name, dt, at, bt, ...) VECTOR(name, 1, -1, #__VA_ARGS__, T_##dt, T_mask, T_##at, T_##bt)
#define VIO2(name, dt, at, bt, ...) VECTOR(name, 1, 4, #__VA_ARGS__, T_##dt, T_mask, T_##at, T_##bt, T_mask)
#define VO3(name, dt, at, bt, ct, ...) VECTOR(name, 1, -1, #__VA_ARGS__, T_##dt, T_mask, T_##at, T_##bt, T_##ct)
#define VP2(name, et, ...) VECTOR(name, -1, -1, #__VA_ARGS__, T_##et, T_##et, T_##et)
#define VP3(name, et, ...) VECTOR(name, -1, -1, #__VA_ARGS__, T_##et, T_##et, T_##et, T_##et)
#define VC(name, at, bt, ...) {#name, F_COMPARE, COMPARE_##name, {T_mask, T_##at, T_##bt}, 0, -1, ""},
#include "sim/isa/vector.def"
#define S1(name, dt, at, ...) {#name, F_SCALAR, SCALAR_##name, {T_##dt, T_##at}, -1, -1, ""},
#define S2(name, dt, at, bt, ...) {#name, F_SCALAR, SCALAR_##name, {T_##dt, T_##at, T_##bt}, -1, -1, ""},
#define SC(name, at, bt, ...) {#name, F_SCALAR, SCALAR_##name, {T_##at, T_##bt}, -1, -1, ""},
#define PLAIN(...) {__VA_ARGS__}
#define SX(name, types, ...) {#name, F_SCALAR, SCALAR_##name, PLAIN types, -1, -1, ""},
#include "sim/isa/scalar.def"
#define L(name, types, ...) {#name, F_LANE, LANE_##name, PLAIN types, -1, -1, ""},
#include "sim/isa/lane.def"
#define MEMORY_ROW(space, name, ...) {#name, F_VMEM, VMEM_##name, {T_u32, T_u32, T_u32, T_u32, T_u32}, -1, -1, ""},
#include "sim/isa/vmem.def"
#define LDS_ROW(name, ...) {#name, F_LDS, LDS_##name, {T_u32, T_u32, T_u32, T_u32}, -1, -1, ""},
#include "sim/isa/lds.def"
#define SMEM_ROW(name, ...) {#name, F_SMEM, SMEM_##name, {T_u32, T_u64, T_u32, T_u32}, -1, -1, ""},
#include "sim/isa/smem.def"
};

enum { ROW_COUNT = sizeof rows / sizeof *rows };
static const isa_row *by_name[ROW_COUNT];
static pthread_once_t sorted = PTHREAD_ONCE_INIT;

static int compare_rows(const void *a, const void *b) {
    return strcmp((*(const isa_row *const *)a)->name, (*(const isa_row *const *)b)->name);
}
static int compare_name(const void *key, const void *row) { return strcmp(key, (*(const isa_row *const *)row)->name); }
static void sort_rows(void) {
    for (int i = 0; i < ROW_COUNT; i++) by_name[i] = &rows[i];
    qsort(by_name, ROW_COUNT, sizeof *by_name, compare_rows);
}

const isa_row *isa_find(const char *name) {
    pthread_once(&sorted, sort_rows);
    const isa_row *const *found = bsearch(name, by_name, ROW_COUNT, sizeof *by_name, compare_name);
    return found ? *found : NULL;
}

static int is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

int isa_mentions(const char *body, const char *word, const char *then) {
    const size_t n = strlen(word);
    int count = 0;
    for (const char *p = body; (p = strstr(p, word)) != NULL; p += n)
        if ((p == body || !is_name(p[-1])) && !is_name(p[n])) count += strncmp(p + n, then, strlen(then)) == 0;
    return count;
}

static unsigned char executed[ROW_COUNT];

void isa_mark(const isa_row *row) {
    if (row >= rows && row < rows + ROW_COUNT) __atomic_store_n(&executed[row - rows], 1, __ATOMIC_RELAXED);
}
int isa_executed(int index) { return __atomic_load_n(&executed[index], __ATOMIC_RELAXED); }

int isa_count(void) { return ROW_COUNT; }
const isa_row *isa_at(int index) { return &rows[index]; }
