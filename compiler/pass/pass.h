/* Graph passes: needs / gives / destroys stand at the head of each. */
#ifndef HD_PASS_PASS_H
#define HD_PASS_PASS_H

#include "compiler/ir/ir.h"

/* Runs one pass by name, in place: one of hd_pass_names. The graph is verified afterwards. Errors:
 * HD_INVALID when there is no such pass; a graph the pass refuses. */
hd_status hd_pass_run(hd_ctx *ctx, hd_graph *g, const char *name);
/* The names; NULL at the end. Their order as models go through them: compiler/legalize.c. */
extern const char *const hd_pass_names[];

hd_status hd_pass_fold(hd_ctx *ctx, hd_graph *g);
hd_status hd_pass_qdq(hd_ctx *ctx, hd_graph *g);
hd_status hd_pass_layout(hd_ctx *ctx, hd_graph *g, bool images);
hd_status hd_pass_recurrent(hd_ctx *ctx, hd_graph *g);
hd_status hd_pass_rows(hd_ctx *ctx, hd_graph *g);
/* By an operation along the last dimension, and nothing between them needs another layout: the
 * machine keeps t as rows. */
bool hd_made_as_rows(const hd_graph *g, int t);
/* The dimension of t that lies side by side in memory, where layers of rows or images make it; else
 * -1. */
int hd_channels_of(const hd_graph *g, int t);
hd_status hd_pass_images(hd_ctx *ctx, hd_graph *g);
hd_status hd_pass_gaps(hd_ctx *ctx, hd_graph *g);
/* By an operation that has windows, and no other view of it between; what else has rank 3 is rows.
 */
bool hd_made_as_image(const hd_graph *g, int t);
/* By a product by weights or of two tensors, or a norm, or elementwise from such: rows of any rank.
 */
bool hd_in_rows(const hd_graph *g, int t);
hd_status hd_pass_shuffle(hd_ctx *ctx, hd_graph *g);
/* Its beginning: what is stacked behind channels becomes a concat of channels that is shuffled. */
void hd_unstack(hd_graph *g);
hd_status hd_pass_columns(hd_ctx *ctx, hd_graph *g);
hd_status hd_pass_lines(hd_ctx *ctx, hd_graph *g);
hd_status hd_pass_pixels(hd_ctx *ctx, hd_graph *g);
hd_status hd_pass_taps(hd_ctx *ctx, hd_graph *g);
hd_status hd_pass_windows(hd_ctx *ctx, hd_graph *g);
hd_status hd_pass_features(hd_ctx *ctx, hd_graph *g);
hd_status hd_pass_phases(hd_ctx *ctx, hd_graph *g);
hd_status hd_pass_blocks(hd_ctx *ctx, hd_graph *g);
hd_status hd_pass_loaded(hd_ctx *ctx, hd_graph *g);
hd_status hd_pass_separate(hd_ctx *ctx, hd_graph *g);
hd_status hd_pass_volume(hd_ctx *ctx, hd_graph *g);
hd_status hd_pass_shapes(hd_ctx *ctx, hd_graph *g);
hd_status hd_pass_state(hd_ctx *ctx, hd_graph *g);
hd_status hd_pass_shrink(hd_ctx *ctx, hd_graph *g);
hd_status hd_pass_split(hd_ctx *ctx, hd_graph *g);
void hd_pass_dce(hd_graph *g);
void hd_pass_cse(hd_graph *g);

/* Constants go into the graphs that read them, and a branch takes the place of an if whose
 * condition is constant (branch.c). *out_changed: nodes are new, and shapes inferred. */
hd_status hd_fold_flow(hd_ctx *ctx, hd_graph *g, bool *out_changed);
/* Both branches of an if, and a where for each result, when these have the same known shape: what
 * is inside can then become integers and run on the machine. False: it stays. Shapes are to be
 * inferred again. */
bool hd_branches_in_place(hd_graph *g, int node);
/* Live ones, those of graphs in attributes, too. */
size_t hd_count_ifs(const hd_graph *g);

/* Makes windows or products of a reduction (reduce.c); pools_only: just pools. False when there is
 * no such form. */
bool hd_reduce_as_window(hd_graph *g, int node, bool pools_only);
/* A sum or mean has such a form with pools_only false. */
bool hd_reduce_fits(const hd_graph *g, int node);

#endif
