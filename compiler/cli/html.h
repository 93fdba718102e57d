/* --report: one HTML page that needs nothing else. The page draws what is in its JSON
 * (page/page.js); docs/profiling.md shows it. */
#ifndef HD_CLI_HTML_H
#define HD_CLI_HTML_H

#include "compiler/cli/cli.h"
#include "compiler/cli/profile.h"

/* A run of a machine. profile NULL: the device showed no operations; pictures that need them are
 * left out. */
hd_status cli_report_run(struct cli *c, const struct cli_run *r, const struct cli_profile *profile,
                         const char *path);
/* A page around any data: keys as page.js reads them. Takes data. */
hd_status cli_report_write(struct cli *c, json_object *data, const char *path);

#endif
