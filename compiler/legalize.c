/* The passes that every model goes through, in their order: legalisation, and what the machine
 * takes better. */
#include <string.h>

#include "compiler/compiler.h"
#include "compiler/pass/pass.h"
#include "compiler/quantize/quantize.h"

static hd_status passes(hd_ctx *ctx, hd_graph *g, const char *const *name) {
    for (; *name; name++) TRY(hd_pass_run(ctx, g, *name));
    return HD_OK;
}

static hd_status complete(hd_ctx *ctx, hd_graph *g) {
    bool changed = false;
    TRY(hd_note(ctx, hd_quant_complete(ctx, g, &changed), "in pass complete"));
    return changed ? passes(ctx, g, (const char *const[]){"volume", "qdq", NULL}) : HD_OK;
}

hd_status hd_legalize(hd_ctx *ctx, hd_graph *g) {
    static const char *const integers[] = {"integer", "recurrent", "norm", "volume",
                                           "nhwc",    "qdq",       NULL},
                             *const rest[] = {"taps", "simplify", "norm",  "gelu",
                                              "cse",  "fold",     "state", NULL};
    TRY(hd_pass_run(ctx, g, "axes"));
    for (size_t before = 0, ifs = SIZE_MAX; ifs != before && ifs;) { /* shapes settle conditions */
        before = ifs;
        TRY(hd_pass_run(ctx, g, "fold"));
        TRY(hd_pass_run(ctx, g, "shapes"));
        ifs = hd_count_ifs(g);
    }
    TRY(passes(ctx, g, integers));
    TRY(complete(ctx, g));
    return passes(ctx, g, rest);
}

/* A model has no constants among its values that come out: a step makes each. */
static void make_outputs(hd_graph *g) {
    for (size_t i = 0; i < g->n_outputs; i++) {
        int t = g->outputs[i];
        const struct hd_tensor c = g->tensors[t];
        if (!c.data) continue;
        int y = hd_graph_tensor(g, c.name, c.dtype, c.rank, c.dim);
        hd_graph_swap_tensor_names(g, t, y);
        hd_graph_node(g, HD_IR_identity, c.name, 1, &t, 1, &y);
        g->outputs[i] = y;
    }
}

hd_status hd_prepare(hd_ctx *ctx, hd_graph *g) {
    static const char *const list[] = {"shrink", "lines",   "windows",  "features", "pixels",
                                       "rows",   "images",  "blocks",   "shuffle",  "gaps",
                                       "phases", "columns", "separate", "loaded",   NULL};
    TRY(passes(ctx, g, list));
    hd_group_concats(g);
    hd_bridge_layouts(g);
    make_outputs(g);
    return hd_graph_verify(ctx, g);
}

hd_status hd_opt_pass(hd_ctx *ctx, hd_graph *g, const char *name) {
    if (!strcmp(name, "legalize")) return hd_legalize(ctx, g);
    if (!strcmp(name, "complete")) return complete(ctx, g);
    if (!strcmp(name, "prepare")) return hd_prepare(ctx, g);
    char allowed[400] = "legalize, complete, prepare";
    for (size_t i = 0; hd_pass_names[i]; i++) {
        if (!strcmp(name, hd_pass_names[i])) return hd_pass_run(ctx, g, name);
        size_t n = strlen(allowed);
        snprintf(allowed + n, sizeof allowed - n, ", %s", hd_pass_names[i]);
    }
    return hd_fail(ctx, HD_INVALID, "no pass '%s', allowed %s", name, allowed);
}
