/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LLVM's and lld's errors become statuses; the process lives on and compiles the next kernel. */
#include "tests/ir/kernel.h"

#include "ir/context.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* A fatal error abandons what LLVM held; the leak checker is told so. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libLLVM\nleak:libstdc++\n"; }

static void assert_next_kernel_compiles(void) {
    ir *const e = open_kernel("gfx950");
    store_out(e, e_f32(e, 1));
    text listing = assembly(e);
    assert_non_null(strstr(listing.data, "buffer_store_dword"));
    text_free(&listing);
}

/* An intrinsic of gfx950 past the table's check: instruction selection of gfx942 ends in a fatal error. */
static void a_fatal_error_of_llvm_is_a_status(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        ir *const e = open_kernel("gfx942");
        const chip *const real = e->target.chip;
        e->target.chip = chip_find("gfx950", 6);
        const val sum = e_sum_swap32(e, e_bitcast(e, e_workitem(e), F32), e_bitcast(e, e_arg(e, ARG_COUNT), F32), 0);
        e->target.chip = real;
        store_out(e, sum);
        bytes object = {0};
        assert_int_equal(finish(e, &object), CDNAGEN_COMPILE);
        assert_non_null(strstr(cdnagen_error(), "fatal error of LLVM"));
        assert_int_equal(ir_codegen(e), CDNAGEN_COMPILE); /* and so is every later step */
        assert_int_equal(ir_link(e, &object), CDNAGEN_COMPILE);
        ir_free(e);
        assert_next_kernel_compiles();
    }
}

static void lds_beyond_the_chip_is_a_status(void **state) {
    (void)state;
    ir *const e = open_kernel("gfx950");
    const lds big = e_lds(e, "big", 163840 + 4096, 128);
    store_out(e, e_lds_load(e, big, F32, e_muli(e, e_workitem(e), 4), 163840));
    assert_refused(e, "local memory");
    assert_next_kernel_compiles();
}

/* What a machine refuses is named: open files, processes. Root is above the limit on processes. */
static void a_limit_of_the_machine_is_named(void **state) {
    (void)state;
    static const struct {
        int limit;
        const char *says;
    } rows[] = {{RLIMIT_NOFILE, "linking opens five files"}, {RLIMIT_NPROC, "limit on processes"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const pid_t child = fork();
        if (!child) {
            if (rows[i].limit == RLIMIT_NPROC && !geteuid() && setresuid(65534, 65534, 65534)) _exit(2);
            ir *const e = open_kernel("gfx950");
            store_out(e, e_f32(e, 1));
            setrlimit(rows[i].limit, &(struct rlimit){0, 0});
            bytes object = {0};
            if (finish(e, &object) != CDNAGEN_COMPILE) _exit(3);
            _exit(strstr(cdnagen_error(), rows[i].says) ? 0 : 4);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    assert_next_kernel_compiles();
}

static void an_unfinished_block_is_refused_by_the_verifier(void **state) {
    (void)state;
    ir *const e = open_kernel("gfx950");
    new_block(e, "without_end");
    assert_refused(e, "verifier");
}

static void an_undefined_function_is_refused_by_lld(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) { /* lld runs again after a failure */
        ir *const e = open_kernel("gfx950");
        const LLVMTypeRef type_of_missing = LLVMFunctionType(llvm_type(e, VOID), NULL, 0, 0);
        const LLVMValueRef missing = LLVMAddFunction(e->module, "missing", type_of_missing);
        LLVMBuildCall2(e->builder, type_of_missing, missing, NULL, 0, "");
        assert_refused(e, "missing");
        assert_next_kernel_compiles();
    }
}

static void linking_needs_an_object(void **state) {
    (void)state;
    ir *const e = open_kernel("gfx950");
    bytes object = {0};
    assert_int_equal(ir_link(e, &object), CDNAGEN_COMPILE);
    ir_free(e);
    ir_free(NULL);
}

static void what_is_no_object_is_not_disassembled(void **state) {
    (void)state;
    text listing = {0};
    assert_int_equal(ir_disassemble("not an ELF file", 15, &listing), CDNAGEN_BAD_OBJECT);
    text_free(&listing);
}

/* Every allocation of ours on the way to a code object fails once: a status, and nothing is left behind. */
static void exhausted_memory_is_a_status(void **state) {
    (void)state;
    assert_next_kernel_compiles(); /* what the process keeps exists now */
    const long before = mem_live();
    target t;
    assert_int_equal(target_parse("gfx950", &t), CDNAGEN_OK);
    int failures = 0;
    for (int k = 1; k < 20; k++) {
        mem_fail_at(k);
        ir *e = NULL;
        bytes object = {0};
        cdnagen_status status = ir_create(&t, "test", &e);
        if (status == CDNAGEN_OK) {
            const e_kernel kernel = {.symbol = "test", .threads = 64, .waves_per_eu = ""};
            e_kernel_begin(e, &kernel);
            status = finish(e, &object);
        }
        mem_fail_at(0);
        ir_free(e);
        bytes_free(&object);
        assert_int_equal(mem_live(), before);
        if (status == CDNAGEN_OK) {
            assert_int_equal(failures, k - 1);
            assert_true(failures > 0);
            return;
        }
        assert_int_equal(status, CDNAGEN_NO_MEMORY);
        failures++;
    }
    fail_msg("more than %d allocations", failures);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fatal_error_of_llvm_is_a_status),
        cmocka_unit_test(lds_beyond_the_chip_is_a_status),
        cmocka_unit_test(a_limit_of_the_machine_is_named),
        cmocka_unit_test(an_unfinished_block_is_refused_by_the_verifier),
        cmocka_unit_test(an_undefined_function_is_refused_by_lld),
        cmocka_unit_test(linking_needs_an_object),
        cmocka_unit_test(what_is_no_object_is_not_disassembled),
        cmocka_unit_test(exhausted_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
