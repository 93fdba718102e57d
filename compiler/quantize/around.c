/* What is around a tensor, for the choice of what becomes integers (choose.c). */
#include "compiler/pass/qdq.h"
#include "compiler/quantize/quantize.h"

enum { USERS = 16 };

static bool constant_f32(const hd_graph *g, int t) {
    return t >= 0 && g->tensors[t].data && g->tensors[t].dtype == HD_F32;
}

bool hd_quant_meets_softmax(const hd_graph *g, int t, int depth) {
    int user[USERS];
    size_t n = hd_graph_users(g, t, user, USERS);
    for (size_t i = 0; i < n && i < USERS; i++) {
        const struct hd_node *u = &g->nodes[user[i]];
        if (u->op == HD_IR_softmax || u->op == HD_IR_logsoftmax) return true;
        bool goes_on = u->n_out == 1 && hd_quant_weights(g, user[i]) < 0 && u->op != HD_IR_matmul &&
                       u->op != HD_IR_layernorm;
        if (depth && goes_on && u->out[0] >= 0 && hd_quant_meets_softmax(g, u->out[0], depth - 1))
            return true;
    }
    return false;
}

bool hd_quant_is_far(const hd_graph *g, int t) {
    const float *v = constant_f32(g, t) ? g->tensors[t].data : NULL;
    for (int64_t i = 0; v && i < hd_tensor_elems(&g->tensors[t]); i++)
        if (!(v[i] > -1000)) return true;
    return false;
}

/* Rows of constant tables, moved or summed up, or constants: what a language model begins with. */
static bool of_tables(const hd_graph *g, int t) {
    int p = g->tensors[t].producer;
    if (p < 0) return constant_f32(g, t);
    const struct hd_node *n = &g->nodes[p];
    if (n->op == HD_IR_add) return of_tables(g, n->in[0]) && of_tables(g, n->in[1]);
    if (n->op == HD_IR_gather) return constant_f32(g, n->in[0]);
    return hd_qdq_moved_operands(n) == 1 && of_tables(g, n->in[0]);
}

bool hd_quant_is_embedding(const hd_graph *g, int t) {
    int user[USERS];
    size_t n = hd_graph_users(g, t, user, USERS);
    for (size_t i = 0; i < n && i < USERS; i++) {
        const struct hd_node *u = &g->nodes[user[i]];
        if (u->op == HD_IR_layernorm || u->op == HD_IR_matmul || hd_quant_weights(g, user[i]) >= 0)
            return true;
        bool goes_on = hd_qdq_moved_operands(u) || (u->op == HD_IR_add && of_tables(g, u->out[0]));
        if (goes_on && u->out[0] >= 0 && hd_quant_is_embedding(g, u->out[0])) return true;
    }
    return false;
}
