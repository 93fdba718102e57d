/* A model as C source: program and weights in a .c/.h pair that needs no runtime, only six
 * functions of the board. docs/runtime.md, "As C source". */
#ifndef HD_COMPILER_EMIT_BUNDLE_H
#define HD_COMPILER_EMIT_BUNDLE_H

#include "compiler/ir/ir.h"
#include "runtime/base/io.h"
#include "runtime/device/model.h"

/* Source and header of model m; `name` prefixes what they define and is the header's file name, a C
 * identifier. Appends to *c and *h, the caller's. The same model gives the same text. Errors:
 * HD_UNSUPPORTED lists the host operations that are not written as C, and what to do. */
hd_status hd_emit_bundle(hd_ctx *ctx, const hd_model *m, const char *name, struct hd_buf *c,
                         struct hd_buf *h);

/* ---- inside ---- */

void hd_bundle_put(struct hd_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *hd_bundle_type(hd_dtype t); /* of C, NULL = none of it is handled */

struct hd_bundle {
    const hd_model *m;
    const hd_graph *g;
    const char **place; /* per tensor: where its data is, as C; NULL = nowhere yet */
    hd_arena *a;
};
/* True when bundle_host.c has the operation, for these types. */
bool hd_bundle_has(const hd_graph *g, const struct hd_node *n);
void hd_bundle_node(struct hd_buf *b, const struct hd_bundle *x, const struct hd_node *n);
/* The functions that the text of nodes calls. */
void hd_bundle_helpers(struct hd_buf *b, const struct hd_bundle *x);

#endif
