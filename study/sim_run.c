/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Running a code object on the simulator: the same calls that a HIP program makes. */
#include "study/sim_run.h"

#include <string.h>

#include "core/clock.h"
#include "runtime/hip.h"
#include "sim/sim.h"
#include "study/files.h"

/* What a launch holds until it is over. */
typedef struct session {
    const hip_table *hip;
    hip_module module;
    hip_function function;
    void *buffer[CODEOBJ_ARGS_MAX];
} session;

static cdnagen_status find_kernel(const codeobj *o, const char *name, codeobj_kernel *out) {
    if (name || o->kernel_count != 1) return codeobj_find(o, name ? name : "", out);
    return codeobj_kernel_at(o, 0, out);
}

static cdnagen_status check_target(const char *wanted, const char *path, const chip *own) {
    target t;
    if (!wanted) return CDNAGEN_OK;
    TRY(target_parse(wanted, &t));
    if (t.chip == own) return CDNAGEN_OK;
    return fail(CDNAGEN_BAD_TARGET, "%s is for %s and does not run on %s", path, own->name, t.chip->name);
}

/* LDS of local arguments follows the kernel's own, each at a multiple of 16. */
static uint32_t place_locals(const codeobj_kernel *k, const sim_args *args, uint32_t place[CODEOBJ_ARGS_MAX]) {
    uint32_t end = k->lds_bytes;
    for (size_t i = 0; i < args->count; i++)
        if (args->arg[i].kind == SIM_ARG_LOCAL) {
            place[i] = (end + 15) & ~15u;
            end = place[i] + (uint32_t)args->arg[i].bytes;
        }
    return end - k->lds_bytes;
}

static cdnagen_status check_limits(const sim_job *job, const sim_report *r) {
    const uint32_t most = r->kernel.max_workgroup ? r->kernel.max_workgroup : 1024;
    const double threads = (double)job->block[0] * job->block[1] * job->block[2]; /* may be beyond 64 bits */
    if (threads > most)
        return fail(CDNAGEN_LIMIT, "a block of %u x %u x %u has %.0f work-items, kernel %s allows %u", job->block[0],
                    job->block[1], job->block[2], threads, r->kernel.name, most);
    for (int i = 0; i < 3; i++)
        if ((uint64_t)job->grid[i] * job->block[i] > UINT32_MAX)
            return fail(CDNAGEN_LIMIT,
                        "%u workgroups of %u work-items along %c are %llu work-items, at most 4294967295 fit",
                        job->grid[i], job->block[i], "xyz"[i], (unsigned long long)job->grid[i] * job->block[i]);
    if ((uint64_t)r->kernel.lds_bytes + r->lds_bytes > (uint64_t)r->chip->lds_bytes)
        return fail(CDNAGEN_LIMIT, "%u bytes of LDS in kernel %s and %u dynamic ones, %s has %d", r->kernel.lds_bytes,
                    r->kernel.name, r->lds_bytes, r->chip->name, r->chip->lds_bytes);
    return CDNAGEN_OK;
}

/* Device memory is zeros until written. */
static cdnagen_status make_buffer(const session *s, const sim_arg *a, fp8_kind fp8, void **out) {
    const hip_table *hip = s->hip;
    TRY(hip_check(hip, hip->malloc(out, a->bytes), "hipMalloc"));
    if (a->fill == sim_fill_find("zeros")) return CDNAGEN_OK;
    text content = {0};
    void *made = NULL;
    cdnagen_status status = CDNAGEN_OK;
    if (a->file) {
        status = read_text_file(a->file, &content);
        if (!status && content.length != a->bytes) status = fail(CDNAGEN_IO, "%s changed while it was read", a->file);
    } else {
        made = mem_alloc(a->bytes);
        if (!made) status = fail_no_memory();
        if (made) sim_data_make(made, a->count, a->element, a->fill, a->seed, fp8);
    }
    if (!status)
        status = hip_check(hip, hip->memcpy(*out, made ? made : content.data, a->bytes, HIP_MEMCPY_HOST_TO_DEVICE),
                           "hipMemcpy");
    text_free(&content);
    mem_free(made);
    return status;
}

static cdnagen_status write_buffer(const session *s, const sim_arg *a, const void *device) {
    void *host = mem_alloc(a->bytes);
    if (!host) return fail_no_memory();
    cdnagen_status status =
        hip_check(s->hip, s->hip->memcpy(host, device, a->bytes, HIP_MEMCPY_DEVICE_TO_HOST), "hipMemcpy");
    if (!status) status = write_file(NULL, a->write, "", host, a->bytes);
    mem_free(host);
    return status;
}

static cdnagen_status launch_job(session *s, const sim_job *job, sim_report *r, uint32_t place[CODEOBJ_ARGS_MAX]) {
    const hip_table *hip = s->hip;
    void *params[CODEOBJ_ARGS_MAX + 1] = {NULL};
    for (size_t i = 0; i < r->args.count; i++) {
        const sim_arg *a = &r->args.arg[i];
        if (a->kind == SIM_ARG_BUFFER) TRY(make_buffer(s, a, r->chip->fp8, &s->buffer[i]));
        params[i] = a->kind == SIM_ARG_BUFFER  ? (void *)&s->buffer[i]
                    : a->kind == SIM_ARG_LOCAL ? (void *)&place[i]
                                               : (void *)a->value;
    }
    if (job->timing) TRY(sim_timing_next(r->chip, job->timing, &r->timing));
    const double started = clock_ms();
    TRY(hip_check(hip,
                  hip->module_launch_kernel(s->function, job->grid[0], job->grid[1], job->grid[2], job->block[0],
                                            job->block[1], job->block[2], r->lds_bytes, NULL, params, NULL),
                  "hipModuleLaunchKernel"));
    TRY(hip_check(hip, hip->device_synchronize(), "hipDeviceSynchronize"));
    r->launch_ms = clock_ms() - started;
    if (job->timing && job->timing->only) return CDNAGEN_OK;
    for (size_t i = 0; i < r->args.count; i++)
        if (r->args.arg[i].kind == SIM_ARG_BUFFER && r->args.arg[i].write)
            TRY(write_buffer(s, &r->args.arg[i], s->buffer[i]));
    return CDNAGEN_OK;
}

/* The sentence of what is wrong with a code object is the simulator's: hip_check would replace it. */
static cdnagen_status loaded(hip_error error) {
    return error == HIP_SUCCESS               ? CDNAGEN_OK
           : error == HIP_ERROR_OUT_OF_MEMORY ? CDNAGEN_NO_MEMORY
                                              : CDNAGEN_BAD_OBJECT;
}

static cdnagen_status run_object(const sim_job *job, const codeobj *o, session *s, sim_report *r) {
    uint32_t place[CODEOBJ_ARGS_MAX] = {0};
    r->chip = o->chip;
    TRY(check_target(job->target, job->object, o->chip));
    TRY(find_kernel(o, job->kernel, &r->kernel));
    r->entry = (uint32_t)(r->kernel.entry_address - o->text_address);
    TRY(sim_args_read(job->args, &r->kernel, &r->args));
    r->lds_bytes = r->args.lds_bytes + place_locals(&r->kernel, &r->args, place);
    TRY(check_limits(job, r));
    TRY(sim_open(o->chip, job->mode, &s->hip));
    TRY(loaded(s->hip->module_load_data(&s->module, o->data)));
    TRY(loaded(s->hip->module_get_function(&s->function, s->module, r->kernel.name)));
    return launch_job(s, job, r, place);
}

cdnagen_status sim_run(const sim_job *job, sim_report *out) {
    *out = (sim_report){0};
    text file = {0};
    codeobj o;
    session s = {0};
    cdnagen_status status = read_text_file(job->object, &file);
    if (!status) status = codeobj_open(file.data, file.length, &o);
    if (!status) status = run_object(job, &o, &s, out);
    for (size_t i = 0; i < CODEOBJ_ARGS_MAX; i++)
        if (s.buffer[i]) s.hip->free(s.buffer[i]);
    if (s.module) s.hip->module_unload(s.module);
    text_free(&file);
    return status;
}

void sim_report_free(sim_report *r) {
    sim_args_free(&r->args);
    sim_timing_free(&r->timing);
}
