/* What was measured, in a file, an SQLite database. A row of schedules is one schedule of one work
 * on one device; schedule "" is what the device does by itself. A row of runs is one network run in
 * one way. Several programs may read it at a time, and one write. */
#ifndef HD_SCHEDULES_H
#define HD_SCHEDULES_H

#include "runtime/base/arena.h"
#include "runtime/base/status.h"

struct hd_schedules;

/* write: the file is made where there is none. Errors: HD_IO with the path; HD_MISMATCH for a file
 * of another kind or version. */
hd_status hd_schedules_open(hd_ctx *ctx, const char *path, bool write, struct hd_schedules **out);
void hd_schedules_close(struct hd_schedules *d); /* NULL is fine */

struct hd_schedule_row {
    const char *device, *work, *schedule;
    double seconds; /* 0: it does not fit, or its results are wrong */
};
/* In place of what is there of that device, work and schedule. */
hd_status hd_schedules_put(hd_ctx *ctx, struct hd_schedules *d, const struct hd_schedule_row *row);
/* *out_found: it was measured before. */
hd_status hd_schedules_get(hd_ctx *ctx, struct hd_schedules *d, struct hd_schedule_row *row,
                           bool *out_found);
/* The fastest of a device and work; "" where nothing beats what the device does by itself.
 * *out_row.schedule is NULL when nothing is known; memory is a's. */
hd_status hd_schedules_best(hd_ctx *ctx, hd_arena *a, struct hd_schedules *d, const char *device,
                            const char *work, struct hd_schedule_row *out_row);

struct hd_run_row {
    const char *computer, *network;
    const char *kind, *variant; /* kind: the ways that share a model of their time */
    const char *facts;          /* numbers of the work, as the reader of them says */
    double samples, seconds;    /* of a run */
};
/* In place of what is there of that computer, network, kind and variant; with the same facts the
 * least seconds stay. */
hd_status hd_runs_put(hd_ctx *ctx, struct hd_schedules *d, const struct hd_run_row *row);
/* All of one computer, by network, kind and variant; memory is a's. */
hd_status hd_runs_of(hd_ctx *ctx, hd_arena *a, struct hd_schedules *d, const char *computer,
                     struct hd_run_row **out, size_t *out_n);

#endif
