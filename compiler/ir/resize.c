/* Operands and attributes of resize -> checked geometry. */
#include "compiler/ir/resize.h"

#include <math.h>
#include <string.h>

#define BAD(ctx, n, fmt, ...)                                                                      \
    hd_fail((ctx), HD_INVALID, "node '%s' (%s): " fmt, (n)->name, hd_ir_ops[(n)->op].name,         \
            __VA_ARGS__)

static const float SIZE_MAX_F = 0x1p30f;

static hd_status get_axes(hd_ctx *ctx, const struct hd_node *n, struct hd_resize *r) {
    int64_t axes[HD_MAX_RANK];
    unsigned seen = 0;
    r->n_axes = r->rank;
    for (int i = 0; i < r->rank; i++) r->axes[i] = i;
    if (!hd_attr_get(n, "axes")) return HD_OK;
    r->n_axes = hd_attr_ints(n, "axes", axes, HD_MAX_RANK, 0);
    for (int i = 0; i < r->n_axes; i++) {
        int64_t a = i < HD_MAX_RANK ? axes[i] : r->rank;
        if (a < -r->rank || a >= r->rank || seen >> (a + r->rank) % r->rank & 1)
            return BAD(ctx, n, "axes[%d] is %lld, want each of %d..%d at most once", i,
                       (long long)a, -r->rank, r->rank - 1);
        r->axes[i] = (int)(a < 0 ? a + r->rank : a);
        seen |= 1u << r->axes[i];
    }
    return HD_OK;
}

static hd_status from_scales(hd_ctx *ctx, const struct hd_node *n, const float *scales,
                             struct hd_resize *r) {
    for (int i = 0; i < r->n_axes; i++) {
        int d = r->axes[i];
        float out = scales[i] * (float)r->in[d];
        if (!(scales[i] > 0) || !(out < SIZE_MAX_F))
            return BAD(ctx, n, "scales[%d] is %g for a dimension of %lld", i, (double)scales[i],
                       (long long)r->in[d]);
        r->scale[d] = scales[i];
        r->length[d] = out;
        r->out[d] = (int64_t)floorf(out);
    }
    return HD_OK;
}

static hd_status from_sizes(hd_ctx *ctx, const struct hd_node *n, const int64_t *sizes,
                            struct hd_resize *r) {
    const char *policy = hd_attr_string(n, "keep_aspect_ratio_policy", "stretch");
    bool larger = !strcmp(policy, "not_larger"), smaller = !strcmp(policy, "not_smaller");
    float common = 0;
    if (!larger && !smaller && strcmp(policy, "stretch"))
        return BAD(ctx, n,
                   "keep_aspect_ratio_policy '%s', allowed stretch, not_larger, not_smaller",
                   policy);
    for (int i = 0; i < r->n_axes; i++) {
        int d = r->axes[i];
        if (sizes[i] < 0 || (float)sizes[i] >= SIZE_MAX_F || (r->in[d] == 0 && sizes[i] != 0))
            return BAD(ctx, n, "sizes[%d] is %lld for a dimension of %lld", i, (long long)sizes[i],
                       (long long)r->in[d]);
        r->out[d] = sizes[i];
        r->length[d] = (float)sizes[i];
        r->scale[d] = r->in[d] ? (float)sizes[i] / (float)r->in[d] : 1;
        if (i == 0 || (larger ? r->scale[d] < common : r->scale[d] > common)) common = r->scale[d];
    }
    for (int i = 0; (larger || smaller) && i < r->n_axes; i++) {
        int d = r->axes[i];
        r->scale[d] = common;
        r->out[d] = (int64_t)floorf(common * (float)r->in[d] + 0.5f);
        r->length[d] = (float)r->out[d];
    }
    return HD_OK;
}

hd_status hd_resize_get(hd_ctx *ctx, const struct hd_node *n, const struct hd_tensor *x,
                        const float *scales, int64_t n_scales, const int64_t *sizes,
                        int64_t n_sizes, struct hd_resize *out) {
    struct hd_resize r = {.rank = x->rank};
    for (int d = 0; d < x->rank; d++) {
        r.in[d] = r.out[d] = x->dim[d];
        r.length[d] = (float)x->dim[d];
        r.scale[d] = 1;
    }
    TRY(get_axes(ctx, n, &r));
    if ((n_scales > 0) == (n_sizes > 0))
        return BAD(ctx, n, "%s", "want either scales or sizes, and not both");
    if (n_scales + n_sizes != r.n_axes)
        return BAD(ctx, n, "%lld %s, want %d", (long long)(n_scales + n_sizes),
                   n_scales ? "scales" : "sizes", r.n_axes);
    TRY(n_scales ? from_scales(ctx, n, scales, &r) : from_sizes(ctx, n, sizes, &r));
    *out = r;
    return HD_OK;
}
