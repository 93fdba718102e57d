/* heddle graph: a picture of the network as written, legalised or planned. */
#include <string.h>

#include "compiler/cli/cli.h"
#include "compiler/report/picture.h"
#include "compiler/session/session.h"

static hd_status as_written(struct hd_cmd *c, const char *path, hd_graph **out) {
    if (hd_is_hdl(path))
        return hd_fail(c->ctx, HD_INVALID,
                       "%s: a compiled model does not hold the graph as written; use --stage "
                       "legalize, or the .onnx file",
                       path);
    return hd_cmd_import(c, path, out);
}

static hd_status draw(struct hd_cmd *c, hd_arena *a, hd_model **m, hd_graph **legal,
                      hd_graph **import) {
    const char *stage = c->opt.stage ? c->opt.stage : "legalize", *path;
    if (!strcmp(stage, "prepare") || !strcmp(stage, "layers") || !strcmp(stage, "ops"))
        return hd_fail(c->ctx, HD_INVALID, "--stage: got '%s', want import, legalize or plan",
                       stage);
    TRY(hd_model_path(c, a, c->args[0], &path));
    TRY(hd_open_model(c, path, false, m));
    TRY(hd_graph_load(c->ctx, (*m)->graph, (*m)->graph_bytes, legal));
    if (!strcmp(stage, "import")) TRY(as_written(c, path, import));
    struct hd_op_source s = {
        .graph = *import ? *import : *legal, .legal = *import ? *legal : NULL, .model = *m};
    return hd_draw_graph(c, a, &s, path);
}

/* A name that says what is wanted. */
static bool is_picture(const char *path) {
    const char *dot = strrchr(path, '.');
    return !strcmp(path, "-") || (dot && (!strcmp(dot, ".svg") || !strcmp(dot, ".png") ||
                                          !strcmp(dot, ".pdf") || !strcmp(dot, ".dot")));
}

int cmd_graph(struct hd_cmd *c) {
    if (!c->opt.out)
        return hd_cmd_usage(c, "-o FILE is missing: a name that ends in .svg, .png, .pdf or .dot");
    if (!is_picture(c->opt.out)) {
        hd_fail(c->ctx, HD_INVALID,
                "-o %s: want a name that ends in .svg, .png, .pdf or .dot, or - for DOT on "
                "standard output",
                c->opt.out);
        return hd_cmd_fail(c);
    }
    hd_arena *a = hd_arena_create();
    hd_model *m = NULL;
    hd_graph *legal = NULL, *import = NULL;
    int status = draw(c, a, &m, &legal, &import) == HD_OK ? HD_EXIT_DONE : hd_cmd_fail(c);
    hd_graph_destroy(import);
    hd_graph_destroy(legal); /* its constants lie in the model */
    hd_model_destroy(m);
    hd_arena_destroy(a);
    return status;
}
