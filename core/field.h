/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tags and shapes: one table of fields per grammar, and the generic functions that parse, print, describe and check it.
 *
 * A tag is fields joined by '_' in table order: "mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma". A shape is "key=value"
 * words separated by blanks, in any order; its canonical text has them in table order. Fields live in the operator's
 * struct at `offset` as int64_t (all kinds; an atom or word is stored as an index or packed value, see below). */
#ifndef CORE_FIELD_H
#define CORE_FIELD_H

#include <stddef.h>
#include <stdint.h>

#include "core/memory.h"
#include "core/status.h"

typedef enum field_kind {
    FIELD_FLAG,   /* present = 1: "swp" */
    FIELD_NUMBER, /* name then digits: "bkv64"; in a shape "heads=64" */
    FIELD_WORD,   /* name then one of `words`; stored as its index; index 0 of a tag word is "not given". The name of a
                     tag's may be "": the words speak for themselves */
    FIELD_TRIPLE, /* name then MxNxK: "mfma32x32x64"; stored as m<<40 | n<<20 | k */
    FIELD_LIST /* of a shape: "extents=64,0,17"; stored as the count, followed by int32_t[FIELD_LIST_MAX]. No number is
                     "not given" */
} field_kind;
enum { FIELD_LIST_MAX = 32 };

typedef enum field_print {
    PRINT_ALWAYS,     /* "r1" is printed though it may be left out */
    PRINT_NOT_DEFAULT /* "pd2" is never printed */
} field_print;

typedef enum field_use {
    FIELD_KERNEL,  /* tag: in the key and the symbol; shape: specialised */
    FIELD_HOST,    /* tag: steers the launch only; shape: run-time, needed by auto, routes and launch */
    FIELD_WORKLOAD /* shape only: which data a test or a run makes; never reaches a kernel */
} field_use;

typedef struct field {
    const char *name;
    field_kind kind;
    field_use use;
    field_print print;
    int required;             /* must be given; otherwise `standard` holds */
    size_t offset;            /* of an int64_t in the operator's variant or shape struct */
    int64_t min, max;         /* FIELD_NUMBER, and each number of a FIELD_LIST; inclusive */
    int64_t standard;         /* value when left out */
    const char *const *words; /* FIELD_WORD, FIELD_TRIPLE: NULL-terminated list of legal spellings */
    const char *needs;        /* name of a field that must be present for this one to be legal, or NULL */
    const char *help;         /* one line, with the unit */
} field;

/* field_alias: a word of a tag that is read as if other words, whose fields follow each other, stood there. It is never
 * printed. */
typedef struct field_alias {
    const char *word;  /* "mfma" */
    const char *means; /* "mfma16x16x32_bkv128": legal where its first word is */
} field_alias;

typedef struct field_table {
    const char *operator_name; /* for messages */
    const char *what;          /* "tag" or "shape" */
    const field *fields;
    size_t count;
    size_t struct_bytes;
    const field_alias *aliases; /* of a tag; ends with a row of NULLs, or is NULL */
} field_table;

#define TRIPLE(m, n, k) (((int64_t)(m) << 40) | ((int64_t)(n) << 20) | (int64_t)(k))
#define TRIPLE_M(t) ((int)((t) >> 40))
#define TRIPLE_N(t) ((int)(((t) >> 20) & 0xfffff))
#define TRIPLE_K(t) ((int)((t) & 0xfffff))

static inline int64_t field_get(const field *f, const void *s) {
    return *(const int64_t *)((const char *)s + f->offset);
}
static inline int32_t *field_list(const field *f, const void *s) {
    return (int32_t *)((char *)s + f->offset + sizeof(int64_t));
}
static inline void field_set(const field *f, void *s, int64_t v) { *(int64_t *)((char *)s + f->offset) = v; }

/* tag_parse, shape_parse: fill `out` (table->struct_bytes, every field set, left-out ones to their standard).
 * errors: BAD_TAG or BAD_SHAPE; the message quotes the text, marks the offending characters by position and text,
 *         and lists what would have been legal there (for a shape: the known keys and what they mean) */
cdnagen_status tag_parse(const field_table *table, const char *tag, void *out);
cdnagen_status shape_parse(const field_table *table, const char *shape, void *out);

/* tag_print, shape_print: canonical text of the fields whose use is in `uses` (bit 1 << field_use). */
void tag_print(const field_table *table, const void *variant, unsigned uses, text *out);
void shape_print(const field_table *table, const void *shape, unsigned uses, text *out);

/* fields_check: bounds, words and `needs` of a struct that was filled by hand.   errors: BAD_TAG, BAD_SHAPE */
cdnagen_status fields_check(const field_table *table, const void *s);

/* fields_help: one line a field: spelling, bounds, default, kernel or host, help; one line an alias. */
void fields_help(const field_table *table, text *out);

#endif
