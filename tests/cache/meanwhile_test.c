/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What others do between any two calls of a reader, or of one that makes room: the reader has a right kernel or
 * none. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cache/scratch.h"
#include "tests/cache/shim.h"

#define TEXT "mqa_logits|mfma32x32x64_bkv64|gfx950"

enum { DATA_BYTES = 50 * 1000, OLD = 'o', NEW = 'n' };

/* ---- an entry or a pack is replaced while it is read ---- */

/* spot: a sound file in place, and another version of it, and one of another key, beside. */
typedef struct spot {
    char *dir;
    const char *place, *version, *foreign;
    void (*replace)(const struct spot *s);
} spot;

static void rename_version(const spot *s) { assert_int_equal(rename(s->version, s->place), 0); }
static void rename_foreign(const spot *s) { assert_int_equal(rename(s->foreign, s->place), 0); }
static void take_away(const spot *s) { assert_int_equal(unlink(s->place), 0); }
static void cut_in_place(const spot *s) { assert_int_equal(truncate(s->place, DATA_BYTES / 2), 0); }
static void empty_in_place(const spot *s) { assert_int_equal(truncate(s->place, 0), 0); }
static void lengthen_in_place(const spot *s) { assert_int_equal(truncate(s->place, 3 * DATA_BYTES), 0); }

static void copy_in_place(const spot *s, size_t most) {
    static char from[2 * DATA_BYTES];
    const int in = open(s->version, O_RDONLY), out = open(s->place, O_WRONLY);
    const ssize_t size = read(in, from, sizeof from);
    assert_true(size > DATA_BYTES);
    const size_t wanted = most < (size_t)size ? most : (size_t)size;
    assert_int_equal(write(out, from, wanted), wanted);
    close(in);
    close(out);
}
static void overwrite_in_place(const spot *s) { copy_in_place(s, SIZE_MAX); }
static void overwrite_half(const spot *s) { copy_in_place(s, DATA_BYTES / 2); }
static void put_a_folder(const spot *s) {
    take_away(s);
    assert_int_equal(mkdir(s->place, 0700), 0);
}
static void put_a_fifo(const spot *s) {
    take_away(s);
    assert_int_equal(mkfifo(s->place, 0600), 0);
}
static void put_a_link(const spot *s) {
    take_away(s);
    assert_int_equal(symlink(s->version, s->place), 0);
}

static const struct {
    const char *name;
    void (*replace)(const spot *s);
} replacements[] = {
    {"renamed over by another version", rename_version},
    {"renamed over by another key's", rename_foreign},
    {"unlinked", take_away},
    {"cut in place", cut_in_place},
    {"emptied in place", empty_in_place},
    {"lengthened in place", lengthen_in_place},
    {"overwritten in place", overwrite_in_place},
    {"overwritten by half", overwrite_half},
    {"replaced by a folder", put_a_folder},
    {"replaced by a FIFO", put_a_fifo},
    {"replaced by a link", put_a_link},
};

static cache_blob *version_of(const char *key_text, char fill) {
    static char data[DATA_BYTES];
    memset(data, fill, sizeof data);
    return blob_make(key_text, strlen(key_text), data, sizeof data);
}

static void write_entry(const char *path, const char *key_text, char fill) {
    cache_blob *b = version_of(key_text, fill);
    scratch_write(path, b->file, b->file_bytes);
    cache_blob_release(b);
}

static void write_pack(const char *path, const char *key_text, char fill) {
    cache_blob *b = version_of(key_text, fill);
    assert_int_equal(pack_write(path, &b, 1), CDNAGEN_OK);
    cache_blob_release(b);
}

static spot make_spot(int packed) {
    spot s = {.dir = scratch_dir()};
    void (*const write_file)(const char *, const char *, char) = packed ? write_pack : write_entry;
    s.version = strdup(scratch_path("%s/version", s.dir));
    s.foreign = strdup(scratch_path("%s/foreign", s.dir));
    s.place = strdup(packed ? scratch_path("%s/pack", s.dir) : scratch_entry(s.dir, TEXT));
    if (!packed) {
        cache *c = scratch_open(s.dir, NULL);
        cache_blob_release(cache_put(c, TEXT, "data", 4)); /* makes the folders */
        cache_close(c);
    }
    write_file(s.place, TEXT, OLD);
    write_file(s.version, TEXT, NEW);
    write_file(s.foreign, "another key", NEW);
    return s;
}

static void free_spot(spot *s) {
    free((char *)s->place);
    free((char *)s->version);
    free((char *)s->foreign);
    scratch_remove(s->dir);
}

static void replace_now(void *user) {
    const spot *s = user;
    s->replace(s);
}

/* one_version: whether the blob, if there is one, is a whole version. */
static int one_version(const cache_blob *b) {
    if (!b) return 1;
    const char *const data = cache_blob_data(b);
    if (cache_blob_size(b) != DATA_BYTES || (data[0] != OLD && data[0] != NEW)) return 0;
    for (size_t i = 1; i < DATA_BYTES; i++)
        if (data[i] != data[0]) return 0;
    return 1;
}

static void replace_between_any_two_calls(int packed) {
    int trials = 0, hits = 0, wrong = 0;
    for (size_t r = 0; r < sizeof replacements / sizeof *replacements; r++)
        for (int at = 1, met = 1; met; at++, trials++) {
            spot s = make_spot(packed);
            s.replace = replacements[r].replace;
            const shim_plan plan = {.under = s.dir, .action = SHIM_HOOK, .at = at, .hook = replace_now, .user = &s};
            cdnagen_cache_tier tier;
            cache *c = scratch_open(packed ? s.place : s.dir, NULL);
            shim_arm(&plan);
            cache_blob *first = cache_get(c, TEXT, &tier);
            shim_disarm();
            met = *shim_name() != 0;
            cache_blob *second = cache_get(c, TEXT, &tier); /* the same cache, after what it met */
            if (!one_version(first) || !one_version(second)) {
                print_message("%s before call %d: a wrong kernel\n", replacements[r].name, at);
                wrong++;
            }
            hits += first != NULL;
            cache_blob_release(first);
            cache_blob_release(second);
            cache_close(c);
            free_spot(&s);
        }
    print_message("%s: %d trials, %d loads, %d wrong\n", packed ? "packs" : "entries", trials, hits, wrong);
    assert_int_equal(wrong, 0);
    assert_true(trials > 50 && hits > 20 && hits < trials);
}

static void an_entry_is_replaced_while_it_is_read(void **state) {
    (void)state;
    replace_between_any_two_calls(0);
}

static void a_pack_is_replaced_while_it_is_read(void **state) {
    (void)state;
    replace_between_any_two_calls(1);
}

/* ---- one loads what another is about to evict ---- */

enum { KEPT = 4, LIMIT = (KEPT + 1) * (DATA_BYTES + 200) };

typedef struct meeting {
    char *dir;
    cache *c;
    cache_blob *loaded;
} meeting;

static const char *name_of(int i) { return scratch_path("kernel %d", i); }

static void put_limited(const char *dir, int i, size_t limit) {
    cache *c = scratch_open_with((cache_options){.roots = dir, .disk_bytes = limit}, NULL);
    static const char data[DATA_BYTES];
    cache_blob_release(cache_put(c, name_of(i), data, sizeof data));
    cache_close(c);
}

static meeting meet(void) {
    meeting m = {.dir = scratch_dir()};
    for (int i = 0; i < KEPT; i++) put_limited(m.dir, i, 0);
    const struct timespec long_ago[2] = {{1000, 0}, {1000, 0}};
    assert_int_equal(utimensat(AT_FDCWD, scratch_entry(m.dir, name_of(0)), long_ago, 0), 0); /* the first to go */
    m.c = scratch_open(m.dir, NULL);
    return m;
}

static void load_the_oldest(void *user) {
    meeting *m = user;
    cdnagen_cache_tier tier;
    m->loaded = cache_get(m->c, name_of(0), &tier);
}

static void make_room(void *user) { put_limited(((meeting *)user)->dir, KEPT, LIMIT); }

/* In each pair of calls of `first`, all of `second` happens. What is loaded at the end must be on disk. */
static void interleave(void (*first)(void *), void (*second)(void *), const char *what) {
    int trials = 0, lost = 0, loads = 0, evictions = 0;
    for (int at = 1, met = 1; met; at++, trials++) {
        meeting m = meet();
        const shim_plan plan = {.under = m.dir, .action = SHIM_HOOK, .at = at, .hook = second, .user = &m};
        shim_arm(&plan);
        first(&m);
        shim_disarm();
        met = *shim_name() != 0;
        const int there = scratch_exists(scratch_entry(m.dir, name_of(0)));
        lost += m.loaded && !there;
        loads += m.loaded != NULL;
        evictions += !there;
        assert_int_equal(scratch_files(m.dir, ".lock"), 0);
        cache_census census;
        assert_int_equal(cache_walk(m.dir, NULL, &census), CDNAGEN_OK);
        assert_int_equal(census.temporaries, 0);
        cache_blob_release(m.loaded);
        cache_close(m.c);
        scratch_remove(m.dir);
    }
    print_message("%s: %d trials, %d loads, %d evictions, %d lost while loaded\n", what, trials, loads, evictions,
                  lost);
    assert_int_equal(lost, 0);
    assert_true(loads > 0 && evictions > 0);
}

static void what_is_loaded_in_the_middle_of_an_eviction_stays(void **state) {
    (void)state;
    interleave(make_room, load_the_oldest, "loaded while room is made");
}

static void what_is_evicted_in_the_middle_of_a_load_is_a_miss(void **state) {
    (void)state;
    interleave(load_the_oldest, make_room, "room is made while it is loaded");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_is_replaced_while_it_is_read),
        cmocka_unit_test(a_pack_is_replaced_while_it_is_read),
        cmocka_unit_test(what_is_loaded_in_the_middle_of_an_eviction_stays),
        cmocka_unit_test(what_is_evicted_in_the_middle_of_a_load_is_a_miss),
    };
    return cmocka_run_group_tests_name("cache meanwhile", tests, NULL, NULL);
}
