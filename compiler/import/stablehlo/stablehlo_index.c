/* StableHLO operations by index: gather, scatter, sort. Both of the first become gathernd and
 * scatternd of whole elements: the place of each is computed from the index. */
#include <string.h>

#include "compiler/import/stablehlo/stablehlo.h"

static bool holds(const int64_t *list, int n, int64_t v) {
    for (int i = 0; i < n; i++)
        if (list[i] == v) return true;
    return false;
}

struct plan {
    struct hd_tensor x, index;
    int64_t window[HD_MAX_RANK]; /* dimensions of the result (or updates) that are the window's */
    int64_t fixed[HD_MAX_RANK];  /* dimensions of x without one there */
    int64_t batch[HD_MAX_RANK],
        index_batch[HD_MAX_RANK]; /* of x and of the index, that go together */
    int64_t map[HD_MAX_RANK];     /* index component -> dimension of x */
    int64_t size[HD_MAX_RANK];    /* of the window in x */
    int64_t vector; /* dimension of the index that holds components; its rank = none */
    int n_window, n_fixed, n_batch, n_map;
    int64_t dim[HD_MAX_RANK]; /* of the result or the updates */
    int rank;
};

/* The place in x of each element of the result: constants for the window, plus what the index says.
 */
static hd_status places(struct hd_shlo *m, const struct plan *p, int index, bool clamp, int *out) {
    int parts[HD_MAX_RANK];
    if (p->rank == HD_MAX_RANK) return hd_shlo_bad(m, HD_UNSUPPORTED, "rank %d", p->rank);
    for (int d = 0; d < p->x.rank; d++) {
        int64_t dim[HD_MAX_RANK + 1], n = 1, inner = 1, way = -1, got = 0;
        for (int i = 0, w = 0; i < p->x.rank; i++) { /* the window dimension that walks along d */
            if (holds(p->fixed, p->n_fixed, i) || holds(p->batch, p->n_batch, i)) continue;
            if (i == d && w < p->n_window) way = p->window[w];
            w++;
        }
        for (int i = 0; i < p->n_batch; i++) /* a batch dimension walks along that of the index */
            if (p->batch[i] == d) got = p->index_batch[i] + 1;
        if (got) { /* ... which is the batch dimension of the result at its rank among them */
            int64_t at = got - 1 - (p->vector < got - 1);
            for (int i = 0; i < p->rank; i++)
                if (!holds(p->window, p->n_window, i) && !at--) way = i;
        }
        for (int i = 0; i < p->rank; i++) n *= p->dim[i], dim[i] = p->dim[i];
        for (int64_t i = way + 1; way >= 0 && i < p->rank; i++) inner *= p->dim[i];
        int64_t *v = hd_new_array(m->arena, int64_t, (size_t)n + 1);
        for (int64_t i = 0; i < n && way >= 0; i++) v[i] = i / inner % p->dim[way];
        int place = hd_graph_const(m->g, "place", HD_I64, p->rank, dim, v), one, id;
        for (int c = 0; c < p->n_map; c++) {
            if (p->map[c] != d) continue;
            int64_t from[HD_MAX_RANK] = {0}, to[HD_MAX_RANK], step[HD_MAX_RANK], shape[HD_MAX_RANK];
            memcpy(to, p->index.dim, sizeof to);
            for (int i = 0; i < p->index.rank; i++) step[i] = 1;
            one = index;
            if (p->vector < p->index.rank) {
                from[p->vector] = c, to[p->vector] = c + 1;
                TRY(hd_shlo_slice(m, index, p->index.rank, from, to, step, &one));
            }
            for (int i = 0, k = 0; i < p->rank; i++) {
                if (k == p->vector) k++;
                shape[i] =
                    holds(p->window, p->n_window, i) || k >= p->index.rank ? 1 : p->index.dim[k++];
            }
            TRY(hd_shlo_reshape(m, one, p->rank, shape, &one));
            if (clamp) {
                int64_t zero = 0, last = p->x.dim[d] - p->size[d];
                TRY(hd_shlo_binary(m, HD_IR_max, one,
                                   hd_graph_const(m->g, "c", HD_I64, 0, NULL, &zero), &one));
                TRY(hd_shlo_binary(m, HD_IR_min, one,
                                   hd_graph_const(m->g, "c", HD_I64, 0, NULL, &last), &one));
            }
            TRY(hd_shlo_binary(m, HD_IR_add, place, one, &place));
        }
        dim[p->rank] = 1;
        TRY(hd_shlo_reshape(m, place, p->rank + 1, dim, &parts[d]));
        (void)id;
    }
    int id = hd_shlo_node(m, HD_IR_concat, p->x.rank, parts, out);
    hd_attr_set_int(m->g, id, "axis", p->rank);
    return hd_shlo_done(m, id);
}

static hd_status check_plan(struct hd_shlo *m, struct plan *p) {
    bool bad = p->n_window < 0 || p->n_fixed < 0 || p->n_batch < 0 || p->n_map < 0 ||
               p->vector < 0 || p->vector > p->index.rank || !p->x.rank;
    for (int i = 0; !bad && i < p->n_map; i++) bad = p->map[i] < 0 || p->map[i] >= p->x.rank;
    for (int i = 0; !bad && i < p->n_window; i++) bad = p->window[i] < 0 || p->window[i] >= p->rank;
    for (int i = 0; !bad && i < p->n_batch; i++)
        bad = p->index_batch[i] < 0 || p->index_batch[i] >= p->index.rank;
    int components = p->vector < p->index.rank ? (int)p->index.dim[p->vector] : 1;
    if (bad || p->n_map > components || p->n_window + p->n_fixed + p->n_batch != p->x.rank)
        return hd_shlo_bad(m, HD_INVALID, "its dimension numbers do not fit its operands");
    return hd_shape_check(m->ctx, "its places", HD_I64, p->rank, p->dim);
}

static const char *numbers_of(const struct hd_mlir_op *op, const char *name) {
    const char *text = hd_mlir_attr(op, name);
    return text ? text : hd_mlir_attr(op, "#");
}

hd_status hd_shlo_op_gather(struct hd_shlo *m) {
    const char *n = numbers_of(m->op, "dimension_numbers");
    struct plan p = {0};
    int x, index, at, k, sizes;
    TRY(hd_shlo_in(m, 0, &x));
    TRY(hd_shlo_in(m, 1, &index));
    TRY(hd_shlo_cast(m, index, HD_I64, &index));
    p.x = hd_shlo_shape(m, x), p.index = hd_shlo_shape(m, index);
    p.n_window = hd_shlo_member(n, "offset_dims", p.window);
    p.n_fixed = hd_shlo_member(n, "collapsed_slice_dims", p.fixed);
    p.n_batch = hd_shlo_member(n, "operand_batching_dims", p.batch);
    k = hd_shlo_member(n, "start_indices_batching_dims", p.index_batch);
    p.n_map = hd_shlo_member(n, "start_index_map", p.map);
    if (hd_shlo_member(n, "index_vector_dim", &p.vector) != 1) p.vector = 0;
    if (m->op->n_operands > 2)
        TRY(hd_shlo_known_ints(m, 2, p.size, HD_MAX_RANK, &sizes));
    else
        TRY(hd_shlo_list(m, "slice_sizes", p.x.rank, 0, p.size));
    if (k != p.n_batch) return hd_shlo_bad(m, HD_INVALID, "its batch dimensions");
    /* dimensions of the result: the window's at their places, those of the index in order */
    p.rank = p.n_window + p.index.rank - (p.vector < p.index.rank);
    if (p.rank > HD_MAX_RANK) return hd_shlo_bad(m, HD_UNSUPPORTED, "rank %d", p.rank);
    for (int i = 0, d = 0, w = 0; i < p.rank; i++) {
        if (holds(p.window, p.n_window, i)) {
            while (w < p.x.rank && (holds(p.fixed, p.n_fixed, w) || holds(p.batch, p.n_batch, w)))
                w++;
            p.dim[i] = w < p.x.rank ? p.size[w++] : 1;
        } else {
            if (d == p.vector) d++;
            p.dim[i] = d < p.index.rank ? p.index.dim[d++] : 1;
        }
    }
    TRY(check_plan(m, &p));
    TRY(places(m, &p, index, true, &at));
    TRY(hd_shlo_emit(m, HD_IR_gathernd, 2, (int[]){x, at}, &x));
    return hd_shlo_out(m, 0, x);
}

static hd_status batch_item(struct hd_shlo *m, int x, int64_t i, int *out) {
    const struct hd_tensor t = hd_shlo_shape(m, x);
    int64_t from[HD_MAX_RANK] = {i}, to[HD_MAX_RANK], step[HD_MAX_RANK];
    memcpy(to, t.dim, sizeof to);
    for (int d = 0; d < t.rank; d++) step[d] = 1;
    to[0] = i + 1;
    TRY(hd_shlo_slice(m, x, t.rank, from, to, step, &x));
    return hd_shlo_reshape(m, x, t.rank - 1, t.dim + 1, out);
}

/* Each item of the batch for itself. */
static hd_status batched_select(struct hd_shlo *m, int x, int index, int64_t axis, int64_t batch) {
    const struct hd_tensor t = hd_shlo_shape(m, x), it = hd_shlo_shape(m, index);
    int y[HD_MAX_OPERANDS], pair[2];
    if (batch != 1 || axis < 1 || axis >= t.rank || it.rank < 1 || it.dim[0] != t.dim[0] ||
        t.dim[0] < 1 || t.dim[0] > HD_MAX_OPERANDS)
        return hd_shlo_bad(m, HD_UNSUPPORTED, "batch_dims %lld of these operands",
                           (long long)batch);
    for (int64_t i = 0; i < t.dim[0]; i++) {
        TRY(batch_item(m, x, i, &pair[0]));
        TRY(batch_item(m, index, i, &pair[1]));
        int id = hd_shlo_node(m, HD_IR_gather, 2, pair, &y[i]);
        hd_attr_set_int(m->g, id, "axis", axis - 1);
        TRY(hd_shlo_done(m, id));
        struct hd_tensor r = hd_shlo_shape(m, y[i]);
        if (r.rank == HD_MAX_RANK) return hd_shlo_bad(m, HD_UNSUPPORTED, "rank %d", r.rank);
        memmove(r.dim + 1, r.dim, (size_t)r.rank * sizeof *r.dim);
        r.dim[0] = 1;
        TRY(hd_shlo_reshape(m, y[i], r.rank + 1, r.dim, &y[i]));
    }
    int id = hd_shlo_node(m, HD_IR_concat, (int)t.dim[0], y, &x);
    hd_attr_set_int(m->g, id, "axis", 0);
    TRY(hd_shlo_done(m, id));
    return hd_shlo_out(m, 0, x);
}

hd_status hd_shlo_op_index_select(struct hd_shlo *m) {
    int64_t axis = hd_shlo_int(m, "dim", 0), batch = hd_shlo_int(m, "batch_dims", 0);
    int in[2], id;
    TRY(hd_shlo_in(m, 0, &in[0]));
    TRY(hd_shlo_in(m, 1, &in[1]));
    if (batch) return batched_select(m, in[0], in[1], axis, batch);
    id = hd_shlo_node(m, HD_IR_gather, 2, in, &in[0]);
    hd_attr_set_int(m->g, id, "axis", axis);
    TRY(hd_shlo_done(m, id));
    return hd_shlo_out(m, 0, in[0]);
}

/* Updates that fall out of x are left out: x grows by one place behind, where they go. */
static hd_status scattered(struct hd_shlo *m, int x, int at, int updates, const char *reduction,
                           int *out) {
    const struct hd_tensor t = hd_shlo_shape(m, x);
    int64_t pads[2 * HD_MAX_RANK] = {0}, from[HD_MAX_RANK] = {0}, step[HD_MAX_RANK];
    int zero, low, high, limits, inside, out_of, axis, id;
    for (int i = 0; i < t.rank; i++) pads[t.rank + i] = 1, step[i] = 1;
    limits = hd_shlo_ints(m, t.rank, t.dim);
    zero = hd_shlo_ints(m, t.rank, from);
    TRY(hd_shlo_binary(m, HD_IR_less, at, zero, &low));
    TRY(hd_shlo_binary(m, HD_IR_greaterorequal, at, limits, &high));
    TRY(hd_shlo_binary(m, HD_IR_or, low, high, &out_of));
    TRY(hd_shlo_cast(m, out_of, HD_I32, &out_of));
    axis = hd_shlo_ints(m, 1, (int64_t[]){-1});
    TRY(hd_shlo_emit(m, HD_IR_reducemax, 2, (int[]){out_of, axis}, &out_of)); /* keeps the axis */
    TRY(hd_shlo_cast(m, out_of, HD_BOOL, &inside));
    TRY(hd_shlo_emit(m, HD_IR_where, 3, (int[]){inside, limits, at}, &at));
    int scalar;
    TRY(hd_shlo_scalar(m, 0, x, &scalar));
    TRY(hd_shlo_emit(m, HD_IR_pad, 3, (int[]){x, hd_shlo_ints(m, 2 * t.rank, pads), scalar}, &x));
    id = hd_shlo_node(m, HD_IR_scatternd, 3, (int[]){x, at, updates}, &x);
    if (reduction) hd_attr_set_string(m->g, id, "reduction", reduction);
    TRY(hd_shlo_done(m, id));
    return hd_shlo_slice(m, x, t.rank, from, t.dim, step, out);
}

/* What the body does with a value that is there: nothing but the update, or one operation. */
static hd_status reduction_of(struct hd_shlo *m, const char **out) {
    const struct hd_mlir_region *r = m->op->n_regions ? &m->op->regions[0] : NULL;
    int op = hd_shlo_body_op(m->op);
    *out = NULL;
    if (r && r->n_ops == 1 && r->n_args == 2 && r->ops[0].n_operands == 1 &&
        !strcmp(r->ops[0].operands[0], r->args[1]))
        return HD_OK;
    *out = op == HD_IR_add   ? "add"
           : op == HD_IR_mul ? "mul"
           : op == HD_IR_max ? "max"
           : op == HD_IR_min ? "min"
                             : NULL;
    return *out ? HD_OK
                : hd_shlo_bad(m, HD_UNSUPPORTED,
                              "a body that is no add, multiply, maximum, "
                              "minimum or assignment");
}

hd_status hd_shlo_op_scatter(struct hd_shlo *m) {
    const char *n = numbers_of(m->op, "scatter_dimension_numbers");
    const char *reduction;
    struct plan p = {0};
    int x, index, updates, at, k;
    if (m->op->n_operands != 3)
        return hd_shlo_bad(m, HD_UNSUPPORTED, "%zu operands, want 3", m->op->n_operands);
    TRY(hd_shlo_in(m, 0, &x));
    TRY(hd_shlo_in(m, 1, &index));
    TRY(hd_shlo_in(m, 2, &updates));
    TRY(hd_shlo_cast(m, index, HD_I64, &index));
    TRY(reduction_of(m, &reduction));
    const struct hd_tensor u = hd_shlo_shape(m, updates);
    p.x = hd_shlo_shape(m, x), p.index = hd_shlo_shape(m, index);
    p.n_window = hd_shlo_member(n, "update_window_dims", p.window);
    p.n_fixed = hd_shlo_member(n, "inserted_window_dims", p.fixed);
    p.n_batch = hd_shlo_member(n, "input_batching_dims", p.batch);
    k = hd_shlo_member(n, "scatter_indices_batching_dims", p.index_batch);
    p.n_map = hd_shlo_member(n, "scatter_dims_to_operand_dims", p.map);
    if (hd_shlo_member(n, "index_vector_dim", &p.vector) != 1) p.vector = 0;
    if (k != p.n_batch || !p.x.rank) return hd_shlo_bad(m, HD_INVALID, "its batch dimensions");
    p.rank = u.rank;
    memcpy(p.dim, u.dim, sizeof p.dim);
    TRY(check_plan(m, &p));
    TRY(places(m, &p, index, false, &at));
    TRY(scattered(m, x, at, updates, reduction, &x));
    return hd_shlo_out(m, 0, x);
}

/* ---- sort: by one operand, ascending or descending; the others follow ---- */

/* The operand that the comparator compares, and whether it wants the larger first. */
static bool comparator(const struct hd_mlir_region *r, size_t *key, bool *descending) {
    for (size_t i = r->n_ops; i-- > 0;) {
        const struct hd_mlir_op *op = &r->ops[i];
        if (strcmp(op->name, "stablehlo.compare") || op->n_operands != 2 || i + 2 != r->n_ops)
            continue;
        const char *d = hd_mlir_attr(op, "comparison_direction");
        bool less =
                 hd_mlir_has_word(op, "LT") || hd_mlir_has_word(op, "LE") || (d && strstr(d, "L")),
             more =
                 hd_mlir_has_word(op, "GT") || hd_mlir_has_word(op, "GE") || (d && strstr(d, "G"));
        for (size_t k = 0; k + 1 < r->n_args; k += 2) {
            bool straight = !strcmp(op->operands[0], r->args[k]) &&
                            !strcmp(op->operands[1], r->args[k + 1]),
                 swapped = !strcmp(op->operands[1], r->args[k]) &&
                           !strcmp(op->operands[0], r->args[k + 1]);
            if ((!straight && !swapped) || less == more) continue;
            *key = k / 2;
            *descending = more == straight;
            return true;
        }
    }
    return false;
}

hd_status hd_shlo_op_sort(struct hd_shlo *m) {
    size_t key = 0;
    bool descending = false;
    int x, y, pair[2];
    if (m->op->n_regions != 1 || !comparator(&m->op->regions[0], &key, &descending))
        return hd_shlo_bad(m, HD_UNSUPPORTED, "a comparator that is no single comparison");
    TRY(hd_shlo_in(m, key, &x));
    const struct hd_tensor t = hd_shlo_shape(m, x);
    int64_t axis = hd_shlo_int(m, "dimension", -1);
    if (axis < 0) axis += t.rank;
    if (axis < 0 || axis >= t.rank)
        return hd_shlo_bad(m, HD_INVALID, "dimension %lld", (long long)axis);
    for (int i = 0; i < 2; i++) pair[i] = hd_graph_tensor(m->g, "sorted", HD_F32, 0, NULL);
    int id = hd_graph_node(m->g, HD_IR_topk, "sort", 2,
                           (int[]){x, hd_shlo_ints(m, 1, &t.dim[axis])}, 2, pair);
    hd_attr_set_int(m->g, id, "axis", axis);
    hd_attr_set_int(m->g, id, "largest", descending);
    TRY(hd_shlo_done(m, id));
    for (size_t i = 0; i < m->op->n_operands; i++) {
        TRY(hd_shlo_in(m, i, &x));
        id = hd_shlo_node(m, HD_IR_gatherelements, 2, (int[]){x, pair[1]}, &y);
        hd_attr_set_int(m->g, id, "axis", axis);
        TRY(hd_shlo_done(m, id));
        TRY(hd_shlo_out(m, i, y));
    }
    return HD_OK;
}

hd_status hd_shlo_op_top_k(struct hd_shlo *m) {
    int64_t k = hd_shlo_int(m, "k", 0);
    int x, pair[2];
    TRY(hd_shlo_in(m, 0, &x));
    for (int i = 0; i < 2; i++) pair[i] = hd_graph_tensor(m->g, "top", HD_F32, 0, NULL);
    int id = hd_graph_node(m->g, HD_IR_topk, "top", 2, (int[]){x, hd_shlo_ints(m, 1, &k)}, 2, pair);
    TRY(hd_shlo_done(m, id));
    TRY(hd_shlo_cast(m, pair[1], HD_I32, &pair[1]));
    TRY(hd_shlo_out(m, 0, pair[0]));
    return hd_shlo_out(m, 1, pair[1]);
}
