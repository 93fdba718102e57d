/* How much work a model is: see facts.def. */
#include <stdlib.h>
#include <string.h>

#include "compiler/choose/choose.h"
#include "compiler/place/place.h"

enum fact {
#define FACT(name, ...) FACT_##name,
#include "compiler/choose/facts.def"
    FACTS
};
_Static_assert((int)FACTS == HD_FACTS, "as many as choose.h says");

static enum fact class_of(enum hd_ir_op op) {
    static const bool elementwise[HD_IR_OPS] = {
#define ACTIVATION(name, ...)     [HD_IR_##name] = true,
#define NUMBER(name, ...)         [HD_IR_##name] = true,
#define INTEGER(name, ...)        [HD_IR_##name] = true,
#define BINARY(name, ...)         [HD_IR_##name] = true,
#define BINARY_INTEGER(name, ...) [HD_IR_##name] = true,
#include "compiler/ir/elem.def"
    };
    switch (op) {
#define CLASS(name, fact)                                                                          \
    case HD_IR_##name:                                                                             \
        return FACT_##fact;
#include "compiler/choose/facts.def"
    default:
        return elementwise[op] ? FACT_simple : FACT_other;
    }
}

static bool recurrent(enum hd_ir_op op) {
    return op == HD_IR_lstm || op == HD_IR_gru || op == HD_IR_rnn || op == HD_IR_qlstm ||
           op == HD_IR_qgru || op == HD_IR_qrnn;
}

/* Products of a node, and the fact that they go to. */
static double products(const hd_graph *g, const struct hd_node *n, enum fact *out) {
    const struct hd_tensor *x = n->n_in ? &g->tensors[n->in[0]] : NULL;
    *out = FACT_product;
    if (recurrent(n->op)) { /* steps and batch of x, weights of both kinds */
        *out = FACT_recurrent;
        return x->rank < 2 ? 0
                           : (double)(x->dim[0] * x->dim[1]) *
                                 (double)(hd_tensor_elems(&g->tensors[n->in[1]]) +
                                          hd_tensor_elems(&g->tensors[n->in[2]]));
    }
    if (n->op == HD_IR_convtranspose || n->op == HD_IR_qconvtranspose) {
        *out = FACT_transposed; /* each operand meets the weights of its channel */
        return (double)hd_tensor_elems(x) * (double)hd_tensor_elems(&g->tensors[n->in[1]]) /
               (double)(x->rank > 1 && x->dim[1] ? x->dim[1] : 1);
    }
    if (n->op == HD_IR_conv || n->op == HD_IR_qconv)
        *out = hd_attr_int(n, "group", 1) > 1 ? FACT_grouped : FACT_conv;
    return (double)hd_node_macs(g, n);
}

/* Elements of a window, where the node has one. */
static double window(const struct hd_node *n) {
    int64_t size[HD_MAX_RANK];
    double all = 1;
    int rank = hd_attr_ints(n, "kernel_shape", size, HD_MAX_RANK, 1);
    for (int i = 0; i < rank; i++) all *= (double)size[i];
    return all;
}

/* slow: golden's kernels compute it. */
static void add_node(const hd_graph *g, const struct hd_node *n, bool slow, double *out) {
    enum fact to, of = class_of(n->op);
    double macs = products(g, n, &to), elements = hd_node_elements(g, n);
    if (of == FACT_windows) elements = window(n) * (double)hd_tensor_elems(&g->tensors[n->out[0]]);
    if (slow) {
        to = FACT_slow_products;
        of = of == FACT_moved      ? FACT_slow_moved
             : of == FACT_function ? FACT_slow_function
             : of == FACT_windows  ? FACT_slow_windows
                                   : FACT_slow_simple;
    }
    out[to] += macs;
    out[of] += elements;
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0 && g->tensors[n->in[i]].data)
            out[FACT_constants] += (double)hd_tensor_bytes(&g->tensors[n->in[i]]);
}

/* Nodes that the plan of a device leaves to golden. */
static bool *slow_nodes(hd_arena *a, const hd_graph *g, const struct hd_exec_step *steps, int n) {
    bool *slow = hd_new_array(a, bool, g->n_nodes + 1);
    for (int i = 0; i < n; i++) {
        int node = steps[i].node ? hd_node_by_name(g, steps[i].node) : -1;
        if (node >= 0) slow[node] = strcmp(steps[i].how, "golden") == 0;
    }
    return slow;
}

hd_status hd_facts_of(hd_ctx *ctx, const hd_model *m, hd_session *s, double out[HD_FACTS]) {
    hd_graph *g;
    const struct hd_exec_step *steps;
    hd_arena *a = hd_arena_create();
    int n = s ? hd_session_steps(s, &steps) : 0;
    memset(out, 0, HD_FACTS * sizeof *out);
    hd_status status = hd_graph_load(ctx, m->graph, m->graph_bytes, &g);
    if (status == HD_OK && n) {
        bool *slow = slow_nodes(a, g, steps, n);
        out[FACT_starts] = 1;
        out[FACT_steps] = n;
        for (size_t i = 0; i < g->n_nodes; i++)
            if (!g->nodes[i].dead) add_node(g, &g->nodes[i], slow[i], out);
    }
    for (int k = 0; status == HD_OK && !n && k < m->n_steps; k++) {
        out[FACT_machine] += (double)m->steps[k].estimate * 1e-6 / m->machine.clock_mhz;
        out[FACT_starts] += m->steps[k].n_nodes > 0;
        out[FACT_steps] += m->steps[k].n_nodes;
        for (int i = 0; i < m->steps[k].n_nodes; i++)
            add_node(g, &g->nodes[m->steps[k].nodes[i]], true, out);
    }
    if (status == HD_OK) hd_graph_destroy(g);
    hd_arena_destroy(a);
    return status;
}

const char *hd_facts_text(hd_arena *a, const double facts[HD_FACTS]) {
    const char *text = "";
    for (int i = 0; i < HD_FACTS; i++)
        text = hd_sprintf(a, "%s%s%.9g", text, i ? " " : "", facts[i]);
    return text;
}

bool hd_facts_read(const char *text, double out[HD_FACTS]) {
    int n = 0;
    for (char *end; n < HD_FACTS; n++, text = end) {
        out[n] = strtod(text, &end);
        if (end == text) return false;
    }
    return strspn(text, " ") == strlen(text);
}
