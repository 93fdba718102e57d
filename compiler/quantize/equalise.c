/* Channels of one tensor share a scale, so those that stay small get few steps. Where nothing but
 * operations with f(s x) = s f(x) lies between a layer and the convolutions that read it, a factor
 * can move from the rows of the one into the columns of the others: rows have a scale each, so it
 * costs only the columns something. Each channel gets half of what would make its peak that of the
 * tensor, in dB (Xiao et al., SmoothQuant, ICML 2023, with alpha = 1/2). */
#include <math.h>
#include <string.h>

#include "compiler/quantize/quantize.h"

enum { READERS = 32, DEPTH = 24 };
static const float least = 1.0f / 16;

struct readers { /* convolutions, and where the channels of the layer begin among theirs */
    int node[READERS];
    int64_t offset[READERS];
    int n;
};

/* All that reads t, whose channels begin at `offset`; false when something else reads it. */
static bool follow(const hd_graph *g, int t, int64_t offset, int depth, struct readers *r) {
    int user[READERS];
    size_t n = hd_graph_users(g, t, user, READERS);
    if (!n || n > READERS || !depth || hd_graph_is_output(g, t)) return false;
    for (size_t i = 0; i < n; i++) {
        const struct hd_node *u = &g->nodes[user[i]];
        int64_t at = offset;
        bool once = true;
        switch (u->op) {
        case HD_IR_conv:
            if (hd_quant_weights(g, user[i]) < 0 || hd_attr_int(u, "group", 1) != 1 ||
                u->in[0] != t || r->n == READERS)
                return false;
            r->node[r->n] = user[i];
            r->offset[r->n++] = offset;
            continue;
        case HD_IR_concat:
            if (hd_attr_int(u, "axis", 0) != 1) return false;
            for (int k = 0, seen = 0; k < u->n_in; k++) {
                if (u->in[k] == t) once = !seen++;
                if (!seen) at += g->tensors[u->in[k]].dim[1];
            }
            break;
        case HD_IR_relu:
        case HD_IR_leakyrelu:
        case HD_IR_avgpool:
            break;
        case HD_IR_maxpool:
            if (u->n_out == 1) break;
            return false;
        default:
            return false;
        }
        if (!once || !follow(g, u->out[0], at, depth - 1, r)) return false;
    }
    return true;
}

/* Weights (or a bias) whose values at channel from..from+n-1 of `axis` are times f[c]. */
static int scaled(hd_graph *g, int t, int axis, int64_t from, int64_t n, const float *f) {
    struct hd_tensor w = g->tensors[t];
    int64_t elems = hd_tensor_elems(&w), inner = 1;
    float *v = hd_dup(g->arena, w.data, hd_tensor_bytes(&w));
    for (int d = axis + 1; d < w.rank; d++) inner *= w.dim[d];
    for (int64_t i = 0; i < elems; i++) {
        int64_t c = i / inner % w.dim[axis] - from;
        if (c >= 0 && c < n) v[i] *= f[c];
    }
    return hd_graph_const(g, hd_sprintf(g->arena, "%s.even", w.name), HD_F32, w.rank, w.dim, v);
}

int hd_quant_equalise(hd_graph *g, const struct hd_quant_plan *p,
                      const struct hd_quant_stats *stats) {
    int count = 0;
    for (size_t i = 0; i < p->n_nodes; i++) {
        const struct hd_quant_stats *s = &stats[p->result[i]];
        struct readers r = {.n = 0};
        if (!p->layer[i] || g->nodes[i].op != HD_IR_conv || !s->peak) continue;
        const struct hd_node n = g->nodes[i];
        if (!follow(g, n.out[0], 0, DEPTH, &r)) continue;
        float most = 0, *up = hd_new_array(g->arena, float, (size_t)s->channels + 1),
              *down = hd_new_array(g->arena, float, (size_t)s->channels + 1);
        for (int64_t c = 0; c < s->channels; c++) most = fmaxf(most, s->peak[c]);
        for (int64_t c = 0; c < s->channels; c++) {
            down[c] = most > 0 ? fmaxf(sqrtf(s->peak[c] / most), least) : 1;
            up[c] = 1 / down[c];
        }
        g->nodes[i].in[1] = scaled(g, n.in[1], 0, 0, s->channels, up);
        if (n.n_in > 2 && n.in[2] >= 0)
            g->nodes[i].in[2] = scaled(g, n.in[2], 0, 0, s->channels, up);
        for (int k = 0; k < r.n; k++)
            g->nodes[r.node[k]].in[1] =
                scaled(g, g->nodes[r.node[k]].in[1], 1, r.offset[k], s->channels, down);
        count++;
    }
    return count;
}
