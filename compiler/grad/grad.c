/* Reverse mode over the graph: see grad.h. */
#include "compiler/grad/grad.h"

#include <string.h>

#include "compiler/grad/adjoint.h"

enum kind { IS_TEXT, IS_REDUCED, IS_CODE, IS_EXPAND, IS_ZERO, IS_NONE };

/* Every operation has a row: a name that is missing here does not compile. */
enum {
#define TEXT(op, ...)    ROW_##op = IS_TEXT,
#define REDUCED(op, ...) ROW_##op = IS_REDUCED,
#define CODE(op, ...)    ROW_##op = IS_CODE,
#define EXPAND(op, ...)  ROW_##op = IS_EXPAND,
#define ZERO(op)         ROW_##op = IS_ZERO,
#define NONE(op, ...)    ROW_##op = IS_NONE,
#include "compiler/grad/grad.def"
};
static const unsigned char kinds[HD_IR_OPS] = {
#define OP(op, ...) [HD_IR_##op] = ROW_##op,
#include "compiler/ir/ops.def"
};

static const struct row {
    const char *text[3], *why;
    void (*code)(struct hd_adjoint *);
    void (*expand)(struct hd_adjoint *, int *);
} rows[HD_IR_OPS] = {
#define TEXT(op, a, b, c) [HD_IR_##op] = {.text = {a, b, c}},
#define REDUCED(op, a)    [HD_IR_##op] = {.text = {a}},
#define CODE(op, name)    [HD_IR_##op] = {.code = hd_adjoint_##name},
#define EXPAND(op, name)  [HD_IR_##op] = {.expand = hd_expand_##name},
#define NONE(op, reason)  [HD_IR_##op] = {.why = reason},
#include "compiler/grad/grad.def"
};

bool hd_grad_has(enum hd_ir_op op, const char **out_why) {
    *out_why = rows[op].why;
    return kinds[op] != IS_NONE;
}

struct walk {
    struct hd_back b;
    const struct hd_grad_through *through;
    int n_through;
    int *order; /* nodes that the loss needs, each behind what it reads */
    size_t n_order, cap_order;
    bool *needs; /* per tensor: a float that a tensor of wrt goes into */
    int *grad;   /* per tensor of the forward graph, -1 = none yet */
    int *twin;   /* per tensor: the tensor of an expansion that has its value, -1 = none */
    size_t n_tensors, cap_needs, cap_twin;
};

/* Where the gradient of a tensor goes. */
static int passed(const struct walk *w, int t) {
    for (int i = 0; i < w->n_through; i++)
        if (w->through[i].value == t) return w->through[i].shadow;
    return t;
}

static int producer(const struct walk *w, int t) {
    return t < 0 ? -1 : w->b.g->tensors[passed(w, t)].producer;
}

/* Nodes that the loss needs, by depth, with a stack of our own. */
static void find_order(struct walk *w, int loss) {
    hd_arena *a = w->b.arena;
    size_t n_nodes = w->b.g->n_nodes, depth = 0;
    int *stack = hd_new_array(a, int, n_nodes + 1), *next = hd_new_array(a, int, n_nodes + 1);
    bool *seen = hd_new_array(a, bool, n_nodes + 1);
    int first = producer(w, loss);
    if (first < 0) return;
    stack[depth++] = first;
    seen[first] = true;
    while (depth) {
        int node = stack[depth - 1];
        const struct hd_node *n = &w->b.g->nodes[node];
        if (next[node] == n->n_in) {
            *hd_push(a, w->order, w->n_order, w->cap_order) = node;
            depth--;
            continue;
        }
        int from = producer(w, n->in[next[node]++]);
        if (from < 0 || seen[from]) continue;
        seen[from] = true;
        stack[depth++] = from;
    }
}

static bool is_float(const struct walk *w, int t) {
    hd_dtype d = w->b.g->tensors[t].dtype;
    return d == HD_F32 || d == HD_F64 || d == HD_F16 || d == HD_BF16;
}

static bool node_needs(const struct walk *w, const struct hd_node *n) {
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0 && w->needs[passed(w, n->in[i])]) return true;
    return false;
}

static void mark(struct walk *w, const struct hd_node *n) {
    bool needs = node_needs(w, n);
    for (int i = 0; i < n->n_out; i++)
        if (n->out[i] >= 0 && needs && is_float(w, n->out[i])) w->needs[n->out[i]] = true;
}

static void grow_tensors(struct walk *w) {
    size_t n = w->b.g->n_tensors, old = w->n_tensors;
    w->needs = hd_grow(w->b.arena, w->needs, &w->cap_needs, n, sizeof *w->needs);
    w->twin = hd_grow(w->b.arena, w->twin, &w->cap_twin, n, sizeof *w->twin);
    for (size_t t = old; t < n; t++) w->needs[t] = false, w->twin[t] = -1;
    w->n_tensors = n;
}

static hd_status check_shapes(const struct walk *w, const struct hd_node *n) {
    for (int i = 0; i < n->n_in + n->n_out; i++) {
        int t = i < n->n_in ? n->in[i] : n->out[i - n->n_in];
        if (t >= 0 && !w->b.g->tensors[t].known)
            return hd_fail(w->b.ctx, HD_UNSUPPORTED,
                           "node '%s' (%s): no gradient here: only a run knows the shape of '%s'; "
                           "give the sizes of inputs",
                           n->name, hd_ir_ops[n->op].name, w->b.g->tensors[t].name);
    }
    return HD_OK;
}

/* The nodes of an expansion come in front of the node whose values they have. */
static hd_status expand(struct walk *w, int node) {
    struct hd_node n = w->b.g->nodes[node];
    size_t before = w->b.g->n_nodes;
    int *y = hd_new_array(w->b.arena, int, (size_t)n.n_out);
    for (int i = 0; i < n.n_out; i++) y[i] = -1;
    struct hd_adjoint a = {.b = &w->b, .n = n};
    w->b.prefix = n.name;
    rows[n.op].expand(&a, y);
    TRY(w->b.status);
    grow_tensors(w);
    for (size_t i = before; i < w->b.g->n_nodes; i++) {
        *hd_push(w->b.arena, w->order, w->n_order, w->cap_order) = (int)i;
        mark(w, &w->b.g->nodes[i]);
    }
    for (int i = 0; i < n.n_out; i++)
        if (n.out[i] >= 0) w->twin[n.out[i]] = y[i];
    return HD_OK;
}

/* Which tensors have a gradient; expansions; errors of operations that have none. */
static hd_status forward(struct walk *w) {
    int *order = w->order;
    size_t n_order = w->n_order;
    w->order = NULL;
    w->n_order = w->cap_order = 0;
    for (size_t i = 0; i < n_order; i++) {
        const struct hd_node *n = &w->b.g->nodes[order[i]];
        if (node_needs(w, n)) {
            TRY(check_shapes(w, n));
            if (kinds[n->op] == IS_NONE) hd_b_fail(&w->b, n, rows[n->op].why);
            TRY(w->b.status);
            mark(w, n);
            if (kinds[n->op] == IS_EXPAND) TRY(expand(w, order[i]));
        }
        *hd_push(w->b.arena, w->order, w->n_order, w->cap_order) = order[i];
    }
    return HD_OK;
}

/* ---- back ----------------------------------------------------------------------------------- */

static void add_gradient(struct walk *w, int t, int gradient) {
    t = passed(w, t);
    if (gradient < 0 || !w->needs[t]) return;
    w->grad[t] = w->grad[t] < 0 ? gradient : hd_b(&w->b, add, w->grad[t], gradient);
}

static void run_texts(struct hd_adjoint *a) {
    for (int i = 0; i < a->n.n_in && i < 3; i++) {
        if (!a->want[i] || !*rows[a->n.op].text[i]) continue;
        struct hd_tensor x = hd_b_shape(a->b, a->n.in[i]);
        int d = hd_a_text(a, rows[a->n.op].text[i], a->n.out[0], a->dy[0], 0);
        a->dx[i] = hd_b_unbroadcast(a->b, d, &x);
    }
}

static hd_status back(struct walk *w, int node) {
    struct hd_node n = w->b.g->nodes[node];
    int *dy = hd_new_array(w->b.arena, int, (size_t)n.n_out), any = 0;
    int *dx = hd_new_array(w->b.arena, int, (size_t)n.n_in + 1);
    bool *want = hd_new_array(w->b.arena, bool, (size_t)n.n_in + 1);
    for (int i = 0; i < n.n_out; i++) {
        dy[i] = n.out[i] < 0 ? -1 : hd_join_products(&w->b, w->grad[n.out[i]]);
        any += dy[i] >= 0;
    }
    if (!any) return HD_OK;
    if (kinds[n.op] == IS_EXPAND) {
        for (int i = 0; i < n.n_out; i++)
            if (dy[i] >= 0) add_gradient(w, w->twin[n.out[i]], dy[i]);
        return w->b.status;
    }
    for (int i = 0; i < n.n_in; i++) {
        dx[i] = -1;
        want[i] = n.in[i] >= 0 && w->needs[passed(w, n.in[i])];
    }
    struct hd_adjoint a = {.b = &w->b, .n = n, .dy = dy, .want = want, .dx = dx};
    w->b.prefix = hd_sprintf(w->b.arena, "%s.grad", n.name);
    if (kinds[n.op] == IS_TEXT) run_texts(&a);
    if (kinds[n.op] == IS_REDUCED) hd_adjoint_reduced(&a, rows[n.op].text[0]);
    if (kinds[n.op] == IS_CODE) rows[n.op].code(&a);
    for (int i = 0; i < n.n_in; i++)
        if (want[i]) add_gradient(w, n.in[i], dx[i]);
    return w->b.status;
}

static hd_status check(const struct walk *w, int loss, const int *wrt, int n_wrt) {
    const struct hd_graph *g = w->b.g;
    for (int i = -1; i < n_wrt; i++) {
        int t = i < 0 ? loss : wrt[i];
        const char *what = i < 0 ? "the loss" : "the gradient's tensor";
        if (t < 0 || (size_t)t >= g->n_tensors)
            return hd_fail(w->b.ctx, HD_INVALID, "%s: tensor %d, there are %zu", what, t,
                           g->n_tensors);
        if (!g->tensors[t].known)
            return hd_fail(w->b.ctx, HD_INVALID, "%s '%s' has no known shape; infer shapes first",
                           what, g->tensors[t].name);
        if (!is_float(w, t) || g->tensors[t].dtype != g->tensors[loss].dtype)
            return hd_fail(w->b.ctx, HD_INVALID, "%s '%s' is %s, want floats, all of one type",
                           what, g->tensors[t].name, hd_dtype_name(g->tensors[t].dtype));
    }
    for (int i = 0; i < w->n_through; i++) {
        const struct hd_tensor *v = &g->tensors[w->through[i].value],
                               *s = &g->tensors[w->through[i].shadow];
        if (v->rank != s->rank || memcmp(v->dim, s->dim, (size_t)v->rank * sizeof *v->dim) ||
            !is_float(w, w->through[i].shadow))
            return hd_fail(w->b.ctx, HD_INVALID,
                           "'%s' takes the gradient of '%s', which has another shape or no floats",
                           s->name, v->name);
    }
    return HD_OK;
}

static hd_status run(struct walk *w, int loss, const int *wrt, int n_wrt, int *out) {
    TRY(check(w, loss, wrt, n_wrt));
    grow_tensors(w);
    for (int i = 0; i < n_wrt; i++) w->needs[wrt[i]] = true;
    find_order(w, loss);
    TRY(forward(w));
    w->grad = hd_new_array(w->b.arena, int, w->n_tensors + 1);
    for (size_t t = 0; t < w->n_tensors; t++) w->grad[t] = -1;
    struct hd_tensor l = hd_b_shape(&w->b, loss);
    w->b.prefix = hd_sprintf(w->b.arena, "%s.grad", l.name);
    add_gradient(w, loss, hd_b_filled(&w->b, &l, 1));
    for (size_t i = w->n_order; i-- > 0;) TRY(back(w, w->order[i]));
    for (int i = 0; i < n_wrt; i++) {
        struct hd_tensor x = hd_b_shape(&w->b, wrt[i]);
        w->b.prefix = hd_sprintf(w->b.arena, "%s.grad", x.name);
        int d = hd_join_products(&w->b, w->grad[passed(w, wrt[i])]);
        if (d < 0) d = hd_b_filled(&w->b, &x, 0);
        if (w->b.status == HD_OK) out[i] = d;
    }
    return w->b.status;
}

static void replace_expanded(struct walk *w) {
    for (size_t t = 0; t < w->n_tensors; t++)
        if (w->twin[t] >= 0) hd_graph_replace(w->b.g, (int)t, w->twin[t]);
}

hd_status hd_grad_straight(hd_ctx *ctx, hd_graph *g, int loss, const int *wrt, int n_wrt,
                           const struct hd_grad_through *through, int n_through, int *out) {
    struct walk w = {.b = {.ctx = ctx, .g = g, .arena = hd_arena_create(), .prefix = "grad"},
                     .through = through,
                     .n_through = n_through};
    hd_status s = run(&w, loss, wrt, n_wrt, out);
    hd_arena_destroy(w.b.arena);
    return s;
}

hd_status hd_grad_in_place(hd_ctx *ctx, hd_graph *g, int loss, const int *wrt, int n_wrt,
                           int *out) {
    struct walk w = {.b = {.ctx = ctx, .g = g, .arena = hd_arena_create(), .prefix = "grad"}};
    hd_status s = run(&w, loss, wrt, n_wrt, out);
    if (s == HD_OK) replace_expanded(&w);
    hd_arena_destroy(w.b.arena);
    return s;
}

hd_status hd_grad(hd_ctx *ctx, hd_graph *g, int loss, const int *wrt, int n_wrt, int *out) {
    return hd_grad_straight(ctx, g, loss, wrt, n_wrt, NULL, 0, out);
}
