/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cdnagen diff: two kernels side by side. */
#include "cli/inspect.h"

static double part(double of, double whole) { return whole > 0 ? of / whole : 0; }

/* row: both values and what B has more. */
static void row(const char *name, double a, double b, const char *unit) {
    printf("  %-22s %14.6g %14.6g ", name, a, b);
    if (a == b)
        printf("%12s\n", "=");
    else if (a > 0)
        printf("%+12.6g%s%s (%+.1f%%)\n", b - a, *unit ? " " : "", unit, 100 * (b - a) / a);
    else
        printf("%+12.6g%s%s\n", b - a, *unit ? " " : "", unit);
}

/* share: two parts of their wholes, in percent. */
static void share(const char *name, double a, double whole_a, double b, double whole_b) {
    const double x = 100 * part(a, whole_a), y = 100 * part(b, whole_b);
    printf("  %-22s %13.1f%% %13.1f%% %+12.1f points\n", name, x, y, y - x);
}

static void print_resources(const inspection *a, const inspection *b) {
    const codeobj_kernel *x = &a->kernel, *y = &b->kernel;
    const sim_timing *s = &a->look.timing, *t = &b->look.timing;
    printf("resources\n");
    row("VGPR and AGPR used", x->vgpr, y->vgpr, "");
    row("of them AGPR", x->agpr, y->agpr, "");
    row("VGPR allocated", a->vgpr_allocated, b->vgpr_allocated, "");
    row("SGPR", x->sgpr, y->sgpr, "");
    row("VGPR spills", x->vgpr_spills, y->vgpr_spills, "");
    row("SGPR spills", x->sgpr_spills, y->sgpr_spills, "");
    row("scratch", x->scratch_bytes, y->scratch_bytes, "bytes");
    row("LDS", x->lds_bytes, y->lds_bytes, "bytes");
    row("code", x->code_bytes, y->code_bytes, "bytes");
    row("waves per SIMD", s->waves_per_simd, t->waves_per_simd, "");
    printf("  %-22s %14s %14s\n", "limited by", s->limit, t->limit);
}

static void print_cycles(const sim_timing *s, const sim_timing *t) {
    printf("modelled cycles\n");
    row("kernel", s->kernel_clk, t->kernel_clk, "clk");
    row("time", s->ns * 1e-3, t->ns * 1e-3, "us");
    row("workgroups", (double)s->groups, (double)t->groups, "");
    share("mfma_busy", s->mfma_busy, 1, t->mfma_busy, 1);
    share("valu_busy", s->valu_busy, 1, t->valu_busy, 1);
    share("LDS conflicts of banks", (double)s->lds_conflict, (double)s->lds_clk, (double)t->lds_conflict,
          (double)t->lds_clk);
    printf("modelled wave cycles\n");
    share("active", (double)s->active, (double)s->wave_clk, (double)t->active, (double)t->wave_clk);
    for (int k = 0; k < STALL_COUNT; k++)
        share(sim_stall_names[k], (double)s->stall[k], (double)s->wave_clk, (double)t->stall[k], (double)t->wave_clk);
}

/* ---- instructions ---- */

typedef struct mix {
    double count[KIND_COUNT];
} mix;

static void print_mix(const mix *a, const mix *b) {
    double all_a = 0, all_b = 0;
    for (int k = 0; k < KIND_COUNT; k++) {
        all_a += a->count[k];
        all_b += b->count[k];
        if (a->count[k] > 0 || b->count[k] > 0) row(sim_kind_names[k], a->count[k], b->count[k], "");
    }
    row("instructions", all_a, all_b, "");
}

static mix whole_mix(const sim_timing *t) {
    mix m = {0};
    const double waves = (double)t->groups_detailed * t->waves_per_group;
    for (size_t i = 0; i < t->instruction_count; i++)
        m.count[t->instructions[i].kind] += part((double)t->instructions[i].issued, waves);
    return m;
}

static mix loop_mix(const sim_loop *l) {
    mix m = {0};
    for (int k = 0; k < KIND_COUNT; k++) m.count[k] = l->mix[k];
    return m;
}

static void print_place(const char *name, const sim_timing *t, const sim_loop *l) {
    printf("  %s %s 0x%x to 0x%x, %s, %llu trips timed, %s binds\n", name, "from", t->instructions[l->first].address,
           t->instructions[l->last].address, l->inner ? "innermost" : "has loops inside", (unsigned long long)l->trips,
           l->binds);
}

static void print_loops(const sim_timing *s, const sim_timing *t) {
    static const sim_loop none;
    const size_t count = s->loop_count > t->loop_count ? s->loop_count : t->loop_count;
    for (size_t k = 0; k < count; k++) {
        const sim_loop *a = k < s->loop_count ? &s->loops[k] : &none, *b = k < t->loop_count ? &t->loops[k] : &none;
        const mix x = loop_mix(a), y = loop_mix(b);
        printf("loop %zu, a trip of a wave\n", k + 1);
        if (a != &none) print_place("A", s, a);
        if (b != &none) print_place("B", t, b);
        print_mix(&x, &y);
        row("modelled", a->clk, b->clk, "clk");
        row("modelled on its SIMD", a->simd_clk, b->simd_clk, "clk");
        row("bound: matrix pipe", a->mfma_bound, b->mfma_bound, "clk");
        row("bound: issue", a->issue_bound, b->issue_bound, "clk");
        row("bound: LDS banks", a->lds_bound, b->lds_bound, "clk");
        row("bound: vector memory", a->vmem_bound, b->vmem_bound, "clk");
    }
}

static void print_diff(const cli *options, const inspection *a, const inspection *b) {
    const sim_timing *s = &a->look.timing, *t = &b->look.timing;
    printf("A            %s\ntarget       %s\n", options->words[0], s->chip->name);
    print_sample(&a->look);
    printf("B            %s\ntarget       %s\n", options->words[1], t->chip->name);
    print_sample(&b->look);
    printf("\n  %-22s %14s %14s %12s\n", "", "A", "B", "B - A");
    print_resources(a, b);
    print_cycles(s, t);
    if (s->complete && t->complete) {
        const mix x = whole_mix(s), y = whole_mix(t);
        printf("instructions of a wave, mean of those looked at\n");
        print_mix(&x, &y);
    }
    print_loops(s, t);
}

int diff_command(const cli *options) {
    inspection a = {0}, b = {0};
    cdnagen_status status = CDNAGEN_OK;
    if (options->word_count < 2)
        status = fail(CDNAGEN_BAD_ARGUMENT, "which two kernels? Give OP:TAG or a code object twice, then the shape's "
                                            "KEY=VALUE words");
    if (!status) status = inspection_open(options, options->words[0], 2, &a);
    if (!status) status = inspection_open(options, options->words[1], 2, &b);
    if (!status) print_diff(options, &a, &b);
    const int code = status ? fail_exit(status) : EXIT_OK;
    inspection_close(&a);
    inspection_close(&b);
    return code;
}
