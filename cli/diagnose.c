/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cdnagen explain --diagnose: what a kernel's time hangs on, with what each statement was made from. */
#include <jansson.h>
#include <string.h>

#include "cli/inspect.h"
#include "study/diagnose.h"

static const char *const kind_names[] = {
    [CHANGE_TWIN] = "twin", [CHANGE_FLOOR] = "floor", [CHANGE_LEFT_OUT] = "left out", [CHANGE_CHOICE] = "choice"};

static const char identity_formula[] = "active + wait_any + wait_inst = wave cycles";
static const char gain_formula[] = "time of the kernel / time with the change - 1";
static const char duty_formula[] = "waves on a SIMD * matrix clk of a wave / clk of its life";
static const char fit_formula[] = "clk = fixed + slope * trips, least squares";
static const char roofs_formula[] = "bytes beyond L2 / (clk * bytes a clk)";

static double percent(double share) { return 100 * share; }

/* ---- what the figures say, in words ---- */

/* fixed_note: the fixed part beside what storing costs. */
static const char *fixed_note(const sweep *s) {
    static const double near = 1.25;
    if (s->line.fixed <= s->write_clk * near)
        return "the fixed part is no more than storing costs: overlapping the epilogue gains little";
    return "the fixed part is more than storing costs: start, first loads and epilogue can be overlapped";
}

static const char *roofs_note(const roofs *r) {
    if (r->latency_bound != r->latency_bound_at_twice) return "undecided: it changes with twice the bytes";
    return r->latency_bound ? "latency-bound, also with twice the bytes: what is left is the duty ceiling, not a roof"
                            : "not latency-bound, also with twice the bytes";
}

static void levers_text(text *t, const char *empty, unsigned bits, const double *gain) {
    for (int l = 0; l < LEVER_COUNT; l++) {
        if (!(bits & 1u << l)) continue;
        text_add(t, "%s%s", t->length ? "; " : "", lever_names[l]);
        if (gain) text_add(t, " %.1f%%", percent(gain[l]));
    }
    if (!bits) text_add(t, "%s", empty);
}

static void print_levers(const char *title, const char *empty, unsigned bits, const double *gain) {
    text t = {0};
    levers_text(&t, empty, bits, gain);
    printf("  %-22s %s\n", title, t.failed ? "" : t.data);
    text_free(&t);
}

/* ---- text ---- */

static void print_run(const diagnosed *x, const trial *t, int measured) {
    printf("  %-9s %-32s ", kind_names[t->kind], x->name);
    if (!t->valid) {
        printf("not compared: %s\n", x->lacking);
        return;
    }
    printf("%+7.1f%%", percent(t->gain));
    if (measured)
        printf(" (%.2f us beside %.2f us)  modelled %+7.1f%%", x->us, x->us_beside, percent(t->gain_modelled));
    printf("  at twice the traffic %+7.1f%%", percent(t->gain_at_twice));
    if (t->kind == CHANGE_TWIN || t->kind == CHANGE_CHOICE) {
        printf("  %s", place_names[x->difference.place]);
        if (x->difference.place != PLACE_NOISE && x->difference.place != PLACE_NOT_COMPARABLE)
            printf(", %s", x->difference.stall < 0 ? "issue" : sim_stall_names[x->difference.stall]);
    }
    printf("%s\n", t->gain > VERDICT_NOISE ? "  pays" : "");
    if (t->kind == CHANGE_FLOOR || t->kind == CHANGE_CHOICE) printf("            %s\n", x->tag);
}

static void print_sweep(const sweep *s, double clk) {
    if (!s->count) return;
    printf("trips       ");
    for (int i = 0; i < s->count; i++) printf(" %.0f: %.0f clk%s", s->trips[i], s->clk[i], i + 1 < s->count ? "," : "");
    printf("\n             %s: fixed %.0f, slope %.1f, off by %.1f%% at most\n", fit_formula, s->line.fixed,
           s->line.slope, percent(s->line.residual));
    printf("             fixed is %.1f%% of this launch; storing costs %.0f clk, a launch %.0f: %s\n",
           percent(s->line.fixed / clk), s->write_clk, s->launch_clk, fixed_note(s));
    printf("             a trip of a wave on its SIMD takes %.0f clk", s->trip_clk);
    if (s->bound_clk > 0)
        printf("; its largest bound is %.0f (%s): %.1f%% of it", s->bound_clk, s->bound,
               percent(s->bound_clk / s->trip_clk));
    printf("\n");
}

static void print_verdict(const diagnosis_report *r) {
    const verdict *const v = &r->verdict;
    const char *const by_model = r->measured ? ", by the model" : "";
    static const char none[] = "nothing that was tried";
    if (v->most >= 0)
        printf("verdict      %s: %s pays most, %.1f%%; at twice the traffic that %s%s\n",
               lever_names[r->trials[v->most].lever], r->runs[v->most].name, percent(r->trials[v->most].gain),
               v->holds ? "holds" : "DOES NOT HOLD", by_model);
    else
        printf("verdict      nothing that was left out or done another way pays more than %.0f%%; at twice the traffic "
               "that %s%s\n",
               percent(VERDICT_NOISE), v->holds ? "holds" : "DOES NOT HOLD", by_model);
    print_levers("can help", none, v->helps, v->gain);
    print_levers("cannot help", none, v->cannot, NULL);
    print_levers("hang on the traffic", "none", v->hangs, NULL);
    for (int l = 0; l < LEVER_COUNT; l++)
        if (v->helps & 1u << l) printf("  %-26s %s\n", lever_names[l], lever_remedies[l]);
    if (v->ceiling < 0)
        printf("stop         no ceiling to be compared with\n");
    else
        printf("stop         %.1f%% of the time is above %s (%s): %s\n",
               percent(1 - 1 / (1 + r->trials[v->ceiling].gain)), r->runs[v->ceiling].name, r->runs[v->ceiling].tag,
               v->done ? "the kernel is done, only fusing its epilogue with what follows is left" : "not done");
}

static void print_report(const cdnagen_kernel_info *i, const diagnosis_report *r) {
    const explanation *const e = &r->kernel;
    const sim_timing *const t = &e->timing;
    const diagnosed *const k = &r->runs[0];
    printf("kernel       %s:%s\nshape        %s\ntarget       %s\n", i->op, i->tag, i->shape, i->target);
    print_sample(e);
    printf("cycles       %.0f modelled, %.0f at twice the traffic\n", k->clk, k->clk_at_twice);
    printf("resources    %u VGPR, %u AGPR, %u spills, %u bytes scratch, %u bytes LDS, %u bytes code%s\n", i->vgpr,
           i->agpr, k->load.spills, i->scratch_bytes, i->lds_bytes, i->code_bytes,
           i->scratch_bytes        ? ": SCRATCH IS IN USE"
           : i->code_bytes > 32768 ? ": more than the instruction cache"
                                   : "");
    printf("identity     %s: %llu + %llu + %llu = %llu, off by %.2g\n", identity_formula, (unsigned long long)t->active,
           (unsigned long long)t->wait_any, (unsigned long long)t->wait_inst, (unsigned long long)t->wave_clk,
           r->residual);
    printf("duty         %s: %.0f * %.1f%% = %.1f%%; busy %.1f%%, %.0f%% of that\n", duty_formula, r->duty.waves,
           percent(r->duty.fraction), percent(r->duty.ceiling), percent(r->duty.busy), percent(r->duty.reached));
    printf("roofs        matrix pipe %.1f%%; memory %.1f%% (%.4g MB in %.0f clk at %.0f bytes a clk): %s\n",
           percent(r->roofs.matrix), percent(r->roofs.memory), r->traffic * 1e-6, k->clk, r->bytes_per_clk,
           roofs_note(&r->roofs));
    printf("changes      %s, %s; noise is %.0f%%\n", gain_formula,
           r->measured ? "measured in turns, twice the traffic modelled" : "modelled", percent(VERDICT_NOISE));
    for (size_t n = 1; n < r->count; n++) print_run(&r->runs[n], &r->trials[n], r->measured);
    print_sweep(&r->sweep, k->clk);
    print_verdict(r);
}

/* ---- JSON ---- */

static json_t *counts_json(const unsigned counts[KIND_COUNT]) {
    json_t *o = json_object();
    for (int k = 0; k < KIND_COUNT; k++) json_object_set_new(o, sim_kind_names[k], json_integer(counts[k]));
    return o;
}

static json_t *run_json(const diagnosed *x, const trial *t) {
    const int compared = t->valid && (t->kind == CHANGE_TWIN || t->kind == CHANGE_CHOICE);
    const int stall = x->difference.stall;
    return json_pack("{s:s, s:s, s:s, s:s, s:b, s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:b, s:o, s:f, s:s, s:s?}",
                     "name", x->name, "kind", kind_names[t->kind], "lever", lever_names[t->lever], "tag", x->tag,
                     "compared", t->valid, "lacking", x->lacking, "cycles", x->clk, "cycles_at_twice_traffic",
                     x->clk_at_twice, "us", x->us, "us_of_kernel_beside", x->us_beside, "gain", t->gain,
                     "gain_modelled", t->gain_modelled, "gain_at_twice_traffic", t->gain_at_twice, "pays",
                     t->valid && t->gain > VERDICT_NOISE, "counts", counts_json(x->counts), "mfma_a_wave", x->load.mfma,
                     "localised", compared ? place_names[x->difference.place] : "", "stall",
                     !compared || x->difference.place <= PLACE_NOISE ? NULL
                     : stall < 0                                     ? "issue"
                                                                     : sim_stall_names[stall]);
}

static json_t *sweep_json(const sweep *s, double clk) {
    json_t *points = json_array();
    if (!s->count) return json_decref(points), json_null();
    for (int i = 0; i < s->count; i++)
        json_array_append_new(points, json_pack("{s:f, s:f}", "trips", s->trips[i], "cycles", s->clk[i]));
    return json_pack("{s:s, s:o, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:s?, s:s}", "formula", fit_formula,
                     "points", points, "fixed", s->line.fixed, "slope", s->line.slope, "residual", s->line.residual,
                     "fixed_share", s->line.fixed / clk, "write_cycles", s->write_clk, "launch_cycles", s->launch_clk,
                     "waves_a_simd", s->waves, "trip_cycles", s->trip_clk, "bound_cycles", s->bound_clk, "bound",
                     s->bound, "verdict", fixed_note(s));
}

static json_t *levers_json(unsigned bits) {
    json_t *list = json_array();
    for (int l = 0; l < LEVER_COUNT; l++)
        if (bits & 1u << l) json_array_append_new(list, json_string(lever_names[l]));
    return list;
}

static json_t *verdict_json(const diagnosis_report *r) {
    const verdict *const v = &r->verdict;
    const int m = v->most, c = v->ceiling;
    return json_pack("{s:s?, s:s?, s:f, s:o, s:o, s:o, s:b, s:f, s:s?, s:f, s:f, s:b}", "lever",
                     m < 0 ? NULL : lever_names[r->trials[m].lever], "change", m < 0 ? NULL : r->runs[m].name, "gain",
                     m < 0 ? 0.0 : r->trials[m].gain, "can_help", levers_json(v->helps), "cannot_help",
                     levers_json(v->cannot), "hang_on_traffic", levers_json(v->hangs), "holds_at_twice_traffic",
                     v->holds, "noise", VERDICT_NOISE, "ceiling", c < 0 ? NULL : r->runs[c].tag, "gain_to_ceiling",
                     c < 0 ? 0.0 : r->trials[c].gain, "stop_within", VERDICT_DONE, "done", v->done);
}

static json_t *kernel_json(const cdnagen_kernel_info *i, const diagnosed *k) {
    return json_pack("{s:f, s:f, s:o, s:f, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:s}", "cycles", k->clk,
                     "cycles_at_twice_traffic", k->clk_at_twice, "counts", counts_json(k->counts), "mfma_a_wave",
                     k->load.mfma, "vgpr", i->vgpr, "agpr", i->agpr, "spills", k->load.spills, "scratch_bytes",
                     i->scratch_bytes, "lds_bytes", i->lds_bytes, "code_bytes", i->code_bytes, "waves_per_simd",
                     k->load.waves_per_simd, "limited_by", k->load.limit);
}

static cdnagen_status print_json(const cdnagen_kernel_info *i, const diagnosis_report *r) {
    const sim_timing *const t = &r->kernel.timing;
    const duty *const d = &r->duty;
    json_t *const identity =
        json_pack("{s:s, s:I, s:I, s:I, s:I, s:f}", "formula", identity_formula, "active", (json_int_t)t->active,
                  "wait_any", (json_int_t)t->wait_any, "wait_inst", (json_int_t)t->wait_inst, "wave_cycles",
                  (json_int_t)t->wave_clk, "residual", r->residual);
    json_t *const duty_object =
        json_pack("{s:s, s:f, s:f, s:f, s:f, s:f}", "formula", duty_formula, "waves_a_simd", d->waves, "fraction",
                  d->fraction, "ceiling", d->ceiling, "busy", d->busy, "reached", d->reached);
    json_t *const roofs_object =
        json_pack("{s:s, s:f, s:f, s:f, s:f, s:f, s:b, s:b, s:s}", "formula", roofs_formula, "matrix", r->roofs.matrix,
                  "memory", r->roofs.memory, "bytes", r->traffic, "bytes_a_clk", r->bytes_per_clk, "limit",
                  VERDICT_LATENCY, "latency_bound", r->roofs.latency_bound, "latency_bound_at_twice",
                  r->roofs.latency_bound_at_twice, "verdict", roofs_note(&r->roofs));
    json_t *changes = json_array();
    for (size_t n = 1; n < r->count; n++) json_array_append_new(changes, run_json(&r->runs[n], &r->trials[n]));
    return print_object(json_pack("{s:s, s:s, s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o}", "op", i->op,
                                  "tag", i->tag, "shape", i->shape, "target", i->target, "measured", r->measured,
                                  "kernel", kernel_json(i, &r->runs[0]), "identity", identity, "duty", duty_object,
                                  "roofs", roofs_object, "gain_formula", gain_formula, "changes", changes, "sweep",
                                  sweep_json(&r->sweep, r->runs[0].clk), "verdict", verdict_json(r)));
}

/* ---- the command ---- */

static void show(void *user, const char *what, size_t done) {
    (void)user;
    progress("diagnosing: %zu done, %s", done, what);
}

int diagnose_command(const cli *options) {
    request r = {0};
    plan p;
    diagnosis_report report = {0};
    cli simulated = *options;
    diagnose_options how = {.parameters = options->parameters, .counts = &measure_standard, .progress = show};
    char gpu[64];
    if (options->trace) return fail_exit(fail(CDNAGEN_BAD_ARGUMENT, "--trace is of one launch: leave --diagnose out"));
    cdnagen_status status = find_gpu(options, gpu);
    if (!status && *gpu) {
        if (!options->target) simulated.target = gpu;
        status = context_open(options, "auto", &how.gpu);
    }
    simulated.device = "sim";
    if (!status) status = request_open(&simulated, "sim", &r);
    if (!status) status = plan_of(&r.info, &p);
    if (!status) status = diagnose(r.ctx, r.kernel, &r.info, &p, &how, &report);
    progress("%s", "");
    if (!status && options->json) status = print_json(&r.info, &report);
    if (!status && !options->json) print_report(&r.info, &report);
    const int code = status ? fail_exit(status) : EXIT_OK;
    diagnosis_report_free(&report);
    request_close(&r);
    cdnagen_free_context(how.gpu);
    return code;
}
