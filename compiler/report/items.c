/* Operations with all that is known about them, for selectors and for drawing. */
#include "compiler/report/items.h"

#include <string.h>

const struct hd_op_attr_info hd_op_attrs[HD_OP_ATTRS] = {
#define ATTR(name, level, doc) {#name, doc, HD_LEVEL_##level},
#include "compiler/report/query_attrs.def"
};

enum hd_attr_level hd_query_level(hd_arena *a, const struct hd_query *q) {
    int n;
    const char *const *names = hd_query_attrs(a, q, &n);
    enum hd_attr_level level = HD_LEVEL_GRAPH;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < HD_OP_ATTRS; k++)
            if (!strcmp(names[i], hd_op_attrs[k].name) && hd_op_attrs[k].level > level)
                level = hd_op_attrs[k].level;
    return level;
}

struct builder {
    const struct hd_cmd *c;
    hd_arena *a;
    const struct hd_op_source *s;
    const char **legal_name; /* per node: of the legalised operation that it is part of, or NULL */
    int *layer;              /* per node */
    int *item_of;            /* per node */
    bool *queued;            /* per node, of absorb */
    struct hd_item *item;
    size_t n, cap;
    int *node;
    size_t n_node, cap_node;
};

/* ---- which layer a node became part of ------------------------------------------------------ */

static int layer_by_name(const hd_model *m, const char *name) {
    for (int i = 0; m && i < m->n_layers; i++)
        if (!strcmp(m->layers[i].name, name)) return i;
    return -1;
}

/* Marks what lies between a tensor and the tensors that the legalised graph keeps. stack has room
 * for every node. */
static void absorb(struct builder *b, int tensor, const bool *border, const char *name,
                   int *stack) {
    const hd_graph *g = b->s->graph;
    int n = 0, node = g->tensors[tensor].producer;
    for (; node >= 0; node = n ? stack[--n] : -1) {
        if (b->legal_name[node]) continue;
        b->legal_name[node] = name;
        for (int i = 0; i < g->nodes[node].n_in; i++) {
            int in = g->nodes[node].in[i],
                maker = in < 0 || border[in] ? -1 : g->tensors[in].producer;
            if (maker >= 0 && !b->legal_name[maker] && !b->queued[maker]) {
                b->queued[maker] = true;
                stack[n++] = maker;
            }
        }
    }
}

/* Legalisation keeps the names of the tensors that remain, so an operation of the legalised graph
 * stands for all that lies between its operands and its results. */
static void find_layers(struct builder *b) {
    const hd_graph *g = b->s->graph, *legal = b->s->legal;
    for (size_t i = 0; i < g->n_nodes && !legal; i++) b->legal_name[i] = g->nodes[i].name;
    bool *border = hd_new_array(b->a, bool, g->n_tensors + 1);
    int *stack = hd_new_array(b->a, int, g->n_nodes + 1);
    b->queued = hd_new_array(b->a, bool, g->n_nodes + 1);
    for (int mark = 1; legal && mark >= 0; mark--)
        for (size_t i = 0; i < legal->n_nodes; i++) {
            const struct hd_node *n = &legal->nodes[i];
            for (int k = 0; !n->dead && k < n->n_out; k++) {
                int t = n->out[k] < 0 ? -1 : hd_tensor_by_name(g, legal->tensors[n->out[k]].name);
                if (t >= 0 && mark) border[t] = true;
                if (t >= 0 && !mark) absorb(b, t, border, n->name, stack);
            }
        }
    for (size_t i = 0; i < g->n_nodes; i++)
        b->layer[i] = b->legal_name[i] ? layer_by_name(b->s->model, b->legal_name[i]) : -1;
}

/* ---- attributes ----------------------------------------------------------------------------- */

struct attrs {
    struct hd_item_attr *v;
    size_t n, cap;
};

static void put_text(struct builder *b, struct attrs *x, const char *name, const char *text) {
    if (text) *hd_push(b->a, x->v, x->n, x->cap) = (struct hd_item_attr){name, text, 0};
}
static void put_number(struct builder *b, struct attrs *x, const char *name, double v) {
    *hd_push(b->a, x->v, x->n, x->cap) = (struct hd_item_attr){name, NULL, v};
}
#define TEXT(attr, v)   put_text(b, x, hd_op_attrs[HD_OP_ATTR_##attr].name, (v))
#define NUMBER(attr, v) put_number(b, x, hd_op_attrs[HD_OP_ATTR_##attr].name, (double)(v))

static const char *dims_text(hd_arena *a, const int64_t *dim, int n) {
    const char *text = "";
    for (int i = 0; i < n; i++)
        text = hd_sprintf(a, "%s%s%lld", text, i ? "," : "", (long long)dim[i]);
    return text;
}

static void graph_attrs(struct builder *b, struct attrs *x, const struct hd_node *n) {
    const hd_graph *g = b->s->graph;
    int64_t weights = 0;
    if (n->n_out > 0 && n->out[0] >= 0 && g->tensors[n->out[0]].known) {
        const struct hd_tensor *t = &g->tensors[n->out[0]];
        TEXT(dtype, hd_dtype_name(t->dtype));
        TEXT(shape, dims_text(b->a, t->dim, t->rank));
        NUMBER(rank, t->rank);
        NUMBER(elements, hd_tensor_elems(t));
        NUMBER(bytes, hd_tensor_bytes(t));
    }
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0 && g->tensors[n->in[i]].data)
            weights += (int64_t)hd_tensor_bytes(&g->tensors[n->in[i]]);
    NUMBER(weight_bytes, weights);
    NUMBER(macs, hd_node_macs(g, n));
    for (int i = 0; i < n->n_attrs; i++) {
        const struct hd_attr *v = &n->attrs[i];
        if (v->kind == HD_ATTR_INT)
            put_number(b, x, v->name, (double)v->i);
        else if (v->kind == HD_ATTR_FLOAT)
            put_number(b, x, v->name, (double)v->f);
        else if (v->kind == HD_ATTR_STRING)
            put_text(b, x, v->name, v->s);
        else if (v->kind == HD_ATTR_INTS)
            put_text(b, x, v->name, dims_text(b->a, v->ints, v->n));
    }
}

static const struct hd_host_op *host_op(const hd_model *m, const char *name) {
    for (int i = 0; name && i < m->n_host_ops; i++)
        if (!strcmp(m->host_ops[i].node, name)) return &m->host_ops[i];
    return NULL;
}

static void plan_attrs(struct builder *b, struct attrs *x, int node) {
    const hd_model *m = b->s->model;
    int layer = b->layer[node];
    const struct hd_host_op *h = host_op(m, b->legal_name[node]);
    TEXT(layer, b->legal_name[node]);
    if (h) TEXT(reason, h->reason);
    if (h) TEXT(device, "host");
    if (layer < 0) return;
    const struct hd_layer_info *l = &m->layers[layer];
    struct hd_run_facts r = {.model = m};
    TEXT(device, "machine");
    NUMBER(step, l->step);
    TEXT(plan, l->plan);
    TEXT(bound, hd_layer_facts(b->c, &r, layer).bound);
    NUMBER(roofline, hd_layer_facts(b->c, &r, layer).roofline);
    NUMBER(unavoidable_bytes, l->unavoidable_bytes);
    NUMBER(vector_ops, l->vector_ops);
}

static void profile_attrs(struct builder *b, struct attrs *x, int layer) {
    const struct hd_run_facts *r = b->s->run;
    struct hd_layer_facts f = hd_layer_facts(b->c, r, layer);
    uint64_t sem = 0, mem = 0, bank = 0, total = r->counters.cycles;
    NUMBER(cycles, f.cycles);
    NUMBER(share, total ? (double)f.cycles / (double)total : 0);
    NUMBER(utilization, f.utilization);
    NUMBER(efficiency, f.efficiency);
    NUMBER(dram_bytes, f.dram_bytes);
    NUMBER(mx_busy, f.mx_busy);
    NUMBER(vx_busy, f.vx_busy);
    if (!b->s->profile) return;
    for (int u = 0; u < HD_UNITS; u++) {
        const struct hd_unit_counters *k = &b->s->profile->layers[layer].unit[u];
        sem += k->stall_sem, mem += k->stall_mem, bank += k->stall_bank;
    }
    NUMBER(stall_semaphore, sem);
    NUMBER(stall_memory, mem);
    NUMBER(stall_bank, bank);
}

/* ---- items ---------------------------------------------------------------------------------- */

static int add_item(struct builder *b, const struct hd_item *it, int node) {
    *hd_push(b->a, b->item, b->n, b->cap) = *it;
    *hd_push(b->a, b->node, b->n_node, b->cap_node) = node;
    return (int)b->n - 1;
}

/* The scope that a name lies in, made where it is new; -1 = none. */
static int scope_of(struct builder *b, const char *name) {
    const char *slash = strrchr(name, '/');
    if (!slash || slash == name) return -1;
    char *scope = hd_strndup(b->a, name, (size_t)(slash - name));
    for (size_t i = 0; i < b->n; i++)
        if (b->item[i].is_scope && !strcmp(b->item[i].name, scope)) return (int)i;
    struct hd_item it = {.type = "scope", .name = scope, .is_scope = true};
    it.scope = scope_of(b, scope);
    return add_item(b, &it, -1);
}

static const char *const *labels_of(struct builder *b, int node, int *out_n) {
    const hd_graph *g = b->s->graph;
    const struct hd_node *n = &g->nodes[node];
    const char **list = hd_new_array(b->a, const char *, 6);
    int count = 0;
    bool in = false, out = false;
    for (int i = 0; i < n->n_in; i++) in = in || (n->in[i] >= 0 && hd_graph_is_input(g, n->in[i]));
    for (int i = 0; i < n->n_out; i++)
        out = out || (n->out[i] >= 0 && hd_graph_is_output(g, n->out[i]));
    if (in) list[count++] = "input";
    if (out) list[count++] = "output";
    const char *legal = b->legal_name[node];
    if (!legal) list[count++] = "removed";
    if (legal && strcmp(legal, n->name)) list[count++] = "fused";
    if (b->s->model && b->layer[node] >= 0) list[count++] = "machine";
    if (b->s->model && host_op(b->s->model, legal)) list[count++] = "host";
    *out_n = count;
    return list;
}

static void add_node(struct builder *b, int node) {
    const hd_graph *g = b->s->graph;
    const struct hd_node *n = &g->nodes[node];
    struct attrs x = {0};
    graph_attrs(b, &x, n);
    if (b->s->model) plan_attrs(b, &x, node);
    if (b->s->run && b->layer[node] >= 0) profile_attrs(b, &x, b->layer[node]);
    struct hd_item it = {.type = hd_ir_ops[n->op].name, .name = n->name};
    it.scope = scope_of(b, n->name);
    it.labels = labels_of(b, node, &it.n_labels);
    it.attrs = x.v;
    it.n_attrs = (int)x.n;
    int *inputs = hd_new_array(b->a, int, (size_t)n->n_in + 1);
    for (int i = 0; i < n->n_in; i++) {
        int maker = n->in[i] < 0 ? -1 : g->tensors[n->in[i]].producer;
        if (maker >= 0) inputs[it.n_inputs++] = b->item_of[maker];
    }
    it.inputs = inputs;
    b->item_of[node] = add_item(b, &it, node);
}

void hd_op_items_build(const struct hd_cmd *c, hd_arena *a, const struct hd_op_source *s,
                       struct hd_op_items *out) {
    const hd_graph *g = s->graph;
    struct builder b = {.c = c, .a = a, .s = s};
    b.legal_name = hd_new_array(a, const char *, g->n_nodes + 1);
    b.layer = hd_new_array(a, int, g->n_nodes + 1);
    b.item_of = hd_new_array(a, int, g->n_nodes + 1);
    int *order = hd_new_array(a, int, g->n_nodes + 1);
    const char **known = hd_new_array(a, const char *, HD_OP_ATTRS);
    size_t n = hd_graph_order(g, order);
    find_layers(&b);
    for (size_t i = 0; i < n; i++) add_node(&b, order[i]);
    for (int i = 0; i < HD_OP_ATTRS; i++) known[i] = hd_op_attrs[i].name;
    *out = (struct hd_op_items){{b.item, (int)b.n, known, HD_OP_ATTRS}, b.node, b.layer};
}

/* ---- selecting ------------------------------------------------------------------------------ */

static hd_status select_items(struct hd_cmd *c, hd_arena *a, const char *text,
                              const struct hd_op_source *s, struct hd_op_items *x, bool **out) {
    const struct hd_query *q;
    TRY(hd_query_parse(c->ctx, a, text, &q));
    if (hd_query_level(a, q) > HD_LEVEL_PLAN && !s->run)
        return hd_fail(c->ctx, HD_INVALID,
                       "selector '%s': asks for what only a run can tell, and nothing ran yet; use "
                       "heddle query",
                       text);
    hd_op_items_build(c, a, s, x);
    *out = hd_new_array(a, bool, (size_t)x->items.n + 1);
    return hd_query_match(c->ctx, q, &x->items, *out);
}

hd_status hd_select_nodes(struct hd_cmd *c, hd_arena *a, const char *text,
                          const struct hd_op_source *s, bool *out_nodes) {
    struct hd_op_items x;
    bool *hit = NULL;
    TRY(select_items(c, a, text, s, &x, &hit));
    for (int i = 0; i < x.items.n; i++)
        if (hit[i]) out_nodes[x.node[i]] = true;
    return HD_OK;
}

hd_status hd_select_layers(struct hd_cmd *c, hd_arena *a, const char *text, const hd_model *m,
                           bool **out_layers) {
    bool *layers = *out_layers = hd_new_array(a, bool, (size_t)m->n_layers + 1);
    for (int i = 0; i < m->n_layers; i++) layers[i] = !text;
    if (!text) return HD_OK;
    hd_graph *g;
    TRY(hd_graph_load(c->ctx, m->graph, m->graph_bytes, &g));
    struct hd_op_source s = {.graph = g, .model = m};
    bool *nodes = hd_new_array(a, bool, g->n_nodes + 1), any = false;
    hd_status ok = hd_select_nodes(c, a, text, &s, nodes);
    for (size_t i = 0; ok == HD_OK && i < g->n_nodes; i++) {
        int layer = nodes[i] ? layer_by_name(m, g->nodes[i].name) : -1;
        if (layer >= 0) layers[layer] = any = true;
    }
    hd_graph_destroy(g);
    if (ok == HD_OK && !any)
        return hd_fail(c->ctx, HD_INVALID,
                       "selector '%s': means no layer of the machine; heddle query shows what a "
                       "selector means",
                       text);
    return ok;
}
