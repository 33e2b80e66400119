/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The tuner's file: what is found again and by whom, what a killed process leaves, what a bad file says. */
#include "tests/core/cmocka_tests.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "study/tune_store.h"

static char path[64];

static int fresh_file(void **state) {
    (void)state;
    snprintf(path, sizeof path, "/tmp/cdnagen_store_%ld.db", (long)getpid());
    unlink(path);
    return 0;
}
static int remove_file(void **state) {
    (void)state;
    unlink(path);
    return 0;
}

static tune_store *open_as(const char *where, const char *model) {
    tune_store *s = NULL;
    if (tune_store_open(path, where, model, &s)) fail_msg("%s", cdnagen_error());
    return s;
}

static const tune_record one = {.op = "op",
                                .tag = "a_b",
                                .shape = "m=1",
                                .code = "fedcba9876543210",
                                .status = "ranked",
                                .note = "hot",
                                .cost = 12.5};

static int finds(tune_store *s, tune_record r) {
    int found;
    r.status = r.note = NULL;
    assert_int_equal(tune_store_find(s, &r, &found), CDNAGEN_OK);
    if (found) {
        assert_string_equal(r.status, "ranked");
        assert_string_equal(r.note, "hot");
        assert_true(r.cost == 12.5);
    }
    return found;
}

static void a_record_is_found_by_all_that_names_it(void **state) {
    (void)state;
    tune_store *s = open_as("device", "model");
    assert_false(finds(s, one));
    assert_int_equal(tune_store_put(s, &one), CDNAGEN_OK);
    assert_true(finds(s, one));
    tune_record other[] = {one, one, one, one};
    other[0].op = "op2";
    other[1].tag = "a";
    other[2].shape = "m=2";
    other[3].code = "1";
    for (int i = 0; i < 4; i++) assert_false(finds(s, other[i]));
    tune_store_close(s);
    const char *const strangers[][2] = {{"device 2", "model"}, {"device", "model 2"}};
    for (int i = 0; i < 2; i++) {
        s = open_as(strangers[i][0], strangers[i][1]);
        assert_false(finds(s, one));
        tune_store_close(s);
    }
    s = open_as("device", "model");
    assert_true(finds(s, one));
    tune_store_close(s);
}

static void a_later_record_replaces_an_earlier_one(void **state) {
    (void)state;
    tune_store *s = open_as("device", "model");
    tune_record r = one;
    r.status = "bound", r.cost = 3, r.note = NULL;
    assert_int_equal(tune_store_put(s, &r), CDNAGEN_OK);
    assert_int_equal(tune_store_put(s, &one), CDNAGEN_OK);
    assert_true(finds(s, one));
    tune_store_close(s);
}

static void what_was_put_outlives_kill_9(void **state) {
    (void)state;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        tune_store *s = NULL;
        if (tune_store_open(path, "device", "model", &s) || tune_store_put(s, &one)) _exit(1);
        raise(SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    tune_store *s = open_as("device", "model");
    assert_true(finds(s, one));
    tune_store_close(s);
}

static void a_file_that_cannot_be_used_is_named(void **state) {
    (void)state;
    tune_store *s = NULL;
    assert_int_equal(tune_store_open("/no/such/folder/x.db", "d", "m", &s), CDNAGEN_IO);
    assert_non_null(strstr(cdnagen_error(), "/no/such/folder/x.db"));
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < 1000; i++) fputs("this is not a database\n", f);
    fclose(f);
    assert_int_equal(tune_store_open(path, "d", "m", &s), CDNAGEN_IO);
    assert_non_null(strstr(cdnagen_error(), "not a database"));
}

static void memory_may_run_out_anywhere(void **state) {
    (void)state;
    const long live = mem_live();
    for (long k = 1;; k++) {
        tune_store *s = NULL;
        mem_fail_at(k);
        const cdnagen_status status = tune_store_open(path, "device", "model", &s);
        mem_fail_at(0);
        if (!status) {
            tune_store_close(s);
            break;
        }
        assert_int_equal(status, CDNAGEN_NO_MEMORY);
        assert_int_equal(mem_live(), live);
    }
    assert_int_equal(mem_live(), live);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_record_is_found_by_all_that_names_it, fresh_file, remove_file),
        cmocka_unit_test_setup_teardown(a_later_record_replaces_an_earlier_one, fresh_file, remove_file),
        cmocka_unit_test_setup_teardown(what_was_put_outlives_kill_9, fresh_file, remove_file),
        cmocka_unit_test_setup_teardown(a_file_that_cannot_be_used_is_named, fresh_file, remove_file),
        cmocka_unit_test_setup_teardown(memory_may_run_out_anywhere, fresh_file, remove_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
