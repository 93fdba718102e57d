/* Graph -> text of each stage -> model, against the model without texts. */
#include "test/stages/round_trip.h"

#include <stdlib.h>
#include <string.h>

struct texts {
    char *graph, *layers, *plan, *ops;
};

static hd_status graph_text(hd_ctx *ctx, const hd_graph *g, char **out) {
    size_t n = 0;
    FILE *f = open_memstream(out, &n);
    if (!f) return hd_fail(ctx, HD_NOMEM, "no memory for a graph's text");
    hd_status s = hd_graph_print(ctx, g, true, f);
    fclose(f);
    return s;
}

/* Compiles a prepared graph; the text of one stage on the way. */
static hd_status compile(hd_ctx *ctx, hd_graph *g, struct hd_compile_options o, const char *stage,
                         char **out_text, hd_model **out) {
    size_t n = 0;
    FILE *f = stage ? open_memstream(out_text, &n) : NULL;
    if (stage && !f) return hd_fail(ctx, HD_NOMEM, "no memory for the text of stage %s", stage);
    o.dump = stage, o.dump_to = f;
    hd_status s = hd_lower(ctx, g, &o, out);
    if (f) fclose(f);
    return s;
}

/* Takes b. */
static hd_status same(hd_ctx *ctx, const hd_model *a, hd_model *b, const char *stage) {
    bool equal = a->image_bytes == b->image_bytes && a->arena_bytes == b->arena_bytes &&
                 a->n_steps == b->n_steps && a->n_layers == b->n_layers &&
                 !memcmp(a->image, b->image, a->image_bytes);
    for (int i = 0; equal && i < a->n_steps; i++)
        equal = a->steps[i].code_offset == b->steps[i].code_offset &&
                a->steps[i].code_bytes == b->steps[i].code_bytes &&
                a->steps[i].estimate == b->steps[i].estimate;
    hd_model_destroy(b);
    return equal ? HD_OK
                 : hd_fail(ctx, HD_MISMATCH, "the text of stage %s gives another program", stage);
}

/* By the text of the graph; then with it, by that of the layers; of the plan; of the operations. */
static hd_status each(hd_ctx *ctx, const hd_model *m, hd_graph *g,
                      const struct hd_compile_options *opt, struct texts *t) {
    struct hd_compile_options o = *opt;
    hd_model *other = NULL;
    TRY(compile(ctx, g, o, "layers", &t->layers, &other));
    TRY(same(ctx, m, other, "prepare"));
    o.layers = (struct hd_stage_text){t->layers, "layers"};
    TRY(compile(ctx, g, o, "plan", &t->plan, &other));
    TRY(same(ctx, m, other, "layers"));
    o.plan = (struct hd_stage_text){t->plan, "plan"};
    TRY(compile(ctx, g, o, "ops", &t->ops, &other));
    TRY(same(ctx, m, other, "plan"));
    o.ops = (struct hd_stage_text){t->ops, "ops"};
    TRY(compile(ctx, g, o, NULL, NULL, &other));
    return same(ctx, m, other, "ops");
}

hd_status round_trip(hd_ctx *ctx, hd_graph *g, const struct hd_compile_options *opt) {
    struct texts t = {0};
    hd_graph *again = NULL;
    hd_model *m = NULL;
    hd_status s = graph_text(ctx, g, &t.graph);
    if (s == HD_OK) s = compile(ctx, g, *opt, NULL, NULL, &m);
    if (s == HD_OK) s = hd_graph_parse(ctx, t.graph, "prepare", &again);
    if (s == HD_OK) s = each(ctx, m, again, opt, &t);
    if (m) hd_model_destroy(m);
    if (again) hd_graph_destroy(again);
    free(t.graph);
    free(t.layers);
    free(t.plan);
    free(t.ops);
    return s;
}
