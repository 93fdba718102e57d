/* Networks of the library: read, written, looked at. */
#include "compiler/api/net.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/export/export.h"
#include "compiler/import/import.h"
#include "compiler/session/session.h"
#include "runtime/base/memory.h"

/* ---- types ---------------------------------------------------------------------------------- */

const char *hd_type_name(int dtype) {
    int t = hd_dtype_from_onnx(dtype);
    return t < 0 ? NULL : hd_dtype_name((hd_dtype)t);
}

int hd_type_by_name(const char *name) {
    int t = hd_dtype_by_name(name);
    return t < 0 ? 0 : hd_dtype_to_onnx((hd_dtype)t);
}

size_t hd_type_bytes(int dtype) {
    int t = hd_dtype_from_onnx(dtype);
    return t < 0 ? 0 : hd_dtype_bytes((hd_dtype)t);
}

/* ---- read and write ------------------------------------------------------------------------- */

struct hd_net_order {
    pthread_mutex_t lock;
    int *node;
    size_t n, of; /* of: nodes that the graph had, dead ones included; none is put between them */
};

hd_status hd_net_around_take(hd_ctx *ctx, hd_graph *g, hd_net **out) {
    hd_net *net = calloc(1, sizeof *net);
    struct hd_net_order *order = calloc(1, sizeof *order);
    if (!net || !order) {
        hd_graph_destroy(g);
        free(net), free(order);
        return hd_fail(ctx, HD_NOMEM, "no memory for a network");
    }
    pthread_mutex_init(&order->lock, NULL);
    net->g = g, net->order = order;
    *out = net;
    return HD_OK;
}

hd_status hd_net_load(hd_ctx *ctx, const char *path, const struct hd_io_info *sizes, int n_sizes,
                      hd_net **out) {
    return hd_net_load_with(ctx, path,
                            &(struct hd_load_options){.sizes = sizes, .n_sizes = n_sizes}, out);
}

hd_status hd_net_load_with(hd_ctx *ctx, const char *path, const struct hd_load_options *o,
                           hd_net **out) {
    bool tflite = o->rounding && !strcmp(o->rounding, "tflite");
    if (o->rounding && !tflite && strcmp(o->rounding, "float"))
        return hd_fail(ctx, HD_INVALID, "%s: rounding %s, want float or tflite", path, o->rounding);
    hd_arena *a = hd_arena_create();
    struct hd_shape_bind *s = hd_new_array(a, struct hd_shape_bind, (size_t)o->n_sizes + 1);
    for (int i = 0; i < o->n_sizes; i++) {
        s[i] = (struct hd_shape_bind){.name = o->sizes[i].name, .rank = o->sizes[i].rank};
        memcpy(s[i].dim, o->sizes[i].dim, sizeof s[i].dim);
    }
    struct hd_value_bind *v = hd_new_array(a, struct hd_value_bind, (size_t)o->n_values + 1);
    for (int i = 0; i < o->n_values; i++)
        v[i] = (struct hd_value_bind){o->values[i].name, o->values[i].value};
    struct hd_bind bind = {.shapes = s,
                           .n_shapes = (size_t)o->n_sizes,
                           .values = v,
                           .n_values = (size_t)o->n_values,
                           .tflite_rounding = tflite};
    struct hd_cmd c = {.ctx = ctx};
    hd_graph *g = NULL;
    hd_status r = hd_model_path(&c, a, path, &path);
    if (r == HD_OK) r = hd_import(ctx, path, &bind, &g);
    hd_arena_destroy(a);
    TRY(r);
    return hd_net_around_take(ctx, g, out);
}

hd_status hd_net_load_memory(hd_ctx *ctx, const void *data, size_t bytes, const char *name,
                             hd_net **out) {
    hd_graph *g = NULL;
    TRY(hd_import_memory(ctx, data, bytes, name, &g));
    return hd_net_around_take(ctx, g, out);
}

hd_status hd_net_parse(hd_ctx *ctx, const char *text, const char *name, hd_net **out) {
    hd_graph *g = NULL;
    TRY(hd_graph_parse(ctx, text, name, &g));
    return hd_net_around_take(ctx, g, out);
}

hd_status hd_net_state(hd_ctx *ctx, hd_net *net, const char *output, const char *input) {
    hd_arena *a = hd_arena_create();
    hd_status s = hd_import_state(ctx, net->g, hd_sprintf(a, "%s=%s", output, input));
    hd_arena_destroy(a);
    return s;
}

hd_status hd_net_save(hd_ctx *ctx, const hd_net *net, const char *path) {
    return hd_export_onnx(ctx, net->g, path);
}

hd_status hd_net_text(hd_ctx *ctx, const hd_net *net, bool full, char **out) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    if (!f) return hd_fail(ctx, HD_NOMEM, "%s: no memory for its text", net->g->name);
    hd_status s = hd_graph_print(ctx, net->g, full, f);
    bool ended = fclose(f) == 0;
    if (s == HD_OK && !ended)
        s = hd_fail(ctx, HD_NOMEM, "%s: no memory for its text", net->g->name);
    if (s == HD_OK)
        *out = text;
    else
        free(text);
    return s;
}

void hd_text_free(char *text) {
    free(text);
}

void hd_net_destroy(hd_net *net) {
    if (!net) return;
    hd_graph_destroy(net->g);
    pthread_mutex_destroy(&net->order->lock);
    free(net->order->node), free(net->order);
    free(net);
}

/* ---- facts ---------------------------------------------------------------------------------- */

const char *hd_net_name(const hd_net *net) {
    return net->g->name;
}
int hd_net_n_inputs(const hd_net *net) {
    return (int)net->g->n_inputs;
}
int hd_net_n_outputs(const hd_net *net) {
    return (int)net->g->n_outputs;
}
int hd_net_input(const hd_net *net, int i) {
    return i < 0 || (size_t)i >= net->g->n_inputs ? -1 : net->g->inputs[i];
}
int hd_net_output(const hd_net *net, int i) {
    return i < 0 || (size_t)i >= net->g->n_outputs ? -1 : net->g->outputs[i];
}

int hd_net_n_nodes(const hd_net *net) {
    int n = 0;
    for (size_t i = 0; i < net->g->n_nodes; i++) n += !net->g->nodes[i].dead;
    return n;
}

static const struct hd_tensor *tensor_of(const hd_net *net, int tensor) {
    return tensor < 0 || (size_t)tensor >= net->g->n_tensors ? NULL : &net->g->tensors[tensor];
}

void hd_net_tensor(const hd_net *net, int tensor, struct hd_io_info *out) {
    const struct hd_tensor *t = tensor_of(net, tensor);
    *out = (struct hd_io_info){0};
    if (!t) return;
    *out = (struct hd_io_info){.name = t->name, .rank = -1};
    if (!t->known) return;
    out->dtype = hd_dtype_to_onnx(t->dtype);
    out->rank = t->rank;
    out->bytes = hd_tensor_bytes(t);
    for (int d = 0; d < t->rank; d++) out->dim[d] = t->dim[d];
}

const char *hd_net_axis(const hd_net *net, int tensor, int dim) {
    const struct hd_tensor *t = tensor_of(net, tensor);
    if (!t || dim < 0 || dim >= t->rank || !t->axis[dim]) return NULL;
    return net->g->axes[t->axis[dim] - 1].name;
}

/* Node i of the order; -1: there are not so many. The order is made again when nodes came. */
static int node_at(const hd_net *net, int i) {
    struct hd_net_order *o = net->order;
    pthread_mutex_lock(&o->lock);
    if (!o->node || o->of != net->g->n_nodes) {
        free(o->node);
        o->of = net->g->n_nodes;
        o->node = malloc((o->of + 1) * sizeof *o->node);
        HD_MEMORY(o->node);
        o->n = hd_graph_order(net->g, o->node);
    }
    int id = i >= 0 && (size_t)i < o->n ? o->node[i] : -1;
    pthread_mutex_unlock(&o->lock);
    return id;
}

const char *hd_net_node(const hd_net *net, int i, const char **out_op, int *out_tensor) {
    int id = node_at(net, i);
    const struct hd_node *node = id < 0 ? NULL : &net->g->nodes[id];
    if (!node) return NULL;
    *out_op = hd_ir_ops[node->op].name;
    *out_tensor = node->n_out ? node->out[0] : -1;
    return node->name;
}
