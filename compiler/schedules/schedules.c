/* Schedules in SQLite: see schedules.h. */
#include "compiler/schedules/schedules.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VERSION = 1, BUSY_MS = 10000 };
#define APPLICATION 0x48644c20 /* "HdL ", PRAGMA application_id */

struct hd_schedules {
    sqlite3 *db;
    sqlite3_stmt *put, *get, *best;
    char *path;
};

static hd_status failed(hd_ctx *ctx, const struct hd_schedules *d) {
    return hd_fail(ctx, HD_IO, "%s: %s", d->path, d->db ? sqlite3_errmsg(d->db) : "no memory");
}

static int number_of(struct hd_schedules *d, const char *pragma) {
    sqlite3_stmt *s = NULL;
    int n = -1;
    if (sqlite3_prepare_v2(d->db, pragma, -1, &s, NULL) == SQLITE_OK &&
        sqlite3_step(s) == SQLITE_ROW)
        n = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    return n;
}

static hd_status prepare(hd_ctx *ctx, struct hd_schedules *d, bool write) {
    static const char make[] =
        "PRAGMA application_id = 1214532640; PRAGMA user_version = 1;"
        "CREATE TABLE schedules (device TEXT, work TEXT, schedule TEXT, seconds REAL,"
        " PRIMARY KEY (device, work, schedule)) WITHOUT ROWID;";
    static const char make_runs[] =
        "CREATE TABLE IF NOT EXISTS runs (computer TEXT, network TEXT, kind TEXT, variant TEXT,"
        " facts TEXT, samples REAL, seconds REAL,"
        " PRIMARY KEY (computer, network, kind, variant)) WITHOUT ROWID;";
    sqlite3_busy_timeout(d->db, BUSY_MS);
    if (write && number_of(d, "SELECT count(*) FROM sqlite_master") == 0 &&
        sqlite3_exec(d->db, make, NULL, NULL, NULL) != SQLITE_OK)
        return failed(ctx, d);
    if (number_of(d, "PRAGMA application_id") != APPLICATION ||
        number_of(d, "PRAGMA user_version") != VERSION)
        return hd_fail(ctx, HD_MISMATCH,
                       "%s: not a database of schedules of this version; heddle tune --db FILE "
                       "makes one",
                       d->path);
    if (write && sqlite3_exec(d->db, make_runs, NULL, NULL, NULL) != SQLITE_OK)
        return failed(ctx, d);
    bool ok = sqlite3_prepare_v2(d->db, "INSERT OR REPLACE INTO schedules VALUES (?, ?, ?, ?)", -1,
                                 &d->put, NULL) == SQLITE_OK &&
              sqlite3_prepare_v2(d->db,
                                 "SELECT seconds FROM schedules WHERE device = ? AND work = ? AND "
                                 "schedule = ?",
                                 -1, &d->get, NULL) == SQLITE_OK &&
              sqlite3_prepare_v2(d->db,
                                 "SELECT schedule, seconds FROM schedules WHERE device = ? AND "
                                 "work = ? AND seconds > 0 ORDER BY seconds, schedule LIMIT 1",
                                 -1, &d->best, NULL) == SQLITE_OK;
    return ok ? HD_OK : failed(ctx, d);
}

hd_status hd_schedules_open(hd_ctx *ctx, const char *path, bool write, struct hd_schedules **out) {
    if (!write && access(path, R_OK) != 0)
        return hd_fail(ctx, HD_IO,
                       "%s: cannot open: %s; heddle tune or bench choose with --db FILE makes one",
                       path, strerror(errno));
    struct hd_schedules *d = calloc(1, sizeof *d);
    if (!d) return hd_fail(ctx, HD_NOMEM, "%s: no memory", path);
    d->path = strdup(path);
    int flags = write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    hd_status s = sqlite3_open_v2(path, &d->db, flags | SQLITE_OPEN_FULLMUTEX, NULL) == SQLITE_OK
                      ? prepare(ctx, d, write)
                      : failed(ctx, d);
    if (s == HD_OK)
        *out = d;
    else
        hd_schedules_close(d);
    return s;
}

void hd_schedules_close(struct hd_schedules *d) {
    if (!d) return;
    sqlite3_finalize(d->put);
    sqlite3_finalize(d->get);
    sqlite3_finalize(d->best);
    sqlite3_close(d->db);
    free(d->path);
    free(d);
}

static void bind(sqlite3_stmt *s, const char *device, const char *work, const char *schedule) {
    sqlite3_reset(s);
    sqlite3_bind_text(s, 1, device, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(s, 2, work, -1, SQLITE_TRANSIENT);
    if (schedule) sqlite3_bind_text(s, 3, schedule, -1, SQLITE_TRANSIENT);
}

hd_status hd_schedules_put(hd_ctx *ctx, struct hd_schedules *d, const struct hd_schedule_row *row) {
    bind(d->put, row->device, row->work, row->schedule);
    sqlite3_bind_double(d->put, 4, row->seconds);
    bool ok = sqlite3_step(d->put) == SQLITE_DONE;
    hd_status s = ok ? HD_OK : failed(ctx, d);
    sqlite3_reset(d->put);
    return s;
}

hd_status hd_schedules_get(hd_ctx *ctx, struct hd_schedules *d, struct hd_schedule_row *row,
                           bool *out_found) {
    bind(d->get, row->device, row->work, row->schedule);
    int got = sqlite3_step(d->get);
    hd_status s = got == SQLITE_ROW || got == SQLITE_DONE ? HD_OK : failed(ctx, d);
    *out_found = got == SQLITE_ROW;
    if (*out_found) row->seconds = sqlite3_column_double(d->get, 0);
    sqlite3_reset(d->get);
    return s;
}

hd_status hd_schedules_best(hd_ctx *ctx, hd_arena *a, struct hd_schedules *d, const char *device,
                            const char *work, struct hd_schedule_row *out_row) {
    bind(d->best, device, work, NULL);
    int got = sqlite3_step(d->best);
    hd_status s = got == SQLITE_ROW || got == SQLITE_DONE ? HD_OK : failed(ctx, d);
    *out_row = (struct hd_schedule_row){device, work, NULL, 0};
    if (got == SQLITE_ROW) {
        out_row->schedule = hd_strdup(a, (const char *)sqlite3_column_text(d->best, 0));
        out_row->seconds = sqlite3_column_double(d->best, 1);
    }
    sqlite3_reset(d->best);
    return s;
}

hd_status hd_runs_put(hd_ctx *ctx, struct hd_schedules *d, const struct hd_run_row *row) {
    static const char put[] =
        "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET seconds = CASE "
        "WHEN facts = excluded.facts THEN min(seconds, excluded.seconds) ELSE excluded.seconds END,"
        " facts = excluded.facts, samples = excluded.samples";
    const char *text[] = {row->computer, row->network, row->kind, row->variant, row->facts};
    sqlite3_stmt *s = NULL;
    bool ok = sqlite3_prepare_v2(d->db, put, -1, &s, NULL) == SQLITE_OK;
    for (int i = 0; ok && i < 5; i++) sqlite3_bind_text(s, i + 1, text[i], -1, SQLITE_TRANSIENT);
    if (ok) sqlite3_bind_double(s, 6, row->samples);
    if (ok) sqlite3_bind_double(s, 7, row->seconds);
    ok = ok && sqlite3_step(s) == SQLITE_DONE;
    hd_status status = ok ? HD_OK : failed(ctx, d);
    sqlite3_finalize(s);
    return status;
}

hd_status hd_runs_of(hd_ctx *ctx, hd_arena *a, struct hd_schedules *d, const char *computer,
                     struct hd_run_row **out, size_t *out_n) {
    struct hd_run_row *rows = NULL;
    size_t n = 0, cap = 0;
    sqlite3_stmt *s = NULL;
    int got = sqlite3_prepare_v2(d->db,
                                 "SELECT network, kind, variant, facts, samples, seconds FROM runs "
                                 "WHERE computer = ? ORDER BY network, kind, variant",
                                 -1, &s, NULL);
    if (got == SQLITE_OK) sqlite3_bind_text(s, 1, computer, -1, SQLITE_TRANSIENT);
    while (s && (got = sqlite3_step(s)) == SQLITE_ROW) {
        const char *text[4];
        for (int i = 0; i < 4; i++) text[i] = hd_strdup(a, (const char *)sqlite3_column_text(s, i));
        *hd_push(a, rows, n, cap) = (struct hd_run_row){computer,
                                                        text[0],
                                                        text[1],
                                                        text[2],
                                                        text[3],
                                                        sqlite3_column_double(s, 4),
                                                        sqlite3_column_double(s, 5)};
    }
    hd_status status = got == SQLITE_DONE ? HD_OK : failed(ctx, d);
    sqlite3_finalize(s);
    *out = rows;
    *out_n = n;
    return status;
}
