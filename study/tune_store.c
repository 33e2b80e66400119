/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The tuner's records in SQLite. */
#include "study/tune_store.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

enum { BUSY_MS = 60000 }; /* tuners of several chips may share a file */

struct tune_store {
    sqlite3 *db;
    sqlite3_stmt *find, *put;
    char *path, *device, *model;
    char status[16], note[512];
};

static const char schema[] = "create table if not exists records ("
                             "device text not null, model text not null, op text not null, tag text not null, "
                             "shape text not null, code text not null, status text not null, cost real not null, "
                             "note text not null, primary key (device, model, op, tag, shape, code))";
static const char find_text[] =
    "select status, cost, note from records where device = ?1 and model = ?2 and op = ?3 and "
    "tag = ?4 and shape = ?5 and code = ?6";
static const char put_text[] = "insert or replace into records values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

static cdnagen_status broken(const tune_store *s) {
    const int code = s->db ? sqlite3_errcode(s->db) : SQLITE_NOMEM;
    if (code == SQLITE_NOMEM) return fail_no_memory();
    return fail(CDNAGEN_IO, "the tuner's file %s: SQLite answers %d, %s", s->path, code, sqlite3_errmsg(s->db));
}

static int prepare(tune_store *s) {
    if (sqlite3_busy_timeout(s->db, BUSY_MS) || sqlite3_exec(s->db, schema, NULL, NULL, NULL)) return 0;
    return !sqlite3_prepare_v2(s->db, find_text, -1, &s->find, NULL) &&
           !sqlite3_prepare_v2(s->db, put_text, -1, &s->put, NULL);
}

cdnagen_status tune_store_open(const char *path, const char *device, const char *model, tune_store **out) {
    tune_store *s = mem_alloc(sizeof *s);
    if (!s) return fail_no_memory();
    s->path = mem_strdup(path);
    s->device = mem_strdup(device);
    s->model = mem_strdup(model);
    cdnagen_status status = s->path && s->device && s->model ? CDNAGEN_OK : fail_no_memory();
    if (!status && (sqlite3_open(path, &s->db) || !prepare(s))) status = broken(s);
    if (status)
        tune_store_close(s);
    else
        *out = s;
    return status;
}

void tune_store_close(tune_store *s) {
    if (!s) return;
    sqlite3_finalize(s->find);
    sqlite3_finalize(s->put);
    sqlite3_close(s->db);
    mem_free(s->path);
    mem_free(s->device);
    mem_free(s->model);
    mem_free(s);
}

/* bind_key: the six parts that name a record. */
static int bind_key(const tune_store *s, sqlite3_stmt *to, const tune_record *r) {
    const char *const words[] = {s->device, s->model, r->op, r->tag, r->shape, r->code};
    for (int i = 0; i < 6; i++)
        if (sqlite3_bind_text(to, i + 1, words[i], -1, SQLITE_TRANSIENT)) return 0;
    return 1;
}

static void copy_column(sqlite3_stmt *from, int column, char *to, size_t room) {
    const unsigned char *const words = sqlite3_column_text(from, column);
    snprintf(to, room, "%s", words ? (const char *)words : "");
}

cdnagen_status tune_store_find(tune_store *s, tune_record *r, int *found) {
    const int bound = bind_key(s, s->find, r), step = bound ? sqlite3_step(s->find) : SQLITE_ERROR;
    *found = step == SQLITE_ROW;
    if (*found) {
        copy_column(s->find, 0, s->status, sizeof s->status);
        copy_column(s->find, 2, s->note, sizeof s->note);
        r->cost = sqlite3_column_double(s->find, 1);
        r->status = s->status;
        r->note = s->note;
    }
    const cdnagen_status status = *found || step == SQLITE_DONE ? CDNAGEN_OK : broken(s);
    sqlite3_reset(s->find);
    return status;
}

cdnagen_status tune_store_put(tune_store *s, const tune_record *r) {
    const int bound = bind_key(s, s->put, r) && !sqlite3_bind_text(s->put, 7, r->status, -1, SQLITE_TRANSIENT) &&
                      !sqlite3_bind_double(s->put, 8, r->cost) &&
                      !sqlite3_bind_text(s->put, 9, r->note ? r->note : "", -1, SQLITE_TRANSIENT);
    const cdnagen_status status = bound && sqlite3_step(s->put) == SQLITE_DONE ? CDNAGEN_OK : broken(s);
    sqlite3_reset(s->put);
    return status;
}
