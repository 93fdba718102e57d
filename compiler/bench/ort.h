/* ONNX Runtime as the peer of `heddle bench cpu`: opened by path, never linked, never in the tree.
 * scripts/get_ort.sh fetches it. Only the C API's function table is used (version 13, which later
 * versions keep as a prefix); slots are numbered in bench_ort.c. */
#ifndef HD_BENCH_ORT_H
#define HD_BENCH_ORT_H

#include "compiler/bench/bench.h"

typedef struct hd_ort hd_ort;

/* Opens the library and a session with `threads` threads and all graph optimisations.
 * Errors: HD_IO (no such library), HD_DEVICE with ONNX Runtime's own words. */
hd_status hd_ort_open(hd_ctx *ctx, const char *library, const char *onnx, int threads,
                      const hd_model *m, hd_ort **out);
/* One run; inputs dense, in the order of m->inputs; outputs stay inside. */
hd_status hd_ort_run(hd_ctx *ctx, hd_ort *o, const void *const *in);
void hd_ort_close(hd_ort *o); /* NULL is fine */

#endif
