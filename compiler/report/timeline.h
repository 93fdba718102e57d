/* --trace: the timeline of a run as a file for viewers. */
#ifndef HD_REPORT_TIMELINE_H
#define HD_REPORT_TIMELINE_H

#include "compiler/report/report.h"

/* Timeline of the last run, as opt->trace says, of the layers that are set (NULL = all). Without a
 * run seen by its probe it holds the counters. Model, options and layers outlive it; the memory is
 * the arena's. */
struct hd_timeline *hd_timeline_create(hd_arena *a, const hd_model *m, const struct hd_options *opt,
                                       const bool *layers);
const struct hd_probe *hd_timeline_probe(const struct hd_timeline *t);
hd_status hd_timeline_write(struct hd_cmd *c, struct hd_timeline *t, const struct hd_run_facts *r,
                            const char *path);

#endif
