/* The network in half precision: see half.h. */
#include "runtime/train/half.h"

#include <string.h>

#include "runtime/base/element.h"

struct half {
    struct hd_back *b;
    hd_dtype type;
    int *as; /* per tensor: the same in half precision; -1 = none yet */
};

static int constant(struct half *h, const struct hd_tensor *x) {
    struct hd_tensor y = *x;
    y.dtype = h->type;
    void *v = hd_alloc(h->b->arena, hd_tensor_bytes(&y) + 1);
    for (int64_t i = 0; i < hd_tensor_elems(x); i++)
        hd_k_put_f64(v, h->type, i, (double)((const float *)x->data)[i]);
    const char *name = hd_sprintf(h->b->arena, "%s.half", x->name);
    return hd_graph_const(h->b->g, name, h->type, x->rank, x->dim, v);
}

static bool trained(const struct hd_trained *t, int tensor) {
    for (int i = 0; i < t->n; i++)
        if (t->w[i] == tensor) return true;
    return false;
}

/* A cast takes the float as it is: indices, and the number of the step, keep their digits. */
static void take(struct half *h, const struct hd_trained *t, int node) {
    if (h->b->g->nodes[node].op == HD_IR_cast) return;
    for (int k = 0; k < h->b->g->nodes[node].n_in; k++) {
        int id = h->b->g->nodes[node].in[k];
        struct hd_tensor x = h->b->g->tensors[id < 0 ? 0 : id];
        if (id < 0 || x.dtype != HD_F32 || x.producer >= 0) continue;
        h->b->prefix = x.name;
        if (h->as[id] < 0)
            h->as[id] = x.data && !trained(t, id) ? constant(h, &x) : hd_b_cast(h->b, id, h->type);
        h->b->g->nodes[node].in[k] = h->as[id];
    }
}

hd_status hd_train_half(struct hd_back *b, hd_dtype type, const struct hd_trained *t) {
    hd_graph *g = b->g;
    size_t n_nodes = g->n_nodes, n_tensors = g->n_tensors;
    struct half h = {.b = b, .type = type, .as = hd_new_array(b->arena, int, n_tensors + 1)};
    int *order = hd_new_array(b->arena, int, n_nodes + 1);
    size_t n = hd_graph_order(g, order);
    for (size_t i = 0; i < n_tensors; i++) h.as[i] = -1;
    for (size_t i = 0; i < n; i++) {
        const struct hd_node *d = &g->nodes[order[i]];
        const char *to = hd_attr_string(d, "to", "");
        if (!strcmp(to, "f32")) hd_attr_set_string(g, order[i], "to", hd_dtype_name(type));
        take(&h, t, order[i]);
        TRY(b->status);
        for (int k = 0; k < d->n_out; k++)
            if (d->out[k] >= 0) g->tensors[d->out[k]].known = false;
        TRY(hd_note(b->ctx, hd_graph_infer_node(b->ctx, g, order[i]), "in half precision"));
    }
    b->prefix = "logits";
    g->outputs[0] = hd_b_cast(b, g->outputs[0], HD_F32);
    return b->status;
}
