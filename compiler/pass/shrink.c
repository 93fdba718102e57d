/* Channels that nobody reads are not made: pruned networks take fewer words and cycles.
 *
 *   channel c of a tensor, whose weights are 0 in all that read it   ->   no channel c
 *
 * needs: shapes, integers. gives: the same results, from smaller tensors between them. destroys:
 * the tensors that shrink; new ones have their names and `.fewer`
 *
 * What a weight of 0 multiplies counts nothing, whatever its zero point. A convolution whose result
 * shrinks loses rows of weights, bias and scale; one whose operand shrinks loses columns of them.
 */
#include <string.h>

#include "compiler/pass/channels.h"
#include "compiler/pass/pass.h"

struct shrink {
    hd_graph *g;
    hd_arena *a;
    struct hd_channels c;
    bool **live; /* per set: which channels are read */
    int64_t *n;  /* per set: how many of them stay; all = nothing changes */
    int *fewer;  /* per tensor: what takes its place; -1 = nothing */
};

static bool shrinks(const struct shrink *s, int t) {
    int set = t < 0 ? -1 : s->c.of[t];
    return set >= 0 && s->n[set] < s->c.set[set].n;
}

/* ---- which are read ------------------------------------------------------------------------- */

static void read_by(struct shrink *s, const struct hd_node *n) {
    const struct hd_tensor *w = &s->g->tensors[n->in[1]];
    int set = s->c.of[n->in[0]];
    if (set < 0) return;
    int64_t channels = s->c.set[set].n, run = s->c.per[n->in[0]], total = hd_tensor_elems(w);
    if (!w->data || w->dtype != HD_I8 || w->dim[1] != channels * run) s->c.set[set].fixed = true;
    if (s->c.set[set].fixed) return;
    for (int d = 2; d < w->rank; d++) run *= w->dim[d];
    const int8_t *v = w->data;
    for (int64_t i = 0, c = 0; i < total; i += run, c = c + 1 < channels ? c + 1 : 0)
        for (int64_t k = 0; k < run && !s->live[set][c]; k++) s->live[set][c] = v[i + k];
}

/* A convolution or product of which rows can be taken. */
static bool has_rows(const hd_graph *g, const struct hd_node *n) {
    for (int i = 1; i < 4; i++)
        if (i >= n->n_in || n->in[i] < 0 || !g->tensors[n->in[i]].data ||
            g->tensors[n->in[i]].dim[0] != g->tensors[n->in[1]].dim[0])
            return false;
    return n->op == HD_IR_qconv || n->op == HD_IR_qgemm;
}

static void find_live(struct shrink *s) {
    const hd_graph *g = s->g;
    for (size_t i = 0; i < g->n_nodes; i++) {
        const struct hd_node *n = &g->nodes[i];
        if (n->dead) continue;
        bool mixes = hd_channel_role(g, n) == HD_CHANNEL_MIXES;
        if (mixes && (n->op == HD_IR_qconv || n->op == HD_IR_qgemm)) read_by(s, n);
        for (int k = 0; k < n->n_in && mixes && !has_rows(g, n); k++)
            if (n->in[k] >= 0 && s->c.of[n->in[k]] >= 0) s->c.set[s->c.of[n->in[k]]].fixed = true;
        int set = n->n_out && n->out[0] >= 0 ? s->c.of[n->out[0]] : -1;
        if (set >= 0 && (mixes || hd_is_depthwise(g, n)) && !has_rows(g, n))
            s->c.set[set].fixed = true;
    }
    for (int i = 0; i < s->c.n; i++) {
        for (int64_t k = 0; k < s->c.set[i].n; k++) s->n[i] += s->live[i][k];
        if (!s->n[i] || s->c.set[i].fixed) s->n[i] = s->c.set[i].n;
    }
}

/* ---- smaller constants ---------------------------------------------------------------------- */

/* Constant t without what `set` loses along an axis, where each channel has `per` places. */
static int taken(struct shrink *s, int t, int axis, int set, int64_t per) {
    struct hd_tensor x = s->g->tensors[t];
    size_t size = hd_dtype_bytes(x.dtype);
    int64_t inner = 1, outer = 1, n = x.dim[axis];
    for (int d = axis + 1; d < x.rank; d++) inner *= x.dim[d];
    for (int d = 0; d < axis; d++) outer *= x.dim[d];
    char *v = hd_alloc(s->a, hd_tensor_bytes(&x) + 1), *to = v;
    for (int64_t i = 0; i < outer * n; i++) {
        if (!s->live[set][i % n / per]) continue;
        memcpy(to, (const char *)x.data + (size_t)(i * inner) * size, (size_t)inner * size);
        to += (size_t)inner * size;
    }
    x.dim[axis] = s->n[set] * per;
    return hd_graph_const(s->g, hd_sprintf(s->a, "%s.fewer", x.name), x.dtype, x.rank, x.dim, v);
}

static void set_shape(struct shrink *s, int node) {
    const struct hd_node *n = &s->g->nodes[node];
    const struct hd_tensor *y = &s->g->tensors[s->fewer[n->out[0]]];
    if (n->op == HD_IR_reshape)
        hd_attr_set_ints(s->g, node, "shape", 2, (int64_t[]){y->dim[0], y->dim[1]});
}

static void change_node(struct shrink *s, int node) {
    struct hd_node *n = &s->g->nodes[node];
    enum hd_channel_role role = hd_channel_role(s->g, n);
    bool depthwise = hd_is_depthwise(s->g, n);
    int x = n->in[0], y = n->out[0];
    if (role == HD_CHANNEL_MIXES && shrinks(s, x))
        n->in[1] = taken(s, n->in[1], 1, s->c.of[x], s->c.per[x]);
    if ((role == HD_CHANNEL_MIXES || depthwise) && shrinks(s, y))
        for (int i = 1; i < 4; i++) n->in[i] = taken(s, n->in[i], 0, s->c.of[y], 1);
    if (depthwise && shrinks(s, y)) hd_attr_set_int(s->g, node, "group", s->n[s->c.of[y]]);
    if (shrinks(s, y)) set_shape(s, node);
}

static void replace(struct shrink *s, size_t n_tensors) {
    hd_graph *g = s->g;
    for (size_t t = 0; t < n_tensors; t++) {
        struct hd_tensor x = g->tensors[t];
        s->fewer[t] = -1;
        if (!shrinks(s, (int)t)) continue;
        x.dim[1] = s->n[s->c.of[t]] * s->c.per[t];
        const char *name = hd_sprintf(s->a, "%s.fewer", x.name);
        s->fewer[t] = hd_graph_tensor(g, name, x.dtype, x.rank, x.dim);
    }
    for (size_t i = 0; i < g->n_nodes; i++)
        if (!g->nodes[i].dead && g->nodes[i].n_in && g->nodes[i].in[0] >= 0) change_node(s, (int)i);
    for (size_t i = 0; i < g->n_nodes; i++) {
        struct hd_node *n = &g->nodes[i];
        for (int k = 0; k < n->n_in && !n->dead; k++)
            if (n->in[k] >= 0 && (size_t)n->in[k] < n_tensors && s->fewer[n->in[k]] >= 0)
                n->in[k] = s->fewer[n->in[k]];
        for (int k = 0; k < n->n_out && !n->dead; k++) {
            int t = n->out[k] < 0 ? -1 : s->fewer[n->out[k]];
            if (t < 0) continue;
            g->tensors[n->out[k]].producer = -1;
            g->tensors[t].producer = (int)i;
            n->out[k] = t;
        }
    }
}

hd_status hd_pass_shrink(hd_ctx *ctx, hd_graph *g) {
    struct shrink s = {.g = g, .a = hd_arena_create()};
    size_t n = g->n_tensors;
    bool any = false;
    s.c = hd_channels_find(g, s.a);
    s.live = hd_new_array(s.a, bool *, (size_t)s.c.n + 1);
    s.n = hd_new_array(s.a, int64_t, (size_t)s.c.n + 1);
    s.fewer = hd_new_array(s.a, int, n + 1);
    for (int i = 0; i < s.c.n; i++) s.live[i] = hd_new_array(s.a, bool, (size_t)s.c.set[i].n + 1);
    find_live(&s);
    for (int i = 0; i < s.c.n; i++) any = any || s.n[i] < s.c.set[i].n;
    if (any) replace(&s, n);
    hd_arena_destroy(s.a);
    return any ? hd_graph_infer(ctx, g) : HD_OK;
}
