/* The graph of a step of training: loss, gradients, updates, state. */
#include <string.h>

#include "runtime/train/graph.h"
#include "runtime/train/train.h"

/* Operands that are weights, as bits, where they are constant. */
static const unsigned weight_operands[HD_IR_OPS] = {
    [HD_IR_conv] = 6,         [HD_IR_convtranspose] = 6, [HD_IR_gemm] = 7,
    [HD_IR_matmul] = 3,       [HD_IR_add] = 3,           [HD_IR_batchnorm] = 6,
    [HD_IR_instancenorm] = 6, [HD_IR_layernorm] = 6,     [HD_IR_groupnorm] = 6,
    [HD_IR_prelu] = 2,        [HD_IR_gather] = 1,        [HD_IR_lstm] = 14,
    [HD_IR_gru] = 14,         [HD_IR_rnn] = 14,
};

bool hd_takes_weights(const struct hd_node *n, int k) {
    return k < 4 && weight_operands[n->op] >> k & 1;
}

static void find_weights(const hd_graph *g, struct hd_trained *out) {
    for (size_t t = 0; t < g->n_tensors; t++) {
        const struct hd_tensor *x = &g->tensors[t];
        bool weight = false;
        if (!x->data || x->producer >= 0 || x->dtype != HD_F32 || x->rank < 1) continue;
        for (size_t i = 0; i < g->n_nodes && !weight; i++)
            for (int k = 0; k < g->nodes[i].n_in && !g->nodes[i].dead; k++)
                weight =
                    weight || (g->nodes[i].in[k] == (int)t && hd_takes_weights(&g->nodes[i], k));
        if (weight) out->w[out->n++] = (int)t;
    }
}

/* A constant becomes state of its own value. */
static void to_state(hd_graph *g, int t) {
    g->tensors[t].initial = g->tensors[t].data;
    g->tensors[t].data = NULL;
    hd_graph_input(g, t);
}

static int zero_state(struct hd_back *b, const char *name, const struct hd_tensor *like) {
    int t = hd_graph_tensor(b->g, name, HD_F32, like->rank, like->dim);
    b->g->tensors[t].initial = hd_alloc(b->g->arena, hd_tensor_bytes(like) + 1);
    hd_graph_input(b->g, t);
    return t;
}

/* Mean cross entropy, and how many are right. */
static int losses(struct hd_back *b, int logits, int classes, int *out_right) {
    int node = hd_b_start(b, HD_IR_logsoftmax, 1, &logits, 1);
    hd_b_int(b, node, "axis", 1);
    int loss = hd_b(b, nllloss, hd_b_end(b, node), classes);
    node = hd_b_start(b, HD_IR_argmax, 1, &logits, 1);
    hd_b_int(b, node, "axis", 1);
    hd_b_int(b, node, "keepdims", 0);
    int same = hd_b_cast(b, hd_b(b, equal, hd_b_end(b, node), classes), HD_F32);
    *out_right = hd_b_reduce(b, HD_IR_reducesum, same, 0, NULL, false);
    return loss;
}

struct slot { /* of one weight: state and what it becomes */
    int state[HD_OPTIMIZER_STATE], next[HD_OPTIMIZER_STATE], weight;
};

static void update(struct hd_back *b, const struct hd_optimizer_options *o, const int *w,
                   const int *g, int n, int step, struct slot *slots) {
    int rate = hd_schedule(b, o, step);
    for (int i = 0; i < n; i++) {
        memcpy(slots[i].next, slots[i].state, sizeof slots[i].next);
        slots[i].weight = hd_optimizer_update(b, o, w[i], g[i], slots[i].next, rate, step);
    }
}

static void add_state(struct hd_back *b, const struct hd_optimizer_options *o, const int *w, int n,
                      struct slot *slots) {
    for (int i = 0; i < n; i++) to_state(b->g, w[i]);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < hd_optimizers[o->kind].n_state; k++) {
            struct hd_tensor t = hd_b_shape(b, w[i]);
            slots[i].state[k] = zero_state(
                b, hd_sprintf(b->arena, "%s.%s%d", t.name, hd_optimizers[o->kind].name, k), &t);
        }
}

/* A result that is an output once: state that stays, or a loss that is state, gets a copy. */
static void output(struct hd_back *b, int t) {
    if (b->status == HD_OK) hd_graph_output(b->g, hd_b(b, identity, t));
}

static hd_status check(hd_ctx *ctx, const hd_graph *g) {
    if (g->n_inputs != 1 || g->n_outputs != 1)
        return hd_fail(ctx, HD_UNSUPPORTED, "%s: %zu inputs and %zu outputs, want one of each",
                       g->name, g->n_inputs, g->n_outputs);
    const struct hd_tensor *x = &g->tensors[g->inputs[0]], *y = &g->tensors[g->outputs[0]];
    char text[2][HD_SHAPE_TEXT];
    if (x->known && y->known && x->rank >= 1 && y->rank == 2 && x->dtype == HD_F32 &&
        y->dtype == HD_F32 && x->dim[0] == y->dim[0])
        return HD_OK;
    return hd_fail(ctx, HD_UNSUPPORTED,
                   "%s: input '%s' is %s and output '%s' is %s; want f32[batch,..] and "
                   "f32[batch,classes]",
                   g->name, x->name, hd_shape_text(x, text[0]), y->name, hd_shape_text(y, text[1]));
}

/* Loss, right samples, and the gradients dw of the weights. */
static hd_status gradients(struct hd_back *b, const struct hd_trained *trained,
                           const struct hd_through_list *through, int classes, int *out_loss,
                           int *out_right, int *dw) {
    *out_loss = losses(b, b->g->outputs[0], classes, out_right);
    TRY(b->status);
    TRY(hd_grad_straight(b->ctx, b->g, *out_loss, trained->w, trained->n, through->of,
                         (int)through->n, dw));
    return b->status;
}

/* The next step, weights and slots as outputs. */
static hd_status next_state(struct hd_back *b, const struct hd_optimizer_options *o, const int *w,
                            int *dw, int n, int step, struct slot *slots) {
    b->prefix = "train";
    hd_clip_gradients(b, o, n, dw);
    update(b, o, w, dw, n, step, slots);
    output(b, hd_b(b, add, step, hd_b_number(b, HD_F32, 1)));
    for (int i = 0; i < n; i++) output(b, slots[i].weight);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < hd_optimizers[o->kind].n_state; k++) output(b, slots[i].next[k]);
    return b->status;
}

static int class_input(hd_graph *g) {
    int classes = hd_graph_tensor(g, "classes", HD_I64, 1, g->tensors[g->outputs[0]].dim);
    hd_graph_input(g, classes);
    return classes;
}

static hd_status whole_step(struct hd_back *b, const struct hd_optimizer_options *o,
                            const struct hd_trained *trained,
                            const struct hd_through_list *through) {
    int n = trained->n, loss = -1, right = -1, classes = class_input(b->g);
    struct slot *slots = hd_new_array(b->arena, struct slot, (size_t)n + 1);
    int *dw = hd_new_array(b->arena, int, (size_t)n + 1);
    struct hd_tensor scalar = {.dtype = HD_F32};
    int step = zero_state(b, "step", &scalar);
    add_state(b, o, trained->w, n, slots);
    TRY(gradients(b, trained, through, classes, &loss, &right, dw));
    b->g->n_outputs = 0;
    output(b, loss);
    output(b, right);
    return next_state(b, o, trained->w, dw, n, step, slots);
}

/* The graph of the second half, beside that of the first: states, then gradients. */
static hd_status second_half(const struct hd_back *first, const struct hd_optimizer_options *o,
                             const struct hd_trained *trained, hd_graph *g) {
    struct hd_back b = {.ctx = first->ctx, .g = g, .arena = first->arena, .prefix = "update"};
    int n = trained->n, *w = hd_new_array(b.arena, int, (size_t)n + 1);
    int *dw = hd_new_array(b.arena, int, (size_t)n + 1);
    struct slot *slots = hd_new_array(b.arena, struct slot, (size_t)n + 1);
    struct hd_tensor scalar = {.dtype = HD_F32};
    int step = zero_state(&b, "step", &scalar);
    for (int i = 0; i < n; i++) {
        const struct hd_tensor *t = &first->g->tensors[trained->w[i]];
        w[i] = hd_graph_const(g, t->name, t->dtype, t->rank, t->dim, t->initial);
    }
    add_state(&b, o, w, n, slots);
    for (int i = 0; i < n; i++) {
        struct hd_tensor t = g->tensors[w[i]];
        dw[i] =
            hd_graph_tensor(g, hd_sprintf(b.arena, "%s.gradient", t.name), t.dtype, t.rank, t.dim);
        hd_graph_input(g, dw[i]);
    }
    return next_state(&b, o, w, dw, n, step, slots);
}

static hd_status halves(struct hd_back *b, const struct hd_optimizer_options *o,
                        const struct hd_trained *trained, const struct hd_through_list *through,
                        hd_graph *update_graph) {
    int loss = -1, right = -1, classes = class_input(b->g);
    int *dw = hd_new_array(b->arena, int, (size_t)trained->n + 1);
    for (int i = 0; i < trained->n; i++) to_state(b->g, trained->w[i]);
    TRY(gradients(b, trained, through, classes, &loss, &right, dw));
    b->g->n_outputs = 0;
    output(b, loss);
    output(b, right);
    for (int i = 0; i < trained->n; i++) output(b, dw[i]);
    TRY(b->status);
    return second_half(b, o, trained, update_graph);
}

hd_status hd_train_graph(hd_ctx *ctx, hd_graph *g, const struct hd_train_options *o,
                         hd_graph *update_graph, hd_arena *arena, struct hd_trained *out) {
    struct hd_back b = {.ctx = ctx, .g = g, .arena = hd_arena_create(), .prefix = "train"};
    struct hd_through_list through = {.a = b.arena};
    *out = (struct hd_trained){.w = hd_new_array(arena, int, g->n_tensors + 1)};
    hd_status s = check(ctx, g);
    if (s == HD_OK && o->integers)
        s = hd_integer_twins(&b, out, &through);
    else if (s == HD_OK)
        find_weights(g, out);
    if (s == HD_OK && !out->n) s = hd_fail(ctx, HD_INVALID, "%s: no weights to train", g->name);
    if (s == HD_OK && !update_graph) s = whole_step(&b, &o->optimizer, out, &through);
    if (s == HD_OK && update_graph) s = halves(&b, &o->optimizer, out, &through, update_graph);
    hd_arena_destroy(b.arena);
    if (s == HD_OK && update_graph) s = hd_graph_verify(ctx, update_graph);
    return s == HD_OK ? hd_graph_verify(ctx, g) : s;
}
