/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Several roots, packs among them, and a store of the caller's: who is asked, in which order, and who is written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cache/scratch.h"

#define TEXT "mqa_logits|mfma32x32x64_bkv64|gfx950"

static void fill(const char *dir, const char *key_text, const char *data) {
    cache *c = scratch_open(dir, NULL);
    cache_blob_release(cache_put(c, key_text, data, strlen(data)));
    cache_close(c);
}

static void fill_pack(const char *path, const char *key_text, const char *data) {
    cache_blob *b = blob_make(key_text, strlen(key_text), data, strlen(data));
    assert_int_equal(pack_write(path, &b, 1), CDNAGEN_OK);
    cache_blob_release(b);
}

/* expect: what a new cache on these roots answers; NULL: a miss. */
static void expect(const char *roots, const char *key_text, const char *data) {
    cdnagen_cache_tier tier;
    cache *c = scratch_open(roots, NULL);
    cache_blob *b = cache_get(c, key_text, &tier);
    assert_int_equal(tier, data ? CDNAGEN_TIER_DISK : CDNAGEN_TIER_NONE);
    if (!b != !data) fail_msg("%s: %s", roots, b ? "a hit" : "a miss");
    if (b) assert_int_equal(cache_blob_size(b), strlen(data));
    if (b) assert_memory_equal(cache_blob_data(b), data, strlen(data));
    cache_blob_release(b);
    cache_close(c);
}

static void a_list_is_split_at_colons(void **state) {
    (void)state;
    static const struct {
        const char *roots, *parts[4];
    } rows[] = {{"", {NULL}},          {":", {NULL}},          {"a", {"a"}},
                {"/a:b", {"/a", "b"}}, {":a::b:", {"a", "b"}}, {"a:a:/c d", {"a", "a", "/c d"}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < 4; k++) {
            char *part = cache_root(rows[i].roots, k);
            if (rows[i].parts[k])
                assert_string_equal(part, rows[i].parts[k]);
            else
                assert_null(part);
            mem_free(part);
            if (!rows[i].parts[k]) break;
        }
}

static void the_first_root_that_has_it_answers(void **state) {
    (void)state;
    char *dir = scratch_dir();
    fill(scratch_path("%s/a", dir), "one", "a's");
    fill(scratch_path("%s/b", dir), "one", "b's");
    fill(scratch_path("%s/b", dir), "two", "b's second");
    fill_pack(scratch_path("%s/p", dir), "one", "the pack's");
    fill_pack(scratch_path("%s/q", dir), "three", "the other pack's");
    const char *roots = scratch_path("%s/a:%s/p:%s/b:%s/q", dir, dir, dir, dir);
    expect(roots, "one", "a's");
    expect(roots, "two", "b's second");
    expect(roots, "three", "the other pack's");
    expect(roots, "four", NULL);
    expect(scratch_path("%s/p:%s/a", dir, dir), "one", "the pack's");
    scratch_remove(dir);
}

/* A damaged entry in one root does not hide a sound one behind it. */
static void damage_in_one_root_is_passed_over(void **state) {
    (void)state;
    char *dir = scratch_dir();
    char *a = strdup(scratch_path("%s/a", dir));
    fill(a, TEXT, "a's");
    fill_pack(scratch_path("%s/p", dir), TEXT, "the pack's");
    scratch_write(scratch_entry(a, TEXT), "damaged", 7);
    expect(scratch_path("%s:%s/p", a, dir), TEXT, "the pack's");
    free(a);
    scratch_remove(dir);
}

static void a_damaged_pack_is_told_once_and_passed_over(void **state) {
    (void)state;
    char *dir = scratch_dir();
    const char *path = scratch_path("%s/p", dir), *behind = scratch_path("%s/b", dir);
    fill_pack(path, TEXT, "the pack's");
    fill(behind, TEXT, "b's");
    assert_int_equal(truncate(path, 120), 0);
    log_book book = {0};
    cache *c = scratch_open(scratch_path("%s:%s", path, behind), &book);
    for (int i = 0; i < 3; i++) {
        cdnagen_cache_tier tier;
        cache_blob_release(cache_get(c, TEXT, &tier));
        assert_int_equal(tier, i ? CDNAGEN_TIER_MEMORY : CDNAGEN_TIER_DISK);
        cache_blob_release(cache_get(c, "absent", &tier));
    }
    cache_close(c);
    assert_int_equal(book.warnings, 1);
    assert_non_null(strstr(book.last_warning, "it is cut short: it has 120 bytes"));
    scratch_remove(dir);
}

/* at: the words with each '@' replaced by dir.   owner: free */
static char *at(const char *dir, const char *words) {
    char *out = calloc(1, strlen(words) * (strlen(dir) + 1) + 1);
    for (; *words; words++) strncat(out, *words == '@' ? dir : words, *words == '@' ? strlen(dir) : 1);
    return out;
}

/* What is new goes to the first directory that can be written, its locks too; nothing else is touched. */
static void the_first_writable_directory_is_written(void **state) {
    (void)state;
    static const struct {
        const char *roots, *written;
        int index;
    } rows[] = {
        {"@/a:@/b", "@/a", 0},
        {"@/p:@/c:@/d", "@/c", 1},
        {"/dev/null:/dev/null/x:@/e/f", "@/e/f", 2},
        {"@/p/below:@/g", "@/g", 1},
    };
    char *dir = scratch_dir();
    fill_pack(scratch_path("%s/p", dir), "other", "the pack's");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *roots = at(dir, rows[i].roots), *written = at(dir, rows[i].written);
        const int before = scratch_files(dir, "");
        cache *c = scratch_open(roots, NULL);
        cache_lock_handle *lock = cache_lock(c, TEXT);
        assert_int_equal(scratch_files(written, ".lock"), 1);
        cache_blob_release(cache_put(c, TEXT, "data", 4));
        cache_unlock(lock);
        cache_close(c);
        assert_int_equal(cache_writable_root(roots), rows[i].index);
        assert_int_equal(scratch_files(dir, ""), before + 1);
        assert_true(scratch_exists(scratch_entry(written, TEXT)));
        free(roots);
        free(written);
    }
    scratch_remove(dir);
}

static int writable_root(void *roots) { return cache_writable_root(roots); }

static void a_directory_of_root_is_read_by_others_and_passed_over(void **state) {
    (void)state;
    enum { NOBODY = 65534 };
    if (geteuid()) skip(); /* another user's directory needs root */
    char *dir = scratch_dir(), *roots = at(dir, "@/shared:@/own");
    assert_int_equal(chmod(dir, 0755), 0);
    assert_int_equal(mkdir(scratch_path("%s/shared", dir), 0755), 0);
    assert_int_equal(mkdir(scratch_path("%s/own", dir), 0700), 0);
    assert_int_equal(chown(scratch_path("%s/own", dir), NOBODY, NOBODY), 0);
    assert_int_equal(in_child(writable_root, roots, NOBODY), 1);
    assert_int_equal(in_child(writable_root, roots, 0), 0);
    free(roots);
    scratch_remove(dir);
}

static void packs_alone_are_read_and_nothing_is_written(void **state) {
    (void)state;
    char *dir = scratch_dir();
    const char *path = scratch_path("%s/p", dir);
    fill_pack(path, "one", "the pack's");
    log_book book = {0};
    cache *c = scratch_open(path, &book);
    cache_lock_handle *lock = cache_lock(c, TEXT);
    cache_blob_release(cache_put(c, TEXT, "data", 4));
    cache_unlock(lock);
    cache_close(c);
    assert_int_equal(book.warnings, 0);
    assert_int_equal(cache_writable_root(path), -1);
    assert_int_equal(scratch_files(dir, ""), 1);
    expect(path, "one", "the pack's");
    expect(path, TEXT, NULL);
    scratch_remove(dir);
}

static void a_pack_is_walked_like_a_directory(void **state) {
    (void)state;
    char *dir = scratch_dir();
    const char *path = scratch_path("%s/p", dir);
    fill_pack(path, TEXT, "the pack's");
    cache_census census;
    assert_int_equal(cache_walk(path, NULL, &census), CDNAGEN_OK);
    assert_int_equal(census.entries, 1);
    assert_int_equal(census.bytes, 10);
    FILE *f = fopen(path, "r+b");
    fseek(f, -1, SEEK_END);
    fputc('!', f);
    fclose(f);
    assert_int_equal(cache_walk(path, &(cache_visitor){0}, &census), CDNAGEN_OK);
    assert_int_equal(census.damaged, 1);
    assert_int_equal(truncate(path, 100), 0);
    assert_int_equal(cache_walk(path, NULL, &census), CDNAGEN_IO);
    scratch_remove(dir);
}

/* ---- a store of the caller's ---- */

typedef struct shelf {
    char key[CACHE_KEY_CHARS + 1];
    unsigned char bytes_of[4096];
    size_t size;
    int gets, puts;
} shelf;

static int take(void *user, const char *key, void (*accept)(void *to, const void *data, size_t size), void *to) {
    shelf *s = user;
    s->gets++;
    if (!s->size) return 0;
    assert_int_equal(strlen(key), CACHE_KEY_CHARS);
    accept(to, s->bytes_of, s->size);
    return 1;
}

static void give(void *user, const char *key, const void *data, size_t size) {
    shelf *s = user;
    s->puts++;
    assert_true(size <= sizeof s->bytes_of);
    strcpy(s->key, key);
    memcpy(s->bytes_of, data, size);
    s->size = size;
}

static cdnagen_cache_tier tier_with(shelf *s, const char *roots, const char *key_text) {
    cache *c = NULL;
    cdnagen_cache_tier tier;
    const cache_options options = {.roots = roots, .store = {take, give, s}};
    assert_int_equal(cache_open(&options, &c), CDNAGEN_OK);
    cache_blob *b = cache_get(c, key_text, &tier);
    if (b) assert_memory_equal(cache_blob_data(b), "data", 4);
    cache_blob_release(b);
    if (b) {
        cdnagen_cache_tier again;
        cache_blob_release(cache_get(c, key_text, &again));
        assert_int_equal(again, CDNAGEN_TIER_MEMORY);
    } else {
        cache_blob_release(cache_put(c, key_text, "data", 4));
    }
    cache_close(c);
    return tier;
}

static void a_store_is_asked_last_and_told_what_is_new(void **state) {
    (void)state;
    char *dir = scratch_dir();
    shelf s = {.key = ""};
    char key[CACHE_KEY_CHARS + 1];
    cache_key(TEXT, key);
    assert_int_equal(tier_with(&s, dir, TEXT), CDNAGEN_TIER_NONE);
    assert_string_equal(s.key, key);
    assert_int_equal(s.puts, 1);
    assert_int_equal(tier_with(&s, dir, TEXT), CDNAGEN_TIER_DISK);
    assert_int_equal(s.gets, 1);
    assert_int_equal(tier_with(&s, NULL, TEXT), CDNAGEN_TIER_STORE);
    assert_int_equal(s.gets, 2);
    assert_int_equal(s.puts, 1);
    scratch_remove(dir);
}

static void what_a_store_gives_is_checked(void **state) {
    (void)state;
    shelf s = {.key = ""}, good;
    assert_int_equal(tier_with(&s, NULL, TEXT), CDNAGEN_TIER_NONE);
    good = s;
    for (size_t i = 0; i < good.size; i++) {
        s = good;
        s.bytes_of[i] ^= 4;
        assert_int_equal(tier_with(&s, NULL, TEXT), CDNAGEN_TIER_NONE);
        assert_memory_equal(s.bytes_of, good.bytes_of, good.size); /* replaced */
        s.size = i;
        assert_int_equal(tier_with(&s, NULL, TEXT), CDNAGEN_TIER_NONE);
    }
    s = good;
    assert_int_equal(tier_with(&s, NULL, "another key text"), CDNAGEN_TIER_NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_is_split_at_colons),
        cmocka_unit_test(the_first_root_that_has_it_answers),
        cmocka_unit_test(damage_in_one_root_is_passed_over),
        cmocka_unit_test(a_damaged_pack_is_told_once_and_passed_over),
        cmocka_unit_test(the_first_writable_directory_is_written),
        cmocka_unit_test(a_directory_of_root_is_read_by_others_and_passed_over),
        cmocka_unit_test(packs_alone_are_read_and_nothing_is_written),
        cmocka_unit_test(a_pack_is_walked_like_a_directory),
        cmocka_unit_test(a_store_is_asked_last_and_told_what_is_new),
        cmocka_unit_test(what_a_store_gives_is_checked),
    };
    return cmocka_run_group_tests_name("cache roots", tests, NULL, NULL);
}
