/* heddle opt: graph passes on the text form of a graph, or on a network; text comes out, or with
 * --stage a program. */
#include <stdlib.h>
#include <string.h>

#include "compiler/cli/cli.h"
#include "compiler/compiler.h"
#include "compiler/session/session.h"
#include "runtime/base/io.h"

static hd_status run_passes(struct hd_cmd *c, hd_graph *g) {
    hd_arena *a = hd_arena_create();
    char *list = hd_strdup(a, c->opt.pass ? c->opt.pass : ""), *save = NULL;
    hd_status s = HD_OK;
    for (char *p = strtok_r(list, ",", &save); p && s == HD_OK; p = strtok_r(NULL, ",", &save)) {
        s = hd_opt_pass(c->ctx, g, p);
    }
    hd_arena_destroy(a);
    return s;
}

/* Through memory, so that a file is written whole or not at all. */
static hd_status print(struct hd_cmd *c, const hd_graph *g) {
    bool to_file = c->opt.out && strcmp(c->opt.out, "-");
    if (!to_file) return hd_graph_print(c->ctx, g, c->opt.full, stdout);
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    if (!f) return hd_fail(c->ctx, HD_NOMEM, "%s: no memory for its text", c->opt.out);
    hd_status s = hd_graph_print(c->ctx, g, c->opt.full, f);
    fclose(f);
    if (s == HD_OK) s = hd_file_write(c->ctx, c->opt.out, text, bytes);
    free(text);
    return s;
}

static hd_status parse(struct hd_cmd *c, const char *path, hd_graph **out) {
    void *text;
    size_t bytes;
    TRY(hd_file_read(c->ctx, path, &text, &bytes));
    hd_status s = HD_OK;
    if (memchr(text, 0, bytes))
        s = hd_fail(c->ctx, HD_INVALID, "%s: has zero bytes, want text", path);
    if (s == HD_OK) s = hd_graph_parse(c->ctx, text, path, out);
    free(text);
    return s;
}

static hd_status work(struct hd_cmd *c, hd_arena *a, hd_graph **g) {
    const char *path = NULL;
    TRY(hd_model_path(c, a, c->args[0], &path));
    bool network = hd_is_network(path);
    if (network)
        TRY(hd_cmd_import(c, path, g));
    else
        TRY(parse(c, path, g));
    TRY(run_passes(c, *g));
    return c->opt.stage ? cli_go_on(c, *g, !network) : print(c, *g);
}

int cmd_opt(struct hd_cmd *c) {
    const char *stage = c->opt.stage;
    const struct {
        const char *name, *file;
    } text[] = {
        {"layers", c->opt.texts.layers}, {"plan", c->opt.texts.plan}, {"ops", c->opt.texts.ops}};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        if (!stage && (text[i].file || c->opt.dump))
            return hd_cmd_usage(
                c, "--layers, --plan, --ops and --dump want --stage: where to go on from");
        if (stage && !strcmp(stage, text[i].name) && !text[i].file)
            return hd_cmd_usage(c, "--stage %s wants --%s FILE, as --dump %s prints it", stage,
                                stage, stage);
    }
    hd_arena *a = hd_arena_create();
    hd_graph *g = NULL;
    hd_status s = work(c, a, &g);
    hd_graph_destroy(g);
    hd_arena_destroy(a);
    return s == HD_OK ? HD_EXIT_DONE : hd_cmd_fail(c);
}
