/* Networks that a program builds, node by node. */
#include <string.h>

#include "compiler/api/net.h"

const char *hd_op(int i, struct hd_op_row *out) {
    if (i < 0 || i >= HD_IR_OPS) return NULL;
    const struct hd_ir_op_info *o = &hd_ir_ops[i];
    *out = (struct hd_op_row){o->name, o->doc, o->min_in, o->max_in, o->max_out};
    return o->name;
}

hd_net *hd_net_create(const char *name) {
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = hd_graph_create();
    hd_net *net = NULL;
    if (name && *name) g->name = hd_strdup(g->arena, name);
    hd_status s = hd_net_around_take(ctx, g, &net);
    HD_ASSERT(s == HD_OK);
    hd_ctx_destroy(ctx);
    return net;
}

/* Axes are told apart by name; a length that differs is an error before anything is added. */
static hd_status check_axes(hd_ctx *ctx, const hd_graph *g, const struct hd_io_info *t,
                            const char *const *axes) {
    for (int d = 0; axes && d < t->rank; d++) {
        if (!axes[d]) continue;
        for (int k = 0; k < d; k++)
            if (axes[k] && !strcmp(axes[k], axes[d]))
                return hd_fail(ctx, HD_INVALID,
                               "'%s': axis %s twice, at dimensions %d and %d; a tensor has an axis "
                               "at most once",
                               t->name, axes[d], k, d);
        for (size_t i = 0; i < g->n_axes; i++)
            if (!strcmp(g->axes[i].name, axes[d]) && g->axes[i].length != t->dim[d])
                return hd_fail(ctx, HD_INVALID,
                               "'%s': axis %s of length %lld, it has %lld in this network; use "
                               "another name",
                               t->name, axes[d], (long long)t->dim[d],
                               (long long)g->axes[i].length);
    }
    return HD_OK;
}

static hd_status check_tensor(hd_ctx *ctx, const hd_graph *g, const struct hd_io_info *t,
                              const char *const *axes) {
    int dtype = hd_dtype_from_onnx(t->dtype);
    if (!t->name || !*t->name) return hd_fail(ctx, HD_INVALID, "a tensor wants a name");
    if (dtype < 0)
        return hd_fail(ctx, HD_INVALID, "'%s': no type %d, see hd_type_by_name", t->name, t->dtype);
    if (t->rank < 0)
        return hd_fail(ctx, HD_INVALID, "'%s': rank %d, want 0 or more", t->name, t->rank);
    TRY(hd_shape_check(ctx, t->name, (hd_dtype)dtype, t->rank, t->dim));
    return check_axes(ctx, g, t, axes);
}

static void name_axes(hd_graph *g, int tensor, const struct hd_io_info *t,
                      const char *const *axes) {
    for (int d = 0; axes && d < t->rank; d++)
        if (axes[d]) hd_tensor_set_axis(g, tensor, d, hd_graph_axis(g, axes[d], t->dim[d]));
}

hd_status hd_net_add_input(hd_ctx *ctx, hd_net *net, const struct hd_io_info *t,
                           const char *const *axes, int *out) {
    TRY(check_tensor(ctx, net->g, t, axes));
    *out =
        hd_graph_tensor(net->g, t->name, (hd_dtype)hd_dtype_from_onnx(t->dtype), t->rank, t->dim);
    name_axes(net->g, *out, t, axes);
    hd_graph_input(net->g, *out);
    return HD_OK;
}

hd_status hd_net_add_constant(hd_ctx *ctx, hd_net *net, const struct hd_io_info *t,
                              const char *const *axes, const void *data, int *out) {
    TRY(check_tensor(ctx, net->g, t, axes));
    *out = hd_graph_const(net->g, t->name, (hd_dtype)hd_dtype_from_onnx(t->dtype), t->rank, t->dim,
                          data);
    name_axes(net->g, *out, t, axes);
    return HD_OK;
}

static hd_status check_node(hd_ctx *ctx, const hd_graph *g, const char *op, const char *name,
                            const int *in, int n_in, int n_out) {
    int id = hd_ir_op_by_name(op);
    if (id < 0)
        return hd_fail(ctx, HD_UNSUPPORTED,
                       "node '%s' (%s): there is no such operation; hd_op lists them", name, op);
    const struct hd_ir_op_info *o = &hd_ir_ops[id];
    if (n_in < o->min_in || n_in > o->max_in)
        return hd_fail(ctx, HD_INVALID, "node '%s' (%s): %d operands, want %d to %d", name, op,
                       n_in, o->min_in, o->max_in);
    if (n_out < 1 || n_out > o->max_out)
        return hd_fail(ctx, HD_INVALID, "node '%s' (%s): %d results, want 1 to %d", name, op, n_out,
                       o->max_out);
    for (int i = 0; i < n_in; i++)
        if (in[i] < -1 || (in[i] >= 0 && (size_t)in[i] >= g->n_tensors) ||
            (in[i] < 0 && i < o->min_in))
            return hd_fail(ctx, HD_INVALID,
                           "node '%s' (%s): operand %d is tensor %d, there are %zu", name, op, i,
                           in[i], g->n_tensors);
    return HD_OK;
}

static hd_status set_attr(hd_ctx *ctx, hd_graph *g, int node, const struct hd_net_attr *a) {
    hd_graph *body;
    if (a->net) {
        TRY(hd_net_check(ctx, a->net));
        TRY(hd_graph_copy(ctx, a->net->g, &body));
        hd_attr_set_graph(g, node, a->name, body);
    } else if (a->string)
        hd_attr_set_string(g, node, a->name, a->string);
    else if (a->floats && (a->list || a->n != 1))
        hd_attr_set_floats(g, node, a->name, a->n, a->floats);
    else if (a->floats)
        hd_attr_set_float(g, node, a->name, a->floats[0]);
    else if (a->list || a->n != 1)
        hd_attr_set_ints(g, node, a->name, a->n, a->ints);
    else
        hd_attr_set_int(g, node, a->name, a->ints[0]);
    return HD_OK;
}

hd_status hd_net_add_node(hd_ctx *ctx, hd_net *net, const char *op, const char *name, const int *in,
                          int n_in, const struct hd_net_attr *attrs, int n_attrs, int *out,
                          int n_out) {
    hd_graph *g = net->g;
    const char *called = name && *name ? name : op;
    TRY(check_node(ctx, g, op, called, in, n_in, n_out));
    for (int i = 0; i < n_out; i++) out[i] = hd_graph_tensor(g, called, HD_F32, 0, NULL);
    int node = hd_graph_node(g, (enum hd_ir_op)hd_ir_op_by_name(op), called, n_in, in, n_out, out);
    hd_status s = HD_OK;
    for (int i = 0; s == HD_OK && i < n_attrs; i++) s = set_attr(ctx, g, node, &attrs[i]);
    if (s == HD_OK) s = hd_graph_infer_node(ctx, g, node);
    if (s == HD_OK) return HD_OK;
    hd_graph_kill(g, node);
    for (int i = 0; i < n_out; i++) g->tensors[out[i]].producer = -1;
    return s;
}

hd_status hd_net_add_output(hd_ctx *ctx, hd_net *net, int tensor) {
    if (tensor < 0 || (size_t)tensor >= net->g->n_tensors)
        return hd_fail(ctx, HD_INVALID, "output: tensor %d, there are %zu", tensor,
                       net->g->n_tensors);
    if (hd_graph_is_output(net->g, tensor))
        return hd_fail(ctx, HD_INVALID, "output '%s': it is one already",
                       net->g->tensors[tensor].name);
    hd_graph_output(net->g, tensor);
    return HD_OK;
}

hd_status hd_net_check(hd_ctx *ctx, const hd_net *net) {
    if (!net->g->n_outputs)
        return hd_fail(ctx, HD_INVALID, "%s: no outputs; add one", net->g->name);
    return hd_graph_verify(ctx, net->g);
}
