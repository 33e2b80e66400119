/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* E4M3FN bytes for a matrix unit that reads E4M3FNUZ. The same byte means half the value there, with two exceptions:
 * 0x80 is FN's -0 and FNUZ's NaN, and 0x7f and 0xff are FN's NaN and numbers of FNUZ.
 * source: OCP 8-bit Floating Point Specification 1.0 (e4m3fn); AMD CDNA3 ISA guide (e4m3fnuz) */
#include "ir/context.h"

enum { MAGNITUDES = 0x7f7f7f7f, SIGNS = INT32_MIN | 0x808080, ONES = 0x01010101 };

/* Four bytes at once: no sum of magnitudes of at most 0x7f carries into the next byte. */
static val convert(ir *e, val fn, val *nans) {
    const val magnitudes = e_and(e, fn, e_i32(e, MAGNITUDES));
    const val signs_unless_zero = e_addi(e, magnitudes, MAGNITUDES);
    if (nans) *nans = e_or(e, *nans, e_addi(e, magnitudes, ONES));
    return e_or(e, e_and(e, fn, signs_unless_zero), magnitudes);
}

/* The same, and 0x80 for NaN: its sign is set, and the seven bits below are cleared. */
static val convert_keeping_nan(ir *e, val fn, val *nans) {
    (void)nans;
    const val magnitudes = e_and(e, fn, e_i32(e, MAGNITUDES));
    const val nan_signs = e_and(e, e_addi(e, magnitudes, ONES), e_i32(e, SIGNS));
    const val below = e_sub(e, nan_signs, e_shr(e, nan_signs, 7));
    const val kept = e_xor(e, below, e_i32(e, -1)), numbers = e_and(e, convert(e, fn, NULL), kept);
    return e_or(e, numbers, nan_signs);
}

static val convert_words(ir *e, const char *verb, val (*one)(ir *e, val fn, val *nans), val fn, val *nans) {
    const type t = e_type(e, fn);
    const int n = TYPE_LENGTH(t);
    if (!expect(e, TYPE_ELEMENT(t) == I32 && n <= 16, verb, "the bytes must come as 1 to 16 I32"))
        return e_poison(e, t);
    if (n == 1) return one(e, fn, nans);
    val words[16];
    for (int i = 0; i < n; i++) words[i] = one(e, e_element(e, fn, i), nans);
    return e_vector(e, words, n);
}

val e_fnuz_from_fn(ir *e, val fn, val *nans) { return convert_words(e, "e_fnuz_from_fn", convert, fn, nans); }
val e_fnuz_or_nan(ir *e, val fn) { return convert_words(e, "e_fnuz_or_nan", convert_keeping_nan, fn, NULL); }

val e_saw_nan(ir *e, val nans) { return e_not(e, e_equal(e, e_and(e, nans, e_i32(e, SIGNS)), e_i32(e, 0))); }
