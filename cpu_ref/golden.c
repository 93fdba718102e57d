/* Walks nodes in topological order and calls each one's kernel on the tensors of the run. */
#include "cpu_ref/golden.h"

#include <string.h>

#include "compiler/ir/infer.h"
#include "cpu_ref/kernels.h"

static hd_status (*const kernels[HD_IR_OPS])(const struct hd_kernel *) = {
#define OP(name, ...) [HD_IR_##name] = k_##name,
#include "compiler/ir/ops.def"
};

/* Kept as 16 bits between nodes, computed as f32. */
static bool is_half(hd_dtype t) {
    return t == HD_F16 || t == HD_BF16;
}

/* Those of control flow hand their operands on to graphs, which have such types themselves; bitcast
 * and expressions want the bits. */
static bool keeps_half(enum hd_ir_op op) {
    return op == HD_IR_if || op == HD_IR_loop || op == HD_IR_scan || op == HD_IR_bitcast ||
           op == HD_IR_expression;
}

static struct hd_tensor *widened(const struct hd_tensor *t, hd_arena *a) {
    struct hd_tensor *w = hd_dup(a, t, sizeof *t);
    int64_t n = hd_tensor_elems(t);
    float *v = hd_new_array(a, float, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++) v[i] = (float)hd_k_f64(t->data, t->dtype, i);
    w->dtype = HD_F32;
    w->data = v;
    return w;
}

static void *narrowed(const float *v, hd_dtype t, int64_t n, hd_arena *a) {
    uint16_t *h = hd_new_array(a, uint16_t, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++) hd_k_put_f64(h, t, i, (double)v[i]);
    return h;
}

struct call {
    struct hd_kernel k;
    hd_dtype *half;   /* per result: the type of the graph when the kernel makes f32, else HD_F32 */
    bool *sized;      /* per result: the kernel is given its room, else hd_k_result makes it */
    hd_dtype widened; /* of some operand; HD_F32 = none */
};

static hd_status fetch_operands(struct call *c, struct hd_tensor *t) {
    struct hd_kernel *k = &c->k;
    const struct hd_tensor **tensor =
        hd_new_array(k->arena, const struct hd_tensor *, (size_t)k->n->n_in + 1);
    k->in = hd_new_array(k->arena, const void *, (size_t)k->n->n_in + 1);
    k->in_tensor = tensor;
    for (int i = 0; i < k->n->n_in; i++) {
        if (k->n->in[i] < 0) continue;
        struct hd_tensor *x = &t[k->n->in[i]];
        if (!x->data) x->data = x->initial; /* a variable that nothing has changed yet */
        if (!x->data)
            return hd_fail(k->ctx, HD_INVALID, "node '%s' (%s): operand '%s' has no value",
                           k->n->name, hd_ir_ops[k->n->op].name, x->name);
        bool widen = is_half(x->dtype) && !keeps_half(k->n->op);
        tensor[i] = widen ? widened(x, k->arena) : x;
        k->in[i] = tensor[i]->data;
        if (widen) c->widened = x->dtype;
    }
    return HD_OK;
}

/* The shape that the graph gives a result, when it gives one, is the one it has. */
static hd_status check_result(const struct hd_kernel *k, int i, const struct hd_tensor *y) {
    const struct hd_tensor *want = &k->g->tensors[k->n->out[i]];
    char text[2][HD_SHAPE_TEXT];
    if (!y->known)
        return hd_fail(k->ctx, HD_UNSUPPORTED, "node '%s' (%s): the shape of '%s' is not known",
                       k->n->name, hd_ir_ops[k->n->op].name, want->name);
    bool same = !want->known || (want->dtype == y->dtype && want->rank == y->rank);
    for (int d = 0; same && want->known && d < y->rank; d++) same = want->dim[d] == y->dim[d];
    if (same) return HD_OK;
    return hd_fail(k->ctx, HD_INVALID,
                   "node '%s' (%s): '%s' is %s in this run, and the graph is compiled for %s; "
                   "compile it again with these inputs (--inputs)",
                   k->n->name, hd_ir_ops[k->n->op].name, want->name, hd_shape_text(y, text[0]),
                   hd_shape_text(want, text[1]));
}

/* Types and shapes of the results, and room for them. trust: the graph's are those of the run. */
static hd_status make_room(struct call *c, const struct hd_tensor *t, bool trust) {
    struct hd_kernel *k = &c->k;
    size_t n = (size_t)k->n->n_out;
    k->outs = hd_new_array(k->arena, void *, n);
    k->out_tensor = hd_new_array(k->arena, struct hd_tensor, n);
    c->half = hd_new_array(k->arena, hd_dtype, n);
    c->sized = hd_new_array(k->arena, bool, n);
    for (size_t i = 0; trust && i < n; i++)
        trust = k->n->out[i] < 0 || k->g->tensors[k->n->out[i]].known;
    if (!trust) TRY(hd_infer_outputs(k->ctx, k->g, t, k->n, k->out_tensor));
    for (size_t i = 0; i < n; i++) {
        struct hd_tensor *y = &k->out_tensor[i];
        if (k->n->out[i] < 0) continue;
        if (trust) *y = k->g->tensors[k->n->out[i]];
        c->sized[i] = y->known;
        c->half[i] = HD_F32;
        if (!y->known) continue;
        bool half = is_half(y->dtype) && !keeps_half(k->n->op);
        if (half) c->half[i] = y->dtype, y->dtype = HD_F32;
        k->outs[i] = hd_alloc(half ? k->arena : k->results, hd_tensor_bytes(y) + 1);
    }
    k->out = k->outs[0];
    return HD_OK;
}

/* Results go to the tensors of the run. */
static hd_status store_results(const struct call *c, struct hd_tensor *t) {
    const struct hd_kernel *k = &c->k;
    for (int i = 0; i < k->n->n_out; i++) {
        if (k->n->out[i] < 0) continue;
        struct hd_tensor *y = &k->out_tensor[i], *to = &t[k->n->out[i]];
        hd_dtype half = c->half[i];
        if (!c->sized[i] && y->dtype == HD_F32) half = c->widened; /* the kernel made the room */
        if (half != HD_F32) {
            k->outs[i] = narrowed(k->outs[i], half, hd_tensor_elems(y), k->results);
            y->dtype = half;
        }
        TRY(check_result(k, i, y));
        to->dtype = y->dtype;
        to->rank = y->rank;
        memcpy(to->dim, y->dim, sizeof y->dim);
        to->known = true;
        to->data = k->outs[i];
    }
    if (k->n->op == HD_IR_assign && k->outs[0]) t[k->n->in[0]].data = k->outs[0];
    return HD_OK;
}

hd_status hd_golden_node(hd_ctx *ctx, const hd_graph *g, int id, struct hd_tensor *t, bool trust,
                         hd_arena *results, hd_arena *scratch) {
    const struct hd_node *n = &g->nodes[id];
    struct call c = {.k = {.ctx = ctx, .g = g, .n = n, .arena = scratch, .results = results},
                     .widened = HD_F32};
    TRY(hd_continue(ctx));
    hd_arena_reset(scratch);
    if (hd_attr_get(n, "by"))
        return hd_fail(ctx, HD_UNSUPPORTED, "node '%s' (%s): by=\"name\" is run after pass axes",
                       n->name, hd_ir_ops[n->op].name);
    TRY(fetch_operands(&c, t));
    TRY(make_room(&c, t, trust));
    TRY(hd_note(ctx, kernels[n->op](&c.k), "in node '%s' (%s)", n->name, hd_ir_ops[n->op].name));
    return store_results(&c, t);
}

struct hd_tensor *hd_golden_tensors(const hd_graph *g, hd_arena *arena) {
    return hd_dup(arena, g->tensors, g->n_tensors * sizeof *g->tensors);
}

static bool shape_holds(const struct hd_tensor *a, const struct hd_tensor *b) {
    if (!a->data || !b->known) return true;
    bool same = a->dtype == b->dtype && a->rank == b->rank;
    for (int d = 0; same && d < a->rank; d++) same = a->dim[d] == b->dim[d];
    return same;
}

/* The graph's shapes hold in this run, as far as what the nodes are given has them. */
static bool shapes_hold(const hd_graph *g, const int *order, size_t n, const struct hd_tensor *t) {
    bool same = !g->specialised;
    for (size_t i = 0; i < n && same; i++) {
        const struct hd_node *nd = &g->nodes[order[i]];
        for (int k = 0; k < nd->n_in && same; k++)
            if (nd->in[k] >= 0) same = shape_holds(&t[nd->in[k]], &g->tensors[nd->in[k]]);
    }
    return same;
}

size_t hd_golden_order(const hd_graph *g, const int *nodes, size_t n, int *out, bool *wanted) {
    size_t n_order = hd_graph_order(g, out), kept = 0;
    memset(wanted, 0, g->n_nodes * sizeof *wanted);
    for (size_t i = 0; i < n; i++) wanted[nodes[i]] = true;
    for (size_t i = 0; i < n_order; i++)
        if (n == 0 || wanted[out[i]]) out[kept++] = out[i];
    return kept;
}

hd_status hd_golden_eval_order(hd_ctx *ctx, const hd_graph *g, const int *order, size_t n,
                               struct hd_tensor *t, hd_arena *results, hd_arena *scratch) {
    bool trust = shapes_hold(g, order, n, t);
    for (size_t i = 0; i < n; i++)
        TRY(hd_golden_node(ctx, g, order[i], t, trust, results, scratch));
    return HD_OK;
}

void hd_golden_bytes(const hd_graph *g, const int *order, size_t n, size_t *out_results,
                     size_t *out_scratch) {
    enum { ROUND = 64, PIECES = 16 };
    *out_results = ROUND;
    *out_scratch = 0;
    for (size_t i = 0; i < n; i++) {
        const struct hd_node *nd = &g->nodes[order[i]];
        size_t pieces = (size_t)(nd->n_in + nd->n_out) + PIECES;
        size_t scratch = pieces * (sizeof *g->tensors + ROUND);
        for (int k = 0; k < nd->n_in + nd->n_out; k++) {
            int id = k < nd->n_in ? nd->in[k] : nd->out[k - nd->n_in];
            if (id < 0 || !g->tensors[id].known) continue;
            const struct hd_tensor *x = &g->tensors[id];
            if (k >= nd->n_in) *out_results += hd_tensor_bytes(x) + 2 * ROUND;
            scratch += 4 * (size_t)hd_tensor_elems(x); /* what kernels widen */
        }
        if (scratch > *out_scratch) *out_scratch = scratch;
    }
}

hd_status hd_golden_eval(hd_ctx *ctx, const hd_graph *g, const int *nodes, size_t n,
                         struct hd_tensor *t, hd_arena *arena) {
    int *order = hd_new_array(arena, int, g->n_nodes + 1);
    bool *wanted = hd_new_array(arena, bool, g->n_nodes + 1);
    size_t n_order = hd_golden_order(g, nodes, n, order, wanted);
    hd_arena *scratch = hd_arena_create();
    hd_status s = hd_golden_eval_order(ctx, g, order, n_order, t, arena, scratch);
    hd_arena_destroy(scratch);
    return s;
}

hd_status hd_golden_run(hd_ctx *ctx, const hd_graph *g, const int *nodes, size_t n, void **data,
                        hd_arena *arena) {
    struct hd_tensor *t = hd_golden_tensors(g, arena);
    for (size_t i = 0; i < g->n_tensors; i++)
        if (data[i]) t[i].data = data[i];
    TRY(hd_golden_eval(ctx, g, nodes, n, t, arena));
    for (size_t i = 0; i < g->n_tensors; i++)
        if (t[i].data && t[i].data != g->tensors[i].data) data[i] = (void *)(uintptr_t)t[i].data;
    return HD_OK;
}
