/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cdnagen explain: modelled cycles of a kernel and where they go. */
#include <jansson.h>
#include <string.h>

#include "cli/inspect.h"

static double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

/* rounds: how often the device is filled; what is left over after whole ones is the tail. */
static double rounds(const explanation *e) {
    return (double)e->groups / ((double)e->timing.groups_per_cu * e->timing.chip->cus);
}

/* ---- text ---- */

static void print_bytes(const char *name, double amount) {
    printf("%s %.4g %s", name,
           amount >= 1e9   ? amount * 1e-9
           : amount >= 1e6 ? amount * 1e-6
                           : amount * 1e-3,
           amount >= 1e9   ? "GB"
           : amount >= 1e6 ? "MB"
                           : "KB");
}

static void print_waves(const sim_timing *t) {
    const double all = (double)t->wave_clk;
    printf("wave cycles  %llu = active %llu (%.1f%%) + wait_any %llu (%.1f%%) + wait_inst %llu (%.1f%%)\n",
           (unsigned long long)t->wave_clk, (unsigned long long)t->active, percent((double)t->active, all),
           (unsigned long long)t->wait_any, percent((double)t->wait_any, all), (unsigned long long)t->wait_inst,
           percent((double)t->wait_inst, all));
    for (int any = 1; any >= 0; any--) {
        printf("  %-11s", any ? "wait_any" : "wait_inst");
        for (int s = any ? 0 : STALL_WAIT_ANY; s < (any ? STALL_WAIT_ANY : STALL_COUNT); s++)
            printf("%s %s %.1f%%", s == (any ? 0 : STALL_WAIT_ANY) ? "" : ",", sim_stall_names[s],
                   percent((double)t->stall[s], all));
        printf("\n");
    }
}

static void print_traffic(const sim_timing *t) {
    printf("bytes       ");
    print_bytes(" loads", t->load_bytes);
    print_bytes(", L1 to L2", t->l1_miss_bytes);
    print_bytes(", L2 to MALL", t->l2_miss_bytes);
    print_bytes(", MALL to HBM", t->hbm_bytes);
    print_bytes("; stores", t->store_bytes);
    printf("\nhits         L1 %.1f%%, L2 %.1f%%, MALL %.1f%%\n", 100 * t->l1_hit, 100 * t->l2_hit, 100 * t->mall_hit);
}

static void print_loop(const sim_timing *t, const sim_loop *l) {
    printf("loop         0x%x to 0x%x, %s; %llu trips timed\n", t->instructions[l->first].address,
           t->instructions[l->last].address, l->inner ? "innermost" : "has loops inside", (unsigned long long)l->trips);
    printf("  a trip     %.1f instructions:", l->instructions);
    for (int k = 0; k < KIND_COUNT; k++)
        if (l->mix[k] > 0) printf(" %s %.4g", sim_kind_names[k], l->mix[k]);
    printf("\n  cycles     %.0f a trip of a wave, %.0f a trip on its SIMD\n", l->clk, l->simd_clk);
    printf(
        "  bounds     matrix pipe %.0f, issue %.0f, LDS banks %.0f, vector memory %.0f: %s binds; mfma_busy %.1f%%\n",
        l->mfma_bound, l->issue_bound, l->lds_bound, l->vmem_bound, l->binds, 100 * l->mfma_busy);
}

static void print_conflicts(const sim_timing *t) {
    printf("LDS          %llu clk at the banks, %llu of them conflicts\n", (unsigned long long)t->lds_clk,
           (unsigned long long)t->lds_conflict);
    for (size_t i = 0; i < t->instruction_count; i++) {
        const sim_instruction *x = &t->instructions[i];
        if (x->lds_conflict)
            printf("  conflict   0x%x %s: %.1f of %.1f clk each\n", x->address, x->text,
                   (double)x->lds_conflict / (double)x->issued, (double)x->lds / (double)x->issued);
    }
}

void print_sample(const explanation *e) {
    const sim_timing *t = &e->timing;
    printf("modelled     all figures below are a model's; nothing was measured\n");
    printf("grid         %llu workgroups of %u waves, %u at once on a CU: %.2f rounds of %d CUs\n",
           (unsigned long long)e->groups, t->waves_per_group, t->groups_per_cu, rounds(e), t->chip->cus);
    printf("looked at    %llu of %llu workgroups in detail on one CU, %llu for their memory accesses\n",
           (unsigned long long)t->groups_detailed, (unsigned long long)t->groups, (unsigned long long)t->groups_walked);
    if (e->reduced)
        printf("             on fewer rows (%s) that stand for %llu workgroups, as many on each CU\n", e->shape,
               (unsigned long long)e->groups);
    if (t->notes.data) {
        printf("             ");
        for (const char *p = t->notes.data; *p; p++) {
            putchar(*p);
            if (*p == '\n' && p[1]) printf("             ");
        }
    }
}

static void print_explanation(const cdnagen_kernel_info *i, const explanation *e) {
    const sim_timing *t = &e->timing;
    printf("kernel       %s:%s\nshape        %s\ntarget       %s\n", i->op, i->tag, i->shape, i->target);
    print_sample(e);
    printf("cycles       %.0f of the kernel, %.0f of the CU looked at\n", t->kernel_clk, t->cu_clk);
    printf(
        "time         %.2f us modelled at %.0f MHz; band %.2f us (%.0f MHz) to %.2f us (%.0f MHz), launch included\n",
        t->ns * 1e-3, t->mhz, t->ns_fast * 1e-3, t->mhz_fast, t->ns_slow * 1e-3, t->mhz_slow);
    printf("occupancy    %u waves per SIMD allowed, limited by %s; reached %u", t->waves_per_simd, t->limit,
           t->waves_reached);
    if (i->waves_per_eu_asked) printf("; %u asked", i->waves_per_eu_asked);
    printf("\nbusy         mfma_busy %.1f%%, valu_busy %.1f%%\n", 100 * t->mfma_busy, 100 * t->valu_busy);
    print_waves(t);
    print_traffic(t);
    print_conflicts(t);
    for (size_t k = 0; k < t->loop_count; k++) print_loop(t, &t->loops[k]);
}

/* ---- JSON ---- */

static json_t *stalls_json(const uint64_t *stall) {
    json_t *o = json_object();
    for (int s = 0; s < STALL_COUNT; s++)
        json_object_set_new(o, sim_stall_names[s], json_integer((json_int_t)stall[s]));
    return o;
}

static json_t *loop_json(const sim_timing *t, const sim_loop *l) {
    json_t *mix = json_object();
    for (int k = 0; k < KIND_COUNT; k++) json_object_set_new(mix, sim_kind_names[k], json_real(l->mix[k]));
    return json_pack("{s:i, s:i, s:b, s:I, s:f, s:o, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:s}", "first",
                     t->instructions[l->first].address, "last", t->instructions[l->last].address, "inner", l->inner,
                     "trips", (json_int_t)l->trips, "instructions", l->instructions, "mix", mix, "clk", l->clk,
                     "simd_clk", l->simd_clk, "mfma_bound", l->mfma_bound, "issue_bound", l->issue_bound, "lds_bound",
                     l->lds_bound, "vmem_bound", l->vmem_bound, "mfma_busy", l->mfma_busy, "binds", l->binds);
}

static json_t *instruction_json(const sim_instruction *x) {
    return json_pack("{s:i, s:s, s:s, s:I, s:I, s:o, s:I, s:I, s:I}", "address", x->address, "text", x->text, "kind",
                     sim_kind_names[x->kind], "issued", (json_int_t)x->issued, "active", (json_int_t)x->active, "stall",
                     stalls_json(x->stall), "lds", (json_int_t)x->lds, "lds_conflict", (json_int_t)x->lds_conflict,
                     "vmem", (json_int_t)x->vmem);
}

static json_t *notes_json(const sim_timing *t) {
    json_t *list = json_array();
    for (const char *p = t->notes.data ? t->notes.data : ""; *p;) {
        const char *end = p;
        while (*end && *end != '\n') end++;
        json_array_append_new(list, json_stringn(p, (size_t)(end - p)));
        p = *end ? end + 1 : end;
    }
    return list;
}

static json_t *waves_json(const sim_timing *t) {
    return json_pack("{s:I, s:I, s:I, s:I, s:o}", "wave_cycles", (json_int_t)t->wave_clk, "active",
                     (json_int_t)t->active, "wait_any", (json_int_t)t->wait_any, "wait_inst", (json_int_t)t->wait_inst,
                     "stall", stalls_json(t->stall));
}

static json_t *traffic_json(const sim_timing *t) {
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "load_bytes", t->load_bytes, "l1_to_l2_bytes",
                     t->l1_miss_bytes, "l2_to_mall_bytes", t->l2_miss_bytes, "hbm_bytes", t->hbm_bytes, "store_bytes",
                     t->store_bytes, "l1_hit", t->l1_hit, "l2_hit", t->l2_hit, "mall_hit", t->mall_hit);
}

static json_t *sample_json(const explanation *e) {
    const sim_timing *t = &e->timing;
    return json_pack("{s:I, s:f, s:I, s:I, s:I, s:b, s:s, s:b, s:o}", "workgroups", (json_int_t)e->groups, "rounds",
                     rounds(e), "launched", (json_int_t)t->groups, "detailed", (json_int_t)t->groups_detailed, "walked",
                     (json_int_t)t->groups_walked, "reduced", e->reduced, "shape", e->shape, "complete", t->complete,
                     "notes", notes_json(t));
}

static cdnagen_status print_json(const cdnagen_kernel_info *i, const explanation *e) {
    const sim_timing *t = &e->timing;
    json_t *loops = json_array(), *instructions = json_array();
    for (size_t k = 0; k < t->loop_count; k++) json_array_append_new(loops, loop_json(t, &t->loops[k]));
    for (size_t k = 0; k < t->instruction_count; k++)
        if (t->instructions[k].issued) json_array_append_new(instructions, instruction_json(&t->instructions[k]));
    json_t *time =
        json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "us", t->ns * 1e-3, "us_fast", t->ns_fast * 1e-3, "us_slow",
                  t->ns_slow * 1e-3, "mhz", t->mhz, "mhz_fast", t->mhz_fast, "mhz_slow", t->mhz_slow);
    json_t *waves = json_pack("{s:i, s:i, s:i, s:i, s:s}", "asked", i->waves_per_eu_asked, "allowed", t->waves_per_simd,
                              "reached", t->waves_reached, "workgroups_per_cu", t->groups_per_cu, "limit", t->limit);
    json_t *all = json_pack(
        "{s:b, s:s, s:s, s:s, s:s, s:o, s:f, s:f, s:o, s:o, s:f, s:f, s:o, s:o, s:I, s:I, s:o, s:o}", "modelled", 1,
        "op", i->op, "tag", i->tag, "target", i->target, "shape", i->shape, "sample", sample_json(e), "cycles",
        t->kernel_clk, "cu_cycles", t->cu_clk, "time", time, "occupancy", waves, "mfma_busy", t->mfma_busy, "valu_busy",
        t->valu_busy, "waves", waves_json(t), "traffic", traffic_json(t), "lds_cycles", (json_int_t)t->lds_clk,
        "lds_conflict_cycles", (json_int_t)t->lds_conflict, "loops", loops, "instructions", instructions);
    return print_object(all);
}

int explain_command(const cli *options) {
    if (options->diagnose) return diagnose_command(options);
    if (options->device && strcmp(options->device, "sim"))
        return fail_exit(fail(CDNAGEN_BAD_ARGUMENT,
                              "explain models on the simulator; --device %s measures with --diagnose",
                              options->device));
    request r;
    plan p;
    explanation e = {0};
    timeline trace;
    timeline_start(&trace);
    const sim_timing_options how = {
        .parameters = options->parameters, .event = options->trace ? timeline_take : NULL, .event_user = &trace};
    cli simulated = *options;
    simulated.device = "sim";
    cdnagen_status status = request_open(&simulated, "sim", &r);
    if (status) return fail_exit(status);
    progress("modelling");
    status = plan_of(&r.info, &p);
    if (!status) status = explain_run(r.ctx, r.kernel, &r.info, &p, &how, &e);
    if (!status && options->trace) status = timeline_write(&trace, &e.timing, options->trace);
    progress("%s", "");
    if (!status && options->json) status = print_json(&r.info, &e);
    if (!status && !options->json) print_explanation(&r.info, &e);
    if (!status && !options->json && options->trace) print_trace(&trace, &e.timing, options->trace);
    timeline_free(&trace);
    const int code = status ? fail_exit(status) : EXIT_OK;
    explain_free(&e);
    request_close(&r);
    return code;
}
