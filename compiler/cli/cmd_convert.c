/* heddle convert: a network of any format -> standard ONNX. */
#include "compiler/cli/cli.h"
#include "compiler/compiler.h"
#include "compiler/export/export.h"
#include "compiler/session/session.h"

static hd_status work(struct hd_cmd *c, hd_arena *a, hd_graph **g) {
    const char *path = NULL;
    TRY(hd_model_path(c, a, c->args[0], &path));
    if (hd_is_hdl(path))
        return hd_fail(c->ctx, HD_INVALID, "%s: a compiled model; name the network", path);
    TRY(hd_cmd_import(c, path, g));
    TRY(hd_opt_pass(c->ctx, *g, "fold")); /* weights in another order are constants, too */
    return hd_note(c->ctx, hd_export_onnx(c->ctx, *g, c->opt.out), "while converting %s", path);
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
