/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cdnagen pack, unpack, verify: a cache as one file, back again, and what is in either. */
#include "cache/pack.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/codeobj.h"

/* collection: the sound entries of some roots, and whether any was not sound. */
typedef struct collection {
    cache_blob **entries;
    size_t count, capacity;
    int bad, no_memory;
} collection;

static void note_problem(void *user, const char *path, const char *what) {
    collection *c = user;
    c->bad = 1;
    fprintf(stderr, "cdnagen: %s %s\n", path, what);
}

static void collect(void *user, cache_blob *entry) {
    collection *c = user;
    if (c->count == c->capacity) {
        const size_t capacity = c->capacity ? 2 * c->capacity : 64;
        cache_blob **const entries = mem_realloc(c->entries, capacity * sizeof *entries);
        if (!entries) {
            c->no_memory = 1;
            return;
        }
        c->entries = entries;
        c->capacity = capacity;
    }
    cache_blob_retain(entry);
    c->entries[c->count++] = entry;
}

static cdnagen_status collect_root(const char *root, int trust_all, collection *c) {
    const cache_visitor visitor = {note_problem, collect, c, trust_all};
    cache_census census;
    TRY(cache_walk(root, &visitor, &census));
    return c->no_memory ? fail_no_memory() : CDNAGEN_OK;
}

/* collect_named: of a root that the user named, which must be there. */
static cdnagen_status collect_named(const char *root, int trust_all, collection *c) {
    if (access(root, R_OK)) return fail(CDNAGEN_IO, "cannot read %s: %s", root, strerror(errno));
    return collect_root(root, trust_all, c);
}

static void release(collection *c) {
    for (size_t i = 0; i < c->count; i++) cache_blob_release(c->entries[i]);
    mem_free(c->entries);
}

/* ---- pack ---- */

static cdnagen_status collect_default_roots(collection *c) {
    const char *why = "";
    char *roots = cache_default_roots(&why);
    if (!roots)
        return fail(CDNAGEN_BAD_ARGUMENT, "pack what? Name a cache directory; there is no default one: %s", why);
    cdnagen_status status = CDNAGEN_OK;
    char *root;
    for (size_t i = 0; !status && (root = cache_root(roots, i)); i++) {
        status = collect_root(root, cache_default_trust(), c);
        mem_free(root);
    }
    mem_free(roots);
    return status;
}

static cdnagen_status pack_roots(const cli *options, collection *c) {
    if (!options->word_count)
        return fail(CDNAGEN_BAD_ARGUMENT, "pack needs the file to write and may be given cache directories and packs");
    if (options->word_count == 1) TRY(collect_default_roots(c));
    for (size_t i = 1; i < options->word_count; i++) TRY(collect_named(options->words[i], cache_default_trust(), c));
    TRY(pack_write(options->words[0], c->entries, c->count));
    cache_census census;
    TRY(cache_walk(options->words[0], &(cache_visitor){.report = note_problem, .user = c}, &census));
    printf("%s: %" PRIu64 " entries, %" PRIu64 " bytes of code objects\n", options->words[0], census.entries,
           census.bytes);
    return CDNAGEN_OK;
}

int pack_command(const cli *options) {
    collection c = {0};
    const cdnagen_status status = pack_roots(options, &c);
    release(&c);
    return status ? fail_exit(status) : c.bad ? EXIT_CHECK_FAILED : EXIT_OK;
}

/* ---- unpack ---- */

static void note_warning(void *user, cdnagen_log_level level, const char *line) {
    if (level != CDNAGEN_LOG_WARNING) return;
    *(int *)user = 1;
    fprintf(stderr, "cdnagen: %s\n", line);
}

static cdnagen_status put_all(const collection *c, const char *dir) {
    cache *to = NULL;
    int failed = 0;
    const cache_options options = {
        .roots = dir, .trust_all = cache_default_trust(), .log = note_warning, .log_user = &failed};
    TRY(cache_open(&options, &to));
    cdnagen_status status = CDNAGEN_OK;
    for (size_t i = 0; i < c->count && !status && !failed; i++) {
        size_t size;
        text key_text = {0};
        const char *const words = cache_blob_key_text(c->entries[i], &size);
        text_add_bytes(&key_text, words, size);
        cache_blob *b = key_text.failed ? NULL
                                        : cache_put(to, key_text.data ? key_text.data : "",
                                                    cache_blob_data(c->entries[i]), cache_blob_size(c->entries[i]));
        if (!b) status = fail_no_memory();
        cache_blob_release(b);
        text_free(&key_text);
    }
    cache_close(to);
    if (!status && failed) status = fail(CDNAGEN_IO, "not all entries could be written to %s", dir);
    return status;
}

static cdnagen_status unpack(const cli *options, collection *c) {
    if (options->word_count != 2)
        return fail(CDNAGEN_BAD_ARGUMENT, "unpack needs two words: the pack, and the directory to fill");
    if (strchr(options->words[1], ':'))
        return fail(CDNAGEN_BAD_ARGUMENT, "directory %s has a ':' in its name, which separates the roots of a cache",
                    options->words[1]);
    TRY(collect_named(options->words[0], cache_default_trust(), c));
    TRY(put_all(c, options->words[1]));
    printf("%s: %zu entries\n", options->words[1], c->count);
    return CDNAGEN_OK;
}

int unpack_command(const cli *options) {
    collection c = {0};
    const cdnagen_status status = unpack(options, &c);
    release(&c);
    return status ? fail_exit(status) : c.bad ? EXIT_CHECK_FAILED : EXIT_OK;
}

/* ---- verify ---- */

/* fact: the rest of the key text's line that begins with `name` and a blank, as a new string; "" if there is none. */
static char *fact(const char *key_text, size_t size, const char *name) {
    const size_t n = strlen(name);
    text found = {0};
    for (const char *at = key_text, *const end = key_text + size; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        if ((size_t)(stop - at) > n && !memcmp(at, name, n) && at[n] == ' ') {
            text_add_bytes(&found, at + n + 1, (size_t)(stop - at) - n - 1);
            break;
        }
        at = stop + 1;
    }
    if (!found.data) text_add(&found, "%s", "");
    return found.data ? found.data : mem_strdup("");
}

static const char *const facts[] = {"operator", "tag", "shape", "target", "generator", "llvm"};
enum { OPERATOR, TAG, SHAPE, TARGET, FACTS = sizeof facts / sizeof *facts };

/* Whether the object is code for the target that the key text names. */
static int fits(const cache_blob *b, const char *target_words) {
    codeobj o;
    target t;
    return codeobj_open(cache_blob_data(b), cache_blob_size(b), &o) == CDNAGEN_OK &&
           target_parse(target_words, &t) == CDNAGEN_OK && o.chip == t.chip;
}

/* show_entry: a line of text, or an object of `list`; 0 if the object is not code for its target. */
static int show_entry(const cache_blob *b, json_t *list) {
    size_t size;
    const char *const words = cache_blob_key_text(b, &size);
    char key[CACHE_KEY_CHARS + 1], hash[CACHE_KEY_CHARS + 1], *f[FACTS];
    cache_hash(words, size, key);
    cache_hash(cache_blob_data(b), cache_blob_size(b), hash);
    for (int i = 0; i < FACTS; i++) f[i] = fact(words, size, facts[i]);
    const int sound = f[TARGET] && fits(b, f[TARGET]);
    if (list) {
        json_t *j =
            json_pack("{s:s, s:s, s:I, s:b, s:o*}", "key", key, "object_blake3", hash, "object_bytes",
                      (json_int_t)cache_blob_size(b), "code_for_target", sound, "key_text", json_stringn(words, size));
        for (int i = 0; i < FACTS; i++)
            if (f[i]) json_object_set_new(j, facts[i], json_string(f[i]));
        json_array_append_new(list, j);
    } else {
        printf("%.16s  %s  %s:%s  %s  %zu bytes%s\n", key, f[TARGET], f[OPERATOR], f[TAG], f[SHAPE], cache_blob_size(b),
               sound ? "" : "  NOT CODE FOR THIS TARGET");
    }
    for (int i = 0; i < FACTS; i++) mem_free(f[i]);
    return sound;
}

static int by_key(const void *a, const void *b) {
    const cache_blob *const x = *(cache_blob *const *)a, *const y = *(cache_blob *const *)b;
    size_t n, m;
    const char *const p = cache_blob_key_text(x, &n), *const q = cache_blob_key_text(y, &m);
    const int order = memcmp(p, q, n < m ? n : m);
    return order ? order : n < m ? -1 : n > m;
}

static cdnagen_status verify(const cli *options, collection *c) {
    if (!options->word_count) return fail(CDNAGEN_BAD_ARGUMENT, "verify what? Name packs or cache directories");
    for (size_t i = 0; i < options->word_count; i++)
        TRY(collect_named(options->words[i], 1, c)); /* nothing is loaded */
    if (c->count) qsort(c->entries, c->count, sizeof *c->entries, by_key);
    json_t *list = options->json ? json_array() : NULL;
    for (size_t i = 0; i < c->count; i++) c->bad |= !show_entry(c->entries[i], list);
    if (list) return print_object(json_pack("{s:b, s:o}", "sound", !c->bad, "entries", list));
    printf("%zu entries, %s\n", c->count, c->bad ? "NOT ALL SOUND" : "all sound");
    return CDNAGEN_OK;
}

int verify_command(const cli *options) {
    collection c = {0};
    const cdnagen_status status = verify(options, &c);
    release(&c);
    return status ? fail_exit(status) : c.bad ? EXIT_CHECK_FAILED : EXIT_OK;
}
