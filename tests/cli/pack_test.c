/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* pack, unpack, verify as a user meets them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "tests/cli/command.h"

#define DIRECT "mqa_logits:mfma32x32x64_bkv32_r1_w1_hfma"

static void ran(const char *environment, const char *words, int code, const char *what) {
    outcome o = command_run(environment, words);
    if (o.code != code) fail_msg("%s: exit code %d\n%s%s", words, o.code, o.out, o.err);
    says(code ? o.err : o.out, what);
    command_free(&o);
}

static void make_two(void) {
    ran("", "gen " DIRECT " heads=64 dim=128", 0, "ready after");
    ran("", "gen " DIRECT " heads=32 dim=64", 0, "ready after");
}

static void a_pack_serves_in_place_of_the_cache_it_was_made_from(void **state) {
    (void)state;
    make_two();
    ran("", "pack p", 0, "p: 2 entries");
    ran("CDNAGEN_CACHE_DIR=p CDNAGEN_CACHE_ONLY=1", "gen " DIRECT " heads=64 dim=128 -o a.co", 0, "hit (disk)");
    ran("CDNAGEN_CACHE_ONLY=1", "gen " DIRECT " heads=64 dim=128 -o b.co", 0, "hit (disk)");
    command_shell("cmp a.co b.co");
    ran("CDNAGEN_CACHE_DIR=p CDNAGEN_CACHE_ONLY=1", "gen " DIRECT " heads=64 dim=64", 2,
        "shape heads=64 dim=64 clean=1");
    ran("CDNAGEN_CACHE_DIR=p:new", "gen " DIRECT " heads=64 dim=64", 0, "miss");
    ran("CDNAGEN_CACHE_DIR=p:new", "gen " DIRECT " heads=64 dim=64", 0, "hit (disk)");
    command_shell("test $(find new -type f | wc -l) = 1");
}

static void packs_are_joined_and_unpacked(void **state) {
    (void)state;
    make_two();
    ran("", "pack p", 0, "2 entries");
    ran("CDNAGEN_CACHE_DIR=new", "gen " DIRECT " heads=64 dim=64", 0, "miss");
    ran("", "pack q p new cache", 0, "q: 3 entries");
    ran("", "pack r new p", 0, "r: 3 entries");
    command_shell("cmp q r");
    ran("", "unpack q d", 0, "d: 3 entries");
    command_shell("diff -r cache/v1 d/v1 | grep -q '^Only in d' && ! diff -r cache/v1 d/v1 | grep -v '^Only in d'");
    ran("", "pack s d", 0, "3 entries");
    command_shell("cmp q s");
}

static void verify_lists_what_is_in_it(void **state) {
    (void)state;
    make_two();
    ran("", "pack p", 0, "2 entries");
    ran("", "verify p", 0, "gfx950  mqa_logits:mfma32x32x64_bkv32_r1_w1_hfma  heads=64 dim=128 clean=1");
    ran("", "verify p cache", 0, "4 entries, all sound");
    outcome o = command_good("verify --json p");
    json_t *all = json_loads(o.out, 0, NULL);
    assert_non_null(all);
    assert_true(json_is_true(json_object_get(all, "sound")));
    const json_t *entries = json_object_get(all, "entries"), *first = json_array_get(entries, 0);
    assert_int_equal(json_array_size(entries), 2);
    static const char *const members[] = {"key",   "object_blake3", "key_text",  "operator", "tag",
                                          "shape", "target",        "generator", "llvm"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (!json_string_length(json_object_get(first, members[i]))) fail_msg("no %s", members[i]);
    assert_string_equal(json_string_value(json_object_get(first, "shape")), "heads=32 dim=64 clean=1");
    assert_true(json_is_true(json_object_get(first, "code_for_target")));
    json_decref(all);
    command_free(&o);
}

static void damage_is_named_and_never_loaded(void **state) {
    (void)state;
    make_two();
    ran("", "pack p", 0, "2 entries");
    command_shell("head -c 1000 p >cut && cp p bad && printf '!' | dd of=bad bs=1 seek=$(($(stat -c %s p) - 9)) "
                  "conv=notrunc 2>log");
    ran("", "verify cut", 2, "pack cut: it is cut short: it has 1000 bytes");
    ran("", "unpack cut d", 2, "it is cut short");
    ran("", "verify bad", 1, "is damaged: its object has not the hash");
    ran("", "pack q bad", 1, "is damaged");
    ran("", "verify q", 0, "1 entries, all sound");
    outcome o = command_run("CDNAGEN_CACHE_DIR=cut CDNAGEN_CACHE_ONLY=1", "gen " DIRECT " heads=64 dim=128");
    assert_int_equal(o.code, 2);
    says(o.err, "cut short");
    says(o.err, "CACHE_MISS");
    command_free(&o);
    command_shell(
        "for s in 'heads=64 dim=128' 'heads=32 dim=64'; do CDNAGEN_CACHE_ONLY=1 CDNAGEN_CACHE_DIR=bad " CDNAGEN_COMMAND
        " gen " DIRECT " $s >>hits 2>>misses; done; grep -c hit hits | grep -qx 1");
    command_shell("grep -q CACHE_MISS misses");
    ran("CDNAGEN_CACHE_DIR=cut", "doctor", 0, "NOT A PACK");
    ran("CDNAGEN_CACHE_DIR=p:cache", "doctor", 0, ": a pack");
}

static void cache_commands_take_every_root(void **state) {
    (void)state;
    make_two();
    ran("", "pack p", 0, "2 entries");
    outcome o = command_run("CDNAGEN_CACHE_DIR=p:cache", "cache verify");
    assert_int_equal(o.code, 0);
    says(o.out, "p (from CDNAGEN_CACHE_DIR)\n2 entries");
    says(o.out, "cache (from CDNAGEN_CACHE_DIR)\n2 entries");
    command_free(&o);
    ran("CDNAGEN_CACHE_DIR=p:cache", "cache clear", 0, "removed 2 entries");
    ran("", "cache info", 0, "0 entries");
    ran("", "verify p", 0, "2 entries, all sound");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, command_setup, command_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_pack_serves_in_place_of_the_cache_it_was_made_from),
        TEST(packs_are_joined_and_unpacked),
        TEST(verify_lists_what_is_in_it),
        TEST(damage_is_named_and_never_loaded),
        TEST(cache_commands_take_every_root),
    };
    return cmocka_run_group_tests_name("packs", tests, NULL, NULL);
}
