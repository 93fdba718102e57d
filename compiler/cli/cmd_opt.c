/* heddle opt: graph passes on the text form of a graph. */
#include <stdlib.h>
#include <string.h>

#include "compiler/cli/cli.h"
#include "compiler/pass/pass.h"
#include "runtime/base/io.h"

static hd_status run_passes(struct cli *c, hd_graph *g) {
    hd_arena *a = hd_arena_create();
    char *list = hd_strdup(a, c->opt.pass ? c->opt.pass : ""), *save = NULL;
    hd_status s = HD_OK;
    for (char *p = strtok_r(list, ",", &save); p && s == HD_OK; p = strtok_r(NULL, ",", &save)) {
        s = hd_pass_run(c->ctx, g, p);
        if (s == HD_OK) s = hd_graph_verify(c->ctx, g);
        s = hd_note(c->ctx, s, "in pass %s", p);
    }
    hd_arena_destroy(a);
    return s;
}

/* Through memory, so that a file is written whole or not at all. */
static hd_status print(struct cli *c, const hd_graph *g) {
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

int cmd_opt(struct cli *c) {
    void *text;
    size_t bytes;
    hd_graph *g = NULL;
    hd_status s = hd_file_read(c->ctx, c->args[0], &text, &bytes);
    if (s != HD_OK) return cli_fail(c);
    if (memchr(text, 0, bytes))
        s = hd_fail(c->ctx, HD_INVALID, "%s: has zero bytes, want text", c->args[0]);
    if (s == HD_OK) s = hd_graph_parse(c->ctx, text, c->args[0], &g);
    if (s == HD_OK) s = hd_graph_infer(c->ctx, g);
    if (s == HD_OK) s = hd_graph_verify(c->ctx, g);
    if (s == HD_OK) s = run_passes(c, g);
    if (s == HD_OK) s = print(c, g);
    if (g) hd_graph_destroy(g);
    free(text);
    return s == HD_OK ? CLI_DONE : cli_fail(c);
}
