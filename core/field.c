/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Parser, printer, checker and help of tags and shapes, all over one table of fields. Parsing allocates nothing. */
#include "core/field.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FIELDS_MAX = 64, LINE_BYTES = 1500, QUOTE_MAX = 160, WORD_MAX = 48 };

/* line: text of fixed size for messages; what does not fit is cut. */
typedef struct line {
    char data[LINE_BYTES];
    size_t length;
} line;

__attribute__((format(printf, 2, 3))) static void say(line *l, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(l->data + l->length, LINE_BYTES - l->length, format, arguments);
    va_end(arguments);
    if (length > 0) l->length += (size_t)length;
    if (l->length > LINE_BYTES - 1) l->length = LINE_BYTES - 1;
}

/* span: a piece of the text that is being read. */
typedef struct span {
    const char *at;
    size_t length;
} span;

static span span_of(const char *at, size_t length) { return (span){at, length}; }
static span span_from(span s, size_t skip) { return (span){s.at + skip, s.length - skip}; }
static int span_is(span s, const char *word) { return strlen(word) == s.length && !memcmp(s.at, word, s.length); }
static int span_starts(span s, const char *word) {
    return strlen(word) <= s.length && !memcmp(s.at, word, strlen(word));
}
/* Precision and pointer of "%.*s", cut to what a sentence can carry. */
#define SHOW(s) (int)((s).length < WORD_MAX ? (s).length : WORD_MAX), (s).at

typedef struct parse {
    const field_table *table;
    const char *whole;
    int64_t values[FIELDS_MAX];
    span given[FIELDS_MAX]; /* the field's word; at == NULL: not given */
} parse;

static int is_tag(const field_table *table) { return !strcmp(table->what, "tag"); }

static cdnagen_status status_of(const field_table *table) {
    return is_tag(table) ? CDNAGEN_BAD_TAG : CDNAGEN_BAD_SHAPE;
}

/* A name in `needs` that the table lacks is a fault of the table. */
static size_t find_field(const field_table *table, const char *name) {
    size_t i = 0;
    while (i < table->count && strcmp(table->fields[i].name, name)) i++;
    assert(i < table->count);
    return i;
}

/* ---- what is legal, in words ---- */

/* Index 0 of a tag word is "not given" and has no spelling. */
static size_t first_word(const field_table *table, const field *f) {
    return f->kind == FIELD_WORD && is_tag(table) ? 1 : 0;
}

static int64_t lowest(const field *f) { return f->kind == FIELD_FLAG ? 0 : f->min; }
static int64_t highest(const field *f) { return f->kind == FIELD_FLAG ? 1 : f->max; }

/* The values that a field takes: "16..1024", "fma|fma2". */
static void say_values(line *l, const field_table *table, const field *f) {
    if (f->kind == FIELD_NUMBER || f->kind == FIELD_FLAG || f->kind == FIELD_LIST) {
        say(l, "%" PRId64 "..%" PRId64 "%s", lowest(f), highest(f), f->kind == FIELD_LIST ? ",..." : "");
        return;
    }
    const size_t first = first_word(table, f);
    for (size_t i = first; f->words[i]; i++) say(l, "%s%s", i > first ? "|" : "", f->words[i]);
}

/* A field as one would write it: "bkv<16..1024>", "swp", "heads=<1..256>". */
static void say_spelling(line *l, const field_table *table, const field *f) {
    say(l, "%s", f->name);
    if (is_tag(table) && f->kind == FIELD_FLAG) return;
    if (!*f->name) {
        say_values(l, table, f);
        return;
    }
    say(l, "%s<", is_tag(table) ? "" : "=");
    say_values(l, table, f);
    say(l, ">");
}

/* name: what messages call a field; one without a name goes by its words: "4w|8w". */
typedef struct name {
    char text[WORD_MAX];
} name;
static name name_of(const field_table *table, const field *f) {
    name n;
    line words = {.length = 0};
    if (!*f->name) say_values(&words, table, f);
    snprintf(n.text, sizeof n.text, "%.*s", WORD_MAX - 1, *f->name ? f->name : words.data);
    return n;
}

/* Tag fields that may come at `next`: up to the first one that must, and only those that have what they need. */
static void say_legal_fields(line *l, const parse *p, size_t next) {
    const field_table *table = p->table;
    size_t shown = 0;
    for (size_t i = next; i < table->count; i++) {
        const field *f = &table->fields[i];
        if (f->needs && !p->given[find_field(table, f->needs)].at) continue;
        say(l, "%s", shown++ ? ", " : "legal here: ");
        say_spelling(l, table, f);
        if (f->required) return;
    }
    if (!shown) say(l, "nothing may follow");
}

static void say_known_keys(line *l, const field_table *table) {
    say(l, "known keys: ");
    for (size_t i = 0; i < table->count; i++) {
        say(l, "%s", i ? ", " : "");
        say_spelling(l, table, &table->fields[i]);
        say(l, " (%s%s)", table->fields[i].help, table->fields[i].required ? "; required" : "");
    }
}

/* ---- errors ---- */

/* Quotes the text, or the part of a long one round the position, and points at `where`. */
__attribute__((format(printf, 3, 4))) static cdnagen_status refuse(const parse *p, span where, const char *format,
                                                                   ...) {
    line detail = {.length = 0};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail.data, LINE_BYTES, format, arguments);
    va_end(arguments);
    const size_t position = (size_t)(where.at - p->whole), length = strlen(p->whole);
    const size_t start = length > QUOTE_MAX && position > QUOTE_MAX / 2 ? position - QUOTE_MAX / 2 : 0;
    const size_t shown = length - start < QUOTE_MAX ? length - start : QUOTE_MAX;
    return fail(status_of(p->table), "%s %s '%s%.*s%s' character %zu: %s", p->table->operator_name, p->table->what,
                start ? "..." : "", (int)shown, p->whole + start, start + shown < length ? "..." : "", position + 1,
                detail.data);
}

/* ---- values ---- */

static int64_t digits_of(span s) {
    int64_t v = 0;
    for (size_t i = 0; i < s.length; i++) v = v * 10 + (s.at[i] - '0');
    return v;
}

static size_t digit_count(span s) {
    size_t n = 0;
    while (n < s.length && s.at[n] >= '0' && s.at[n] <= '9') n++;
    return n;
}

static int64_t triple_of(const char *word) {
    int64_t part[3] = {0};
    for (int i = 0; i < 3; i++) {
        const span digits = span_of(word, digit_count(span_of(word, strlen(word))));
        part[i] = digits_of(digits);
        word += digits.length + (word[digits.length] == 'x');
    }
    return TRIPLE(part[0], part[1], part[2]);
}

static cdnagen_status parse_number(const parse *p, const field *f, span s, int64_t *v) {
    line legal = {.length = 0};
    say_values(&legal, p->table, f);
    const size_t digits = digit_count(s);
    if (!s.length) return refuse(p, s, "%s has no number: it takes %s", f->name, legal.data);
    if (digits < s.length)
        return refuse(p, span_from(s, digits), "'%.*s' is not a number: %s takes %s", SHOW(span_from(s, digits)),
                      f->name, legal.data);
    if (s.length > 1 && s.at[0] == '0')
        return refuse(p, s, "'%.*s' starts with 0: numbers are written without leading zeros", SHOW(s));
    /* 18 digits always fit an int64_t. */
    if (s.length > 18 || digits_of(s) > highest(f))
        return refuse(p, s, "%.*s is too large: %s takes %s", SHOW(s), f->name, legal.data);
    if (digits_of(s) < lowest(f)) return refuse(p, s, "%.*s is too small: %s takes %s", SHOW(s), f->name, legal.data);
    *v = digits_of(s);
    return CDNAGEN_OK;
}

static cdnagen_status parse_word(const parse *p, const field *f, span s, int64_t *v) {
    for (size_t i = first_word(p->table, f); f->words[i]; i++)
        if (span_is(s, f->words[i])) {
            *v = f->kind == FIELD_TRIPLE ? triple_of(f->words[i]) : (int64_t)i;
            return CDNAGEN_OK;
        }
    line legal = {.length = 0};
    say_values(&legal, p->table, f);
    if (!s.length) return refuse(p, s, "%s has no value: it takes %s", f->name, legal.data);
    return refuse(p, s, "'%.*s' is not one of the values of %s: it takes %s", SHOW(s), f->name, legal.data);
}

/* Numbers joined by ','; *v is how many. finish() stores them. */
static cdnagen_status parse_list(const parse *p, const field *f, span s, int64_t *v) {
    int64_t count = 0;
    for (span rest = s;;) {
        const char *comma = memchr(rest.at, ',', rest.length);
        const span one = span_of(rest.at, comma ? (size_t)(comma - rest.at) : rest.length);
        int64_t number;
        TRY(parse_number(p, f, one, &number));
        if (++count > FIELD_LIST_MAX)
            return refuse(p, one, "%s has more than %d numbers, as many as it takes", f->name, FIELD_LIST_MAX);
        if (!comma) break;
        rest = span_from(rest, one.length + 1);
    }
    *v = count;
    return CDNAGEN_OK;
}

static void store_list(const field *f, span word, void *out) {
    int32_t *const numbers = field_list(f, out);
    span rest = span_from(word, strlen(f->name) + 1);
    for (size_t i = 0; rest.length; i++) {
        const size_t digits = digit_count(rest);
        numbers[i] = (int32_t)digits_of(span_of(rest.at, digits));
        rest = span_from(rest, digits < rest.length ? digits + 1 : digits);
    }
}

/* The characters after a field's name (and '='). */
static cdnagen_status parse_value(const parse *p, const field *f, span s, int64_t *v) {
    if (f->kind == FIELD_FLAG && is_tag(p->table)) {
        if (s.length) return refuse(p, s, "'%.*s' is too much: %s stands alone", SHOW(s), f->name);
        *v = 1;
        return CDNAGEN_OK;
    }
    if (f->kind == FIELD_LIST) return parse_list(p, f, s, v);
    return f->kind == FIELD_WORD || f->kind == FIELD_TRIPLE ? parse_word(p, f, s, v) : parse_number(p, f, s, v);
}

/* ---- the parsers' common beginning and end ---- */

static cdnagen_status begin(parse *p, const field_table *table, const char *whole) {
    assert(table->count <= FIELDS_MAX);
    *p = (parse){.table = table, .whole = whole};
    for (size_t i = 0; i < table->count; i++) p->values[i] = table->fields[i].standard;
    return whole ? CDNAGEN_OK : fail(CDNAGEN_BAD_ARGUMENT, "the %s of %s is NULL", table->what, table->operator_name);
}

static cdnagen_status finish(const parse *p, void *out) {
    const field_table *table = p->table;
    for (size_t i = 0; i < table->count; i++) {
        const field *f = &table->fields[i];
        if (!p->given[i].at || !f->needs || p->given[find_field(table, f->needs)].at) continue;
        line needed = {.length = 0};
        say_spelling(&needed, table, &table->fields[find_field(table, f->needs)]);
        return refuse(p, p->given[i], "'%.*s' needs %s, which is not given: add %s or leave %s out", SHOW(p->given[i]),
                      f->needs, needed.data, f->name);
    }
    memset(out, 0, table->struct_bytes);
    for (size_t i = 0; i < table->count; i++) {
        field_set(&table->fields[i], out, p->values[i]);
        if (table->fields[i].kind == FIELD_LIST && p->given[i].at) store_list(&table->fields[i], p->given[i], out);
    }
    return CDNAGEN_OK;
}

/* ---- tags ---- */

static int spells(const field_table *table, const field *f, span s) {
    if (!span_starts(s, f->name)) return 0;
    const span rest = span_from(s, strlen(f->name));
    if (f->kind == FIELD_FLAG) return !rest.length;
    if (f->kind == FIELD_NUMBER) return rest.length && digit_count(rest) == rest.length;
    for (size_t i = first_word(table, f); f->words[i]; i++)
        if (span_is(rest, f->words[i])) return 1;
    return 0;
}

/* Whether a word that spells no field is meant to be this one: one letter alone is no evidence of that. */
static int resembles(const field *f, span s) {
    if (!*f->name || !span_starts(s, f->name)) return 0;
    const span rest = span_from(s, strlen(f->name));
    return strlen(f->name) > 1 || !rest.length || !((rest.at[0] | 32) >= 'a' && (rest.at[0] | 32) <= 'z');
}

/* The field that a word spells, else the one it resembles most, else table->count. The longest name wins: "rs", not
 * r. */
static size_t tag_field(const field_table *table, span s) {
    for (int exact = 1; exact >= 0; exact--) {
        size_t best = table->count, best_length = 0;
        for (size_t i = 0; i < table->count; i++) {
            const field *f = &table->fields[i];
            const size_t length = strlen(f->name) + 1;
            if (length > best_length && (exact ? spells(table, f, s) : resembles(f, s))) {
                best = i;
                best_length = length;
            }
        }
        if (best < table->count) return best;
    }
    return table->count;
}

/* The word's place: not given before, after no later field, and with every required field before it given. */
static cdnagen_status check_place(const parse *p, size_t i, size_t next, span s) {
    const field *fields = p->table->fields;
    if (p->given[i].at)
        return refuse(p, s, "'%.*s' gives %s again, after '%.*s': give it once", SHOW(s),
                      name_of(p->table, &fields[i]).text, SHOW(p->given[i]));
    for (size_t later = i + 1; later < next; later++)
        if (p->given[later].at)
            return refuse(p, s, "'%.*s' is out of order: it belongs before '%.*s'", SHOW(s), SHOW(p->given[later]));
    for (size_t before = 0; before < i; before++)
        if (fields[before].required && !p->given[before].at) {
            line legal = {.length = 0};
            say_legal_fields(&legal, p, next);
            return refuse(p, s, "'%.*s' comes before %s, which is required; %s", SHOW(s),
                          name_of(p->table, &fields[before]).text, legal.data);
        }
    return CDNAGEN_OK;
}

/* One word of a tag, found at s, read as `word`; *next is the first field that may still come. */
static cdnagen_status parse_tag_field(parse *p, span s, span word, size_t *next) {
    const size_t i = tag_field(p->table, word);
    line legal = {.length = 0};
    say_legal_fields(&legal, p, *next);
    if (!s.length && !*p->whole) return refuse(p, s, "it is empty; %s", legal.data);
    if (!s.length) return refuse(p, s, "a field is missing beside '_'; %s", legal.data);
    if (i == p->table->count) return refuse(p, s, "'%.*s' is not a field; %s", SHOW(s), legal.data);
    const field *f = &p->table->fields[i];
    TRY(parse_value(p, f, span_from(word, strlen(f->name)), &p->values[i]));
    TRY(check_place(p, i, *next, s));
    p->given[i] = s;
    *next = i + 1;
    return CDNAGEN_OK;
}

/* What a word stands for: itself, if it is no alias. */
static span meaning_of(const field_table *table, span s) {
    for (const field_alias *a = table->aliases; a && a->word; a++)
        if (span_is(s, a->word)) return span_of(a->means, strlen(a->means));
    return s;
}

static cdnagen_status parse_tag_word(parse *p, span s, size_t *next) {
    const span meaning = meaning_of(p->table, s);
    if (meaning.at == s.at) return parse_tag_field(p, s, s, next);
    for (span rest = meaning;;) {
        const size_t length = strcspn(rest.at, "_");
        TRY(parse_tag_field(p, s, span_of(rest.at, length), next));
        if (!rest.at[length]) return CDNAGEN_OK;
        rest = span_from(rest, length + 1);
    }
}

cdnagen_status tag_parse(const field_table *table, const char *tag, void *out) {
    parse p;
    TRY(begin(&p, table, tag));
    size_t next = 0;
    for (const char *at = tag;; at++) {
        const span s = span_of(at, strcspn(at, "_"));
        TRY(parse_tag_word(&p, s, &next));
        at += s.length;
        if (!*at) break;
    }
    for (size_t i = next; i < table->count; i++)
        if (table->fields[i].required) {
            line legal = {.length = 0};
            say_legal_fields(&legal, &p, next);
            return refuse(&p, span_of(tag + strlen(tag), 0), "it ends without %s, which is required; %s",
                          name_of(table, &table->fields[i]).text, legal.data);
        }
    return finish(&p, out);
}

/* ---- shapes ---- */

/* Edit distance of two short words: how likely one is a slip of the other. */
static size_t edit_distance(span a, const char *b) {
    size_t row[WORD_MAX + 1];
    const size_t width = strlen(b);
    if (width > WORD_MAX || a.length > WORD_MAX) return WORD_MAX;
    for (size_t j = 0; j <= width; j++) row[j] = j;
    for (size_t i = 1; i <= a.length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            const size_t above = row[j];
            size_t least = diagonal + (a.at[i - 1] != b[j - 1]);
            if (above + 1 < least) least = above + 1;
            if (row[j - 1] + 1 < least) least = row[j - 1] + 1;
            row[j] = least;
            diagonal = above;
        }
    }
    return row[width];
}

static cdnagen_status refuse_key(const parse *p, span key) {
    const field_table *table = p->table;
    const char *nearest = NULL;
    size_t least = 3;
    for (size_t i = 0; i < table->count; i++) {
        const size_t distance = edit_distance(key, table->fields[i].name);
        if (distance < least && distance < strlen(table->fields[i].name)) {
            least = distance;
            nearest = table->fields[i].name;
        }
    }
    line known = {.length = 0};
    say_known_keys(&known, table);
    return refuse(p, key, "unknown key '%.*s'%s%s%s; %s", SHOW(key), nearest ? ", did you mean '" : "",
                  nearest ? nearest : "", nearest ? "'?" : "", known.data);
}

/* One "key=value" word. */
static cdnagen_status parse_shape_word(parse *p, span s) {
    const char *equals = memchr(s.at, '=', s.length);
    const span key = span_of(s.at, equals ? (size_t)(equals - s.at) : s.length);
    size_t i = 0;
    while (i < p->table->count && !span_is(key, p->table->fields[i].name)) i++;
    if (i == p->table->count) return refuse_key(p, key);
    const field *f = &p->table->fields[i];
    if (!equals) {
        line spelling = {.length = 0};
        say_spelling(&spelling, p->table, f);
        return refuse(p, s, "'%.*s' has no value: write %s without blanks", SHOW(s), spelling.data);
    }
    if (p->given[i].at)
        return refuse(p, s, "'%.*s' gives %s again, after '%.*s': give it once", SHOW(s), f->name, SHOW(p->given[i]));
    TRY(parse_value(p, f, span_from(s, key.length + 1), &p->values[i]));
    p->given[i] = s;
    return CDNAGEN_OK;
}

cdnagen_status shape_parse(const field_table *table, const char *shape, void *out) {
    static const char blanks[] = " \t";
    parse p;
    TRY(begin(&p, table, shape));
    for (const char *at = shape + strspn(shape, blanks); *at; at += strspn(at, blanks)) {
        const span s = span_of(at, strcspn(at, blanks));
        TRY(parse_shape_word(&p, s));
        at += s.length;
    }
    for (size_t i = 0; i < table->count; i++)
        if (table->fields[i].required && !p.given[i].at) {
            line known = {.length = 0};
            say_known_keys(&known, table);
            return refuse(&p, span_of(shape + strlen(shape), 0), "%s is missing and required; %s",
                          table->fields[i].name, known.data);
        }
    return finish(&p, out);
}

/* ---- printing ---- */

/* A standard outside a number's bounds, a tag word's index 0 and an absent flag mean "not given": no text says them. */
static int is_given(const field_table *table, const field *f, int64_t v) {
    if (f->kind == FIELD_LIST || (is_tag(table) && (f->kind == FIELD_FLAG || f->kind == FIELD_WORD))) return v != 0;
    if (f->kind == FIELD_NUMBER || f->kind == FIELD_FLAG)
        return v != f->standard || (v >= lowest(f) && v <= highest(f));
    return 1;
}

static int has_needs(const field_table *table, const field *f, const void *s) {
    if (!f->needs) return 1;
    const field *needed = &table->fields[find_field(table, f->needs)];
    return is_given(table, needed, field_get(needed, s));
}

static int is_printed(const field_table *table, const field *f, const void *s, unsigned uses) {
    const int64_t v = field_get(f, s);
    if (!(uses & 1u << f->use) || !is_given(table, f, v)) return 0;
    return v != f->standard || (f->print == PRINT_ALWAYS && has_needs(table, f, s));
}

static void print_value(const field_table *table, const field *f, const void *s, text *out) {
    const int64_t v = field_get(f, s);
    if (f->kind == FIELD_LIST)
        for (int64_t i = 0; i < v; i++) text_add(out, "%s%" PRId32, i ? "," : "", field_list(f, s)[i]);
    else if (f->kind == FIELD_TRIPLE)
        text_add(out, "%dx%dx%d", TRIPLE_M(v), TRIPLE_N(v), TRIPLE_K(v));
    else if (f->kind == FIELD_WORD)
        text_add(out, "%s", f->words[v]);
    else if (f->kind == FIELD_NUMBER || !is_tag(table))
        text_add(out, "%" PRId64, v);
}

static void print_fields(const field_table *table, const void *s, unsigned uses, text *out) {
    const int tag = is_tag(table);
    int printed = 0;
    for (size_t i = 0; i < table->count; i++) {
        const field *f = &table->fields[i];
        if (!is_printed(table, f, s, uses)) continue;
        text_add(out, "%s%s%s", !printed++ ? "" : tag ? "_" : " ", f->name, tag ? "" : "=");
        print_value(table, f, s, out);
    }
}

void tag_print(const field_table *table, const void *variant, unsigned uses, text *out) {
    print_fields(table, variant, uses, out);
}

void shape_print(const field_table *table, const void *shape, unsigned uses, text *out) {
    print_fields(table, shape, uses, out);
}

/* ---- checking structs ---- */

static int is_legal_list(const field *f, const void *s) {
    const int64_t count = field_get(f, s);
    if (count < 0 || count > FIELD_LIST_MAX) return 0;
    for (int64_t i = 0; i < count; i++)
        if (field_list(f, s)[i] < lowest(f) || field_list(f, s)[i] > highest(f)) return 0;
    return 1;
}

static int is_legal(const field_table *table, const field *f, const void *s) {
    const int64_t v = field_get(f, s);
    if (f->kind == FIELD_LIST) return is_legal_list(f, s);
    if (!f->required && v == f->standard) return 1;
    if (f->kind == FIELD_NUMBER || f->kind == FIELD_FLAG) return v >= lowest(f) && v <= highest(f);
    for (size_t i = first_word(table, f); f->words[i]; i++)
        if (f->kind == FIELD_TRIPLE ? v == triple_of(f->words[i]) : v == (int64_t)i) return 1;
    return 0;
}

cdnagen_status fields_check(const field_table *table, const void *s) {
    for (size_t i = 0; i < table->count; i++) {
        const field *f = &table->fields[i];
        const int64_t v = field_get(f, s);
        if (!is_legal(table, f, s)) {
            line legal = {.length = 0};
            say_values(&legal, table, f);
            if (f->kind == FIELD_TRIPLE)
                return fail(status_of(table), "%s %s: %s of %dx%dx%d is not legal: it takes %s", table->operator_name,
                            table->what, f->name, TRIPLE_M(v), TRIPLE_N(v), TRIPLE_K(v), legal.data);
            return fail(status_of(table), "%s %s: %s of %" PRId64 " is not legal: it takes %s", table->operator_name,
                        table->what, name_of(table, f).text, v, legal.data);
        }
        if (v != f->standard && is_given(table, f, v) && !has_needs(table, f, s))
            return fail(status_of(table), "%s %s: %s needs %s, which is not given", table->operator_name, table->what,
                        f->name, f->needs);
    }
    return CDNAGEN_OK;
}

/* ---- help ---- */

void fields_help(const field_table *table, text *out) {
    static const char *const use_names[] = {
        [FIELD_KERNEL] = "kernel", [FIELD_HOST] = "host", [FIELD_WORKLOAD] = "workload"};
    for (size_t i = 0; i < table->count; i++) {
        const field *f = &table->fields[i];
        line spelling = {.length = 0}, standard = {.length = 0};
        say_spelling(&spelling, table, f);
        if (f->required)
            say(&standard, "required");
        else if (!is_given(table, f, f->standard))
            say(&standard, "optional");
        else if (f->kind == FIELD_WORD)
            say(&standard, "default %s", f->words[f->standard]);
        else if (f->kind == FIELD_TRIPLE)
            say(&standard, "default %dx%dx%d", TRIPLE_M(f->standard), TRIPLE_N(f->standard), TRIPLE_K(f->standard));
        else
            say(&standard, "default %" PRId64, f->standard);
        text_add(out, "  %-28s %-14s %-9s %s%s%s\n", spelling.data, standard.data, use_names[f->use], f->help,
                 f->needs ? "; needs " : "", f->needs ? f->needs : "");
    }
    for (const field_alias *a = table->aliases; a && a->word; a++)
        text_add(out, "  %-28s the same as %s\n", a->word, a->means);
}
