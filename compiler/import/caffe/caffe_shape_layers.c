/* Caffe layers that move values. */
#include <string.h>

#include "compiler/import/caffe/caffe.h"

hd_status hd_caffe_same(struct hd_caffe *m) {
    int x;
    TRY(hd_caffe_bottom(m, 0, &x));
    for (int i = 0; i < hd_caffe_tops(m); i++) TRY(hd_caffe_top(m, i, x));
    return HD_OK;
}

hd_status hd_caffe_nothing(struct hd_caffe *m) {
    int x;
    for (int i = 0; i < hd_caffe_bottoms(m); i++) TRY(hd_caffe_bottom(m, i, &x));
    return HD_OK;
}

hd_status hd_caffe_concat(struct hd_caffe *m) {
    const struct hd_txt *p = hd_txt_message(m->layer, "concat_param");
    int n = hd_caffe_bottoms(m), *in = hd_new_array(m->arena, int, (size_t)n + 1), y;
    int64_t axis = hd_txt_int(p, "axis", hd_txt_int(p, "concat_dim", 1));
    if (n < 1 || n > HD_MAX_OPERANDS) return hd_caffe_bad(m, HD_INVALID, "%d bottoms", n);
    for (int i = 0; i < n; i++) TRY(hd_caffe_bottom(m, i, &in[i]));
    TRY(hd_caffe_axis(m, axis, m->g->tensors[in[0]].rank, &axis));
    int id = hd_caffe_node(m, HD_IR_concat, n, in, &y);
    hd_attr_set_int(m->g, id, "axis", axis);
    TRY(hd_caffe_done(m, id));
    return hd_caffe_top(m, 0, y);
}

static hd_status cut(struct hd_caffe *m, int x, int64_t axis, int64_t from, int64_t to, int *out) {
    int in[4] = {x, hd_caffe_ints(m, 1, &from), hd_caffe_ints(m, 1, &to),
                 hd_caffe_ints(m, 1, &axis)};
    return hd_caffe_emit(m, HD_IR_slice, 4, in, out);
}

hd_status hd_caffe_slice(struct hd_caffe *m) {
    const struct hd_txt *p = hd_txt_message(m->layer, "slice_param");
    int n = hd_caffe_tops(m), x, y;
    int64_t axis = hd_txt_int(p, "axis", hd_txt_int(p, "slice_dim", 1)), at = 0,
            *point = hd_new_array(m->arena, int64_t, (size_t)n + 1);
    TRY(hd_caffe_bottom(m, 0, &x));
    const struct hd_tensor t = m->g->tensors[x];
    TRY(hd_caffe_axis(m, axis, t.rank, &axis));
    int points = hd_txt_ints(p, "slice_point", point, n);
    if (n < 1 || (points && points != n - 1) || (!points && t.dim[axis] % n))
        return hd_caffe_bad(m, HD_INVALID, "%d slice points for %d tops of %lld", points, n,
                            (long long)t.dim[axis]);
    for (int i = 0; i < n; i++) {
        int64_t to = i == n - 1 ? t.dim[axis] : points ? point[i] : t.dim[axis] / n * (i + 1);
        if (to <= at || to > t.dim[axis])
            return hd_caffe_bad(m, HD_INVALID, "slice point %lld", (long long)to);
        TRY(cut(m, x, axis, at, to, &y));
        TRY(hd_caffe_top(m, i, y));
        at = to;
    }
    return HD_OK;
}

hd_status hd_caffe_flatten(struct hd_caffe *m) {
    const struct hd_txt *p = hd_txt_message(m->layer, "flatten_param");
    int64_t from, to, dim[HD_MAX_RANK];
    int x, rank = 0;
    TRY(hd_caffe_bottom(m, 0, &x));
    const struct hd_tensor t = m->g->tensors[x];
    TRY(hd_caffe_axis(m, hd_txt_int(p, "axis", 1), t.rank, &from));
    TRY(hd_caffe_axis(m, hd_txt_int(p, "end_axis", -1), t.rank, &to));
    for (int i = 0; i < t.rank; i++) {
        if (i > from && i <= to)
            dim[rank - 1] *= t.dim[i];
        else
            dim[rank++] = t.dim[i];
    }
    TRY(hd_caffe_reshape(m, x, rank, dim, &x));
    return hd_caffe_top(m, 0, x);
}

/* Dimensions of `shape` in place of num_axes ones from axis on; 0 = as it is, -1 = the rest. */
hd_status hd_caffe_reshape_layer(struct hd_caffe *m) {
    const struct hd_txt *p = hd_txt_message(m->layer, "reshape_param");
    int64_t want[HD_MAX_RANK], dim[HD_MAX_RANK], first = hd_txt_int(p, "axis", 0),
                                                 axes = hd_txt_int(p, "num_axes", -1), known = 1;
    int x, n = hd_txt_ints(hd_txt_message(p, "shape"), "dim", want, HD_MAX_RANK), rank = 0,
           open = -1;
    TRY(hd_caffe_bottom(m, 0, &x));
    const struct hd_tensor t = m->g->tensors[x];
    if (first < 0) first += t.rank + 1;
    if (axes < 0) axes = t.rank - first;
    if (first < 0 || first > t.rank || first + axes > t.rank || n + t.rank - axes > HD_MAX_RANK)
        return hd_caffe_bad(m, HD_INVALID, "a shape of %d from axis %lld on", n, (long long)first);
    for (int i = 0; i < first; i++) dim[rank++] = t.dim[i];
    for (int i = 0; i < n; i++) {
        if (want[i] < -1 || (want[i] == 0 && first + i >= t.rank) || (want[i] == -1 && open >= 0))
            return hd_caffe_bad(m, HD_INVALID, "dimension %d of its shape is %lld", i,
                                (long long)want[i]);
        if (want[i] == -1) open = rank;
        dim[rank++] = want[i] == 0 ? t.dim[first + i] : want[i];
    }
    for (int64_t i = first + axes; i < t.rank; i++) dim[rank++] = t.dim[i];
    for (int i = 0; i < rank; i++)
        if (i != open && __builtin_mul_overflow(known, dim[i], &known)) known = 0;
    if (open >= 0) dim[open] = known ? hd_tensor_elems(&t) / known : 0;
    TRY(hd_caffe_reshape(m, x, rank, dim, &x));
    return hd_caffe_top(m, 0, x);
}

hd_status hd_caffe_permute(struct hd_caffe *m) {
    int64_t perm[HD_MAX_RANK];
    int x, n = hd_txt_ints(hd_txt_message(m->layer, "permute_param"), "order", perm, HD_MAX_RANK);
    bool used[HD_MAX_RANK] = {0};
    TRY(hd_caffe_bottom(m, 0, &x));
    int rank = m->g->tensors[x].rank;
    if (n > rank) return hd_caffe_bad(m, HD_INVALID, "%d axes of %d", n, rank);
    for (int i = 0; i < n; i++) {
        TRY(hd_caffe_axis(m, perm[i], rank, &perm[i]));
        used[perm[i]] = true;
    }
    for (int i = 0; i < rank && n < rank; i++) /* those that are not named follow in their order */
        if (!used[i]) perm[n++] = i;
    int id = hd_caffe_node(m, HD_IR_transpose, 1, &x, &x);
    hd_attr_set_ints(m->g, id, "perm", rank, perm);
    TRY(hd_caffe_done(m, id));
    return hd_caffe_top(m, 0, x);
}

/* Bottom 0 cut to the size of bottom 1, from axis on. */
hd_status hd_caffe_crop(struct hd_caffe *m) {
    const struct hd_txt *p = hd_txt_message(m->layer, "crop_param");
    int64_t axis, offset[HD_MAX_RANK] = {0};
    int x, like, n = hd_txt_ints(p, "offset", offset, HD_MAX_RANK);
    TRY(hd_caffe_bottom(m, 0, &x));
    TRY(hd_caffe_bottom(m, 1, &like));
    const struct hd_tensor t = m->g->tensors[x], s = m->g->tensors[like];
    TRY(hd_caffe_axis(m, hd_txt_int(p, "axis", 2), t.rank, &axis));
    if (s.rank != t.rank || (n > 1 && n != t.rank - axis))
        return hd_caffe_bad(m, HD_INVALID, "%d offsets, bottoms of %d and %d dimensions", n, t.rank,
                            s.rank);
    for (int64_t i = axis; i < t.rank; i++) {
        int64_t from = n == 1 ? offset[0] : offset[i - axis];
        if (from < 0 || from > t.dim[i] - s.dim[i])
            return hd_caffe_bad(m, HD_INVALID, "offset %lld", (long long)from);
        TRY(cut(m, x, i, from, from + s.dim[i], &x));
    }
    return hd_caffe_top(m, 0, x);
}

hd_status hd_caffe_argmax(struct hd_caffe *m) {
    const struct hd_txt *p = hd_txt_message(m->layer, "argmax_param");
    int64_t axis;
    int x;
    if (!hd_txt_next(p, NULL, "axis") || hd_txt_bool(p, "out_max_val", false) ||
        hd_txt_int(p, "top_k", 1) != 1)
        return hd_caffe_bad(m, HD_UNSUPPORTED, "only one index along an axis is");
    TRY(hd_caffe_bottom(m, 0, &x));
    TRY(hd_caffe_axis(m, hd_txt_int(p, "axis", 1), m->g->tensors[x].rank, &axis));
    int id = hd_caffe_node(m, HD_IR_argmax, 1, &x, &x);
    hd_attr_set_int(m->g, id, "axis", axis);
    hd_attr_set_int(m->g, id, "keepdims", 1);
    TRY(hd_caffe_done(m, id));
    id = hd_caffe_node(m, HD_IR_cast, 1, &x, &x);
    hd_attr_set_string(m->g, id, "to", "f32");
    TRY(hd_caffe_done(m, id));
    return hd_caffe_top(m, 0, x);
}

/* Of all dimensions from axis on. */
hd_status hd_caffe_reduction(struct hd_caffe *m) {
    const struct hd_txt *p = hd_txt_message(m->layer, "reduction_param");
    static const struct {
        const char *name, *number;
        enum hd_ir_op op;
    } kinds[] = {{"SUM", "1", HD_IR_reducesum},
                 {"ASUM", "2", HD_IR_reducel1},
                 {"SUMSQ", "3", HD_IR_reducesumsquare},
                 {"MEAN", "4", HD_IR_reducemean}};
    const char *kind = hd_txt_string(p, "operation", "SUM");
    int64_t axis, axes[HD_MAX_RANK];
    int x, n = 0;
    size_t k = 0;
    while (k < 4 && strcmp(kinds[k].name, kind) && strcmp(kinds[k].number, kind)) k++;
    if (k == 4 || hd_txt_float(p, "coeff", 1) != 1)
        return hd_caffe_bad(m, HD_UNSUPPORTED, "operation %s, or a coefficient", kind);
    TRY(hd_caffe_bottom(m, 0, &x));
    int rank = m->g->tensors[x].rank;
    TRY(hd_caffe_axis(m, hd_txt_int(p, "axis", 0), rank, &axis));
    for (int64_t i = axis; i < rank; i++) axes[n++] = i;
    int id = hd_caffe_node(m, kinds[k].op, 2, (int[]){x, hd_caffe_ints(m, n, axes)}, &x);
    hd_attr_set_int(m->g, id, "keepdims", 0);
    TRY(hd_caffe_done(m, id));
    return hd_caffe_top(m, 0, x);
}

hd_status hd_caffe_shuffle(struct hd_caffe *m) {
    int64_t group = hd_txt_int(hd_txt_message(m->layer, "shuffle_channel_param"), "group", 1);
    int x;
    TRY(hd_caffe_bottom(m, 0, &x));
    const struct hd_tensor t = m->g->tensors[x];
    if (t.rank != 4 || group < 1 || t.dim[1] % group)
        return hd_caffe_bad(m, HD_INVALID, "%lld groups", (long long)group);
    TRY(hd_caffe_reshape(m, x, 5,
                         (int64_t[]){t.dim[0], group, t.dim[1] / group, t.dim[2], t.dim[3]}, &x));
    int id = hd_caffe_node(m, HD_IR_transpose, 1, &x, &x);
    hd_attr_set_ints(m->g, id, "perm", 5, (int64_t[]){0, 2, 1, 3, 4});
    TRY(hd_caffe_done(m, id));
    TRY(hd_caffe_reshape(m, x, 4, t.dim, &x));
    return hd_caffe_top(m, 0, x);
}
