/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One modelled launch of a generated kernel or of any code object. */
#include "cli/inspect.h"

#include <string.h>

static uint32_t allocated(const chip *c, const codeobj_kernel *k) {
    return codeobj_occupancy(c, k, 64, 0).vgpr_allocated;
}

static cdnagen_status inspect_generated(const cli *options, inspection *out) {
    request r;
    plan p;
    codeobj o;
    const sim_timing_options how = {.parameters = options->parameters};
    TRY(request_open(options, "sim", &r));
    progress("modelling");
    cdnagen_status status = plan_of(&r.info, &p);
    if (!status) status = explain_run(r.ctx, r.kernel, &r.info, &p, &how, &out->look);
    if (!status) status = codeobj_open(r.info.object, r.info.object_bytes, &o);
    if (!status) status = codeobj_find(&o, r.info.symbol, &out->kernel);
    progress("%s", "");
    if (!status) {
        out->entry = (uint32_t)(out->kernel.entry_address - o.text_address);
        out->vgpr_allocated = allocated(o.chip, &out->kernel);
    }
    request_close(&r);
    return status;
}

static cdnagen_status inspect_file(const cli *options, const char *path, inspection *out) {
    sim_job job;
    sim_report report = {0};
    char mode[SIM_MODE_BYTES];
    const sim_timing_options how = {.parameters = options->parameters, .only = 1};
    TRY(sim_job_of(options, path, mode, &job));
    job.timing = &how;
    progress("modelling");
    cdnagen_status status = sim_run(&job, &report);
    progress("%s", "");
    if (!status) {
        out->kernel = report.kernel;
        out->entry = report.entry;
        out->vgpr_allocated = allocated(report.chip, &report.kernel);
        out->look.timing = report.timing;
        out->look.groups = report.timing.groups;
        report.timing = (sim_timing){0};
    }
    sim_report_free(&report);
    return status;
}

cdnagen_status inspection_open(const cli *options, const char *name, size_t shape, inspection *out) {
    *out = (inspection){0};
    if (!strchr(name, ':') || strchr(name, '/')) return inspect_file(options, name, out);
    cli one = *options;
    one.device = "sim";
    one.words[0] = name;
    one.word_count = 1;
    for (size_t i = shape; i < options->word_count; i++) one.words[one.word_count++] = options->words[i];
    return inspect_generated(&one, out);
}

void inspection_close(inspection *i) { explain_free(&i->look); }
