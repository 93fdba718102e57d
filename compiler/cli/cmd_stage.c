/* heddle opt --stage: goes on to a program from the text of a stage. */
#include <stdlib.h>
#include <string.h>

#include "compiler/cli/cli.h"
#include "compiler/compiler.h"
#include "runtime/base/io.h"

/* The text of a file, for the arena's life. */
static hd_status read_text(struct hd_cmd *c, hd_arena *a, const char *path,
                           struct hd_stage_text *out) {
    void *text;
    size_t bytes;
    if (!path) return HD_OK;
    TRY(hd_file_read(c->ctx, path, &text, &bytes));
    *out = (struct hd_stage_text){hd_strndup(a, text, bytes), path};
    bool zeros = memchr(text, 0, bytes) != NULL;
    free(text);
    return zeros ? hd_fail(c->ctx, HD_INVALID, "%s: has zero bytes, want text", path) : HD_OK;
}

/* What is still to do between the stage and the back end. */
static hd_status to_prepared(struct hd_cmd *c, hd_graph *g, bool parsed) {
    bool written = !parsed || !strcmp(c->opt.stage, "import");
    if (written) TRY(hd_legalize(c->ctx, g));
    return written || !strcmp(c->opt.stage, "legalize") ? hd_prepare(c->ctx, g) : HD_OK;
}

hd_status cli_go_on(struct hd_cmd *c, hd_graph *g, bool parsed) {
    hd_arena *a = hd_arena_create();
    hd_model *m = NULL;
    struct hd_compile_options o = {.mem_latency = c->opt.mem.latency,
                                   .latency_hiding = !c->opt.plan.no_latency_hiding,
                                   .dump = c->opt.out || c->opt.dump ? c->opt.dump : "program",
                                   .dump_to = stdout};
    hd_status s = hd_cmd_machine(c, &o.machine);
    if (s == HD_OK) s = read_text(c, a, c->opt.texts.layers, &o.layers);
    if (s == HD_OK) s = read_text(c, a, c->opt.texts.plan, &o.plan);
    if (s == HD_OK) s = read_text(c, a, c->opt.texts.ops, &o.ops);
    if (s == HD_OK) s = to_prepared(c, g, parsed);
    if (s == HD_OK) s = hd_lower(c->ctx, g, &o, &m);
    if (s == HD_OK) s = cli_check_programs(c, m);
    if (s == HD_OK && c->opt.out) s = hd_model_save(c->ctx, m, c->opt.out);
    if (m) hd_model_destroy(m);
    hd_arena_destroy(a);
    return s;
}
