/* The graph of a step of training: loss, gradients, updates, state. */
#include <string.h>

#include "runtime/train/graph.h"
#include "runtime/train/half.h"
#include "runtime/train/losses.h"
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

static bool is_weight(const hd_graph *g, int t) {
    const struct hd_tensor *x = &g->tensors[t];
    if (!x->data || x->producer >= 0 || x->dtype != HD_F32 || x->rank < 1) return false;
    for (size_t i = 0; i < g->n_nodes; i++)
        for (int k = 0; k < g->nodes[i].n_in && !g->nodes[i].dead; k++)
            if (g->nodes[i].in[k] == t && hd_takes_weights(&g->nodes[i], k)) return true;
    return false;
}

static void find_weights(const hd_graph *g, struct hd_trained *out) {
    for (size_t t = 0; t < g->n_tensors; t++)
        if (is_weight(g, (int)t)) out->w[out->n++] = (int)t;
}

/* Statistics: layers mark their difference from that of the batch (hd_layer_batchnorm). */
static void find_followers(const hd_graph *g, hd_arena *a, struct hd_trained *out) {
    out->what = hd_new_array(a, int, g->n_tensors + 1);
    out->by = hd_new_array(a, float, g->n_tensors + 1);
    for (size_t i = 0; i < g->n_nodes; i++) {
        const struct hd_node *n = &g->nodes[i];
        if (n->dead || !hd_attr_get(n, "follows") || !g->tensors[n->in[0]].data) continue;
        out->what[out->n_follow] = n->out[0];
        out->by[out->n_follow] = hd_attr_float(n, "follows", 0);
        out->w[out->n + out->n_follow++] = n->in[0];
    }
    out->n += out->n_follow;
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

/* The network gets classes, mean cross entropy, and how many are right. */
static hd_status to_classes(hd_ctx *ctx, hd_graph *g) {
    struct hd_layers l = {.b = {.ctx = ctx, .g = g, .arena = hd_arena_create(), .prefix = "train"}};
    int logits = g->outputs[0];
    int classes = hd_layer_integers(&l, "classes", 1, g->tensors[logits].dim, NULL);
    int loss = hd_loss_classes(&l, logits, classes), right = hd_metric_right(&l, logits, classes);
    hd_arena_destroy(l.b.arena);
    TRY(l.b.status);
    g->n_outputs = 0;
    hd_graph_output(g, loss);
    hd_graph_output(g, right);
    return HD_OK;
}

struct slot { /* of one weight: state and what it becomes */
    int state[HD_OPTIMIZER_STATE], next[HD_OPTIMIZER_STATE], weight;
};

static int n_slots(const struct hd_optimizer_options *o, const struct hd_trained *t, int i) {
    return i < t->n - t->n_follow ? hd_optimizers[o->kind].n_state : 0;
}

/* taken: the steps that changed weights, which is `step` where none is left out. */
static void update(struct hd_back *b, const struct hd_optimizer_options *o,
                   const struct hd_trained *t, const int *w, const int *g, int step, int taken,
                   struct slot *slots) {
    int rate = hd_schedule(b, o, step), n = t->n - t->n_follow;
    for (int i = 0; i < n; i++) {
        memcpy(slots[i].next, slots[i].state, sizeof slots[i].next);
        slots[i].weight = hd_optimizer_update(b, o, w[i], g[i], slots[i].next, rate, taken);
    }
    for (int i = n; i < t->n; i++) {
        int by = hd_b_number(b, HD_F32, (double)t->by[i - n]);
        slots[i].weight = hd_b(b, sub, w[i], hd_b(b, mul, g[i], by));
    }
}

static void add_state(struct hd_back *b, const struct hd_optimizer_options *o,
                      const struct hd_trained *t, const int *w, struct slot *slots) {
    for (int i = 0; i < t->n; i++) to_state(b->g, w[i]);
    for (int i = 0; i < t->n; i++)
        for (int k = 0; k < n_slots(o, t, i); k++) {
            struct hd_tensor s = hd_b_shape(b, w[i]);
            slots[i].state[k] = zero_state(
                b, hd_sprintf(b->arena, "%s.%s%d", s.name, hd_optimizers[o->kind].name, k), &s);
        }
}

/* A result that is an output once: state that stays, or a loss that is state, gets a copy. */
static void output(struct hd_back *b, int t) {
    if (b->status == HD_OK) hd_graph_output(b->g, hd_b(b, identity, t));
}

static bool is_loss(const struct hd_tensor *t) {
    return t->known && t->rank == 0 && t->dtype == HD_F32;
}

/* The input that layers make of the number of the step: dropout. */
static bool is_step(const struct hd_tensor *t) {
    return !strcmp(t->name, "step") && is_loss(t);
}

/* A loss and metrics; or images in, logits out. */
static hd_status check(hd_ctx *ctx, const hd_graph *g) {
    bool ok = g->n_outputs > 0;
    for (size_t i = 0; i < g->n_outputs; i++) ok = ok && is_loss(&g->tensors[g->outputs[i]]);
    if (ok) return HD_OK;
    int others = 0; /* inputs beside the first, but the number of the step, which layers may read */
    for (size_t i = 1; i < g->n_inputs; i++) others += !is_step(&g->tensors[g->inputs[i]]);
    if (g->n_inputs < 1 || others || g->n_outputs != 1)
        return hd_fail(ctx, HD_UNSUPPORTED,
                       "%s: %zu inputs and %zu outputs, want one of each; or a loss and metrics, "
                       "all f32[], as outputs",
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

enum { SCALE_FIRST = 1 << 16, SCALE_MOST = 1 << 24 };

/* The factor of the loss, how many steps in a row were good since it changed, and how many were
 * left out in all. */
struct loss_scale {
    int factor, good, skipped; /* tensors; -1 = it does not adapt */
};

static bool scales(const struct hd_train_options *o) {
    return o->loss_scale > 0 && o->loss_scale != 1;
}

static int scalar_state(struct hd_back *b, const char *name, double v) {
    int t = zero_state(b, name, &(struct hd_tensor){.dtype = HD_F32});
    *(float *)b->g->tensors[t].initial = (float)v;
    return t;
}

static struct loss_scale scale_state(struct hd_back *b, const struct hd_train_options *o) {
    if (!(o->scale_steps > 0)) return (struct loss_scale){-1, -1, -1};
    double first = scales(o) ? o->loss_scale : SCALE_FIRST;
    int factor = scalar_state(b, "loss_scale", first), good = scalar_state(b, "loss_scale.good", 0);
    return (struct loss_scale){factor, good, scalar_state(b, "loss_scale.skipped", 0)};
}

/* The next ones as outputs. is: whether this step was good. */
static void adapt(struct hd_back *b, const struct hd_train_options *o, struct loss_scale s,
                  int is) {
    int one = hd_b_number(b, HD_F32, 1), zero = hd_b_number(b, HD_F32, 0);
    int two = hd_b_number(b, HD_F32, 2), most = hd_b_number(b, HD_F32, SCALE_MOST);
    int good = hd_b(b, where, is, hd_b(b, add, s.good, one), zero);
    int waits = hd_b(b, less, good, hd_b_number(b, HD_F32, o->scale_steps));
    int up = hd_b(b, where, waits, s.factor, hd_b(b, mul, s.factor, two));
    int factor = hd_b(b, where, is, up, hd_b(b, div, s.factor, two));
    output(b, hd_b(b, clip, factor, one, most));
    output(b, hd_b(b, where, waits, good, zero));
    output(b, hd_b(b, where, is, s.skipped, hd_b(b, add, s.skipped, one)));
}

/* Gradients dw of the weights, and what statistics follow. factor: of the loss, a tensor; -1 = that
 * of the options. */
static hd_status gradients(struct hd_back *b, const struct hd_train_options *o,
                           const struct hd_trained *t, const struct hd_through_list *through,
                           int factor, int *dw) {
    int n = t->n - t->n_follow;
    int loss = b->g->outputs[0], *by = hd_dup(b->arena, t->w, (size_t)n * sizeof *by);
    b->prefix = "train";
    if (factor < 0 && scales(o)) factor = hd_b_number(b, HD_F32, o->loss_scale);
    if (factor >= 0) loss = hd_b(b, mul, loss, factor);
    TRY(b->status);
    if (t->n_ranges) by[t->ranges] = t->ranges_now;
    if (through->n)
        TRY(hd_grad_straight(b->ctx, b->g, loss, by, n, through->of, (int)through->n, dw));
    else
        TRY(hd_grad_in_place(b->ctx, b->g, loss, by, n, dw));
    b->prefix = "train";
    for (int i = 0; i < n && factor >= 0; i++) dw[i] = hd_b(b, div, dw[i], factor);
    for (int i = n; i < t->n; i++) dw[i] = hd_b_cast(b, t->what[i - n], HD_F32);
    return b->status;
}

/* Loss and metrics are made outputs again, in front of what follows. */
static void results(struct hd_back *b, const struct hd_trained *t) {
    b->g->n_outputs = 0;
    for (int i = 0; i < t->n_results; i++) output(b, b->g->outputs[i]);
}

/* Whether all gradients are finite: their products by 0 are 0 then, and else NaN. */
static int finite(struct hd_back *b, int n, const int *dw) {
    int sum = hd_b_number(b, HD_F32, 0), zero = sum;
    for (int i = 0; i < n; i++) {
        int s = hd_b_reduce(b, HD_IR_reducesum, hd_b(b, mul, dw[i], zero), 0, NULL, false);
        sum = hd_b(b, add, sum, s);
    }
    return hd_b(b, equal, sum, zero);
}

/* Where not all are finite, weights and slots stay. */
static void keep_finite(struct hd_back *b, const struct hd_optimizer_options *o,
                        const struct hd_trained *t, const int *w, int is, struct slot *slots) {
    for (int i = 0; i < t->n; i++) {
        slots[i].weight = hd_b(b, where, is, slots[i].weight, w[i]);
        for (int k = 0; k < n_slots(o, t, i); k++)
            slots[i].next[k] = hd_b(b, where, is, slots[i].next[k], slots[i].state[k]);
    }
}

/* The next step, weights and slots as outputs. */
static hd_status next_state(struct hd_back *b, const struct hd_train_options *options,
                            const struct hd_trained *t, const int *w, int *dw, int step,
                            struct loss_scale scale, struct slot *slots) {
    const struct hd_optimizer_options *o = &options->optimizer;
    b->prefix = "train";
    int is = options->precision ? finite(b, t->n, dw) : -1;
    hd_clip_gradients(b, o, t->n - t->n_follow, dw);
    int taken = scale.factor >= 0 ? hd_b(b, sub, step, scale.skipped) : step;
    update(b, o, t, w, dw, step, taken, slots);
    if (options->precision) keep_finite(b, o, t, w, is, slots);
    output(b, hd_b(b, add, step, hd_b_number(b, HD_F32, 1)));
    for (int i = 0; i < t->n; i++) output(b, slots[i].weight);
    for (int i = 0; i < t->n; i++)
        for (int k = 0; k < n_slots(o, t, i); k++) output(b, slots[i].next[k]);
    if (scale.factor >= 0) adapt(b, options, scale, is);
    return b->status;
}

/* The number of the step, no longer an input; -1 = layers read none. */
static int step_input(hd_graph *g) {
    for (size_t i = 0; i < g->n_inputs; i++) {
        if (!is_step(&g->tensors[g->inputs[i]])) continue;
        int step = g->inputs[i];
        memmove(g->inputs + i, g->inputs + i + 1, (--g->n_inputs - i) * sizeof *g->inputs);
        return step;
    }
    return -1;
}

static hd_status whole_step(struct hd_back *b, const struct hd_train_options *o,
                            struct hd_trained *t, const struct hd_through_list *through) {
    struct slot *slots = hd_new_array(b->arena, struct slot, (size_t)t->n + 1);
    int *dw = hd_new_array(b->arena, int, (size_t)t->n + 1), step = step_input(b->g);
    struct hd_tensor scalar = {.dtype = HD_F32};
    t->n_data = (int)b->g->n_inputs;
    if (step < 0) {
        step = zero_state(b, "step", &scalar);
    } else {
        b->g->tensors[step].initial = hd_alloc(b->g->arena, sizeof(float));
        hd_graph_input(b->g, step);
    }
    add_state(b, &o->optimizer, t, t->w, slots);
    struct loss_scale scale = scale_state(b, o);
    TRY(gradients(b, o, t, through, scale.factor, dw));
    results(b, t);
    return next_state(b, o, t, t->w, dw, step, scale, slots);
}

hd_status hd_train_update(hd_ctx *ctx, const hd_graph *step_graph, const struct hd_train_options *o,
                          const struct hd_trained *trained, const int64_t *part, hd_graph *g) {
    struct hd_back b = {.ctx = ctx, .g = g, .arena = hd_arena_create(), .prefix = "update"};
    int n = trained->n, *w = hd_new_array(b.arena, int, (size_t)n + 1);
    int *dw = hd_new_array(b.arena, int, (size_t)n + 1);
    struct slot *slots = hd_new_array(b.arena, struct slot, (size_t)n + 1);
    struct hd_tensor scalar = {.dtype = HD_F32};
    int step = zero_state(&b, "step", &scalar);
    for (int i = 0; i < n; i++) {
        const struct hd_tensor *t = &step_graph->tensors[trained->w[i]];
        w[i] = hd_graph_const(g, t->name, t->dtype, part ? 1 : t->rank, part ? part + i : t->dim,
                              t->initial);
    }
    add_state(&b, &o->optimizer, trained, w, slots);
    struct loss_scale scale = scale_state(&b, o);
    for (int i = 0; i < n; i++) {
        struct hd_tensor t = g->tensors[w[i]];
        dw[i] =
            hd_graph_tensor(g, hd_sprintf(b.arena, "%s.gradient", t.name), t.dtype, t.rank, t.dim);
        hd_graph_input(g, dw[i]);
    }
    hd_status s = next_state(&b, o, trained, w, dw, step, scale, slots);
    hd_arena_destroy(b.arena);
    return s == HD_OK ? hd_graph_verify(ctx, g) : s;
}

static hd_status halves(struct hd_back *b, const struct hd_train_options *o, struct hd_trained *t,
                        const struct hd_through_list *through, hd_graph *update_graph) {
    int *dw = hd_new_array(b->arena, int, (size_t)t->n + 1), step = step_input(b->g);
    t->n_data = (int)b->g->n_inputs, t->steps = step >= 0;
    if (step >= 0) hd_graph_input(b->g, step);
    for (int i = 0; i < t->n; i++) to_state(b->g, t->w[i]);
    t->adapts = o->scale_steps > 0;
    int factor = t->adapts ? hd_graph_tensor(b->g, "loss_scale", HD_F32, 0, (int64_t[]){1}) : -1;
    if (t->adapts) hd_graph_input(b->g, factor);
    TRY(gradients(b, o, t, through, factor, dw));
    results(b, t);
    for (int i = 0; i < t->n; i++) output(b, dw[i]);
    TRY(b->status);
    return hd_train_update(b->ctx, b->g, o, t, NULL, update_graph);
}

static hd_status in_half(struct hd_back *b, const struct hd_train_options *o, bool logits,
                         const struct hd_trained *t) {
    hd_dtype type = !strcmp(o->precision, "f16") ? HD_F16 : HD_BF16;
    if (type == HD_BF16 && strcmp(o->precision, "bf16") != 0)
        return hd_fail(b->ctx, HD_INVALID, "precision '%s': want f32, f16 or bf16", o->precision);
    if (!logits || o->integers)
        return hd_fail(b->ctx, HD_UNSUPPORTED,
                       "%s: precision %s is for float networks of logits, without a loss of their "
                       "own",
                       b->g->name, o->precision);
    return hd_train_half(b, type, t);
}

hd_status hd_train_graph(hd_ctx *ctx, hd_graph *g, const struct hd_train_options *o,
                         hd_graph *update_graph, hd_arena *arena, struct hd_trained *out) {
    struct hd_back b = {.ctx = ctx, .g = g, .arena = hd_arena_create(), .prefix = "train"};
    struct hd_through_list through = {.a = b.arena};
    *out = (struct hd_trained){.w = hd_new_array(arena, int, g->n_tensors + 1)};
    hd_status s = check(ctx, g);
    bool logits = s == HD_OK && !is_loss(&g->tensors[g->outputs[0]]);
    if (s == HD_OK && o->integers)
        s = hd_integer_twins(&b, o, out, &through);
    else if (s == HD_OK)
        find_weights(g, out);
    find_followers(g, arena, out);
    if (s == HD_OK && out->n == out->n_follow)
        s = hd_fail(ctx, HD_INVALID, "%s: no weights to train", g->name);
    if (s == HD_OK && o->scale_steps > 0 && !o->precision)
        s = hd_fail(ctx, HD_INVALID,
                    "%s: scale_steps is %g, and precision f32, whose losses need no scale; set "
                    "precision to f16 or bf16, or scale_steps to 0",
                    g->name, o->scale_steps);
    if (s == HD_OK && o->precision) s = in_half(&b, o, logits, out);
    if (s == HD_OK && logits) s = to_classes(ctx, g);
    out->n_results = (int)g->n_outputs;
    if (s == HD_OK && !update_graph) s = whole_step(&b, o, out, &through);
    if (s == HD_OK && update_graph) s = halves(&b, o, out, &through, update_graph);
    hd_arena_destroy(b.arena);
    return s == HD_OK ? hd_graph_verify(ctx, g) : s;
}
