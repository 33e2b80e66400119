/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Job lines in, code objects and report.json out. */
#include "study/precompile.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/memory.h"
#include "study/files.h"

/* trim: cut a comment, a line end and blanks off both ends of a line, in place. */
static char *trim(char *line) {
    line[strcspn(line, "#\r\n")] = 0;
    line += strspn(line, " \t");
    size_t n = strlen(line);
    while (n && strchr(" \t", line[n - 1])) line[--n] = 0;
    return line;
}

/* next_line: cut the next line off *rest; NULL at the end. */
static char *next_line(char **rest) {
    char *line = *rest;
    if (!line || !*line) return NULL;
    char *end = strchr(line, '\n');
    *rest = end ? end + 1 : NULL;
    if (end) *end = 0;
    return line;
}

static int count_jobs(const char *lines) {
    int jobs = 0;
    while (lines && *lines) {
        lines += strspn(lines, " \t\r");
        jobs += *lines && !strchr("#\n", *lines);
        lines = strchr(lines, '\n');
        if (lines) lines++;
    }
    return jobs;
}

/* run_job: generate what one trimmed line names and write it.   owner: *out is the caller's, cdnagen_free_kernel */
static cdnagen_status run_job(cdnagen *ctx, char *job, const char *dir, cdnagen_kernel **out,
                              cdnagen_kernel_info *info) {
    char *shape = job + strcspn(job, " \t");
    const char separator = *shape;
    *shape = 0;
    const cdnagen_status status = gen_kernel(ctx, job, separator ? shape + 1 : "", out);
    *shape = separator;
    TRY(status);
    TRY(cdnagen_get_kernel_info(*out, info));
    return write_file(dir, info->symbol, ".co", info->object, info->object_bytes);
}

/* words_json: text as JSON; bytes that are not UTF-8 turn into '?'. */
static json_t *words_json(const char *words) {
    json_t *j = json_string(words);
    char *copy = j ? NULL : mem_strdup(words);
    for (char *c = copy; c && *c; c++)
        if ((unsigned char)*c >= 0x80) *c = '?';
    if (copy) j = json_string(copy);
    mem_free(copy);
    return j;
}

/* describe: one entry of report.json. */
static json_t *describe(const precompile_event *e, const cdnagen_kernel_info *info) {
    json_t *j = json_pack("{s:i, s:o, s:s}", "line", e->line, "job", words_json(e->job), "status",
                          cdnagen_status_name(e->status));
    if (e->status) {
        json_object_set_new(j, "error", words_json(e->error));
        return j;
    }
    json_object_set_new(j, "file", json_sprintf("%s.co", e->symbol));
    json_object_set_new(j, "key", json_string(info->key));
    json_object_set_new(j, "vgpr", json_integer(info->vgpr));
    json_object_set_new(j, "agpr", json_integer(info->agpr));
    json_object_set_new(j, "lds_bytes", json_integer(info->lds_bytes));
    json_object_set_new(j, "scratch_bytes", json_integer(info->scratch_bytes));
    json_object_set_new(j, "vgpr_spills", json_integer(info->vgpr_spills));
    json_object_set_new(j, "waves_per_simd", json_integer(info->waves_per_simd));
    json_object_set_new(j, "total_ms", json_real(info->total_ms));
    return j;
}

static cdnagen_status write_report(const char *dir, json_t *jobs, const precompile_totals *totals) {
    json_t *report = json_pack("{s:s, s:i, s:i, s:O}", "version", cdnagen_version(), "jobs", totals->jobs, "failed",
                               totals->failed, "entries", jobs);
    char *dump = json_dumps(report, JSON_INDENT(2));
    json_decref(report);
    if (!dump) return fail_no_memory();
    const cdnagen_status status = write_file(dir, "report", ".json", dump, strlen(dump));
    free(dump);
    return status;
}

cdnagen_status precompile_run(cdnagen *ctx, const char *jobs_path, const char *dir,
                              void (*report)(void *user, const precompile_event *event), void *user,
                              precompile_totals *totals) {
    *totals = (precompile_totals){0, 0};
    text jobs = {0};
    cdnagen_status status = read_text_file(jobs_path, &jobs);
    if (!status && jobs.data && strlen(jobs.data) != jobs.length)
        status = fail(CDNAGEN_IO, "%s is not text: byte %zu is 0", jobs_path, strlen(jobs.data) + 1);
    if (!status) status = make_folder(dir);
    json_t *entries = json_array();
    const int total = count_jobs(jobs.data);
    char *rest = jobs.data;
    int number = 0;
    for (char *line; !status && (line = next_line(&rest));) {
        number++;
        char *job = trim(line);
        if (!*job) continue;
        const double started = clock_ms();
        cdnagen_kernel *kernel = NULL;
        cdnagen_kernel_info info = {.size = sizeof info};
        precompile_event e = {.line = number, .job = job, .error = "", .symbol = "", .total = total};
        e.status = run_job(ctx, job, dir, &kernel, &info);
        if (e.status)
            e.error = cdnagen_error();
        else
            e.symbol = info.symbol, e.tier = info.cache_tier;
        e.ms = clock_ms() - started;
        totals->jobs++;
        totals->failed += e.status != CDNAGEN_OK;
        e.done = totals->jobs;
        json_array_append_new(entries, describe(&e, &info));
        if (report) report(user, &e);
        cdnagen_free_kernel(kernel);
    }
    if (!status) status = write_report(dir, entries, totals);
    json_decref(entries);
    text_free(&jobs);
    return status;
}
