/* Layers of a step become its program in the image. */
#include "compiler/cost/cost.h"
#include "compiler/emit/emit.h"
#include "compiler/machine_ops/ops_text.h"

static hd_status make_operations(struct hd_lowering *lo, hd_arena *scratch, int step,
                                 struct hd_lowerer **out) {
    TRY(hd_lower_layers(lo, scratch, step, 0, lo->n_layers, out));
    struct hd_ops *s = &(*out)->s;
    hd_ops_reissue(s, HD_ORDERS);
    lo->model->steps[step].estimate = hd_ops_estimate(s, true, INT64_MAX, lo->layer_cycles);
    hd_ops_bound_tokens(s);
    return HD_OK;
}

static hd_status read_operations(struct hd_lowering *lo, hd_arena *scratch, int step,
                                 struct hd_lowerer **out) {
    const struct hd_stage_text *t = &lo->opt->ops;
    *out = hd_new(scratch, struct hd_lowerer);
    hd_ops_init(&(*out)->s, lo, scratch);
    return hd_ops_parse(&(*out)->s, step, t->text, t->file, &lo->model->steps[step].estimate);
}

/* needs / gives / destroys: see the head of this file. */
hd_status hd_schedule_step(struct hd_lowering *lo, int step) {
    hd_arena *scratch = hd_arena_create();
    struct hd_lowerer *w;
    struct hd_step *s = &lo->model->steps[step];
    hd_status st = lo->opt->ops.text ? read_operations(lo, scratch, step, &w)
                                     : make_operations(lo, scratch, step, &w);
    size_t offset = 0, bytes = 0;
    int64_t bundles = 0;
    if (st == HD_OK && hd_dumps(lo->opt, "ops"))
        hd_ops_print(&w->s, step, s->estimate, lo->opt->dump_to);
    if (st == HD_OK) st = hd_ops_encode(&w->s, &offset, &bytes, &bundles);
    s->code_offset = (uint32_t)offset;
    s->code_bytes = (uint32_t)bytes;
    lo->model->n_ops += (int64_t)w->s.n_ops;
    lo->model->n_bundles += bundles;
    hd_arena_destroy(scratch);
    return st;
}
