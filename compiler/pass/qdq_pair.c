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

/* x, whose dimension `axis` is 1, with `n` copies there, in rank dimensions `dim`: a product by
 * ones that changes no value, because the lanes of a vector cannot hold one byte of memory. Of an
 * image a convolution, axis 1; of rows a gemm, all other dimensions in one. */
static int product_by_ones(struct hd_qmatch *m, enum hd_ir_op op, int x, const struct hd_qparam *p,
                           int64_t n, int rank, const int64_t *dim) {
    hd_graph *g = m->g;
    const struct hd_tensor t = g->tensors[x];
    int64_t wdim[HD_MAX_RANK] = {n, 1, 1, 1};
    int8_t *ones = malloc((size_t)n);
    int32_t *zeros = calloc((size_t)n, sizeof *zeros);
    HD_ASSERT(ones && zeros);
    memset(ones, 1, (size_t)n);
    float one = 1;
    int in[4] = {x, hd_graph_const(g, "ones", HD_I8, rank, wdim, ones),
                 hd_graph_const_i32(g, "zeros", (int)n, zeros),
                 hd_graph_const_f32(g, "one", 1, &one)};
    free(ones);
    free(zeros);
    int y = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.copies", t.name), t.dtype, rank, dim);
    int id = hd_graph_node(g, op, g->tensors[y].name, 4, in, 1, &y);
    hd_attr_set_string(g, id, "to", hd_dtype_name(t.dtype));
    hd_attr_set_int(g, id, "x_zp", p->zp);
    hd_attr_set_int(g, id, "y_zp", p->zp);
    hd_attr_set_int(g, id, "lo", hd_dtype_least(t.dtype));
    hd_attr_set_int(g, id, "hi", hd_dtype_most(t.dtype));
    return y;
}

static int copies(struct hd_qmatch *m, int x, const struct hd_qparam *p, int64_t channels) {
    const struct hd_tensor t = m->g->tensors[x];
    int64_t dim[HD_MAX_RANK];
    memcpy(dim, t.dim, sizeof dim);
    dim[1] = channels;
    return product_by_ones(m, HD_IR_qconv, x, p, channels, t.rank, dim);
}

static int reshaped(hd_graph *g, int x, const char *suffix, int rank, const int64_t *dim) {
    const struct hd_tensor t = g->tensors[x];
    int y = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.%s", t.name, suffix), t.dtype, rank, dim);
    int id = hd_graph_node(g, HD_IR_reshape, g->tensors[y].name, 1, &x, 1, &y);
    hd_attr_set_ints(g, id, "shape", rank, dim);
    return y;
}

static int row_copies(struct hd_qmatch *m, int x, const struct hd_qparam *p, int64_t n) {
    const struct hd_tensor t = m->g->tensors[x];
    int64_t rows[2] = {hd_tensor_elems(&t), 1}, made[2] = {rows[0], n}, dim[HD_MAX_RANK];
    memcpy(dim, t.dim, sizeof dim);
    dim[t.rank - 1] = n;
    int y = product_by_ones(m, HD_IR_qgemm, reshaped(m->g, x, "column", 2, rows), p, n, 2, made);
    return reshaped(m->g, y, "wide", t.rank, dim);
}

/* Rows of rank 4 and more are an image to the machine, unless both operands have one shape. As
 * rows of rank 2, or blocks of them, they are rows: of x, which lacks rows or blocks, dim[0..], and
 * of y all[0..]. The rank; 0: they have no such form. */
static int blocks(const struct hd_tensor *x, const struct hd_tensor *y, int64_t dim[3],
                  int64_t all[3]) {
    int rank = 0; /* without the last */
    bool repeats = false;
    for (int d = 0; d < y->rank - 1; d++) {
        bool here = x->dim[d] == 1;
        if (y->dim[d] == 1) continue;
        if (!rank || here != repeats) {
            if (rank == 2) return 0;
            dim[rank] = all[rank] = 1, rank++;
        }
        repeats = here;
        dim[rank - 1] *= x->dim[d], all[rank - 1] *= y->dim[d];
    }
    if (!rank) dim[0] = all[0] = 1, rank = 1;
    dim[rank] = x->dim[y->rank - 1], all[rank] = y->dim[y->rank - 1];
    return rank + 1;
}

static void as_blocks(struct hd_qmatch *m, int in[2], const struct hd_tensor *y) {
    for (int i = 0; i < 2; i++) {
        const struct hd_tensor x = m->g->tensors[in[i]], other = m->g->tensors[in[1 - i]];
        int64_t dim[3];
        bool whole = hd_tensor_elems(&other) == hd_tensor_elems(y) && !x.data && !other.data &&
                     hd_tensor_elems(&x) < hd_tensor_elems(y);
        if (!whole || !hd_made_as_rows(m->g, in[1 - i])) continue;
        m->block_rank = blocks(&x, y, dim, m->block);
        if (!m->block_rank) continue;
        in[i] = reshaped(m->g, in[i], "block", m->block_rank, dim);
        in[1 - i] = reshaped(m->g, in[1 - i], "blocks", m->block_rank, m->block);
        return;
    }
}

int hd_qdq_emit_pair(struct hd_qmatch *m, enum hd_ir_op op, int named, const int in[2]) {
    if (!m->block_rank) return hd_qdq_emit(m, op, named, 2, in);
    hd_graph *g = m->g;
    int y = g->nodes[m->q].out[0];
    const struct hd_tensor t = g->tensors[y];
    int all = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.blocks", t.name), t.dtype, m->block_rank,
                              m->block);
    hd_graph_kill(g, m->q);
    int id = hd_qdq_emit_to(m, op, named, 2, in, all);
    int back = hd_graph_node(g, HD_IR_reshape, t.name, 1, &all, 1, &y);
    hd_attr_set_ints(g, back, "shape", t.rank, t.dim);
    hd_graph_swap_names(g, back, m->q);
    return id;
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
        bool one = hd_tensor_elems(x) == 1;
        if (image && x->dim[1] == 1 && y.dim[1] > 1 && (x->dim[y.rank - 1] > 1 || one))
            in[i] = copies(m, in[i], &p[i], y.dim[1]);
        else if ((rows || (y.rank == 3 && !hd_made_as_image(m->g, in[1 - i]))) && y.rank > 1 &&
                 x->dim[y.rank - 1] == 1 && y.dim[y.rank - 1] > 1)
            in[i] = row_copies(m, in[i], &p[i], y.dim[y.rank - 1]);
    }
    if (y.rank > 3) as_blocks(m, in, &y);
    return true;
}
