/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Emission of one kernel: values, control flow, memory, tiles and AMDGPU operations, and the way from IR to code
 * object.
 *
 * C does not say in which order the arguments of a call are evaluated, and the order of calls is the order of the code:
 * a call, or a list in braces, has one argument that emits at most, or the kernel depends on the host's compiler.
 *
 * A plain C `for` unrolls while generating; E_FOR emits a loop. Emission is sticky: after the first error every call
 * returns poison of its result type and the error comes out of ir_verify. Nothing here names LLVM's types. */
#ifndef IR_IR_H
#define IR_IR_H

#include "core/chip.h"
#include "core/memory.h"

typedef struct ir ir; /* emission context: one kernel in one LLVM module */

/* ---- types and values ---- */

/* type: element kind, and number of elements from bit 8 on (0 and 1 are scalars). */
typedef int type;
enum { VOID, I1, I8, I16, I32, I64, F32 };
#define VEC(n, element) ((element) | (n) << 8)
#define TYPE_ELEMENT(t) ((t) & 0xff)
#define TYPE_LENGTH(t) ((t) >> 8 > 1 ? (t) >> 8 : 1)

typedef struct val {
    struct LLVMOpaqueValue *v;
} val;
type e_type(ir *e, val a); /* VOID for what is no number: pointers and descriptors */

val e_i32(ir *e, int64_t x);
val e_i64(ir *e, int64_t x);
val e_f32(ir *e, double x);
val e_poison(ir *e, type t);
val e_zero(ir *e, type t);

/* Integers: both operands of one type. min, max and less are signed. */
val e_add(ir *e, val a, val b);
val e_sub(ir *e, val a, val b);
val e_mul(ir *e, val a, val b);
val e_udiv(ir *e, val a, val b);
val e_shl(ir *e, val a, int bits);
val e_shr(ir *e, val a, int bits);    /* logical */
val e_shr_by(ir *e, val a, val bits); /* logical, of less bits than a has */
val e_and(ir *e, val a, val b);
val e_or(ir *e, val a, val b);
val e_xor(ir *e, val a, val b);
val e_min(ir *e, val a, val b);
val e_max(ir *e, val a, val b);
val e_less(ir *e, val a, val b);  /* I1 */
val e_equal(ir *e, val a, val b); /* I1 */
val e_not(ir *e, val a);          /* of an I1 */
val e_select(ir *e, val condition, val yes, val no);
val e_sext(ir *e, val a);            /* I32 -> I64 */
val e_zext(ir *e, val a);            /* I32 -> I64 */
val e_trunc(ir *e, val a);           /* I64 -> I32 */
val e_zext_byte(ir *e, val a);       /* I8 -> I32 */
val e_addi(ir *e, val a, int64_t b); /* with a constant of a's type; folds */
val e_muli(ir *e, val a, int64_t b); /* the same */
val e_ceil_div(ir *e, val a, val b); /* unsigned; b > 0 and a + b - 1 fits */
val e_align_down(ir *e, val a, int64_t pow2);

/* Floats. `fast`: the additions may be reordered. */
val e_fadd(ir *e, val a, val b, int fast);
val e_fmul(ir *e, val a, val b, int fast);
val e_fma(ir *e, val a, val b, val c); /* of pairs: one packed instruction */
val e_twice_relu(ir *e, val a);        /* 2 max(a, 0), exactly, in one instruction; NaN stays NaN */
/* e_bf16, e_f16: bits of F32 scalars or vectors in 16-bit floats, I16s.   math: round to nearest even; NaN stays NaN */
val e_bf16(ir *e, val a);
val e_f16(ir *e, val a);
val e_f32_from_bf16(ir *e, val bits); /* of an I16; exact */

/* Vectors. */
val e_element(ir *e, val vector, int i);
val e_vector(ir *e, const val *elements, int n);  /* of n scalars */
val e_join(ir *e, val low, val high);             /* two vectors of one type, end to end */
val e_slice(ir *e, val vector, int first, int n); /* n > 1 neighbouring elements */
val e_bitcast(ir *e, val a, type to);

/* ---- control flow ---- */

enum { LOOP_CARRIED_MAX = 320 };
typedef struct e_loop {
    val index;
    struct LLVMOpaqueBasicBlock *entry, *body, *done;
    val step, end, stop;
    val *carried[LOOP_CARRIED_MAX];
    val before[LOOP_CARRIED_MAX], phi[LOOP_CARRIED_MAX];
    int carried_count;
    int open;
} e_loop;

/* e_loop_begin, e_loop_end: for (index = begin; index < end; index += step), signed I32. Each *carried is a value that
 * the loop carries: inside it is the current value, after the loop it is the last one. e_loop_end returns 0. */
void e_loop_begin(ir *e, e_loop *loop, val begin, val end, val step, val *const *carried, int count);
int e_loop_end(ir *e, e_loop *loop);
/* e_loop_stop: this pass is the last one where the condition (I1) holds; in E_FOR(i, ...) the loop is i_loop. */
void e_loop_stop(e_loop *loop, val condition);

/* E_FOR(i, e, begin, end, step, &a, &b) { ... }: the same as a statement. No break, return or goto inside. */
#define E_FOR(i, e, begin, end, step, ...)                                                                             \
    for (e_loop i##_loop = e_loop_start(e, begin, end, step, (val *[]){__VA_ARGS__},                                   \
                                        (int)(sizeof((val *[]){__VA_ARGS__}) / sizeof(val *)));                        \
         i##_loop.open; e_loop_end(e, &i##_loop))                                                                      \
        for (const val i = i##_loop.index, *i##_once = &i; i##_once; i##_once = NULL)
/* carried_values: what a loop is to carry, where that is counted while generating. e_carry adds `count` values in a
 * row. */
typedef struct carried_values {
    val *value[LOOP_CARRIED_MAX];
    int count;
} carried_values;
void e_carry(ir *e, carried_values *c, val *values, int count);
/* E_FOR_ALL: carries all of a carried_values. */
#define E_FOR_ALL(i, e, begin, end, step, carried)                                                                     \
    for (e_loop i##_loop = e_loop_start(e, begin, end, step, (carried).value, (carried).count); i##_loop.open;         \
         e_loop_end(e, &i##_loop))                                                                                     \
        for (const val i = i##_loop.index, *i##_once = &i; i##_once; i##_once = NULL)
/* E_FOR0: nothing is carried. */
#define E_FOR0(i, e, begin, end, step)                                                                                 \
    for (e_loop i##_loop = e_loop_start(e, begin, end, step, NULL, 0); i##_loop.open; e_loop_end(e, &i##_loop))        \
        for (const val i = i##_loop.index, *i##_once = &i; i##_once; i##_once = NULL)
e_loop e_loop_start(ir *e, val begin, val end, val step, val *const *carried, int count);

typedef struct e_branch {
    struct LLVMOpaqueBasicBlock *done;
    int open;
} e_branch;
/* e_odds: how often the condition holds; code of what is rare is laid out aside. */
typedef enum e_odds { E_EITHER, E_USUALLY, E_RARELY } e_odds;
e_branch e_if_begin(ir *e, val condition, e_odds odds);
void e_if_end(ir *e, e_branch *branch);
/* E_IF(e, condition) { ... }: emitted if; values made inside are not used after it. */
#define E_IF(e, condition) E_IF_ODDS(e, condition, E_EITHER)
#define E_IF_ODDS(e, condition, odds)                                                                                  \
    for (e_branch e_branch_ = e_if_begin(e, condition, odds); e_branch_.open; e_if_end(e, &e_branch_))

/* ---- the kernel ---- */

enum { KERNEL_ARGS_MAX = 32 };
typedef struct e_kernel {
    const char *symbol;
    int threads;              /* work items a workgroup */
    const char *waves_per_eu; /* "" = attribute not set */
    const char *arg_names[KERNEL_ARGS_MAX];
    type args[KERNEL_ARGS_MAX]; /* VOID = global pointer */
    int arg_count;
} e_kernel;

void e_kernel_begin(ir *e, const e_kernel *kernel);
void e_kernel_end(ir *e);
val e_arg(ir *e, int i);

val e_workitem(ir *e);            /* I32, x */
val e_workgroup(ir *e, int axis); /* I32, 0 = x, 1 = y, 2 = z */
val e_uniform(ir *e, val a);      /* I32 that is the same in all lanes of a wave, into a scalar register */

/* ---- memory ---- */

/* ptr: global address, the type of what it points at, and whether the kernel only reads there. */
typedef struct ptr {
    val address;
    type element;
    int constant;
} ptr;
ptr e_ptr(ir *e, val address, type element, int constant);
ptr e_ptr_add(ir *e, ptr p, val elements);   /* I64 */
val e_load_uniform(ir *e, ptr p, val index); /* a scalar load: p is constant, index I32 is uniform */

/* buffer: a descriptor whose extent is exact: reads past it give 0, writes past it are dropped. */
typedef struct buffer {
    val descriptor;
    val bytes; /* I32, unsigned */
} buffer;
buffer e_buffer(ir *e, ptr base, val extent); /* bytes, I32, unsigned */
/* e_buffer_apart: shares no register with another buffer's. Words that are the same in several LLVM copies to one after
 * another in each trip of a loop that uses them. */
buffer e_buffer_apart(ir *e, ptr base, val extent);
/* BUFFER_BEYOND: as a lane's offset it is past every extent up to it, also with what `fixed` adds. */
#define BUFFER_BEYOND 0xfffff000u
/* Values: I16, or 1 to 4 words; loads also I8 and 8 words. Offsets in bytes: `lane` is a lane's own (I32), `fixed` >= 0
 * a constant. Up to 4095 costs nothing; LLVM adds what is beyond to `lane`, so that lane + fixed must not wrap. */
val e_buffer_load(ir *e, buffer b, type t, val lane, int fixed);
/* e_buffer_load_at: `uniform` is added for all lanes and clamped to the extent, so that the bounds check cannot
 * wrap. */
val e_buffer_load_at(ir *e, buffer b, type t, val lane, val uniform, int fixed);
void e_buffer_store(ir *e, buffer b, val value, val lane, int fixed);
/* e_scalar_load: 16 words from byte `offset` (I32, uniform, a multiple of 4) on, into scalar registers; where some lie
 * past the extent they may be anything. For what no wave of the launch writes: it comes by the scalar cache. */
val e_scalar_load(ir *e, buffer b, val offset);

/* lds: an LDS buffer. What DMA brings in, and what is read, is ordered by e_wait and e_barrier alone. */
typedef struct lds {
    val base;
    int bytes;
} lds;
lds e_lds(ir *e, const char *name, int size, int align); /* bytes */
/* Values of 2, 4, 8 or 16 bytes, aligned to their size; loads also of 32, aligned to 16. Offsets in bytes. */
val e_lds_load(ir *e, lds b, type t, val lane, int fixed);
void e_lds_store(ir *e, lds b, val value, val lane, int fixed);
/* e_lds_dma: memory to LDS without registers: lane l writes bytes [at + n l, +n), n = bytes_per_lane: 4, or the chip's
 * lds_dma_bytes. `at` I32 is uniform; `lane` and `uniform` name the source as in e_buffer_load_at. Counted in vmcnt. */
void e_lds_dma(ir *e, buffer from, val lane, val uniform, lds to, val at, int bytes_per_lane);

/* ---- waits, barriers, scheduling ---- */

enum { WAIT_ANY = -1, VMCNT_MAX = 63, LGKMCNT_MAX = 15 };
/* e_wait: until at most so many vector memory (loads, stores, DMA: in order) and LDS operations of the wave are
 * outstanding; WAIT_ANY = do not wait. Memory operations are not moved across. */
void e_wait(ir *e, int vector_memory, int lds_operations);
void e_barrier(ir *e);     /* execution only: what must be visible needs a wait before it */
void e_sched_fence(ir *e); /* the scheduler moves nothing across */
/* e_setprio: of this wave among those of its SIMD, 0 (as at the start) to 3. */
void e_setprio(ir *e, int priority);
/* e_sched_group: the next `count` instructions of a kind, in the order of these calls. */
typedef enum sched_kind {
    SCHED_VALU = 0x2,
    SCHED_MFMA = 0x8,
    SCHED_VMEM_READ = 0x20,
    SCHED_LDS_READ = 0x100,
    SCHED_LDS_WRITE = 0x200
} sched_kind;
void e_sched_group(ir *e, sched_kind kind, int count);

/* ---- workgroups of one launch ----
 * What workgroup A stored, B sees: A's waves e_release, A's e_barrier, one lane's e_atomic_add; B's lane that finds
 * there what A added, B's e_barrier, B's waves e_acquire.
 * source: LLVM "User Guide for AMDGPU Backend", memory models gfx942 (and gfx950) */

void e_release(ir *e);                      /* of this wave's stores to the device, other XCDs included */
void e_acquire(ir *e);                      /* later loads of this wave see what was released */
val e_atomic_add(ir *e, ptr p, val addend); /* I32, in the device's order; the old value */

/* ---- lanes ---- */

/* e_sum_swap32: lower 32 lanes hold a's lower plus upper half, upper 32 lanes b's. e_sum_swap16: the same of
 * neighbouring rows of 16 lanes, sums of a in the even rows, of b in the odd ones. With one value as both, all lanes
 * hold its sums. */
val e_sum_swap32(ir *e, val a, val b, int fast);
val e_sum_swap16(ir *e, val a, val b, int fast);
val e_any(ir *e, val condition); /* I1, uniform: true of some lane */
/* Scans of I32 over all 64 lanes, all of them active. e_scan_step: what step 0..5 of an inclusive scan combines with a
 * lane's own value, `none` where there is nothing. e_lane_below: the value of the lane before; `none` in lane 0. */
enum { SCAN_STEPS = 6 };
val e_scan_step(ir *e, val a, int step, val none);
val e_lane_below(ir *e, val a, val none);
val e_from_lane(ir *e, val a, val lane);            /* of a lane (I32, uniform, 0 to 63), into a scalar register */
val e_with_lane(ir *e, val a, val lane, val value); /* a, but in a lane (uniform, 0 to 63) I32 `value` (uniform) */
val e_first_lane(ir *e, val condition);             /* I32, uniform: the lowest lane where it holds; 64: none */

/* ---- fp8 ----
 * e_fnuz_from_fn: E4M3FN bytes, four an I32 (or a vector of I32), for a matrix unit that reads E4M3FNUZ.
 * math:  every byte comes out as half its value, -0 as 0, NaN as a number: gather NaNs where they may come in.
 *        4 instructions a word, 5 or 6 with `nans`
 * nans:  NULL, or an I32 that begins as 0 and is handed to e_saw_nan
 * e_saw_nan: I1, some byte that was converted with `nans` was NaN
 * e_fnuz_or_nan: the same as e_fnuz_from_fn, and NaN as NaN; 9 instructions a word */
val e_fnuz_from_fn(ir *e, val fn, val *nans);
val e_fnuz_or_nan(ir *e, val fn);
val e_saw_nan(ir *e, val nans);

/* e_op: one operation of the intrinsic table by its short name; the only place that declares and calls intrinsics. */
val e_op(ir *e, const char *name, const val *args, int count);

/* ---- tiles ---- */

typedef enum tile_layout {
    TILE_ROWS, /* operand A of the atom: rows x k */
    TILE_COLS, /* operand B: k x cols */
    TILE_SUMS  /* result: rows x cols, f32 */
} tile_layout;

enum { TILE_VALUES_MAX = 128 };
/* tile: rows x cols elements in the registers of a wave, as atoms: v[i * steps + s], i along the outer edge. */
typedef struct tile {
    const atom *atom;
    tile_layout layout;
    type dtype; /* I8 (fp8 bytes) or F32 */
    int rows, cols;
    int outer, steps; /* fragments along the outer edge (rows or cols) and along k; steps = 1 for sums */
    val v[TILE_VALUES_MAX];
} tile;

tile t_rows(ir *e, const atom *a, int rows, int k);
tile t_cols(ir *e, const atom *a, int k, int cols);
/* t_fragment_byte: where in a row (or column) the lane's bytes of step s begin: s*K + fragment_bytes * (lane /
 * edge). */
val t_fragment_byte(ir *e, const tile *t, int s, val lane);
/* t_load: what fragments of one place along the outer edge, all of k, are made of, in t_load_count values; `row` (a
 * lane's own) and `uniform` are added to the byte where the lane's row (or column) begins. Of k there are `length`
 * bytes, a multiple of 16; the rest is 0, whatever memory holds there. t_set: makes the values fragments i.
 * math: which bytes of k a lane takes is t_load's choice, so both operands of a product come from it or neither does */
int t_load_count(const tile *t);
void t_load(ir *e, const tile *t, val lane, buffer from, val row, val uniform, int length, val *words);
void t_set(ir *e, tile *t, int i, const val *words);
/* t_mma: sums of a (all rows) times fragment column `col` of b.   math: f32 accumulation from 0 */
tile t_mma(ir *e, const tile *a, const tile *b, int col);
/* t_mma_atom: fragment row `row` of a times fragment column `col` of b, added to `sum`, a value of a sums tile;
 * t_no_sums is the one to begin with. */
val t_mma_atom(ir *e, const tile *a, int row, const tile *b, int col, val sum);
val t_no_sums(ir *e, const atom *a);
/* t_mma_scaled: the same with a factor 2^(x - 127) for the lane's row of a and one for its column of b, x in bits 7:0
 * of I32 (255: NaN). Atoms that have a scaled form only. */
val t_mma_scaled(ir *e, const tile *a, int row, const tile *b, int col, val sum, val row_scale, val col_scale);
/* t_sum_row: row of a sums tile that a lane holds in element r of fragment i, less the lane's own 4 * (lane / edge). */
int t_sum_row(const atom *a, int i, int r);

/* ---- from IR to code object ----
 * A fatal error of LLVM or lld in any step is COMPILE; the process lives on. */

cdnagen_status ir_create(const target *t, const char *name, ir **out);
/* ir_emit: emitter(e, of).   errors: COMPILE (a fatal error of LLVM; the emitter's own come out of ir_verify) */
cdnagen_status ir_emit(ir *e, void (*emitter)(ir *e, const void *of), const void *of);
cdnagen_status ir_verify(ir *e); /* the sticky error, then LLVM's verifier */
cdnagen_status ir_optimise(ir *e);
cdnagen_status ir_codegen(ir *e); /* relocatable object, kept inside */
cdnagen_status ir_link(ir *e, bytes *object);
cdnagen_status ir_print(ir *e, text *out);
void ir_free(ir *e);
const char *ir_pass_pipeline(void);
const char *ir_llvm_version(void);

/* ir_disassemble: AMD assembly of a code object's text section, a line an instruction: address, text; branch targets
 * are labels.   errors: BAD_OBJECT, NO_MEMORY, COMPILE (a fatal error of LLVM) */
cdnagen_status ir_disassemble(const void *object, size_t size, text *out);

/* e_fail: record an error of the emitter itself (the first one is kept). */
void e_fail(ir *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
const target *e_target(const ir *e);

#endif
