/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `cdnagen sim`: any code object with arguments from a JSON file; what buffers hold, and what is said of mistakes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/cli/command.h"

enum { BAD_INPUT = 2, FAILED = 4 };

static void write_text(const char *name, const char *content) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", command_folder(), name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs(content, f);
    assert_int_equal(fclose(f), 0);
}

/* sim: run kernel with these "args", expect the exit code and the words. */
static void sim(const char *object, const char *words, const char *args, int code, const char *const *says) {
    char line[1024], json[2048];
    snprintf(json, sizeof json, "{\"args\": [%s]}", args);
    write_text("args.json", json);
    snprintf(line, sizeof line, "sim " OBJECTS "/%s --args args.json %s", object, words);
    outcome o = command_run("", line);
    if (o.code != code) fail_msg("%s with %s: exit %d\n%s%s", words, args, o.code, o.out, o.err);
    for (size_t i = 0; says && says[i]; i++)
        if (!strstr(code ? o.err : o.out, says[i]))
            fail_msg("%s with %s: no \"%s\" in\n%s%s", words, args, says[i], o.out, o.err);
    command_free(&o);
}

static void read_words(const char *name, void *to, size_t size) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", command_folder(), name);
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("%s was not written", path);
    assert_int_equal(fread(to, 1, size, f), size);
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
}

#define SAXPY "--kernel saxpy --grid 4 --block 64 "
#define ADD "--kernel add --grid 1 --block 64 "
#define BUFFER "{\"buffer\": \"i32\", \"count\": 64}"

static void results_are_written(void **state) {
    (void)state;
    static const char *const chips[] = {"gfx950", "gfx942"};
    for (int c = 0; c < 2; c++) {
        char object[32];
        float y[250];
        snprintf(object, sizeof object, "%s.co", chips[c]);
        const char *const says[] = {chips[c], "saxpy, 4 arguments", "grid 4 x 1 x 1, block 64 x 1 x 1",
                                    "wrote        y, 1000 bytes", NULL};
        sim(object, SAXPY "--sim=late,poison",
            "{\"name\": \"y\", \"buffer\": \"f32\", \"count\": 250, \"fill\": \"ones\", \"write\": \"y\"},"
            "{\"name\": \"x\", \"buffer\": \"f32\", \"count\": 250, \"fill\": \"iota\"}, {\"f32\": 2.5}, {\"u32\": "
            "250}",
            0, says);
        read_words("y", y, sizeof y);
        for (int i = 0; i < 250; i++) assert_true(y[i] == 2.5f * (float)i + 1);
    }
}

static void files_go_in_and_out(void **state) {
    (void)state;
    int x[64];
    sim("gfx950.co", ADD, "{\"buffer\": \"i32\", \"count\": 64, \"fill\": \"iota\", \"write\": \"a\"}, {\"i32\": -5}",
        0, NULL);
    sim("gfx950.co", ADD,
        "{\"buffer\": \"i32\", \"file\": \"a\", \"count\": 64, \"write\": \"a\"}, {\"bytes\": \"E8030000\"}", 0, NULL);
    read_words("a", x, sizeof x);
    for (int i = 0; i < 64; i++) assert_int_equal(x[i], i - 5 + 1000);
}

/* What the generators make: each row's first elements, written by a kernel that adds 0 to a part that it does not
 * reach. */
static void generators_make_what_they_say(void **state) {
    (void)state;
    static const struct {
        const char *object, *buffer;
        size_t bytes;
        unsigned char wanted[8]; /* bytes 256.. of the buffer */
    } rows[] = {
        {"gfx950.co", "\"u8\", \"count\": 512, \"fill\": \"iota\"", 512, {0, 1, 2, 3, 4, 5, 6, 7}},
        {"gfx950.co", "\"i32\", \"count\": 128, \"fill\": \"ones\"", 512, {1, 0, 0, 0, 1, 0, 0, 0}},
        {"gfx950.co",
         "\"f32\", \"count\": 128, \"fill\": \"iota\"",
         512,
         {0, 0, 0x80, 0x42, 0, 0, 0x82, 0x42}}, /* 64, 65 */
        {"gfx950.co", "\"f16\", \"count\": 256, \"fill\": \"ones\"", 512, {0, 0x3c, 0, 0x3c, 0, 0x3c, 0, 0x3c}},
        {"gfx950.co",
         "\"bf16\", \"count\": 256, \"fill\": \"ones\"",
         512,
         {0x80, 0x3f, 0x80, 0x3f, 0x80, 0x3f, 0x80, 0x3f}},
        {"gfx950.co",
         "\"fp8\", \"count\": 512, \"fill\": \"ones\"",
         512,
         {0x38, 0x38, 0x38, 0x38, 0x38, 0x38, 0x38, 0x38}},
        {"gfx942.co",
         "\"fp8\", \"count\": 512, \"fill\": \"ones\"",
         512,
         {0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40}},
        {"gfx950.co",
         "\"fp8\", \"count\": 512, \"fill\": \"iota\"",
         512,
         {0x78, 0x78, 0x78, 0x78, 0x78, 0x78, 0x78, 0x78}}, /* 256 */
        {"gfx950.co", "\"f32\", \"count\": 128", 512, {0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned char got[512];
        char args[256];
        snprintf(args, sizeof args, "{\"buffer\": %s, \"write\": \"b\"}, {\"i32\": 0}", rows[i].buffer);
        sim(rows[i].object, ADD, args, 0, NULL);
        read_words("b", got, rows[i].bytes);
        for (int k = 0; k < 8; k++)
            if (got[256 + k] != rows[i].wanted[k])
                fail_msg("%s: byte %d is 0x%02x", rows[i].buffer, 256 + k, got[256 + k]);
    }
}

static void random_is_seeded(void **state) {
    (void)state;
    static float first[1000], again[1000], other[1000];
    static const char *const names[] = {"first", "again", "other"};
    for (int i = 0; i < 3; i++) {
        char args[256];
        snprintf(args, sizeof args,
                 "{\"buffer\": \"f32\", \"count\": 1000, \"fill\": \"random\", \"seed\": %d, \"write\": \"%s\"}, "
                 "{\"i32\": 0}",
                 i == 2 ? 8 : 7, names[i]);
        sim("gfx950.co", ADD, args, 0, NULL);
    }
    read_words("first", first, sizeof first);
    read_words("again", again, sizeof again);
    read_words("other", other, sizeof other);
    assert_memory_equal(first, again, sizeof first);
    assert_memory_not_equal(first, other, sizeof first);
    double sum = 0, squares = 0;
    for (int i = 0; i < 1000; i++) {
        assert_true(first[i] >= -1 && first[i] < 1);
        sum += first[i];
        squares += first[i] * first[i];
    }
    assert_true(sum / 1000 > -0.1 && sum / 1000 < 0.1);
    assert_true(squares / 1000 > 0.3 && squares / 1000 < 0.37); /* even in [-1, 1): 1/3 */
}

static void local_arguments_are_lds(void **state) {
    (void)state;
    int x[64];
    static const char *const says[] = {"0 + 256 bytes LDS", NULL};
    sim("gfx950.co", "--kernel reversed --grid 1 --block 64",
        "{\"buffer\": \"i32\", \"count\": 64, \"write\": \"r\"}, {\"buffer\": \"i32\", \"count\": 64, \"fill\": "
        "\"iota\"}, {\"local\": 256}",
        0, says);
    read_words("r", x, sizeof x);
    for (int i = 0; i < 64; i++) assert_int_equal(x[i], 63 - i);
}

static const struct row {
    const char *words, *args;
    int code;
    const char *says[4];
} rows[] = {
    /* The command line. */
    {"--grid 1 --block 64", BUFFER ", {\"i32\": 1}", BAD_INPUT, {"saxpy", "add"}},
    {"--kernel absent --grid 1 --block 64", BUFFER, BAD_INPUT, {"absent", "saxpy", "add"}},
    {"--kernel add --block 64", BUFFER ", {\"i32\": 1}", BAD_INPUT, {"--grid X[,Y,Z]"}},
    {"--kernel add --grid 1,0 --block 64", BUFFER ", {\"i32\": 1}", BAD_INPUT, {"--grid 1,0", "1 or more"}},
    {"--kernel add --grid 1 --block 1,2,3,4", BUFFER ", {\"i32\": 1}", BAD_INPUT, {"--block 1,2,3,4", "X,Y,Z"}},
    {"--kernel add --grid 1 --block 64,32", BUFFER ", {\"i32\": 1}", BAD_INPUT, {"2048 work-items", "allows 256"}},
    {"--kernel add --grid 1 --block 109284,354439,476235359", /* 2^64 + 68 work-items */
     BUFFER ", {\"i32\": 1}",
     BAD_INPUT,
     {"109284 x 354439 x 476235359", "allows 256"}},
    {"--kernel add --grid 1,67108864 --block 1,64",
     BUFFER ", {\"i32\": 1}",
     BAD_INPUT,
     {"67108864 workgroups of 64", "along y are 4294967296"}},
    {ADD "--target gfx942", BUFFER ", {\"i32\": 1}", BAD_INPUT, {"is for gfx950", "gfx942"}},
    {ADD "--sim=early", BUFFER ", {\"i32\": 1}", BAD_INPUT, {"early", "late", "poison"}},
    /* JSON. */
    {ADD, BUFFER ",, {\"i32\": 1}", BAD_INPUT, {"args.json:1:", "unexpected token"}},
    {ADD, BUFFER, BAD_INPUT, {"1 arguments", "takes 2", "to: global_buffer, 8 bytes; value: by_value, 4 bytes"}},
    {ADD, BUFFER ", 5", BAD_INPUT, {"argument 2 (value)", "an object is needed"}},
    {ADD, BUFFER ", {\"int\": 5}", BAD_INPUT, {"argument 2 (value)", "none of buffer i32"}},
    {ADD, BUFFER ", {\"i32\": 5, \"u32\": 5}", BAD_INPUT, {"argument 2", "more than one of"}},
    {ADD, BUFFER ", {\"i32 u32\": 5}", BAD_INPUT, {"argument 2", "none of buffer i32"}},
    {ADD, BUFFER ", {\"\": 5}", BAD_INPUT, {"argument 2", "none of buffer i32"}},
    {ADD, BUFFER ", {\"i32\": 5, \"count\": 5}", BAD_INPUT, {"argument 2", "\"count\" is not known"}},
    {ADD, BUFFER ", {\"i32\": \"5\"}", BAD_INPUT, {"argument 2", "\"i32\" needs an integer"}},
    {ADD, BUFFER ", {\"i32\": 3000000000}", BAD_INPUT, {"3000000000 does not fit i32"}},
    {ADD, BUFFER ", {\"u32\": -1}", BAD_INPUT, {"-1 does not fit u32"}},
    {ADD, BUFFER ", {\"f32\": 1e39}", BAD_INPUT, {"1e+39 does not fit f32"}},
    {ADD, BUFFER ", {\"f32\": true}", BAD_INPUT, {"\"f32\" needs a number"}},
    {ADD, BUFFER ", {\"bytes\": \"0a0\"}", BAD_INPUT, {"hexadecimal digits"}},
    {ADD, BUFFER ", {\"name\": \"vlaue\", \"i32\": 1}", BAD_INPUT, {"argument 2 (value)", "vlaue", "order"}},
    /* Against the metadata. */
    {ADD,
     BUFFER ", {\"i64\": 5}",
     BAD_INPUT,
     {"argument 2 (value)", "\"i64\" has 8 bytes, the kernel takes by_value of 4"}},
    {ADD, BUFFER ", {\"bytes\": \"0a0b\"}", BAD_INPUT, {"\"bytes\" has 2 bytes, the kernel takes 4"}},
    {ADD, BUFFER ", " BUFFER, BAD_INPUT, {"argument 2 (value)", "by_value of 4 bytes here, not a buffer"}},
    {ADD, "{\"i64\": 0}, {\"i32\": 1}", BAD_INPUT, {"argument 1 (to)", "takes a pointer here"}},
    {ADD, BUFFER ", {\"local\": 64}", BAD_INPUT, {"argument 2 (value)", "no pointer to LDS"}},
    {"--kernel reversed --grid 1 --block 64",
     BUFFER ", " BUFFER ", " BUFFER,
     BAD_INPUT,
     {"argument 3 (scratch)", "{\"local\": BYTES}"}},
    {"--kernel reversed --grid 1 --block 64",
     BUFFER ", " BUFFER ", {\"local\": 163856}",
     BAD_INPUT,
     {"163856 dynamic", "gfx950 has 163840"}},
    /* Buffers. */
    {ADD,
     "{\"buffer\": \"int\", \"count\": 64}, {\"i32\": 1}",
     BAD_INPUT,
     {"argument 1 (to)", "u8, i32, f32, f16, bf16 or fp8"}},
    {ADD, "{\"buffer\": \"i32\"}, {\"i32\": 1}", BAD_INPUT, {"needs \"count\""}},
    {ADD, "{\"buffer\": \"i32\", \"count\": 0}, {\"i32\": 1}", BAD_INPUT, {"\"count\" needs an integer, 1 or more"}},
    {ADD,
     "{\"buffer\": \"i32\", \"count\": 64, \"fill\": \"noise\"}, {\"i32\": 1}",
     BAD_INPUT,
     {"zeros, ones, iota or random"}},
    {ADD, "{\"buffer\": \"i32\", \"count\": 64, \"seed\": 1}, {\"i32\": 1}", BAD_INPUT, {"\"seed\" goes with"}},
    {ADD, "{\"buffer\": \"i32\", \"count\": 64, \"sead\": 1}, {\"i32\": 1}", BAD_INPUT, {"\"sead\"", "seed"}},
    {ADD, "{\"buffer\": \"i32\", \"file\": \"absent\"}, {\"i32\": 1}", BAD_INPUT, {"cannot read absent"}},
    {ADD, "{\"buffer\": \"i32\", \"file\": \".\"}, {\"i32\": 1}", BAD_INPUT, {"cannot read .", "not a regular"}},
    {ADD, "{\"buffer\": \"i32\", \"file\": \"/dev/zero\"}, {\"i32\": 1}", BAD_INPUT, {"/dev/zero", "not a regular"}},
    {"--kernel reversed --grid 1 --block 64",
     "{\"buffer\": \"i32\", \"count\": 64, \"write\": \"w\"}, {\"buffer\": \"i32\", \"count\": 64, \"write\": \"w\"}, "
     "{\"local\": 256}",
     BAD_INPUT,
     {"argument 2", "argument 1 writes to w too"}},
    {ADD, "{\"buffer\": \"i32\", \"file\": \"five\"}, {\"i32\": 1}", BAD_INPUT, {"five has 5 bytes", "i32"}},
    {ADD,
     "{\"buffer\": \"u8\", \"file\": \"five\", \"count\": 6}, {\"i32\": 1}",
     BAD_INPUT,
     {"five holds 5 u8", "says 6"}},
    /* The kernel. */
    {ADD, "{\"buffer\": \"i32\", \"count\": 63}, {\"i32\": 1}", FAILED, {"kernel add", "4 bytes", "lane 63"}},
};

static void mistakes_are_named(void **state) {
    (void)state;
    write_text("five", "12345");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        sim("gfx950.co", rows[i].words, rows[i].args, rows[i].code, rows[i].says);
    outcome o = command_run("", "sim args.json " ADD "--args args.json");
    assert_int_equal(o.code, BAD_INPUT);
    assert_non_null(strstr(o.err, "ELF"));
    command_free(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_written),           cmocka_unit_test(files_go_in_and_out),
        cmocka_unit_test(generators_make_what_they_say), cmocka_unit_test(random_is_seeded),
        cmocka_unit_test(local_arguments_are_lds),       cmocka_unit_test(mistakes_are_named)};
    return cmocka_run_group_tests(tests, command_setup, command_teardown);
}
