/* Shapes of convolutions, matrix products, pools, normalisation. */
#include "compiler/ir/infer_int.h"
#include "compiler/ir/window.h"

/* ---- convolution and matrix products ---- */

static hd_status conv_shape(struct infer *c) {
    const struct hd_tensor *x = in(c, 0), *w = in(c, 1);
    struct hd_window v;
    if (w->rank != x->rank)
        return BAD(c, "weights '%s' have rank %d, operand '%s' has %d", w->name, w->rank, x->name,
                   x->rank);
    if (w->rank < 3) return BAD(c, "rank %d, want 3 or 4", w->rank);
    TRY(hd_window_get(c->ctx, c->n, x, w->dim + 2, &v));
    int64_t group = hd_attr_int(c->n, "group", 1);
    if (group < 1 || group > v.c || v.c % group || w->dim[0] % group || w->dim[1] != v.c / group)
        return BAD(c,
                   "%lld input channels, %lld output channels and group %lld do not fit weights "
                   "[%lld,%lld,..]",
                   (long long)v.c, (long long)w->dim[0], (long long)group, (long long)w->dim[0],
                   (long long)w->dim[1]);
    c->out->rank = x->rank;
    c->out->dim[0] = v.n;
    c->out->dim[1] = w->dim[0];
    c->out->dim[2] = x->rank == 4 ? v.oh : v.ow;
    if (x->rank == 4) c->out->dim[3] = v.ow;
    return HD_OK;
}

hd_status hd_infer_conv(struct infer *c) {
    for (int i = 0; i < 3; i++) TRY(hd_infer_want_type(c, i, HD_F32));
    TRY(conv_shape(c));
    c->out->dtype = HD_F32;
    return hd_infer_want_vector(c, 2, in(c, 1)->dim[0]);
}

hd_status hd_infer_qconv(struct infer *c) {
    const struct hd_tensor *w = in(c, 1), *s = in(c, 3);
    TRY(hd_infer_want_byte(c, 0));
    if (w->dtype != HD_I16) TRY(hd_infer_want_type(c, 1, HD_I8));
    TRY(hd_infer_want_type(c, 2, HD_I32));
    TRY(hd_infer_want_type(c, 3, HD_F32));
    TRY(conv_shape(c));
    TRY(hd_infer_want_vector(c, 2, w->dim[0]));
    TRY(hd_infer_want_vector(c, 3, s->rank == 1 && s->dim[0] == 1 ? 1 : w->dim[0]));
    return hd_infer_q_type(c);
}

hd_status hd_infer_gemm(struct infer *c) {
    const struct hd_tensor *a = in(c, 0), *b = in(c, 1), *bias = in(c, 2);
    for (int i = 0; i < 3; i++) TRY(hd_infer_want_type(c, i, HD_F32));
    TRY(hd_infer_want_rank(c, 0, 2));
    TRY(hd_infer_want_rank(c, 1, 2));
    bool ta = hd_attr_int(c->n, "transA", 0) != 0, tb = hd_attr_int(c->n, "transB", 0) != 0;
    int64_t m = a->dim[ta], k = a->dim[!ta], k2 = b->dim[tb], n = b->dim[!tb];
    if (k != k2)
        return BAD(c, "inner sizes are %lld and %lld, want equal", (long long)k, (long long)k2);
    if (bias) {
        char s[128];
        hd_infer_shape_text(bias, s, sizeof s);
        bool ok = bias->rank <= 2;
        for (int i = 0; ok && i < bias->rank; i++) {
            int64_t full = i == bias->rank - 1 ? n : m;
            ok = bias->dim[i] == 1 || bias->dim[i] == full;
        }
        if (!ok)
            return BAD(c, "operand c ('%s') is [%s], which does not broadcast to [%lld,%lld]",
                       bias->name, s, (long long)m, (long long)n);
    }
    hd_infer_set(c, 0, HD_F32, 2, (int64_t[]){m, n});
    return HD_OK;
}

hd_status hd_infer_qgemm(struct infer *c) {
    const struct hd_tensor *x = in(c, 0), *w = in(c, 1), *s = in(c, 3);
    TRY(hd_infer_want_byte(c, 0));
    if (w->dtype != HD_I16) TRY(hd_infer_want_type(c, 1, HD_I8));
    TRY(hd_infer_want_type(c, 2, HD_I32));
    TRY(hd_infer_want_type(c, 3, HD_F32));
    TRY(hd_infer_want_rank(c, 0, 2));
    TRY(hd_infer_want_rank(c, 1, 2));
    if (x->dim[1] != w->dim[1])
        return BAD(c, "inner sizes are %lld and %lld, want equal", (long long)x->dim[1],
                   (long long)w->dim[1]);
    TRY(hd_infer_want_vector(c, 2, w->dim[0]));
    TRY(hd_infer_want_vector(c, 3, s->rank == 1 && s->dim[0] == 1 ? 1 : w->dim[0]));
    hd_infer_set(c, 0, HD_I8, 2, (int64_t[]){x->dim[0], w->dim[0]});
    return hd_infer_q_type(c);
}

hd_status hd_infer_matmul(struct infer *c) {
    const struct hd_tensor *a = in(c, 0), *b = in(c, 1);
    TRY(hd_infer_want_type(c, 0, HD_F32));
    TRY(hd_infer_want_type(c, 1, HD_F32));
    if (!a->rank || !b->rank)
        return BAD(c, "operand '%s' is a scalar", a->rank ? b->name : a->name);
    int64_t k = a->dim[a->rank - 1], k2 = b->dim[b->rank > 1 ? b->rank - 2 : 0];
    if (k != k2)
        return BAD(c, "inner sizes are %lld and %lld, want equal", (long long)k, (long long)k2);
    TRY(hd_infer_broadcast(c, a->dim, a->rank > 1 ? a->rank - 2 : 0, b->dim,
                           b->rank > 1 ? b->rank - 2 : 0));
    if (a->rank > 1) c->out->dim[c->out->rank++] = a->dim[a->rank - 2];
    if (b->rank > 1) c->out->dim[c->out->rank++] = b->dim[b->rank - 1];
    c->out->dtype = HD_F32;
    return HD_OK;
}

/* ---- windows ---- */

static hd_status pool(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    struct hd_window v;
    TRY(hd_window_get(c->ctx, c->n, x, NULL, &v));
    if (v.pt >= (v.kh - 1) * v.dy + 1 || v.pb >= (v.kh - 1) * v.dy + 1 ||
        v.pl >= (v.kw - 1) * v.dx + 1 || v.pr >= (v.kw - 1) * v.dx + 1)
        return BAD(c, "pads [%lld,%lld,%lld,%lld] reach the size of the window (%lldx%lld)",
                   (long long)v.pt, (long long)v.pl, (long long)v.pb, (long long)v.pr,
                   (long long)v.kh, (long long)v.kw);
    hd_infer_like(c, 0, x);
    c->out->dim[x->rank - 1] = v.ow;
    if (x->rank == 4) c->out->dim[2] = v.oh;
    return HD_OK;
}

hd_status hd_infer_maxpool(struct infer *c) {
    TRY(hd_infer_want_type(c, 0, HD_F32));
    return pool(c);
}

hd_status hd_infer_avgpool(struct infer *c) {
    TRY(hd_infer_want_type(c, 0, HD_F32));
    return pool(c);
}

hd_status hd_infer_qmaxpool(struct infer *c) {
    TRY(hd_infer_want_byte(c, 0));
    return pool(c);
}

hd_status hd_infer_qavgpool(struct infer *c) {
    int64_t pads[4];
    TRY(hd_infer_want_byte(c, 0));
    hd_attr_ints(c->n, "pads", pads, 4, 0);
    if (pads[0] || pads[1] || pads[2] || pads[3]) return BAD(c, "%s", "pads must be 0");
    TRY(pool(c));
    return hd_infer_q_type(c);
}

hd_status hd_infer_qmean(struct infer *c) {
    TRY(hd_infer_want_byte(c, 0));
    TRY(hd_infer_want_rank(c, 0, 4));
    hd_infer_like(c, 0, in(c, 0));
    c->out->dim[2] = c->out->dim[3] = 1;
    return hd_infer_q_type(c);
}

hd_status hd_infer_batchnorm(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    if (x->rank < 2) return BAD(c, "operand '%s' has rank %d, want at least 2", x->name, x->rank);
    for (int i = 1; i < 5; i++) {
        TRY(hd_infer_want_type(c, i, HD_F32));
        TRY(hd_infer_want_vector(c, i, x->dim[1]));
    }
    TRY(hd_infer_want_type(c, 0, HD_F32));
    hd_infer_like(c, 0, x);
    return HD_OK;
}
