/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One process: both tiers, names, damaged and strange files, census, clear, running out of memory. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/cache/scratch.h"

#define TEXT "mqa_logits|mfma32x32x64_bkv64|gfx950"

static void put(cache *c, const char *key_text, const char *data) {
    cache_blob *b = cache_put(c, key_text, data, strlen(data));
    assert_non_null(b);
    assert_int_equal(cache_blob_size(b), strlen(data));
    assert_memory_equal(cache_blob_data(b), data, strlen(data));
    cache_blob_release(b);
}

/* expect: what a get must answer; data NULL: a miss. */
static void expect(cache *c, const char *key_text, const char *data, cdnagen_cache_tier tier) {
    cdnagen_cache_tier from = tier == CDNAGEN_TIER_NONE ? CDNAGEN_TIER_DISK : CDNAGEN_TIER_NONE;
    cache_blob *b = cache_get(c, key_text, &from);
    assert_int_equal(from, tier);
    if (!data) {
        assert_null(b);
        return;
    }
    assert_non_null(b);
    assert_int_equal(cache_blob_size(b), strlen(data));
    assert_memory_equal(cache_blob_data(b), data, strlen(data));
    cache_blob_release(b);
}

static void expect_fresh(const char *dir, const char *key_text, const char *data) {
    cache *c = scratch_open(dir, NULL);
    expect(c, key_text, data, data ? CDNAGEN_TIER_DISK : CDNAGEN_TIER_NONE);
    cache_close(c);
}

static unsigned mode_of(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

static void memory_only_round_trip(void **state) {
    (void)state;
    cache *c = scratch_open(NULL, NULL);
    expect(c, TEXT, NULL, CDNAGEN_TIER_NONE);
    put(c, TEXT, "one");
    expect(c, TEXT, "one", CDNAGEN_TIER_MEMORY);
    put(c, TEXT, "two");
    expect(c, TEXT, "two", CDNAGEN_TIER_MEMORY);
    put(c, "", "empty key text");
    expect(c, "", "empty key text", CDNAGEN_TIER_MEMORY);
    put(c, "empty data", "");
    expect(c, "empty data", "", CDNAGEN_TIER_MEMORY);
    cache_close(c);
    cache_close(NULL);
}

static void many_keys_stay_apart(void **state) {
    (void)state;
    cache *c = scratch_open("", NULL);
    char key_text[64], data[64];
    for (int i = 0; i < 5000; i++) {
        snprintf(key_text, sizeof key_text, "key %d wpe%d", i / 3, i % 3);
        snprintf(data, sizeof data, "data %d", i);
        put(c, key_text, data);
    }
    for (int i = 0; i < 5000; i++) {
        snprintf(key_text, sizeof key_text, "key %d wpe%d", i / 3, i % 3);
        snprintf(data, sizeof data, "data %d", i);
        expect(c, key_text, data, CDNAGEN_TIER_MEMORY);
    }
    cache_close(c);
}

static void keys_of_one_hash_stay_apart(void **state) {
    (void)state;
    static const char *const key_texts[] = {"ab", "abc", "a", "", "abd"};
    enum { COUNT = sizeof key_texts / sizeof *key_texts };
    memory_tier m = {.limit = 1 << 20};
    assert_null(memory_tier_find(&m, 5, "ab", 2));
    for (int i = 0; i < COUNT; i++) {
        cache_blob *b = blob_make(key_texts[i], strlen(key_texts[i]), &key_texts[i], sizeof key_texts[i]);
        memory_tier_keep(&m, 5, b);
        cache_blob_release(b);
    }
    for (int i = 0; i < COUNT; i++) {
        const cache_blob *b = memory_tier_find(&m, 5, key_texts[i], strlen(key_texts[i]));
        assert_non_null(b);
        assert_memory_equal(cache_blob_data(b), &key_texts[i], sizeof key_texts[i]);
        assert_null(memory_tier_find(&m, 6, key_texts[i], strlen(key_texts[i])));
    }
    memory_tier_free(&m);
}

/* Under its limit, whatever came; what is asked for stays; every slot that is left can be found. */
static void the_memory_tier_forgets_what_is_not_asked_for(void **state) {
    (void)state;
    enum { BLOBS = 5000, LIMIT = 64 << 10 };
    memory_tier m = {.limit = LIMIT};
    char words[64];
    for (int i = 0; i < BLOBS; i++) {
        const int n = snprintf(words, sizeof words, "key %d", i);
        cache_blob *b = blob_make(words, (size_t)n, words, (size_t)n);
        assert_non_null(b);
        /* few hashes, so that runs of slots are long and wrap */
        memory_tier_keep(&m, (uint64_t)i * 7 % 97, b);
        cache_blob_release(b);
        assert_true(m.bytes <= LIMIT);
        assert_non_null(memory_tier_find(&m, 0, "key 0", 5));
    }
    size_t found = 0, size = 0;
    for (int i = 0; i < BLOBS; i++) {
        const int n = snprintf(words, sizeof words, "key %d", i);
        const cache_blob *b = memory_tier_find(&m, (uint64_t)i * 7 % 97, words, (size_t)n);
        if (b) found++, size += b->file_bytes;
    }
    assert_int_equal(found, m.count);
    assert_int_equal(size, m.bytes);
    assert_true(found > 300 && m.capacity < 4 * BLOBS);
    cache_blob *large = blob_alloc(LIMIT + 16);
    large->key_text = "large";
    large->key_text_bytes = 5;
    memory_tier_keep(&m, 1, large);
    cache_blob_release(large);
    assert_int_equal(found, m.count);
    memory_tier_free(&m);
}

static void a_blob_outlives_the_cache(void **state) {
    (void)state;
    cache *c = scratch_open(NULL, NULL);
    cache_blob *b = cache_put(c, TEXT, "data", 4);
    cache_blob_retain(b);
    put(c, TEXT, "newer");
    cache_close(c);
    cache_blob_release(b);
    assert_memory_equal(cache_blob_data(b), "data", 4);
    cache_blob_release(b);
    cache_blob_release(NULL);
}

static void disk_then_memory_and_between_two_caches(void **state) {
    (void)state;
    char *dir = scratch_dir();
    cache *a = scratch_open(dir, NULL), *b = scratch_open(dir, NULL);
    expect(b, TEXT, NULL, CDNAGEN_TIER_NONE);
    put(a, TEXT, "one");
    expect(b, TEXT, "one", CDNAGEN_TIER_DISK);
    expect(b, TEXT, "one", CDNAGEN_TIER_MEMORY);
    put(a, TEXT, "two");
    expect_fresh(dir, TEXT, "two");
    assert_int_equal(scratch_files(dir, ""), 1);
    assert_true(scratch_exists(scratch_entry(dir, TEXT)));
    cache_close(a);
    cache_close(b);
    scratch_remove(dir);
}

static void opening_and_missing_touch_nothing(void **state) {
    (void)state;
    char *dir = scratch_dir();
    log_book book = {0};
    cache *c = scratch_open(scratch_path("%s/a", dir), &book);
    expect(c, TEXT, NULL, CDNAGEN_TIER_NONE);
    cache_close(c);
    assert_false(scratch_exists(scratch_path("%s/a", dir)));
    assert_int_equal(book.warnings + book.infos, 0);
    scratch_remove(dir);
}

static void off_means_neither_tier(void **state) {
    (void)state;
    char *dir = scratch_dir();
    cache *c = NULL;
    assert_int_equal(cache_open(&(cache_options){.roots = dir, .off = 1}, &c), CDNAGEN_OK);
    const long live = mem_live();
    put(c, TEXT, "data");
    assert_int_equal(mem_live(), live);
    expect(c, TEXT, NULL, CDNAGEN_TIER_NONE);
    assert_null(cache_lock(c, TEXT));
    cache_unlock(NULL);
    cache_close(c);
    assert_int_equal(scratch_files(dir, ""), 0);
    scratch_remove(dir);
}

static void our_directories_are_private_and_the_users_keep_their_mode(void **state) {
    (void)state;
    char *dir = scratch_dir();
    const char *ours = scratch_path("%s/a/b", dir), *theirs = scratch_path("%s/shared", dir);
    cache *c = scratch_open(ours, NULL);
    put(c, TEXT, "data");
    cache_close(c);
    assert_int_equal(mode_of(scratch_path("%s/a", dir)), 0700);
    assert_int_equal(mode_of(ours), 0700);
    assert_int_equal(mode_of(scratch_path("%s/v1", ours)), 0700);

    const mode_t mask = umask(002);
    assert_int_equal(mkdir(theirs, 0775), 0);
    c = scratch_open(theirs, NULL);
    put(c, TEXT, "data");
    cache_close(c);
    umask(mask);
    assert_int_equal(mode_of(theirs), 0775);
    assert_int_equal(mode_of(scratch_path("%s/v1", theirs)), 0775);
    assert_int_equal(mode_of(scratch_entry(theirs, TEXT)), 0664);
    scratch_remove(dir);
}

static void a_relative_directory_survives_chdir(void **state) {
    (void)state;
    char *dir = scratch_dir(), here[4096];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(dir), 0);
    cache *c = scratch_open("below", NULL);
    assert_int_equal(chdir("/"), 0);
    put(c, TEXT, "data");
    cache_close(c);
    expect_fresh(scratch_path("%s/below", dir), TEXT, "data");
    assert_int_equal(chdir(here), 0);
    scratch_remove(dir);
}

typedef struct bad_files {
    int count;
    char last[4096];
} bad_files;
static void note_bad(void *user, const char *path, const char *problem) {
    bad_files *bad = user;
    bad->count++;
    snprintf(bad->last, sizeof bad->last, "%s %s", path, problem);
}

/* Each puts something else in the place of a sound entry. */
static void spoil_zero_length(const char *path) { scratch_write(path, "", 0); }
static void spoil_truncate(const char *path) { assert_int_equal(truncate(path, 60), 0); }
static void spoil_flip(const char *path) {
    const int fd = open(path, O_RDWR);
    char byte;
    assert_int_equal(pread(fd, &byte, 1, 50), 1);
    byte ^= 4;
    assert_int_equal(pwrite(fd, &byte, 1, 50), 1);
    close(fd);
}
static void spoil_text(const char *path) {
    scratch_write(path, "not an entry at all, but long enough to be one, one might think", 62);
}
static void spoil_foreign(const char *path) {
    cache_blob *b = blob_make("another key text", 16, "other data", 10);
    scratch_write(path, b->file, b->file_bytes);
    cache_blob_release(b);
}
static void spoil_symlink(const char *path) {
    const char *aside = scratch_path("%s.aside", path);
    assert_int_equal(rename(path, aside), 0);
    assert_int_equal(symlink(aside, path), 0);
}
static void spoil_dangling(const char *path) {
    unlink(path);
    assert_int_equal(symlink("/nonexistent/anywhere", path), 0);
}
static void spoil_fifo(const char *path) {
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
}
static void spoil_huge(const char *path) { assert_int_equal(truncate(path, (off_t)ENTRY_BYTES_MAX + 1), 0); }
static void spoil_gone(const char *path) { unlink(path); }

static void whatever_is_in_its_place_an_entry_is_a_miss_and_is_replaced(void **state) {
    (void)state;
    static const struct {
        const char *name;
        void (*spoil)(const char *path);
        const char *problem; /* as verify names it; NULL: an absent file is no news */
    } rows[] = {
        {"zero length", spoil_zero_length, "is damaged"},
        {"truncated", spoil_truncate, "is damaged"},
        {"bit flipped", spoil_flip, "is damaged"},
        {"text", spoil_text, "is damaged"},
        {"foreign", spoil_foreign, "belongs to another key"},
        {"symlink", spoil_symlink, "is not a regular file"},
        {"dangling symlink", spoil_dangling, "is not a regular file"},
        {"fifo", spoil_fifo, "is not a regular file"},
        {"huge", spoil_huge, "is larger than any entry"},
        {"gone", spoil_gone, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *dir = scratch_dir();
        log_book book = {0};
        cache *writer = scratch_open(dir, NULL);
        put(writer, TEXT, "sound");
        rows[i].spoil(scratch_entry(dir, TEXT));
        cache *reader = scratch_open(dir, &book);
        expect(reader, TEXT, NULL, CDNAGEN_TIER_NONE);
        if (book.infos != (rows[i].problem != NULL) || book.warnings)
            fail_msg("%s: %d lines", rows[i].name, book.infos);
        bad_files bad = {0};
        cache_census census;
        assert_int_equal(cache_walk(dir, &(cache_visitor){.report = note_bad, .user = &bad}, &census), CDNAGEN_OK);
        assert_int_equal(bad.count, rows[i].problem != NULL);
        assert_int_equal(census.damaged + census.foreign, bad.count);
        if (rows[i].problem)
            assert_string_equal(bad.last, scratch_path("%s %s", scratch_entry(dir, TEXT), rows[i].problem));
        put(reader, TEXT, "again");
        expect_fresh(dir, TEXT, "again");
        assert_int_equal(book.warnings, 0);
        cache_close(writer);
        cache_close(reader);
        scratch_remove(dir);
    }
}

static void a_folder_in_place_of_an_entry_costs_one_warning(void **state) {
    (void)state;
    char *dir = scratch_dir();
    log_book book = {0};
    cache *c = scratch_open(dir, &book);
    put(c, "other key", "makes the root");
    char key[CACHE_KEY_CHARS + 1];
    cache_key(TEXT, key);
    assert_int_equal(mkdir(scratch_path("%s/v1/%.2s", dir, key), 0700), 0);
    assert_int_equal(mkdir(scratch_entry(dir, TEXT), 0700), 0);
    for (int i = 0; i < 3; i++) {
        expect(c, TEXT, i ? "data" : NULL, i ? CDNAGEN_TIER_MEMORY : CDNAGEN_TIER_NONE);
        put(c, TEXT, "data");
    }
    assert_int_equal(book.warnings, 1);
    assert_int_equal(scratch_files(dir, ""), 1); /* no temporary is left */
    cache_close(c);
    scratch_remove(dir);
}

static void names_are_ours_by_spelling(void **state) {
    (void)state;
#define K64 "ab34567890123456789012345678901234567890123456789012345678901234"
    static const struct {
        const char *hex, *name;
        file_kind kind;
    } rows[] = {
        {"ab", K64, FILE_ENTRY},
        {"ac", K64, FILE_OTHER},
        {"ab", K64 "5", FILE_OTHER},
        {"ab", "ab34", FILE_OTHER},
        {"ab", K64 ".lock", FILE_LOCK},
        {"ab", K64 ".locks", FILE_OTHER},
        {"ab", K64 ".loc", FILE_OTHER},
        {"ab", "tmp.0123456789abcdef", FILE_TEMPORARY},
        {"ab", "tmp.", FILE_OTHER},
        {"ab", "tmp.0123456789abcdefg", FILE_OTHER},
        {"ab", "tmp.0123456789abcde", FILE_OTHER},
        {"ab", "README", FILE_OTHER},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (folder_file_kind(rows[i].hex, rows[i].name) != rows[i].kind) fail_msg("%s", rows[i].name);
}

static void age(const char *path, int seconds) {
    const struct timespec t = {time(NULL) - seconds, 0};
    assert_int_equal(utimensat(AT_FDCWD, path, (struct timespec[]){t, t}, AT_SYMLINK_NOFOLLOW), 0);
}

static void old_orphans_are_swept_by_a_put_and_young_ones_stay(void **state) {
    (void)state;
    char *dir = scratch_dir(), key[CACHE_KEY_CHARS + 1];
    cache *c = scratch_open(dir, NULL);
    put(c, TEXT, "one");
    cache_key(TEXT, key);
    const char *folder = scratch_path("%s/v1/%.2s", dir, key);
    const char *young = scratch_path("%s/tmp.0000000000000001", folder);
    const char *old = scratch_path("%s/tmp.0000000000000002", folder);
    const char *strange = scratch_path("%s/strange", folder);
    const char *old_lock = scratch_path("%s/%.2s%062d.lock", folder, key, 7);
    scratch_write(young, "x", 1);
    scratch_write(old, "x", 1);
    scratch_write(strange, "x", 1);
    scratch_write(old_lock, "x", 1);
    age(old, 7200);
    age(strange, 7200);
    age(old_lock, 7200);
    put(c, TEXT, "two");
    assert_true(scratch_exists(young));
    assert_false(scratch_exists(old));
    assert_true(scratch_exists(strange));
    assert_false(scratch_exists(old_lock));
    cache_close(c);
    scratch_remove(dir);
}

static void walk_counts_and_verify_names_what_is_bad(void **state) {
    (void)state;
    char *dir = scratch_dir(), key_text[32], key[CACHE_KEY_CHARS + 1];
    cache_census census = {0};
    bad_files bad = {0};
    assert_int_equal(
        cache_walk(scratch_path("%s/none", dir), &(cache_visitor){.report = note_bad, .user = &bad}, &census),
        CDNAGEN_OK);
    assert_int_equal(census.entries, 0);

    cache *c = scratch_open(dir, NULL);
    for (int i = 0; i < 20; i++) {
        snprintf(key_text, sizeof key_text, "key %d", i);
        put(c, key_text, "data");
    }
    cache_close(c);
    assert_int_equal(cache_walk(dir, &(cache_visitor){.report = note_bad, .user = &bad}, &census), CDNAGEN_OK);
    assert_int_equal(census.entries, 20);
    assert_int_equal(census.damaged + census.foreign + census.temporaries + (uint64_t)bad.count, 0);
    assert_true(census.bytes > 20 * 64);

    spoil_flip(scratch_entry(dir, "key 3"));
    assert_int_equal(cache_walk(dir, NULL, &census), CDNAGEN_OK);
    assert_int_equal(census.damaged, 0);
    assert_int_equal(cache_walk(dir, &(cache_visitor){.report = note_bad, .user = &bad}, &census), CDNAGEN_OK);
    assert_int_equal(census.damaged, 1);
    assert_int_equal(bad.count, 1);
    assert_string_equal(bad.last, scratch_path("%s is damaged", scratch_entry(dir, "key 3")));

    spoil_foreign(scratch_entry(dir, "key 4"));
    cache_key("key 5", key);
    scratch_write(scratch_path("%s/v1/%.2s/tmp.0123456789abcdef", dir, key), "x", 1);
    scratch_write(scratch_path("%s/v1/%.2s/notes", dir, key), "x", 1);
    assert_int_equal(cache_walk(dir, &(cache_visitor){0}, &census), CDNAGEN_OK);
    assert_int_equal(census.entries, 20);
    assert_int_equal(census.damaged, 1);
    assert_int_equal(census.foreign, 1);
    assert_int_equal(census.temporaries, 1);

    assert_int_equal(cache_clear(dir, &census), CDNAGEN_OK);
    assert_int_equal(census.entries, 20);
    assert_int_equal(census.temporaries, 1);
    assert_int_equal(scratch_files(dir, ""), 1);
    assert_int_equal(scratch_files(dir, "/notes"), 1);
    scratch_remove(dir);
}

static void clear_leaves_the_lock_that_somebody_holds(void **state) {
    (void)state;
    char *dir = scratch_dir();
    cache_census census;
    cache *c = scratch_open(dir, NULL);
    cache_lock_handle *lock = cache_lock(c, TEXT);
    assert_non_null(lock);
    assert_int_equal(scratch_files(dir, ".lock"), 1);
    assert_int_equal(cache_clear(dir, &census), CDNAGEN_OK);
    assert_int_equal(scratch_files(dir, ".lock"), 1);
    cache_unlock(lock);
    assert_int_equal(scratch_files(dir, ".lock"), 0);
    scratch_write(scratch_path("%s.lock", scratch_entry(dir, TEXT)), "pid 1\n", 6);
    assert_int_equal(cache_clear(dir, &census), CDNAGEN_OK);
    assert_int_equal(scratch_files(dir, ".lock"), 0);
    cache_close(c);
    scratch_remove(dir);
}

static void walk_of_a_file_is_an_error_that_names_it(void **state) {
    (void)state;
    char *dir = scratch_dir();
    const char *file = scratch_path("%s/file", dir);
    cache_census census = {.entries = 77};
    scratch_write(file, "x", 1);
    assert_int_equal(cache_walk(file, NULL, &census), CDNAGEN_IO);
    assert_non_null(strstr(cdnagen_error(), file));
    assert_int_equal(cache_clear(file, &census), CDNAGEN_IO);
    assert_int_equal(census.entries, 77);
    scratch_remove(dir);
}

static void default_directory(void **state) {
    (void)state;
    static const struct {
        const char *own, *xdg, *home, *dir, *why;
    } rows[] = {
        {"/c", "/x", "/h", "/c", "CDNAGEN_CACHE_DIR"},
        {"", "/x", "/h", "/x/cdnagen", "XDG_CACHE_HOME"},
        {NULL, "/x", "/h", "/x/cdnagen", "XDG_CACHE_HOME"},
        {NULL, "x", "/h", "/h/.cache/cdnagen", "HOME"},
        {NULL, "", "/h", "/h/.cache/cdnagen", "HOME"},
        {NULL, NULL, "/h", "/h/.cache/cdnagen", "HOME"},
        {NULL, NULL, NULL, NULL, "HOME is not set"},
        {NULL, NULL, "", NULL, "HOME is not set"},
        {NULL, "x", "/", NULL, "HOME is /"},
        {NULL, NULL, "//", NULL, "HOME is /"},
        {NULL, NULL, "h", NULL, "HOME is not an absolute path"},
        {NULL, NULL, "/a:b", NULL, "HOME has a ':' in it, which separates roots: name one by CDNAGEN_CACHE_DIR"},
        {NULL, "/x", NULL, "/x/cdnagen", "XDG_CACHE_HOME"},
    };
    static const char *const names[] = {"CDNAGEN_CACHE_DIR", "XDG_CACHE_HOME", "HOME"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const values[] = {rows[i].own, rows[i].xdg, rows[i].home};
        for (int v = 0; v < 3; v++) values[v] ? setenv(names[v], values[v], 1) : unsetenv(names[v]);
        const char *why = NULL;
        char *dir = cache_default_roots(&why);
        assert_string_equal(why, rows[i].why);
        rows[i].dir ? assert_string_equal(dir, rows[i].dir) : assert_null(dir);
        mem_free(dir);
    }
}

/* calls: every public call once, tolerant of memory running out, strict about what comes back. */
static void calls(const char *dir) {
    const char *why;
    mem_free(cache_default_roots(&why));
    cache *c = NULL;
    cache_census census;
    cdnagen_cache_tier tier;
    if (cache_open(&(cache_options){.roots = dir}, &c) == CDNAGEN_OK) {
        cache_blob *b = cache_get(c, "there", &tier);
        if (b) assert_memory_equal(cache_blob_data(b), "data", 4);
        cache_blob_release(b);
        cache_lock_handle *lock = cache_lock(c, TEXT);
        b = cache_put(c, TEXT, "data", 4);
        if (b) assert_memory_equal(cache_blob_data(b), "data", 4);
        cache_blob_release(b);
        b = cache_get(c, TEXT, &tier);
        if (b) assert_memory_equal(cache_blob_data(b), "data", 4);
        cache_blob_release(b);
        cache_unlock(lock);
        cache_close(c);
    }
    cache_walk(dir, &(cache_visitor){0}, &census);
    cache_clear(scratch_path("%s/none", dir), &census);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    setenv("HOME", "/h", 1);
    int failures = 0;
    for (long k = 1; k < 100; k++) {
        char *dir = scratch_dir();
        const char *below = scratch_path("%s/x", dir);
        cache *c = scratch_open(below, NULL);
        put(c, "there", "data");
        cache_close(c);
        const long live = mem_live();
        mem_fail_at(k);
        calls(below);
        void *left = mem_alloc(1);
        const int was_reached = left != NULL;
        mem_free(left);
        mem_fail_at(0);
        assert_int_equal(mem_live(), live);
        assert_int_equal(scratch_files(dir, ".lock"), 0);
        scratch_remove(dir);
        if (!was_reached) break;
        failures++;
    }
    assert_in_range(failures, 8, 98);
}

static void a_new_root_needs_memory_and_does_without(void **state) {
    (void)state;
    char *dir = scratch_dir();
    log_book book = {0};
    cache *c = scratch_open(scratch_path("%s/new", dir), &book);
    mem_fail_at(3); /* blob, table, then the path of the root */
    put(c, TEXT, "data");
    mem_fail_at(0);
    assert_int_equal(book.warnings, 1);
    expect(c, TEXT, "data", CDNAGEN_TIER_MEMORY);
    cache_close(c);
    scratch_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_only_round_trip),
        cmocka_unit_test(many_keys_stay_apart),
        cmocka_unit_test(keys_of_one_hash_stay_apart),
        cmocka_unit_test(the_memory_tier_forgets_what_is_not_asked_for),
        cmocka_unit_test(a_blob_outlives_the_cache),
        cmocka_unit_test(disk_then_memory_and_between_two_caches),
        cmocka_unit_test(opening_and_missing_touch_nothing),
        cmocka_unit_test(off_means_neither_tier),
        cmocka_unit_test(our_directories_are_private_and_the_users_keep_their_mode),
        cmocka_unit_test(a_relative_directory_survives_chdir),
        cmocka_unit_test(whatever_is_in_its_place_an_entry_is_a_miss_and_is_replaced),
        cmocka_unit_test(a_folder_in_place_of_an_entry_costs_one_warning),
        cmocka_unit_test(names_are_ours_by_spelling),
        cmocka_unit_test(old_orphans_are_swept_by_a_put_and_young_ones_stay),
        cmocka_unit_test(walk_counts_and_verify_names_what_is_bad),
        cmocka_unit_test(clear_leaves_the_lock_that_somebody_holds),
        cmocka_unit_test(walk_of_a_file_is_an_error_that_names_it),
        cmocka_unit_test(default_directory),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_new_root_needs_memory_and_does_without),
    };
    return cmocka_run_group_tests_name("cache tiers", tests, NULL, NULL);
}
