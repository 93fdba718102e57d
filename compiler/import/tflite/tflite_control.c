/* TFLite control flow: subgraphs of the file become the graphs of an `if` or a `loop`.
 *
 *   IF      cond, x..   ->   if(cond, x..), with both subgraphs of x..; one subgraph in its place
 *                            where the condition is constant
 *   WHILE   x..         ->   loop(-, cond(x..), x..), of which the body is the file's, and cond of
 *                            what it makes
 *   CALL_ONCE                its assignments are the first values of variables (tflite_state.c)
 */
#include <string.h>

#include "compiler/import/tflite/tflite_ops.h"

enum {
    ROWS_MOST = 1 << 22
}; /* tensors and operations of subgraphs, each time that one is called */

/* The operations of subgraph `index` of the file, as nodes of m->g. args: its inputs, of m->g;
 * results: room for its outputs; NULL: nobody reads them. */
static hd_status call(struct hd_tfl *m, int64_t index, uint32_t n_args, const int *args,
                      uint32_t n_results, int *results) {
    struct hd_tfl_graph *outer = m->at;
    const struct hd_tfl_op *op = m->op;
    if (index < 1 || index >= m->n_graphs)
        return hd_tfl_bad(m, HD_INVALID, "it calls graph %lld, allowed 1..%u", (long long)index,
                          m->n_graphs - 1);
    struct hd_tfl_graph *sub = &m->graphs[index];
    if (sub->n_inputs != n_args || (results && sub->n_outputs != n_results))
        return hd_tfl_bad(m, HD_INVALID, "graph '%s' has %u inputs and %u outputs, want %u and %u",
                          sub->name, sub->n_inputs, sub->n_outputs, n_args, n_results);
    m->rows += (uint64_t)sub->n_ops + sub->n_tensors;
    if (++m->depth > HD_MAX_NESTING || m->rows > ROWS_MOST)
        return hd_tfl_bad(m, HD_UNSUPPORTED,
                          "its graphs are nested deeper than %d, or have more than %d tensors and "
                          "operations",
                          HD_MAX_NESTING, ROWS_MOST);
    for (uint32_t i = 0; i < sub->n_tensors; i++) sub->tensors[i].raw = sub->tensors[i].real = -1;
    for (uint32_t i = 0; i < n_args; i++)
        if (sub->inputs[i] >= 0) sub->tensors[sub->inputs[i]].raw = args[i];
    m->at = sub;
    TRY(hd_tfl_body(m));
    m->op = op;
    for (uint32_t i = 0; i < n_results; i++) {
        if (sub->outputs[i] < 0)
            return hd_tfl_bad(m, HD_INVALID, "output %u of '%s' is no tensor", i, sub->name);
        TRY(hd_tfl_raw(m, &sub->tensors[sub->outputs[i]], &results[i]));
    }
    m->depth--;
    m->at = outer;
    return HD_OK;
}

/* All operands, as stored. */
static hd_status operands(struct hd_tfl *m, int *out) {
    for (uint32_t i = 0; i < m->op->n_in; i++) {
        struct hd_tfl_tensor *t = hd_tfl_in(m, i);
        if (!t) return hd_tfl_bad(m, HD_INVALID, "operand %u is left out", i);
        TRY(hd_tfl_raw(m, t, &out[i]));
    }
    return HD_OK;
}

static hd_status want_bool(struct hd_tfl *m, int condition) {
    const struct hd_tensor *t = &m->g->tensors[condition];
    char text[HD_SHAPE_TEXT];
    if (t->dtype == HD_BOOL && t->known && hd_tensor_elems(t) == 1) return HD_OK;
    return hd_tfl_bad(m, HD_INVALID, "its condition is %s, want one bool", hd_shape_text(t, text));
}

static void set_results(struct hd_tfl *m, const int *values) {
    for (uint32_t i = 0; i < m->op->n_out; i++) hd_tfl_set_raw(m, hd_tfl_out(m, i), values[i]);
}

/* ---- graphs of their own ---- */

static int input_like(hd_graph *g, const struct hd_tensor *t) {
    int x = hd_graph_tensor(g, t->name, t->dtype, t->rank, t->dim);
    hd_graph_input(g, x);
    return x;
}

static hd_status add_outputs(struct hd_tfl *m, uint32_t n, const int *values) {
    for (uint32_t i = 0; i < n; i++) {
        int y;
        TRY(hd_tfl_emit(m, HD_IR_identity, 1, &values[i], &y));
        hd_graph_output(m->g, y);
    }
    return HD_OK;
}

/* The node; its results are those of the operation in work. */
static int emit(struct hd_tfl *m, enum hd_ir_op op, uint32_t n_in, const int *in) {
    uint32_t n = m->op->n_out;
    int *out = hd_new_array(m->arena, int, (size_t)n + 1);
    for (uint32_t i = 0; i < n; i++) out[i] = hd_graph_tensor(m->g, m->op->node, HD_F32, 0, NULL);
    set_results(m, out);
    return hd_graph_node(m->g, op, m->op->node, (int)n_in, in, (int)n, out);
}

static hd_status branch(struct hd_tfl *m, int64_t index, uint32_t n, const int *args, hd_graph *g) {
    hd_graph *outer = m->g;
    int *in = hd_new_array(m->arena, int, (size_t)n + 1),
        *results = hd_new_array(m->arena, int, (size_t)m->op->n_out + 1);
    for (uint32_t i = 0; i < n; i++) in[i] = input_like(g, &outer->tensors[args[i]]);
    m->g = g;
    TRY(call(m, index, n, in, m->op->n_out, results));
    TRY(add_outputs(m, m->op->n_out, results));
    m->g = outer;
    return HD_OK;
}

hd_status hd_tfl_if(struct hd_tfl *m) {
    uint32_t n = m->op->n_in - 1;
    int64_t index[2] = {hd_tfl_option(m, 0, 4, 0), hd_tfl_option(m, 1, 4, 0)};
    int *in = hd_new_array(m->arena, int, (size_t)n + 1),
        *results = hd_new_array(m->arena, int, (size_t)m->op->n_out + 1);
    TRY(operands(m, in));
    TRY(want_bool(m, in[0]));
    const uint8_t *known = m->g->tensors[in[0]].data;
    if (known) {
        TRY(call(m, index[*known == 0], n, in + 1, m->op->n_out, results));
        set_results(m, results);
        return HD_OK;
    }
    hd_graph *then = hd_graph_create(), *other = hd_graph_create();
    hd_status s = branch(m, index[0], n, in + 1, then);
    if (s == HD_OK) s = branch(m, index[1], n, in + 1, other);
    if (s != HD_OK) {
        hd_graph_destroy(then);
        hd_graph_destroy(other);
        return s;
    }
    int id = emit(m, HD_IR_if, n + 1, in);
    hd_attr_set_graph(m->g, id, "then", then);
    hd_attr_set_graph(m->g, id, "else", other);
    return hd_tfl_done(m, id);
}

static bool same_type(const struct hd_tensor *a, const struct hd_tensor *b) {
    return a->known && b->known && a->dtype == b->dtype && a->rank == b->rank &&
           !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim);
}

/* iteration, condition, x.. -> whether to go on, x..; carried: x.. of the network */
static hd_status loop_body(struct hd_tfl *m, const int64_t index[2], const int *carried,
                           hd_graph *g) {
    static const struct hd_tensor iteration = {.name = "iteration", .dtype = HD_I64, .known = true},
                                  condition = {
                                      .name = "condition", .dtype = HD_BOOL, .known = true};
    hd_graph *outer = m->g;
    uint32_t n = m->op->n_in;
    int *x = hd_new_array(m->arena, int, (size_t)n + 1),
        *next = hd_new_array(m->arena, int, (size_t)n + 1), again;
    input_like(g, &iteration);
    input_like(g, &condition);
    for (uint32_t i = 0; i < n; i++) x[i] = input_like(g, &outer->tensors[carried[i]]);
    m->g = g;
    TRY(call(m, index[1], n, x, n, next));
    for (uint32_t i = 0; i < n; i++) {
        const struct hd_tensor *a = &g->tensors[x[i]], *b = &g->tensors[next[i]];
        char text[2][HD_SHAPE_TEXT];
        if (!same_type(a, b))
            return hd_tfl_bad(m, HD_UNSUPPORTED,
                              "value %u of the loop is %s, and %s behind its body; want equal", i,
                              hd_shape_text(a, text[0]), hd_shape_text(b, text[1]));
    }
    TRY(call(m, index[0], n, next, 1, &again));
    TRY(want_bool(m, again));
    TRY(add_outputs(m, 1, &again));
    TRY(add_outputs(m, n, next));
    m->g = outer;
    return HD_OK;
}

hd_status hd_tfl_while(struct hd_tfl *m) {
    uint32_t n = m->op->n_in;
    int64_t index[2] = {hd_tfl_option(m, 0, 4, 0), hd_tfl_option(m, 1, 4, 0)};
    int *in = hd_new_array(m->arena, int, (size_t)n + 2);
    if (m->op->n_out != n)
        return hd_tfl_bad(m, HD_INVALID, "%u operands and %u results, want equal", n, m->op->n_out);
    in[0] = -1;
    TRY(operands(m, in + 2));
    TRY(call(m, index[0], n, in + 2, 1, &in[1]));
    TRY(want_bool(m, in[1]));
    hd_graph *g = hd_graph_create();
    hd_status s = loop_body(m, index, in + 2, g);
    if (s != HD_OK) {
        hd_graph_destroy(g);
        return s;
    }
    int id = emit(m, HD_IR_loop, n + 2, in);
    hd_attr_set_graph(m->g, id, "body", g);
    hd_attr_set_int(m->g, id, "n_carried", n);
    return hd_tfl_done(m, id);
}

hd_status hd_tfl_call_once(struct hd_tfl *m) {
    if (m->depth) return hd_tfl_bad(m, HD_UNSUPPORTED, "inside of another graph");
    m->once = true;
    TRY(call(m, hd_tfl_option(m, 0, 4, 0), 0, NULL, 0, NULL));
    m->once = false;
    return HD_OK;
}
