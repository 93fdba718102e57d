/* ONNX Runtime as the peer of `heddle bench cpu`: opened by path, never linked, never in the tree.
 * scripts/get_ort.sh fetches it. Only the C API's function table is used (version 13, which later
 * versions keep as a prefix); slots are numbered in bench_ort.c. */
#ifndef HD_CLI_BENCH_ORT_H
#define HD_CLI_BENCH_ORT_H

#include "compiler/cli/cli.h"

typedef struct cli_ort cli_ort;

/* Opens the library and a session with `threads` threads and all graph optimisations.
 * Errors: HD_IO (no such library), HD_DEVICE with ONNX Runtime's own words. */
hd_status cli_ort_open(hd_ctx *ctx, const char *library, const char *onnx, int threads,
                       const hd_model *m, cli_ort **out);
/* One run; inputs dense, in the order of m->inputs; outputs stay inside. */
hd_status cli_ort_run(hd_ctx *ctx, cli_ort *o, const void *const *in);
void cli_ort_close(cli_ort *o); /* NULL is fine */

#endif
