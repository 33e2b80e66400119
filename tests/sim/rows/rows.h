/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Instruction rows and what each shall compute: the tables of vector.def, scalar.def and memory.def, the arithmetic
 * that they are written in, and the inputs of a lane. */
#ifndef TESTS_SIM_ROWS_ROWS_H
#define TESTS_SIM_ROWS_ROWS_H

#include <stdint.h>

enum { GROUPS = 16, INPUT_WORDS = 32, SCALAR_STEP = 9 /* scalar rows run for every ninth lane's inputs */ };
enum { FLAG_GFX950 = 1, FLAG_NANHIGH = 2, FLAG_NANLOW = 4, FLAG_MASK = 8, FLAG_IDLE = 16 };

/* row_inputs: what a lane starts with. shapes: as INPUT_WORDS dwords in this order, padded
 * w: 32-bit operands v20..v23; q: 64-bit operands v[24:29]; h: pairs of halves v30..v32; select: v33, selectors of
 * v_perm old: v10, v11; m: the lane's cell of memory; x: EXEC of scalar rows */
typedef struct row_inputs {
    uint32_t w[4]; /* up to m: as in memory */
    uint64_t q[3];
    uint32_t h[3], select, old[2], m[4], field;
    uint64_t x;
    uint32_t scc, carry; /* bits */
    int fnuz;
} row_inputs;

/* row_result: registers v10..v13, and the lane's cell v14..v17; of scalar rows s24, s25, SCC, -, EXEC. */
typedef struct row_result {
    uint32_t d[4], m[4];
} row_result;

typedef enum row_kind { U32, U64, F32, F64, F16, P16, P16B, P32, R32, S32, S16, R64, R16 } row_kind;
typedef enum row_cell { NOTHING, GLOBAL, SCRATCH, LDS, SCALARS } row_cell;

/* row_test: one instance of a row. code: operands after the mnemonic, or if `plain` all of the code. */
typedef struct row_test {
    const char *name, *code;
    int plain;
    row_cell cell;
    row_kind kind;
    int flags;
} row_test;

extern const row_test row_tests[];
extern const int row_test_count;

/* row_want: what the test gives in `lane`; r holds what was there before. in[k - lane] are the other lanes' inputs. */
void row_want(int index, const row_inputs *in, int lane, row_result *r);

#endif
