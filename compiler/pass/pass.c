/* Passes by name. */
#include "compiler/pass/pass.h"

#include <string.h>

#include "compiler/pass/pattern.h"

const char *const hd_pass_names[] = {
    "axes",      "fold",     "shapes",  "cse",       "simplify",  "sink",   "layout",   "nhwc",
    "batchnorm", "norm",     "gelu",    "attention", "recurrent", "qdq",    "dce",      "split",
    "shuffle",   "separate", "integer", "dynamic",   "volume",    "state",  "shrink",   "rows",
    "images",    "gaps",     "columns", "phases",    "blocks",    "loaded", "features", "taps",
    "lines",     "pixels",   "windows", NULL};

/* Those that change a graph by what it says alone: graphs in attributes go through them, too. */
static bool enters_graphs(const char *name) {
    static const char *const whole[] = {"axes", "split", "state"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (!strcmp(name, whole[i])) return false;
    return true;
}

static hd_status run(hd_ctx *ctx, hd_graph *g, const char *name) {
    if (!strcmp(name, "axes")) return hd_axes_lower(ctx, g);
    if (!strcmp(name, "fold")) return hd_pass_fold(ctx, g);
    if (!strcmp(name, "shapes")) return hd_pass_shapes(ctx, g);
    if (!strcmp(name, "qdq")) return hd_pass_qdq(ctx, g);
    if (!strcmp(name, "shrink")) return hd_pass_shrink(ctx, g);
    if (!strcmp(name, "split")) return hd_pass_split(ctx, g);
    if (!strcmp(name, "rows")) return hd_pass_rows(ctx, g);
    if (!strcmp(name, "images")) return hd_pass_images(ctx, g);
    if (!strcmp(name, "gaps")) return hd_pass_gaps(ctx, g);
    if (!strcmp(name, "lines")) return hd_pass_lines(ctx, g);
    if (!strcmp(name, "pixels")) return hd_pass_pixels(ctx, g);
    if (!strcmp(name, "taps")) return hd_pass_taps(ctx, g);
    if (!strcmp(name, "windows")) return hd_pass_windows(ctx, g);
    if (!strcmp(name, "columns")) return hd_pass_columns(ctx, g);
    if (!strcmp(name, "features")) return hd_pass_features(ctx, g);
    if (!strcmp(name, "phases")) return hd_pass_phases(ctx, g);
    if (!strcmp(name, "loaded")) return hd_pass_loaded(ctx, g);
    if (!strcmp(name, "blocks")) return hd_pass_blocks(ctx, g);
    if (!strcmp(name, "shuffle")) return hd_pass_shuffle(ctx, g);
    if (!strcmp(name, "state")) return hd_pass_state(ctx, g);
    if (!strcmp(name, "separate")) return hd_pass_separate(ctx, g);
    if (!strcmp(name, "volume")) return hd_pass_volume(ctx, g);
    if (!strcmp(name, "layout")) return hd_pass_layout(ctx, g, false);
    if (!strcmp(name, "nhwc")) return hd_pass_layout(ctx, g, true);
    if (!strcmp(name, "recurrent")) return hd_pass_recurrent(ctx, g);
    if (!strcmp(name, "cse") || !strcmp(name, "dce")) {
        *name == 'c' ? hd_pass_cse(g) : hd_pass_dce(g);
        return HD_OK;
    }
    if (hd_pass_has_patterns(name)) return hd_pass_patterns(ctx, g, name);
    return hd_fail(ctx, HD_INVALID, "no pass '%s'", name);
}

static hd_status run_inside(hd_ctx *ctx, hd_graph *g, const char *name) {
    bool entered = false;
    TRY(run(ctx, g, name));
    for (size_t i = 0, n = g->n_nodes; enters_graphs(name) && i < n; i++)
        for (int k = 0; !g->nodes[i].dead && k < g->nodes[i].n_attrs; k++) {
            const struct hd_attr *a = &g->nodes[i].attrs[k];
            if (a->kind != HD_ATTR_GRAPH) continue;
            entered = true;
            a->graph->specialised = a->graph->specialised || g->specialised;
            TRY(hd_note(ctx, run_inside(ctx, a->graph, name), "in %s of node '%s'", a->name,
                        g->nodes[i].name));
        }
    return entered ? hd_graph_infer(ctx, g) : HD_OK; /* their results may have shapes now */
}

hd_status hd_pass_run(hd_ctx *ctx, hd_graph *g, const char *name) {
    TRY(hd_continue(ctx));
    TRY(hd_note(ctx, run_inside(ctx, g, name), "in pass %s", name));
    return hd_note(ctx, hd_graph_verify(ctx, g), "after pass %s", name);
}
