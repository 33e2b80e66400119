/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* core/status.c: the error sentence. */
#include "tests/core/cmocka_tests.h"

#include <pthread.h>
#include <string.h>

#include "core/memory.h"
#include "core/status.h"

static void names_are_the_constants(void **state) {
    (void)state;
    assert_string_equal(cdnagen_status_name(CDNAGEN_OK), "CDNAGEN_OK");
    assert_string_equal(cdnagen_status_name(CDNAGEN_BAD_OBJECT), "CDNAGEN_BAD_OBJECT");
    assert_string_equal(cdnagen_status_name(CDNAGEN_UNAVAILABLE), "CDNAGEN_UNAVAILABLE");
    assert_string_equal(cdnagen_status_name((cdnagen_status)9), "unknown status");
    assert_string_equal(cdnagen_status_name((cdnagen_status)-1), "unknown status");
    int known = 0;
    for (int i = 0; i < 100; i++) known += strcmp(cdnagen_status_name((cdnagen_status)i), "unknown status") != 0;
    assert_int_equal(known, 19); /* the rows of the enum in cdnagen.h */
}

static void sentence_is_kept_and_status_returned(void **state) {
    (void)state;
    assert_int_equal(fail(CDNAGEN_LIMIT, "needs %d, has %d", 5, 4), CDNAGEN_LIMIT);
    assert_string_equal(cdnagen_error(), "needs 5, has 4");
    assert_int_equal(fail_no_memory(), CDNAGEN_NO_MEMORY);
    assert_non_null(strstr(cdnagen_error(), "memory"));
}

static void sentence_may_quote_the_one_before(void **state) {
    (void)state;
    fail(CDNAGEN_IO, "inner");
    fail(CDNAGEN_IO, "outer: %s", cdnagen_error());
    assert_string_equal(cdnagen_error(), "outer: inner");
}

static void long_sentence_is_cut_and_marked(void **state) {
    (void)state;
    char words[2 * SENTENCE_BYTES];
    memset(words, 'a', sizeof words);
    words[sizeof words - 1] = 0;
    fail(CDNAGEN_IO, "%s", words);
    const size_t length = strlen(cdnagen_error());
    assert_int_equal(length, SENTENCE_BYTES - 1);
    assert_string_equal(cdnagen_error() + length - 4, "a...");
}

static void control_characters_become_blanks(void **state) {
    (void)state;
    fail(CDNAGEN_IO, "%s", "a\nb\x1b[31mc\x7f");
    assert_string_equal(cdnagen_error(), "a b [31mc ");
}

static void *other_thread(void *seen) {
    *(int *)seen = *cdnagen_error() == 0;
    fail(CDNAGEN_IO, "theirs");
    return NULL;
}

static void threads_have_their_own_sentence(void **state) {
    (void)state;
    fail(CDNAGEN_IO, "mine");
    int was_empty = 0;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, other_thread, &was_empty), 0);
    pthread_join(thread, NULL);
    assert_true(was_empty);
    assert_string_equal(cdnagen_error(), "mine");
}

static cdnagen_status tries(cdnagen_status status, int *went_on) {
    TRY(status);
    *went_on = 1;
    return CDNAGEN_OK;
}

static void try_returns_the_failure_only(void **state) {
    (void)state;
    int went_on = 0;
    assert_int_equal(tries(CDNAGEN_IO, &went_on), CDNAGEN_IO);
    assert_int_equal(went_on, 0);
    assert_int_equal(tries(CDNAGEN_OK, &went_on), CDNAGEN_OK);
    assert_int_equal(went_on, 1);
}

static void failing_allocates_nothing(void **state) {
    (void)state;
    const long before = mem_live();
    mem_fail_at(1);
    fail(CDNAGEN_IO, "%s", "text");
    fail_no_memory();
    assert_null(mem_alloc(1)); /* the failure is still to come: nothing above took it */
    assert_int_equal(mem_live(), before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_the_constants),           cmocka_unit_test(sentence_is_kept_and_status_returned),
        cmocka_unit_test(sentence_may_quote_the_one_before), cmocka_unit_test(long_sentence_is_cut_and_marked),
        cmocka_unit_test(control_characters_become_blanks),  cmocka_unit_test(threads_have_their_own_sentence),
        cmocka_unit_test(try_returns_the_failure_only),      cmocka_unit_test(failing_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
