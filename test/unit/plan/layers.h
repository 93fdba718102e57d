/* A row of layers made by hand, each of which reads the result of the one before. */
#ifndef HD_TEST_UNIT_MEM_LAYERS_H
#define HD_TEST_UNIT_MEM_LAYERS_H

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/layer/kind.h"
#include "compiler/plan/plan_text.h"
#include "compiler/search/search.h"
#include "runtime/base/num.h"

enum { ROW = 4, SIDE = 8, CHANNELS = 16, TENSOR = SIDE * SIDE * CHANNELS };

struct row {
    hd_ctx *ctx;
    hd_graph *g;
    hd_model *model;
    struct hd_machine m;
    struct hd_compile_options opt;
    struct hd_layer layers[ROW];
    struct hd_mtensor tensors[ROW + 1];
    struct hd_refusal too_big[ROW + 1];
    struct hd_room spans[4 * (ROW + 1) + 1];
    struct hd_lowering lo;
    struct hd_plan plan;
};

static inline void make_tensors(struct row *r) {
    for (int i = 0; i <= ROW; i++) {
        char name[8] = {'t', (char)('0' + i)};
        int t = hd_graph_tensor(r->g, name, HD_I8, 0, NULL), before = t - 1;
        if (i) hd_graph_node(r->g, HD_IR_identity, name, 1, &before, 1, &t);
        r->tensors[i] = (struct hd_mtensor){.tensor = t,
                                            .n = 1,
                                            .h = SIDE,
                                            .w = SIDE,
                                            .c = CHANNELS,
                                            .cp = CHANNELS,
                                            .bytes = CHANNELS,
                                            .base = -1,
                                            .pads_agree = true,
                                            .def = i - 1,
                                            .made = i - 1,
                                            .last = i < ROW ? i : -1,
                                            .comes_in = i == 0,
                                            .goes_out = i == ROW};
    }
}

static inline void make_layers(struct row *r) {
    for (int i = 0; i < ROW; i++) {
        struct hd_layer *l = &r->layers[i];
        *l = (struct hd_layer){.kind = &hd_kind_rescale,
                               .node = i,
                               .tag = i,
                               .out = i + 1,
                               .state = -1,
                               .kh = 1,
                               .kw = 1,
                               .sy = 1,
                               .sx = 1,
                               .dy = 1,
                               .dx = 1,
                               .uy = 1,
                               .ux = 1,
                               .ppw = 1,
                               .nts = 2,
                               .cw = 1,
                               .oh = SIDE,
                               .ow = SIDE,
                               .oc = CHANNELS};
        for (int k = 0; k < HD_LAYER_INPUTS; k++) l->in[k] = k ? -1 : i;
    }
}

/* Tensor i is read by layer i, which makes tensor i + 1. */
static inline void make_row(struct row *r) {
    memset(r, 0, sizeof *r);
    r->ctx = hd_ctx_create(), r->g = hd_graph_create(), r->model = hd_model_create();
    if (hd_machine_load(r->ctx, "tiny", &r->m) != HD_OK) fail_msg("%s", hd_message(r->ctx));
    r->opt.machine = r->m, r->model->name = "row", r->model->n_steps = 1;
    make_tensors(r);
    make_layers(r);
    r->lo = (struct hd_lowering){.ctx = r->ctx,
                                 .arena = hd_arena_create(),
                                 .g = r->g,
                                 .opt = &r->opt,
                                 .m = &r->m,
                                 .model = r->model,
                                 .tensors = r->tensors,
                                 .n_tensors = ROW + 1,
                                 .layers = r->layers,
                                 .n_layers = ROW,
                                 .too_big = r->too_big};
    r->model->layers = hd_new_array(r->model->arena, struct hd_layer_info, ROW);
    r->plan = hd_plan_create(&r->lo, r->lo.arena), r->lo.plan = &r->plan;
    for (int i = 0; i < ROW; i++) {
        struct hd_tiling *t = &r->lo.plan->tilings[i];
        t->chain_first = t->chain_last = i;
        t->th = t->tw = SIDE, t->nb = t->cwb = 1;
    }
}

static inline void place(struct row *r) {
    const int *ids = hd_by_size(&r->lo);
    hd_place_residents(&r->lo, ids, r->spans);
    hd_place_arena(&r->lo, ids, r->spans);
}

static inline void drop_row(struct row *r) {
    hd_arena_destroy(r->lo.arena);
    hd_model_destroy(r->model);
    hd_graph_destroy(r->g);
    hd_ctx_destroy(r->ctx);
}

#endif
