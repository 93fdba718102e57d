/* --report: one HTML page that needs nothing else. The page draws what is in its JSON
 * (page/page.js); docs/profiling.md shows it. */
#ifndef HD_REPORT_HTML_H
#define HD_REPORT_HTML_H

#include "compiler/report/profile.h"
#include "compiler/report/report.h"

/* A run of a machine. profile NULL: the device showed no operations; pictures that need them are
 * left out. */
hd_status hd_report_run(struct hd_cmd *c, const struct hd_run_facts *r,
                        const struct hd_profile *profile, const char *path);
/* A page around any data: keys as page.js reads them. Takes data. */
hd_status hd_report_write(struct hd_cmd *c, json_object *data, const char *path);
/* The same with a script of one's own, which follows page/elements.js: its lines, NULL behind the
 * last. */
hd_status hd_page_write(struct hd_cmd *c, json_object *data, const char *path, const char *title,
                        const char *const *lines);

#endif
