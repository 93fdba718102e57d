/* LSTM, GRU and RNN, step by step: every step has nodes of its own. */
#include <string.h>
#include <strings.h>

#include "compiler/grad/adjoint.h"

struct cell { /* one direction; steps are [batch, hidden] */
    struct hd_back *b;
    const struct hd_adjoint *a;
    int gates;     /* blocks of rows of the weights */
    int64_t size;  /* hidden */
    int input;     /* [steps * batch, gates * hidden]: weights of the input applied, both biases */
    int r, r_bias; /* [gates * hidden, hidden]; bias of the state alone, of the last gate */
    int peep;      /* [3 * hidden], -1 = none */
    bool relu, linear; /* rnn: by relu; gru: linear_before_reset */
};

struct state {
    int h, c;
};

/* Operand i for direction d, without that dimension; -1 = left out. */
static int of_direction(struct hd_adjoint *a, int i, int d) {
    if (!hd_a_has(a, i)) return -1;
    int x = hd_b_slice(a->b, a->n.in[i], 0, d, d + 1);
    struct hd_tensor t = hd_b_shape(a->b, x);
    return hd_b_reshape(a->b, x, t.rank - 1, t.dim + 1);
}

/* Parts of equal size along an axis. One node, since the gradient of it is one node, too. */
static void parts(struct hd_back *b, int x, int64_t axis, int n, int *out) {
    int node = hd_b_start(b, HD_IR_split, 1, &x, n);
    hd_b_int(b, node, "axis", axis);
    hd_b_end(b, node);
    for (int i = 0; i < n; i++) out[i] = b->status == HD_OK ? b->g->nodes[node].out[i] : -1;
}

/* x [rows, n] w [m, n] -> [rows, m] */
static int product(struct hd_back *b, int x, int w) {
    int node = hd_b_start(b, HD_IR_gemm, 2, (int[]){x, w}, 1);
    hd_b_int(b, node, "transB", 1);
    return hd_b_end(b, node);
}

static int gate(struct cell *k, int x, int i) {
    int axis = hd_b_shape(k->b, x).rank - 1;
    return hd_b_slice(k->b, x, axis, i * k->size, (i + 1) * k->size);
}

static int peeped(struct cell *k, int x, int c, int i) {
    if (k->peep < 0) return x;
    return hd_b(k->b, add, x, hd_b(k->b, mul, c, gate(k, k->peep, i)));
}

/* Gates i, o, f, c.  Source: ONNX LSTM-14. */
static struct state lstm_step(struct cell *k, int x, struct state s) {
    struct hd_back *b = k->b;
    int part[4];
    parts(b, hd_b(b, add, x, product(b, s.h, k->r)), 1, 4, part);
    int i = hd_b(b, sigmoid, peeped(k, part[0], s.c, 0));
    int f = hd_b(b, sigmoid, peeped(k, part[2], s.c, 2));
    int new = hd_b(b, mul, i, hd_b(b, tanh, part[3]));
    int c = hd_b(b, add, hd_b(b, mul, f, s.c), new);
    int o = hd_b(b, sigmoid, peeped(k, part[1], c, 1));
    return (struct state){hd_b(b, mul, o, hd_b(b, tanh, c)), c};
}

/* Gates z, r, h.  Source: ONNX GRU-14. */
static struct state gru_step(struct cell *k, int x, struct state s) {
    struct hd_back *b = k->b;
    int h = s.h, in[3], rows[3];
    parts(b, x, 1, 3, in);
    parts(b, product(b, h, k->r), 1, 3, rows);
    int z = hd_b(b, sigmoid, hd_b(b, add, in[0], rows[0]));
    int r = hd_b(b, sigmoid, hd_b(b, add, in[1], rows[1]));
    int own = rows[2];
    if (k->linear) {
        if (k->r_bias >= 0) own = hd_b(b, add, own, k->r_bias);
        own = hd_b(b, mul, r, own);
    } else {
        own = product(b, hd_b(b, mul, r, h), hd_b_slice(b, k->r, 0, 2 * k->size, 3 * k->size));
    }
    int new = hd_b(b, tanh, hd_b(b, add, in[2], own));
    return (struct state){hd_b(b, add, new, hd_b(b, mul, z, hd_b(b, sub, h, new))), -1};
}

static struct state rnn_step(struct cell *k, int x, struct state s) {
    int sum = hd_b(k->b, add, x, product(k->b, s.h, k->r));
    return (struct state){hd_b_op(k->b, k->relu ? HD_IR_relu : HD_IR_tanh, 1, &sum), -1};
}

/* The bias that is added to the input's rows; the state's of a linear gate stays apart. */
static int bias(struct cell *k, struct hd_adjoint *a, int d) {
    int both = of_direction(a, 3, d);
    int64_t n = k->gates * k->size;
    k->r_bias = -1;
    if (both < 0) return -1;
    int w = hd_b_slice(k->b, both, 0, 0, n), r = hd_b_slice(k->b, both, 0, n, 2 * n);
    if (!k->linear) return hd_b(k->b, add, w, r);
    k->r_bias = gate(k, r, 2);
    int parts[2] = {hd_b_slice(k->b, r, 0, 0, 2 * k->size), -1};
    struct hd_tensor last = hd_b_shape(k->b, k->r_bias);
    parts[1] = hd_b_filled(k->b, &last, 0);
    return hd_b(k->b, add, w, hd_b_concat(k->b, 2, parts, 0));
}

static void open_cell(struct cell *k, struct hd_adjoint *a, int d) {
    struct hd_tensor x = hd_b_shape(k->b, a->n.in[0]);
    int b = bias(k, a, d),
        rows = hd_b_reshape(k->b, a->n.in[0], 2, (int64_t[]){x.dim[0] * x.dim[1], x.dim[2]});
    k->input = product(k->b, rows, of_direction(a, 1, d));
    if (b >= 0) k->input = hd_b(k->b, add, k->input, b);
    k->r = of_direction(a, 2, d);
    k->peep = k->gates == 4 ? of_direction(a, 7, d) : -1;
}

typedef struct state step_fn(struct cell *, int, struct state);

/* y: [steps, 1, batch, hidden]; end: the last state, [1, batch, hidden] each. */
static void direction(struct cell *k, struct hd_adjoint *a, int d, bool reverse, step_fn *step,
                      int *y, struct state *end) {
    struct hd_back *b = k->b;
    struct hd_tensor x = hd_b_shape(b, a->n.in[0]);
    int n = (int)x.dim[0];
    int64_t dim[4] = {1, 1, x.dim[1], k->size};
    struct hd_tensor zero = {.dtype = x.dtype, .rank = 2, .dim = {x.dim[1], k->size}};
    open_cell(k, a, d);
    struct state s = {of_direction(a, 5, d), k->gates == 4 ? of_direction(a, 6, d) : -1};
    if (s.h < 0) s.h = hd_b_filled(b, &zero, 0);
    if (s.c < 0) s.c = k->gates == 4 ? hd_b_filled(b, &zero, 0) : -1;
    int *rows = hd_new_array(b->arena, int, (size_t)n + 1);
    parts(b, k->input, 0, n, rows);
    for (int i = 0; i < n && b->status == HD_OK; i++) {
        int t = reverse ? n - 1 - i : i;
        s = step(k, rows[t], s);
        rows[t] = hd_b_reshape(b, s.h, 4, dim);
    }
    *y = n ? hd_b_concat(b, n, rows, 0) : -1;
    end->h = hd_b_reshape(b, s.h, 3, dim + 1);
    end->c = s.c < 0 ? -1 : hd_b_reshape(b, s.c, 3, dim + 1);
}

/* What is not unrolled here, as a reason; NULL = nothing. */
static const char *refusal(const struct hd_adjoint *a, const char *acts, bool *relu) {
    const char *given = hd_attr_string(&a->n, "activations", "");
    size_t n = strlen(acts);
    *relu = false;
    if (hd_a_has(a, 4)) return "sequence_lens";
    if (hd_attr_int(&a->n, "layout", 0)) return "layout 1; run pass recurrent first";
    if (hd_attr_get(&a->n, "clip") && hd_attr_float(&a->n, "clip", 0) > 0) return "clip";
    if (hd_attr_int(&a->n, "input_forget", 0)) return "input_forget";
    if (a->n.op == HD_IR_rnn && !strncasecmp(given, "relu", 4)) acts = "Relu", n = 4, *relu = true;
    for (const char *s = given; *s; s += n + (s[n] == ','))
        if (strncasecmp(s, acts, n) != 0 || (s[n] && s[n] != ','))
            return "activations other than the default ones (rnn: or Relu)";
    if (hd_b_shape(a->b, a->n.in[0]).dim[0] == 0) return "no steps";
    return NULL;
}

static void unroll(struct hd_adjoint *a, int gates, const char *acts, step_fn *step, int *y) {
    struct hd_back *b = a->b;
    struct hd_tensor w = hd_b_shape(b, a->n.in[2]);
    struct cell k = {.b = b, .a = a, .gates = gates, .size = w.dim[2]};
    const char *why = refusal(a, acts, &k.relu);
    bool back = !strcmp(hd_attr_string(&a->n, "direction", "forward"), "reverse");
    int all[2] = {-1, -1}, h[2] = {-1, -1}, c[2] = {-1, -1}, n = (int)w.dim[0];
    if (why) {
        hd_b_fail(b, &a->n, why);
        return;
    }
    k.linear = a->n.op == HD_IR_gru && hd_attr_int(&a->n, "linear_before_reset", 0) != 0;
    for (int d = 0; d < n; d++) {
        struct state end = {-1, -1};
        direction(&k, a, d, back || d == 1, step, &all[d], &end);
        h[d] = end.h, c[d] = end.c;
    }
    if (b->status != HD_OK) return;
    y[0] = n == 1 ? all[0] : hd_b_concat(b, 2, all, 1);
    if (a->n.n_out > 1) y[1] = n == 1 ? h[0] : hd_b_concat(b, 2, h, 0);
    if (a->n.n_out > 2) y[2] = n == 1 ? c[0] : hd_b_concat(b, 2, c, 0);
}

void hd_expand_lstm(struct hd_adjoint *a, int *y) {
    unroll(a, 4, "Sigmoid,Tanh,Tanh", lstm_step, y);
}

void hd_expand_gru(struct hd_adjoint *a, int *y) {
    unroll(a, 3, "Sigmoid,Tanh", gru_step, y);
}

void hd_expand_rnn(struct hd_adjoint *a, int *y) {
    unroll(a, 1, "Tanh", rnn_step, y);
}
