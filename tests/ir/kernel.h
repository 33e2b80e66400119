/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the tests of ir share: a context with an open kernel of two pointers and a number, and its way to assembly. */
#ifndef TESTS_IR_KERNEL_H
#define TESTS_IR_KERNEL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ir/ir.h" /* before cmocka, which names a macro fail */

#include <cmocka.h>

enum { ARG_IN, ARG_OUT, ARG_COUNT };

static inline ir *open_kernel(const char *chip_name) {
    target t;
    assert_int_equal(target_parse(chip_name, &t), CDNAGEN_OK);
    ir *e = NULL;
    assert_int_equal(ir_create(&t, "test", &e), CDNAGEN_OK);
    const e_kernel k = {.symbol = "test",
                        .threads = 64,
                        .waves_per_eu = "",
                        .arg_names = {"in", "out", "count"},
                        .args = {VOID, VOID, I32},
                        .arg_count = 3};
    e_kernel_begin(e, &k);
    return e;
}

static inline void store_out(ir *e, val value) {
    const buffer out = e_buffer(e, e_ptr(e, e_arg(e, ARG_OUT), F32, 0), e_i32(e, 4096));
    e_buffer_store(e, out, value, e_muli(e, e_workitem(e), 4), 0);
}

/* The steps up to a linked object; the first status that is not OK. */
static inline cdnagen_status finish(ir *e, bytes *object) {
    e_kernel_end(e);
    TRY(ir_verify(e));
    TRY(ir_optimise(e));
    TRY(ir_codegen(e));
    return ir_link(e, object);
}

static inline void assert_refused(ir *e, const char *sentence) {
    bytes object = {0};
    assert_int_equal(finish(e, &object), CDNAGEN_COMPILE);
    if (!strstr(cdnagen_error(), sentence)) fail_msg("'%s' does not say '%s'", cdnagen_error(), sentence);
    ir_free(e);
}

/* Assembly of the finished kernel; the caller frees it. */
static inline text assembly(ir *e) {
    bytes object = {0};
    const cdnagen_status status = finish(e, &object);
    if (status != CDNAGEN_OK) fail_msg("%s", cdnagen_error());
    text listing = {0};
    assert_int_equal(ir_disassemble(object.data, object.size, &listing), CDNAGEN_OK);
    bytes_free(&object);
    ir_free(e);
    return listing;
}

#endif
