/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the tests of matrix instructions share: the lane tables, one instruction with registers of its own, elements by
 * their coordinates, and what the codes of each format mean by definitions other than the simulator's. */
#ifndef TESTS_SIM_MFMA_JOB_H
#define TESTS_SIM_MFMA_JOB_H

#include "sim/mfma_rows.h"

enum { OPERAND_DWORDS = 8 * 64, ACC_DWORDS = 32 * 64 };

/* coordinate: what each of its bits adds to the place. */
typedef struct coordinate {
    int count, lane[8], bit[8];
} coordinate;

/* layout: one line of the data file. outer is i of A and D, j of B; inner is k of A and B, j of D. */
typedef struct layout {
    char name[48];
    char operand;
    int derived;
    coordinate block, outer, inner;
} layout;

/* job: one instruction with registers of its own. */
typedef struct job {
    const sim_mfma *m;
    const chip *c;
    sim_mfma_modifiers mod;
    sim_format fa, fb;
    const layout *la, *lb, *ld;
    uint32_t a[OPERAND_DWORDS], b[OPERAND_DWORDS], in[ACC_DWORDS], out[ACC_DWORDS];
    uint32_t scale_a[64], scale_b[64];
} job;

/* read_layouts: cmocka group setup that reads tests/sim/data/mfma_layouts.txt. */
int read_layouts(void **state);
const layout *layout_of(const sim_mfma *m, char operand, sim_format f);
sim_place place_of(const layout *l, int block, int outer, int inner);

void prepare(job *q, const sim_mfma *m, const chip *c, sim_mfma_modifiers mod); /* zeroed registers, scales of 1 */
void run(job *q);
void put(uint32_t *registers, sim_place p, int bits, uint64_t value);
uint64_t get(const uint32_t *registers, sim_place p, int bits);
void put_a(job *q, int block, int i, int k, uint64_t v);
void put_b(job *q, int block, int k, int j, uint64_t v);
uint64_t get_d(const job *q, int block, int i, int j);
float result(const job *q, int i, int j); /* of block 0, an f32 */

uint64_t one_of(sim_format f, const chip *c);
double value_of(sim_format f, const chip *c, uint64_t x);
uint32_t random32(void);
void fill(uint32_t *p, int count);

/* expectation: D of a job in double precision, and by how much each element may differ: [block][i][j]. */
typedef struct expectation {
    double want[ACC_DWORDS], bound[ACC_DWORDS];
} expectation;

void randomize(job *q); /* finite numbers of moderate size in A, B and C, scales of 2^-8 to 2^7 in random bytes */
void expect(expectation *e, const job *q);
double value_at(const job *q, int element);            /* of D, counted [block][i][j] */
int wrong_element(const expectation *e, const job *q); /* the first that differs, -1 if none does */
sim_place place_in_d(const job *q, int element);

/* for_each: every row on every chip that has it, f8f6f4 rows with every pair of formats. */
void for_each(void (*check)(job *q));

#endif
