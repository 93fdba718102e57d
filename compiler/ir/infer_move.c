/* Types and shapes of data movement by position. */
#include <string.h>

#include "compiler/ir/infer_int.h"
#include "compiler/ir/move.h"

/* The largest size, offset or repeat that any operand may ask for: sums and products of two fit. */
static const int64_t limit = INT64_C(1) << 31;

static hd_status want_small(struct infer *c, const char *what, int64_t lo, int n,
                            const int64_t *v) {
    for (int i = 0; i < n; i++)
        if (v[i] < lo || v[i] > limit)
            return BAD(c, "%s[%d] is %lld, allowed %lld..%lld", what, i, (long long)v[i],
                       (long long)lo, (long long)limit);
    return HD_OK;
}

/* Normalises a list of axes in place; each at most once. */
static hd_status axis_list(struct infer *c, int rank, int n, int64_t *axes) {
    unsigned set = 0;
    for (int i = 0; i < n; i++) {
        TRY(hd_infer_norm_axis(c, axes[i], rank, &axes[i]));
        if (set >> axes[i] & 1) return BAD(c, "axis %lld appears twice", (long long)axes[i]);
        set |= 1u << axes[i];
    }
    return HD_OK;
}

hd_status hd_infer_transpose(struct infer *c) {
    int64_t perm[HD_MAX_RANK];
    const struct hd_tensor *x = in(c, 0);
    int n = hd_attr_ints(c->n, "perm", perm, HD_MAX_RANK, 0);
    unsigned seen = 0;
    hd_infer_like(c, 0, x);
    if (!hd_attr_get(c->n, "perm")) {
        for (int i = 0; i < x->rank; i++) c->out->dim[i] = x->dim[x->rank - 1 - i];
        return HD_OK;
    }
    if (n != x->rank)
        return BAD(c, "perm has %d values, operand '%s' has rank %d", n, x->name, x->rank);
    for (int i = 0; i < n; i++) {
        if (perm[i] < 0 || perm[i] >= n || seen >> perm[i] & 1)
            return BAD(c, "perm[%d] is %lld: want each of 0..%d once", i, (long long)perm[i],
                       n - 1);
        seen |= 1u << perm[i];
        c->out->dim[i] = x->dim[perm[i]];
    }
    return HD_OK;
}

hd_status hd_infer_concat(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    int64_t axis = 0;
    TRY(hd_infer_axis(c, "axis", 0, x->rank, &axis));
    hd_infer_like(c, 0, x);
    for (int i = 1; i < c->n->n_in; i++) {
        const struct hd_tensor *t = in(c, i);
        if (!t) return BAD(c, "input %d is left out, but required", i);
        TRY(hd_infer_want_type(c, i, x->dtype));
        TRY(hd_infer_want_rank(c, i, x->rank));
        for (int d = 0; d < x->rank; d++)
            if (d != axis && t->dim[d] != x->dim[d])
                return BAD(c, "operands '%s' and '%s' differ in dimension %d: %lld and %lld",
                           x->name, t->name, d, (long long)x->dim[d], (long long)t->dim[d]);
        if (__builtin_add_overflow(c->out->dim[axis], t->dim[axis], &c->out->dim[axis]))
            return BAD(c, "dimension %lld overflows", (long long)axis);
    }
    return HD_OK;
}

hd_status hd_infer_split(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    int64_t axis = 0, dim[HD_MAX_RANK], parts[HD_MAX_OPERANDS], sum = 0;
    int n = 0;
    TRY(hd_infer_axis(c, "axis", 0, x->rank, &axis));
    TRY(hd_infer_int_list(c, 1, parts, HD_MAX_OPERANDS, &n));
    if (n < 0) return hd_infer_later(c);
    if (!in(c, 1)) {
        n = c->n->n_out;
        hd_split_even(x->dim[axis], n, parts);
    }
    TRY(want_small(c, "split", 0, n, parts));
    for (int i = 0; i < n; i++) sum += parts[i];
    if (n != c->n->n_out || sum != x->dim[axis])
        return BAD(c, "%d sizes with sum %lld for %d outputs of axis %lld of size %lld", n,
                   (long long)sum, c->n->n_out, (long long)axis, (long long)x->dim[axis]);
    memcpy(dim, x->dim, sizeof dim);
    for (int i = 0; i < n; i++) {
        dim[axis] = parts[i];
        hd_infer_set(c, i, x->dtype, x->rank, dim);
    }
    return HD_OK;
}

hd_status hd_infer_slice(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    int64_t starts[HD_MAX_RANK], ends[HD_MAX_RANK], axes[HD_MAX_RANK], steps[HD_MAX_RANK];
    int n = 0, n_ends = 0, n_axes = 0, n_steps = 0;
    TRY(hd_infer_int_list(c, 1, starts, HD_MAX_RANK, &n));
    TRY(hd_infer_int_list(c, 2, ends, HD_MAX_RANK, &n_ends));
    TRY(hd_infer_int_list(c, 3, axes, HD_MAX_RANK, &n_axes));
    TRY(hd_infer_int_list(c, 4, steps, HD_MAX_RANK, &n_steps));
    if (n < 0 || n_ends < 0 || n_axes < 0 || n_steps < 0) return hd_infer_later(c);
    if (n != n_ends || (n_axes && n_axes != n) || (n_steps && n_steps != n) || n > x->rank)
        return BAD(c, "%d starts, %d ends, %d axes, %d steps: want equal, at most %d", n, n_ends,
                   n_axes, n_steps, x->rank);
    for (int i = 0; !n_axes && i < n; i++) axes[i] = i;
    TRY(axis_list(c, x->rank, n, axes));
    hd_infer_like(c, 0, x);
    for (int i = 0; i < n; i++) {
        int64_t size = x->dim[axes[i]], step = n_steps ? steps[i] : 1;
        if (step == 0 || step == INT64_MIN)
            return BAD(c, "steps[%d] is %lld, allowed any but 0", i, (long long)step);
        c->out->dim[axes[i]] =
            hd_slice_count(hd_slice_start(starts[i], step, size), ends[i], step, size);
    }
    return HD_OK;
}

hd_status hd_infer_expand(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    int64_t shape[HD_MAX_RANK];
    int n = 0;
    TRY(hd_infer_int_list(c, 1, shape, HD_MAX_RANK, &n));
    if (n < 0) return hd_infer_later(c);
    TRY(want_small(c, "shape", 0, n, shape));
    c->out->dtype = x->dtype;
    return hd_infer_broadcast(c, x->dim, x->rank, shape, n);
}

hd_status hd_infer_tile(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    int64_t repeats[HD_MAX_RANK];
    int n = 0;
    TRY(hd_infer_int_list(c, 1, repeats, HD_MAX_RANK, &n));
    if (n < 0) return hd_infer_later(c);
    TRY(want_small(c, "repeats", 0, n, repeats));
    if (n != x->rank) return BAD(c, "%d repeats, operand '%s' has rank %d", n, x->name, x->rank);
    hd_infer_like(c, 0, x);
    for (int i = 0; i < n; i++) c->out->dim[i] *= repeats[i];
    return HD_OK;
}

hd_status hd_infer_pad(struct infer *c) {
    static const char *const modes[] = {"constant", "reflect", "edge", "wrap"};
    const struct hd_tensor *x = in(c, 0), *value = in(c, 2);
    const char *mode = hd_attr_string(c->n, "mode", modes[0]);
    int64_t list[2 * HD_MAX_RANK], axes[HD_MAX_RANK], pads[2 * HD_MAX_RANK];
    int n = 0, n_axes = 0, m = 0;
    while (m < 4 && strcmp(mode, modes[m])) m++;
    if (m == 4) return BAD(c, "mode '%s', allowed constant, reflect, edge, wrap", mode);
    TRY(hd_infer_want_type(c, 2, x->dtype));
    if (value && hd_tensor_elems(value) != 1)
        return BAD(c, "the value '%s' has %lld elements, want 1", value->name,
                   (long long)hd_tensor_elems(value));
    TRY(hd_infer_int_list(c, 1, list, 2 * HD_MAX_RANK, &n));
    TRY(hd_infer_int_list(c, 3, axes, HD_MAX_RANK, &n_axes));
    if (n < 0 || n_axes < 0) return hd_infer_later(c);
    int want = 2 * (n_axes ? n_axes : x->rank);
    if (n != want) return BAD(c, "pads has %d values, want %d", n, want);
    TRY(want_small(c, "pads", -limit, n, list));
    TRY(axis_list(c, x->rank, n_axes, axes));
    hd_pads_spread(x->rank, list, n_axes, axes, pads);
    hd_infer_like(c, 0, x);
    for (int i = 0; i < x->rank; i++) {
        int64_t before = pads[i], after = pads[i + x->rank];
        c->out->dim[i] = x->dim[i] + before + after;
        int64_t left = x->dim[i] + hd_min(before, 0) + hd_min(after, 0); /* after cropping */
        if (before < -x->dim[i] || after < -x->dim[i] || c->out->dim[i] < 0 ||
            (m && left <= 0 && c->out->dim[i]))
            return BAD(c, "pads %lld and %lld in dimension %d of size %lld", (long long)before,
                       (long long)after, i, (long long)x->dim[i]);
    }
    return HD_OK;
}

hd_status hd_infer_centercroppad(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    int64_t shape[HD_MAX_RANK], axes[HD_MAX_RANK];
    int n = 0, n_axes = hd_attr_ints(c->n, "axes", axes, HD_MAX_RANK, 0);
    TRY(hd_infer_int_list(c, 1, shape, HD_MAX_RANK, &n));
    if (n < 0) return hd_infer_later(c);
    if (n != (n_axes ? n_axes : x->rank))
        return BAD(c, "shape has %d values, want %d", n, n_axes ? n_axes : x->rank);
    TRY(want_small(c, "shape", 0, n, shape));
    TRY(axis_list(c, x->rank, n_axes, axes));
    hd_infer_like(c, 0, x);
    for (int i = 0; i < n; i++) c->out->dim[n_axes ? axes[i] : i] = shape[i];
    return HD_OK;
}

/* [N,C,H,W] and a block size that divides what it must. */
static hd_status block_size(struct infer *c, int64_t *out) {
    TRY(hd_infer_want_rank(c, 0, 4));
    *out = hd_attr_int(c->n, "blocksize", 0);
    return want_small(c, "blocksize", 1, 1, out);
}

hd_status hd_infer_depthtospace(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    const char *mode = hd_attr_string(c->n, "mode", "DCR");
    int64_t b = 1;
    TRY(block_size(c, &b));
    if (strcmp(mode, "DCR") && strcmp(mode, "CRD"))
        return BAD(c, "mode '%s', allowed DCR, CRD", mode);
    if (x->dim[1] % (b * b))
        return BAD(c, "%lld channels, want a multiple of %lld", (long long)x->dim[1],
                   (long long)(b * b));
    hd_infer_set(c, 0, x->dtype, 4,
                 (int64_t[]){x->dim[0], x->dim[1] / b / b, x->dim[2] * b, x->dim[3] * b});
    return HD_OK;
}

hd_status hd_infer_spacetodepth(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    int64_t b = 1;
    TRY(block_size(c, &b));
    if (x->dim[2] % b || x->dim[3] % b)
        return BAD(c, "the image is %lldx%lld, want multiples of %lld", (long long)x->dim[2],
                   (long long)x->dim[3], (long long)b);
    if (x->dim[1] > limit / b / b) return BAD(c, "blocksize %lld is too large", (long long)b);
    hd_infer_set(c, 0, x->dtype, 4,
                 (int64_t[]){x->dim[0], x->dim[1] * b * b, x->dim[2] / b, x->dim[3] / b});
    return HD_OK;
}

hd_status hd_infer_trilu(struct infer *c) {
    const struct hd_tensor *x = in(c, 0), *k = in(c, 1);
    if (x->rank < 2) return BAD(c, "operand '%s' has rank %d, want at least 2", x->name, x->rank);
    TRY(hd_infer_want_type(c, 1, HD_I64));
    if (k && hd_tensor_elems(k) != 1)
        return BAD(c, "k ('%s') has %lld values, want 1", k->name, (long long)hd_tensor_elems(k));
    hd_infer_like(c, 0, x);
    return HD_OK;
}

hd_status hd_infer_eyelike(struct infer *c) {
    const char *to = hd_attr_string(c->n, "to", hd_dtype_name(in(c, 0)->dtype));
    int t = hd_dtype_by_name(to);
    TRY(hd_infer_want_rank(c, 0, 2));
    if (t < 0) return BAD(c, "attribute to is '%s', want the name of a type", to);
    hd_infer_like(c, 0, in(c, 0));
    c->out->dtype = (hd_dtype)t;
    return HD_OK;
}

hd_status hd_infer_reversesequence(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    int64_t time = 0, batch = 0;
    TRY(hd_infer_axis(c, "time_axis", 0, x->rank, &time));
    TRY(hd_infer_axis(c, "batch_axis", 1, x->rank, &batch));
    if (time == batch) return BAD(c, "time_axis and batch_axis are both %lld", (long long)time);
    TRY(hd_infer_want_type(c, 1, HD_I64));
    TRY(hd_infer_want_vector(c, 1, x->dim[batch]));
    hd_infer_like(c, 0, x);
    return HD_OK;
}

hd_status hd_infer_col2im(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    int64_t image[HD_MAX_RANK], block[HD_MAX_RANK], stride[HD_MAX_RANK], dilation[HD_MAX_RANK];
    int64_t pads[2 * HD_MAX_RANK], taps = 1, steps = 1;
    int r = 0, n_block = 0;
    TRY(hd_infer_want_types(c, 0, HD_T_NUMBER));
    TRY(hd_infer_want_rank(c, 0, 3));
    TRY(hd_infer_int_list(c, 1, image, HD_MAX_RANK - 2, &r));
    TRY(hd_infer_int_list(c, 2, block, HD_MAX_RANK - 2, &n_block));
    if (r < 0 || n_block < 0) return hd_infer_later(c);
    if (r < 1 || r != n_block) return BAD(c, "%d image and %d block dimensions", r, n_block);
    hd_attr_ints(c->n, "strides", stride, r, 1);
    hd_attr_ints(c->n, "dilations", dilation, r, 1);
    hd_attr_ints(c->n, "pads", pads, 2 * r, 0);
    TRY(want_small(c, "image_shape", 1, r, image));
    TRY(want_small(c, "block_shape", 1, r, block));
    TRY(want_small(c, "strides", 1, r, stride));
    TRY(want_small(c, "dilations", 1, r, dilation));
    TRY(want_small(c, "pads", 0, 2 * r, pads));
    for (int d = 0; d < r; d++) {
        int64_t n =
            hd_col2im_steps(image[d], block[d], stride[d], dilation[d], pads[d], pads[d + r]);
        if (n < 1 || __builtin_mul_overflow(taps, block[d], &taps) ||
            __builtin_mul_overflow(steps, n, &steps))
            return BAD(c, "block %lld does not fit image %lld in dimension %d", (long long)block[d],
                       (long long)image[d], d);
    }
    if (x->dim[1] % taps || x->dim[2] != steps)
        return BAD(
            c, "operand '%s' is [%lld,%lld,%lld], want a multiple of %lld rows and %lld columns",
            x->name, (long long)x->dim[0], (long long)x->dim[1], (long long)x->dim[2],
            (long long)taps, (long long)steps);
    int64_t dim[HD_MAX_RANK] = {x->dim[0], x->dim[1] / taps};
    memcpy(dim + 2, image, (size_t)r * sizeof *dim);
    hd_infer_set(c, 0, x->dtype, r + 2, dim);
    return HD_OK;
}
