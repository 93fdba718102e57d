/* Reading networks: what the readers of all formats share. hd_import() for files is in
 * network.h. */
#ifndef HD_IMPORT_IMPORT_H
#define HD_IMPORT_IMPORT_H

#include "compiler/import/mapping.h"
#include "compiler/import/network.h"

/* A network in memory, or a mapped file. */
struct hd_source {
    const void *data;
    size_t bytes;
    const char *path;           /* NULL: from memory; then other files are refused */
    const struct hd_bind *bind; /* NULL = none */
    struct hd_mapping **files;  /* those that the graph keeps; grows. NULL when path is */
};

/* Readers: fill the graph g, which is empty, and verify it. Constants may point into mapped files
 * and not into memory. */
#define FORMAT(name, ...)                                                                          \
    hd_status hd_read_##name(hd_ctx *ctx, hd_graph *g, const struct hd_source *s);
#include "compiler/import/formats.def"

/* `data` is only needed during the call; `name` stands in messages, and its extension tells the
 * format as that of a file does. Open dimensions are a batch of 1, data in other files is refused.
 */
hd_status hd_import_memory(hd_ctx *ctx, const void *data, size_t bytes, const char *name,
                           hd_graph **out);

/* "OUTPUT=INPUT" of the graph as read: one more state (compiler/ir/ir.h), which begins with zero;
 * and those of bind. HD_INVALID: no such names; HD_UNSUPPORTED: they differ in type or shape. */
hd_status hd_import_state(hd_ctx *ctx, hd_graph *g, const char *text);
hd_status hd_import_states(hd_ctx *ctx, hd_graph *g, const struct hd_bind *bind);

/* After attributes of a new node are set: shapes. Small results of constants become constants. */
hd_status hd_import_done(hd_ctx *ctx, hd_graph *g, int node);

#endif
