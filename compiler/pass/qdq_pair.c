/* Operands of sums and products of two quantised tensors, which may broadcast. */
#include <stdlib.h>
#include <string.h>

#include "compiler/pass/pass.h"
#include "compiler/pass/qdq.h"

/* x with leading dimensions of 1, so that it has `rank` of them. */
static int with_rank(hd_graph *g, int x, int rank) {
    const struct hd_tensor t = g->tensors[x];
    int64_t dim[HD_MAX_RANK];
    if (t.rank == rank) return x;
    for (int i = 0; i < rank; i++) dim[i] = i < rank - t.rank ? 1 : t.dim[i - (rank - t.rank)];
    int y = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.rank", t.name), t.dtype, rank, dim);
    int id = hd_graph_node(g, HD_IR_reshape, g->tensors[y].name, 1, &x, 1, &y);
    hd_attr_set_ints(g, id, "shape", rank, dim);
    return y;
}

/* A constant of y's rank that does not broadcast along what may be channels: dimension 1 and the
 * last. */
static int widened(hd_graph *g, int x, const struct hd_tensor *y) {
    const struct hd_tensor t = g->tensors[x];
    int64_t dim[HD_MAX_RANK] = {0}, n = 1;
    for (int d = 0; d < y->rank; d++) {
        int from = d - (y->rank - t.rank);
        bool channels = d == y->rank - 1 || (d == 1 && y->rank > 2);
        dim[d] = channels || from < 0 ? y->dim[d] : t.dim[from];
        if (from < 0 && !channels) dim[d] = 1;
        n *= dim[d];
    }
    const uint8_t *old = t.data;
    size_t bytes = hd_dtype_bytes(t.dtype);
    uint8_t *v = hd_alloc(g->arena, ((size_t)n + 1) * bytes);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = i, from = 0, step = 1;
        for (int d = y->rank - 1; d >= y->rank - t.rank; d--) {
            int64_t size = t.dim[d - (y->rank - t.rank)];
            from += size == 1 ? 0 : at % dim[d] * step;
            at /= dim[d], step *= size;
        }
        memcpy(v + (size_t)i * bytes, old + (size_t)from * bytes, bytes);
    }
    return hd_graph_const(g, hd_sprintf(g->arena, "%s.wide", t.name), t.dtype, y->rank, dim, v);
}

/* The one channel of x in `channels` channels: a 1x1 convolution by ones that changes no value,
 * because the lanes of a vector cannot hold one byte of memory. */
static int copies(struct hd_qmatch *m, int x, const struct hd_qparam *p, int64_t channels) {
    hd_graph *g = m->g;
    const struct hd_tensor t = g->tensors[x];
    int64_t dim[HD_MAX_RANK], wdim[HD_MAX_RANK] = {channels, 1, 1, 1}, n = channels;
    int8_t *ones = malloc((size_t)n);
    int32_t *zeros = calloc((size_t)n, sizeof *zeros);
    HD_ASSERT(ones && zeros);
    memset(ones, 1, (size_t)n);
    memcpy(dim, t.dim, sizeof dim);
    dim[1] = channels;
    float one = 1;
    int in[4] = {x, hd_graph_const(g, "ones", HD_I8, t.rank, wdim, ones),
                 hd_graph_const_i32(g, "zeros", (int)n, zeros),
                 hd_graph_const_f32(g, "one", 1, &one)};
    free(ones);
    free(zeros);
    int y = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.copies", t.name), t.dtype, t.rank, dim);
    int id = hd_graph_node(g, HD_IR_qconv, g->tensors[y].name, 4, in, 1, &y);
    hd_attr_set_string(g, id, "to", hd_dtype_name(t.dtype));
    hd_attr_set_int(g, id, "x_zp", p->zp);
    hd_attr_set_int(g, id, "y_zp", p->zp);
    hd_attr_set_int(g, id, "lo", hd_dtype_least(t.dtype));
    hd_attr_set_int(g, id, "hi", hd_dtype_most(t.dtype));
    return y;
}

bool hd_qdq_pair(struct hd_qmatch *m, int node, int in[2], struct hd_qparam p[2]) {
    const struct hd_node n = m->g->nodes[node];
    const struct hd_tensor y = m->g->tensors[n.out[0]];
    for (int i = 0; i < 2; i++) {
        if (!hd_qdq_dequantized_any(m->g, n.in[i], &in[i], &p[i])) return false;
    }
    for (int i = 0; i < 2; i++) {
        if (m->g->tensors[in[i]].data) {
            in[i] = widened(m->g, in[i], &y);
            continue;
        }
        in[i] = with_rank(m->g, in[i], y.rank);
        const struct hd_tensor *x = &m->g->tensors[in[i]];
        bool rows = hd_made_as_rows(m->g, in[1 - i]); /* along which a mask or factor repeats */
        bool image = (y.rank == 3 || y.rank == 4) && !rows;
        if (image && x->dim[1] == 1 && y.dim[1] > 1 && x->dim[y.rank - 1] > 1)
            in[i] = copies(m, in[i], &p[i], y.dim[1]);
    }
    return true;
}
