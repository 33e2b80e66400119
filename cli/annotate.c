/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cdnagen annotate: the ISA with what the timing model books on each instruction. */
#include <stdlib.h>
#include <string.h>

#include "cli/inspect.h"

/* Loops that are marked side by side; those nested deeper are told by their headings only. */
enum { MARKS = 8 };

static uint64_t waited(const sim_instruction *x) {
    uint64_t sum = 0;
    for (int s = 0; s < STALL_COUNT; s++) sum += x->stall[s];
    return sum;
}

/* cause_of: for what the instruction waited longest, and which part of its waits that is. */
static void cause_of(const sim_instruction *x, char *out, size_t size) {
    const uint64_t all = waited(x);
    int most = 0;
    for (int s = 1; s < STALL_COUNT; s++)
        if (x->stall[s] > x->stall[most]) most = s;
    if (!all)
        snprintf(out, size, "-");
    else if (x->stall[most] == all)
        snprintf(out, size, "%s", sim_stall_names[most]);
    else
        snprintf(out, size, "%s %.0f%%", sim_stall_names[most], 100 * (double)x->stall[most] / (double)all);
}

/* branch_target: of a branch by a distance, which its text ends in: words from the next instruction on. */
static int branch_target(const sim_instruction *x, uint32_t *to) {
    const char *distance = strrchr(x->text, ' ');
    char *end;
    if (x->kind != KIND_BRANCH || !distance) return 0;
    const long words = strtol(distance + 1, &end, 10);
    *to = x->address + 4 + 4 * (uint32_t)(int16_t)words;
    return !*end && end != distance + 1;
}

/* ---- loops ---- */

/* place_loops: a column for each loop, the outer ones first; MARKS where there is none left. */
static void place_loops(const sim_timing *t, unsigned char *column) {
    const size_t count = t->loop_count;
    for (size_t k = count; k-- > 0;) { /* in the order of their branches: outer ones are later */
        unsigned taken = 0;
        for (size_t o = k + 1; o < count; o++)
            if (column[o] < MARKS && t->loops[o].first <= t->loops[k].last) taken |= 1u << column[o];
        column[k] = 0;
        while (column[k] < MARKS && taken >> column[k] & 1) column[k]++;
    }
}

static void mark_line(const sim_timing *t, size_t at, const unsigned char *column, char mark[MARKS + 1]) {
    memset(mark, ' ', MARKS);
    mark[MARKS] = 0;
    for (size_t k = 0; k < t->loop_count; k++)
        if (column[k] < MARKS && at >= t->loops[k].first && at <= t->loops[k].last)
            mark[column[k]] = at == t->loops[k].first ? '/' : at == t->loops[k].last ? '\\' : '|';
}

static void print_heading(const sim_timing *t, size_t k) {
    const sim_loop *l = &t->loops[k];
    printf("-- loop %zu to 0x%x: %llu trips timed, %.0f clk a trip of a wave, %.0f on its SIMD; %s binds --\n", k + 1,
           t->instructions[l->last].address, (unsigned long long)l->trips, l->clk, l->simd_clk, l->binds);
}

/* ---- the listing ---- */

static void print_line(const sim_timing *t, const sim_instruction *x, const char *mark) {
    uint32_t to;
    char each[24] = "-", conflict[24] = "-", cause[32];
    const uint64_t wait = waited(x), clk = x->active + wait;
    if (x->issued) snprintf(each, sizeof each, "%.1f", (double)clk / (double)x->issued);
    if (x->issued && x->lds)
        snprintf(conflict, sizeof conflict, "%.1f/%.1f", (double)x->lds_conflict / (double)x->issued,
                 (double)x->lds / (double)x->issued);
    cause_of(x, cause, sizeof cause);
    printf("%s %6x %9llu %11llu %5.1f%% %9s %11llu  %-17s %11s  %s", mark, x->address, (unsigned long long)x->issued,
           (unsigned long long)clk, t->wave_clk ? 100 * (double)clk / (double)t->wave_clk : 0, each,
           (unsigned long long)wait, cause, conflict, x->text);
    if (branch_target(x, &to)) printf(" -> 0x%x", to);
    printf("\n");
}

static int belongs(const inspection *i, const sim_instruction *x) {
    const int inside = x->address >= i->entry && x->address - i->entry < i->kernel.code_bytes;
    return inside || x->issued || waited(x);
}

static cdnagen_status print_listing(const inspection *i) {
    const sim_timing *t = &i->look.timing;
    unsigned char *column = mem_alloc(t->loop_count + 1);
    uint64_t issued = 0, clk = 0, wait = 0;
    if (!column) return fail_no_memory();
    place_loops(t, column);
    printf("\n%-*s %6s %9s %11s %6s %9s %11s  %-17s %11s  %s\n", MARKS, "loops", "at", "issued", "clk", "share",
           "clk each", "of it wait", "waits most for", "conflicts", "instruction");
    for (size_t at = 0, skipped = 0; at < t->instruction_count; at++) {
        const sim_instruction *x = &t->instructions[at];
        char mark[MARKS + 1];
        if (!belongs(i, x)) {
            skipped = 1;
            continue;
        }
        if (skipped && issued) printf("...\n");
        skipped = 0;
        for (size_t k = t->loop_count; k-- > 0;)
            if (t->loops[k].first == at) print_heading(t, k);
        mark_line(t, at, column, mark);
        print_line(t, x, mark);
        issued += x->issued;
        wait += waited(x);
        clk += x->active + waited(x);
    }
    printf("%-*s %6s %9llu %11llu %5.1f%% %9s %11llu\n", MARKS, "all", "", (unsigned long long)issued,
           (unsigned long long)clk, t->wave_clk ? 100 * (double)clk / (double)t->wave_clk : 0, "",
           (unsigned long long)wait);
    mem_free(column);
    return CDNAGEN_OK;
}

static cdnagen_status print_annotated(const char *name, const inspection *i) {
    const sim_timing *t = &i->look.timing;
    printf("kernel       %s\ntarget       %s\n", name, t->chip->name);
    print_sample(&i->look);
    printf("cycles       %.0f of the kernel, %.0f of the CU looked at\n", t->kernel_clk, t->cu_clk);
    printf("wave cycles  %llu, which the column clk adds up to: the waves looked at, all together\n",
           (unsigned long long)t->wave_clk);
    printf("conflicts    clk of LDS conflicts / clk at the banks, each time\n");
    return print_listing(i);
}

int annotate_command(const cli *options) {
    inspection i = {0};
    cdnagen_status status = CDNAGEN_OK;
    if (!options->word_count)
        status =
            fail(CDNAGEN_BAD_ARGUMENT, "what kernel? Give OP:TAG and the shape's KEY=VALUE words, or a code object");
    if (!status) status = inspection_open(options, options->words[0], 1, &i);
    if (!status) status = print_annotated(options->words[0], &i);
    const int code = status ? fail_exit(status) : EXIT_OK;
    inspection_close(&i);
    return code;
}
