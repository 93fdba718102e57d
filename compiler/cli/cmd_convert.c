/* heddle convert: a network of any format -> standard ONNX. */
#include <string.h>

#include "compiler/cli/cli.h"
#include "compiler/compiler.h"
#include "compiler/export/export.h"
#include "compiler/import/network.h"
#include "compiler/session/session.h"

/* The same network with twice the open sizes; NULL: there are none, or it is another one. */
static hd_graph *wider(struct hd_cmd *c, hd_arena *a, const char *path, const hd_graph *g) {
    struct hd_shape_bind *shape = hd_new_array(a, struct hd_shape_bind, g->n_inputs + 1);
    struct hd_bind bind = {.shapes = shape, .n_shapes = g->n_inputs};
    hd_graph *out = NULL;
    if (!g->n_open || c->opt.import.shapes.n) return NULL;
    for (size_t i = 0; i < g->n_inputs; i++) {
        const struct hd_tensor *t = &g->tensors[g->inputs[i]];
        shape[i] = (struct hd_shape_bind){.name = t->name, .rank = t->rank};
        memcpy(shape[i].dim, t->dim, sizeof shape[i].dim);
    }
    for (int k = 0; k < g->n_open; k++)
        shape[g->open[k] / HD_MAX_RANK].dim[g->open[k] % HD_MAX_RANK] *= 2;
    if (hd_import(c->ctx, path, &bind, &out) == HD_OK && hd_opt_pass(c->ctx, out, "fold") == HD_OK)
        return out;
    hd_clear(c->ctx);
    if (out) hd_graph_destroy(out);
    return NULL;
}

/* With open sizes, where nothing in it depends on them and --shape does not close them. */
static hd_status write_network(struct hd_cmd *c, hd_arena *a, const char *path, const hd_graph *g) {
    hd_graph *other = wider(c, a, path, g);
    const char *closes = other ? hd_export_closes(g, other) : "the network";
    if (g->closed && !c->opt.import.shapes.n && closes)
        hd_warn(c->ctx,
                "warning: dimensions that are open in the file are written with one size: %s; %s "
                "depends on it; convert with --shape for another",
                g->closed, closes);
    hd_status s = hd_export_onnx_open(c->ctx, g, closes ? NULL : other, c->opt.out);
    if (other) hd_graph_destroy(other);
    return s;
}

static hd_status work(struct hd_cmd *c, hd_arena *a, hd_graph **g) {
    const char *path = NULL;
    TRY(hd_model_path(c, a, c->args[0], &path));
    if (hd_is_hdl(path))
        return hd_fail(c->ctx, HD_INVALID, "%s: a compiled model; name the network", path);
    TRY(hd_cmd_import(c, path, g));
    TRY(hd_opt_pass(c->ctx, *g, "fold")); /* weights in another order are constants, too */
    return hd_note(c->ctx, write_network(c, a, path, *g), "while converting %s", path);
}

int cmd_convert(struct hd_cmd *c) {
    if (!c->opt.out) return hd_cmd_usage(c, "-o OUT.onnx is missing: where should the network go?");
    hd_arena *a = hd_arena_create();
    hd_graph *g = NULL;
    hd_status s = work(c, a, &g);
    hd_graph_destroy(g);
    hd_arena_destroy(a);
    return s == HD_OK ? HD_EXIT_DONE : hd_cmd_fail(c);
}
