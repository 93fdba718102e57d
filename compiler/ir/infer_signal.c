/* Shapes of windows, Fourier transforms and mel filters. */
#include <string.h>

#include "compiler/ir/infer_int.h"

static const int64_t SIGNAL_MAX = INT64_C(1) << 30;

/* One integer, operand i; *out = -1 when it is not known yet. Left out: def. */
static hd_status one_int(struct infer *c, int i, int64_t min, int64_t def, int64_t *out) {
    int n = 0;
    *out = def;
    if (!in(c, i)) return HD_OK;
    TRY(hd_infer_int_list(c, i, out, 1, &n));
    if (n < 0) *out = -1;
    if (n < 0 || (n == 1 && *out >= min && *out <= SIGNAL_MAX)) return HD_OK;
    return BAD(c, "operand '%s' is %lld, want one value of %lld..%lld", in(c, i)->name,
               (long long)(n == 1 ? *out : 0), (long long)min, (long long)SIGNAL_MAX);
}

static hd_status out_type(struct infer *c, hd_dtype *out) {
    const char *s = hd_attr_string(c->n, "to", "f32");
    int t = hd_dtype_by_name(s);
    if (t < 0) return BAD(c, "attribute to is '%s', want the name of a type", s);
    *out = (hd_dtype)t;
    return HD_OK;
}

hd_status hd_infer_window(struct infer *c) {
    int64_t n = 0;
    hd_dtype type = HD_F32;
    const char *kind = hd_attr_string(c->n, "kind", "hann");
    if (strcmp(kind, "hann") && strcmp(kind, "hamming") && strcmp(kind, "blackman"))
        return BAD(c, "kind '%s', allowed hann, hamming, blackman", kind);
    TRY(out_type(c, &type));
    TRY(one_int(c, 0, 0, 0, &n));
    if (n < 0) return hd_infer_later(c);
    hd_infer_set(c, 0, type, 1, &n);
    return HD_OK;
}

static int64_t bins_of(const struct infer *c, int64_t n, int64_t onesided) {
    return hd_attr_int(c->n, "onesided", onesided) ? n / 2 + 1 : n;
}

hd_status hd_infer_dft(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    int64_t axis = 0, n = 0;
    TRY(hd_infer_want_types(c, 0, HD_T_FLOAT));
    if (x->rank < 2 || x->dim[x->rank - 1] < 1 || x->dim[x->rank - 1] > 2)
        return BAD(c, "operand '%s' has rank %d, want 2 or more, the last dimension 1 or 2",
                   x->name, x->rank);
    TRY(hd_infer_axis(c, "axis", 1, x->rank, &axis));
    if (axis == x->rank - 1) return BAD(c, "axis %lld is that of the parts", (long long)axis);
    bool real = hd_attr_int(c->n, "onesided", 0) && hd_attr_int(c->n, "inverse", 0);
    TRY(one_int(c, 1, 1, real ? 2 * (x->dim[axis] - 1) : x->dim[axis], &n));
    if (n < 0) return hd_infer_later(c);
    if (n <= 0 || x->dim[axis] == 0)
        return BAD(c, "dimension %lld of '%s' is %lld, which makes a transform of %lld",
                   (long long)axis, x->name, (long long)x->dim[axis], (long long)n);
    hd_infer_like(c, 0, x);
    c->out->dim[axis] = real ? n : bins_of(c, n, 0);
    c->out->dim[x->rank - 1] = real ? 1 : 2;
    return HD_OK;
}

hd_status hd_infer_stft(struct infer *c) {
    const struct hd_tensor *x = in(c, 0), *w = in(c, 2);
    int64_t step = 0, frame = 0;
    TRY(hd_infer_want_types(c, 0, HD_T_FLOAT));
    TRY(hd_infer_want_type(c, 2, x->dtype));
    TRY(hd_infer_want_rank(c, 2, 1));
    if ((x->rank != 2 && x->rank != 3) || (x->rank == 3 && (x->dim[2] < 1 || x->dim[2] > 2)))
        return BAD(c, "operand '%s' has rank %d, want [B,L], [B,L,1] or [B,L,2]", x->name, x->rank);
    if (!w && !in(c, 3)) return BAD(c, "%s", "want a window or a frame length");
    TRY(one_int(c, 1, 1, 1, &step));
    TRY(one_int(c, 3, 1, w ? w->dim[0] : 0, &frame));
    if (step < 0 || frame < 0) return hd_infer_later(c);
    if (frame < 1 || frame > x->dim[1] || (w && w->dim[0] != frame))
        return BAD(c, "frames of %lld in a signal of %lld with a window of %lld", (long long)frame,
                   (long long)x->dim[1], (long long)(w ? w->dim[0] : frame));
    hd_infer_set(c, 0, x->dtype, 4,
                 (int64_t[]){x->dim[0], (x->dim[1] - frame) / step + 1, bins_of(c, frame, 1), 2});
    return HD_OK;
}

hd_status hd_infer_melweights(struct infer *c) {
    int64_t bins = 0, length = 0, rate = 0;
    hd_dtype type = HD_F32;
    TRY(out_type(c, &type));
    TRY(one_int(c, 0, 0, 0, &bins));
    TRY(one_int(c, 1, 1, 0, &length));
    TRY(one_int(c, 2, 1, 0, &rate));
    for (int i = 3; i < 5; i++) {
        TRY(hd_infer_want_types(c, i, HD_T_FLOAT));
        if (hd_tensor_elems(in(c, i)) != 1)
            return BAD(c, "operand '%s' has %lld values, want 1", in(c, i)->name,
                       (long long)hd_tensor_elems(in(c, i)));
    }
    if (bins < 0 || length < 0 || rate < 0) return hd_infer_later(c);
    hd_infer_set(c, 0, type, 2, (int64_t[]){length / 2 + 1, bins});
    return HD_OK;
}
