/* The compiler's public face: network file (or graph) in, model out. */
#ifndef HD_COMPILER_COMPILER_H
#define HD_COMPILER_COMPILER_H

#include "compiler/import/network.h"
#include "compiler/ir/ir.h"
#include "compiler/options/options.h"
#include "runtime/device/model.h"

/* Stage 1 is hd_import() (compiler/import/network.h).
 * Stage 2: constants folded, QDQ and QLinear forms -> q* operations (compiler/pass). In place. */
hd_status hd_legalize(hd_ctx *ctx, hd_graph *g);
/* Stage 3: what the machine takes better, in a legal graph. Changes no value. */
hd_status hd_prepare(hd_ctx *ctx, hd_graph *g);
/* The end of stage 3 (bridge.c). Concats of more operands than a layer reads become concats of
 * concats. */
void hd_group_concats(hd_graph *g);
/* A node that moves data (identity) stands in front of each operand that lies in another layout
 * than its reader can read. */
void hd_bridge_layouts(hd_graph *g);
/* One pass alone: one of hd_pass_names (compiler/pass/pass.h), "complete", "legalize" or "prepare".
 * Errors: as hd_pass_run. */
hd_status hd_opt_pass(hd_ctx *ctx, hd_graph *g, const char *name);
/* The rest: legalised or prepared graph -> model. Borrows g. */
hd_status hd_lower(hd_ctx *ctx, hd_graph *g, const struct hd_compile_options *opt, hd_model **out);
/* Stages 2 and the rest, of a graph as written, which is changed. */
hd_status hd_compile_graph(hd_ctx *ctx, hd_graph *g, const struct hd_compile_options *opt,
                           hd_model **out);
/* All of it. */
hd_status hd_compile(hd_ctx *ctx, const char *path, const struct hd_compile_options *opt,
                     hd_model **out);
/* The same, but a model that was compiled before, by this build from the same network, sizes and
 * options, comes from the user's cache, of which at most `mib` are taken (kept.c); its
 * compile_seconds are 0. mib 0: nothing is kept. */
hd_status hd_compile_kept(hd_ctx *ctx, const char *path, const struct hd_compile_options *opt,
                          int mib, hd_model **out);
hd_status hd_compile_graph_kept(hd_ctx *ctx, hd_graph *g, const struct hd_compile_options *opt,
                                int mib, hd_model **out);

#endif
