/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Jobs in; a cache root, code objects and a report out. */
#include "study/precompile.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "study/files.h"
#include "runtime/worker.h"

enum { TARGETS_MAX = 16, TARGET_BYTES = 48, WORDS_MAX = 72 };

/* task: one job for one target. */
typedef struct task {
    const job *job;
    const char *target;
    json_t *entry; /* of the report; NULL: not done yet */
    double started;
} task;

typedef struct run {
    const precompile_options *options;
    void (*report)(void *user, const precompile_event *event);
    void *user;
    precompile_totals *totals;
    char targets[TARGETS_MAX][TARGET_BYTES];
    size_t target_count;
    job_list jobs[TARGETS_MAX]; /* of each target; of one file all are the first */
    task *tasks;
    size_t task_count;
    text variable; /* the cache that workers fill */
    worker *workers;
    task **at_work; /* of each worker; NULL: idle */
    long done;
} run;

/* ---- the report ---- */

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

/* describe: one entry of the report, without times and without what was there before, so that equal kernels make equal
 * reports. */
static json_t *describe(const precompile_event *e, const cdnagen_kernel_info *info) {
    json_t *j = json_pack("{s:i, s:o, s:s, s:s}", "line", e->job->line, "job", words_json(e->job->words), "target",
                          e->target, "status", cdnagen_status_name(e->status));
    if (e->status) {
        json_object_set_new(j, "error", words_json(e->error));
        return j;
    }
    json_object_set_new(j, "tag", json_string(info->tag));
    json_object_set_new(j, "file", json_sprintf("%s/%s.co", e->target, e->symbol));
    json_object_set_new(j, "key", json_string(info->key));
    json_object_set_new(j, "vgpr", json_integer(info->vgpr));
    json_object_set_new(j, "agpr", json_integer(info->agpr));
    json_object_set_new(j, "lds_bytes", json_integer(info->lds_bytes));
    json_object_set_new(j, "scratch_bytes", json_integer(info->scratch_bytes));
    json_object_set_new(j, "vgpr_spills", json_integer(info->vgpr_spills));
    json_object_set_new(j, "waves_per_simd", json_integer(info->waves_per_simd));
    return j;
}

static cdnagen_status write_report(const run *r) {
    json_t *entries = json_array();
    for (size_t i = 0; i < r->task_count; i++) json_array_append(entries, r->tasks[i].entry);
    json_t *report = json_pack("{s:s, s:i, s:i, s:o}", "version", cdnagen_version(), "jobs", (int)r->totals->jobs,
                               "failed", (int)r->totals->failed, "entries", entries);
    char *dump = report ? json_dumps(report, JSON_INDENT(2)) : NULL;
    json_decref(report);
    if (!dump) return fail_no_memory();
    const cdnagen_status status = write_file(r->options->dir, r->totals->report, "", dump, strlen(dump));
    free(dump);
    return status;
}

/* finish: a task has ended; with `info` it is there, without one the thread's error says why not. */
static void finish(run *r, task *t, cdnagen_status status, const cdnagen_kernel_info *info, int made) {
    precompile_event e = {.job = t->job,
                          .target = t->target,
                          .status = status,
                          .error = status ? cdnagen_error() : "",
                          .symbol = status ? "" : info->symbol,
                          .made = made,
                          .ms = clock_ms() - t->started,
                          .done = ++r->done,
                          .total = (long)r->task_count};
    t->entry = describe(&e, info);
    r->totals->failed += status != CDNAGEN_OK;
    r->totals->made += !status && made;
    if (r->report) r->report(r->user, &e);
}

/* ---- one task ---- */

/* look_up: the kernel as the cache root has it, CACHE_MISS if it does not; its code object is written beside. A context
 * a task: one for all of them would keep every object in memory. */
static cdnagen_status look_up(run *r, task *t, int made) {
    const cdnagen_options options = {
        .size = sizeof options, .target = t->target, .device = "none", .cache_dir = r->options->dir, .cache_only = 1};
    cdnagen *ctx = NULL;
    cdnagen_kernel *kernel = NULL;
    cdnagen_kernel_info info = {.size = sizeof info};
    const char *const words = t->job->words;
    const size_t tag_bytes = strcspn(words, " ");
    text tag = {0};
    text_add(&tag, "%.*s", (int)tag_bytes, words);
    cdnagen_status status = tag.failed ? fail_no_memory() : cdnagen_create_context(&options, &ctx);
    if (!status) status = gen_kernel(ctx, tag.data, words + tag_bytes + (words[tag_bytes] == ' '), &kernel);
    if (!status) status = cdnagen_get_kernel_info(kernel, &info);
    text folder = {0};
    text_add(&folder, "%s/%s", r->options->dir, t->target);
    if (!status && folder.failed) status = fail_no_memory();
    if (!status) status = write_file(folder.data, info.symbol, ".co", info.object, info.object_bytes);
    if (status != CDNAGEN_CACHE_MISS) finish(r, t, status, &info, made);
    text_free(&folder);
    text_free(&tag);
    cdnagen_free_kernel(kernel);
    cdnagen_free_context(ctx);
    return status;
}

/* start: give the task to a worker: the command's own gen, with the job's words. */
static cdnagen_status start(const run *r, const task *t, worker *w) {
    const char *argv[WORDS_MAX + 6] = {r->options->program, "gen"};
    size_t count = 2;
    char *const words = mem_strdup(t->job->words), *rest = NULL;
    if (!words) return fail_no_memory();
    for (char *word = strtok_r(words, " ", &rest); word && count < WORDS_MAX; word = strtok_r(NULL, " ", &rest))
        argv[count++] = word;
    argv[count++] = "--target";
    argv[count++] = t->target;
    const cdnagen_status status =
        worker_start(argv, r->variable.data, -1, r->options->seconds, r->options->megabytes, w);
    mem_free(words);
    return status;
}

/* take_in: what became of a task whose worker has ended. */
static void take_in(run *r, task *t, worker *w) {
    const cdnagen_kernel_info none = {.size = sizeof none};
    const cdnagen_status status = worker_result(w, r->options->seconds, r->options->megabytes);
    if (status) {
        finish(r, t, status, &none, 0);
    } else if (look_up(r, t, 1) == CDNAGEN_CACHE_MISS) {
        const char *const said = w->said.data ? w->said.data : "";
        finish(r, t, fail(CDNAGEN_IO, "it was generated, but %s does not have it: %.300s", r->options->dir, said),
               &none, 0);
    }
    worker_free(w);
}

/* ---- all of them ---- */

/* begin: the next task; 1 if a worker took it on. */
static int begin(run *r, task *t, long slot) {
    const cdnagen_kernel_info none = {.size = sizeof none};
    t->started = clock_ms();
    if (t->job->error) {
        finish(r, t, fail(t->job->status, "%s", t->job->error), &none, 0);
    } else if (look_up(r, t, 0) == CDNAGEN_CACHE_MISS) {
        const cdnagen_status status = start(r, t, &r->workers[slot]);
        if (status) finish(r, t, status, &none, 0);
        if (!status) r->at_work[slot] = t;
        return !status;
    }
    return 0;
}

static void work(run *r) {
    const long slots = r->options->workers;
    long busy = 0;
    for (size_t next = 0; next < r->task_count || busy;) {
        for (long s = 0; s < slots && next < r->task_count; s++)
            while (!r->at_work[s] && next < r->task_count) busy += begin(r, &r->tasks[next++], s);
        if (!busy) continue;
        worker_wait(r->workers, (size_t)slots);
        for (long s = 0; s < slots; s++) {
            if (!r->at_work[s] || r->workers[s].stream >= 0) continue;
            take_in(r, r->at_work[s], &r->workers[s]);
            r->at_work[s] = NULL;
            busy--;
        }
    }
}

/* split_targets: each one's canonical text, in the order given. */
static cdnagen_status split_targets(run *r) {
    for (const char *at = r->options->targets;;) {
        const size_t size = strcspn(at, ",");
        char words[TARGET_BYTES * 2];
        target t;
        snprintf(words, sizeof words, "%.*s", (int)size, at);
        TRY(target_parse(words, &t));
        for (size_t i = 0; i < r->target_count; i++)
            if (!strcmp(r->targets[i], t.text)) return fail(CDNAGEN_BAD_TARGET, "target %s is given twice", t.text);
        if (r->target_count == TARGETS_MAX)
            return fail(CDNAGEN_BAD_TARGET, "there are more than %d targets", TARGETS_MAX);
        memcpy(r->targets[r->target_count++], t.text, TARGET_BYTES);
        if (!at[size]) return CDNAGEN_OK;
        at += size + 1;
    }
}

static cdnagen_status read_jobs(run *r) {
    const char *const path = r->options->jobs_path;
    if (!path) {
        for (size_t i = 0; i < r->target_count; i++) {
            target t;
            TRY(target_parse(r->targets[i], &t));
            TRY(jobs_of_routes(&t, &r->jobs[i]));
        }
        return CDNAGEN_OK;
    }
    text lines = {0};
    cdnagen_status status = read_text_file(path, &lines);
    if (!status && lines.data && strlen(lines.data) != lines.length)
        status = fail(CDNAGEN_IO, "%s is not text: byte %zu is 0", path, strlen(lines.data) + 1);
    for (size_t i = 0; i < r->target_count && !status && lines.data; i++) status = jobs_parse(lines.data, &r->jobs[i]);
    text_free(&lines);
    return status;
}

/* share_out: this shard's tasks, target by target. */
static cdnagen_status share_out(run *r) {
    size_t all = 0, number = 0;
    for (size_t i = 0; i < r->target_count; i++) all += r->jobs[i].count;
    r->tasks = mem_alloc((all + 1) * sizeof *r->tasks);
    r->workers = mem_alloc((size_t)r->options->workers * sizeof *r->workers);
    r->at_work = mem_alloc((size_t)r->options->workers * sizeof *r->at_work);
    text_add(&r->variable, "CDNAGEN_CACHE_DIR=%s", r->options->dir);
    if (!r->tasks || !r->workers || !r->at_work || r->variable.failed) return fail_no_memory();
    for (long w = 0; w < r->options->workers; w++) r->workers[w].stream = -1;
    for (size_t i = 0; i < r->target_count; i++)
        for (size_t j = 0; j < r->jobs[i].count; j++)
            if ((long)(number++ % (size_t)r->options->shards) == r->options->shard)
                r->tasks[r->task_count++] = (task){.job = &r->jobs[i].jobs[j], .target = r->targets[i]};
    return CDNAGEN_OK;
}

static cdnagen_status make_folders(const run *r) {
    TRY(make_folder(r->options->dir));
    for (size_t i = 0; i < r->target_count; i++) {
        text folder = {0};
        text_add(&folder, "%s/%s", r->options->dir, r->targets[i]);
        const cdnagen_status status = folder.failed ? fail_no_memory() : make_folder(folder.data);
        text_free(&folder);
        TRY(status);
    }
    return CDNAGEN_OK;
}

cdnagen_status precompile_run(const precompile_options *options,
                              void (*report)(void *user, const precompile_event *event), void *user,
                              precompile_totals *totals) {
    *totals = (precompile_totals){0};
    if (strchr(options->dir, ':'))
        return fail(CDNAGEN_BAD_ARGUMENT, "directory %s has a ':' in its name, which separates the roots of a cache",
                    options->dir);
    run *r = mem_alloc(sizeof *r);
    if (!r) return fail_no_memory();
    *r = (run){.options = options, .report = report, .user = user, .totals = totals};
    if (options->shards > 1)
        snprintf(totals->report, sizeof totals->report, "report-%ld-of-%ld.json", options->shard, options->shards);
    else
        snprintf(totals->report, sizeof totals->report, "report.json");
    cdnagen_status status = split_targets(r);
    if (!status) status = read_jobs(r);
    if (!status) status = make_folders(r);
    if (!status) status = share_out(r);
    if (!status) {
        totals->jobs = (long)r->task_count;
        work(r);
        status = write_report(r);
    }
    for (size_t i = 0; i < r->task_count; i++) json_decref(r->tasks[i].entry);
    for (size_t i = 0; i < TARGETS_MAX; i++) jobs_free(&r->jobs[i]);
    text_free(&r->variable);
    mem_free(r->tasks);
    mem_free(r->workers);
    mem_free(r->at_work);
    mem_free(r);
    return status;
}
