/* Operations of the oneDNN plugin: see dnnl_api.h. */
#include <string.h>

#include "cpu_ref/dnnl_int.h"

static dnnl_status_t add_post(dnnl_post_ops_t ops, const struct hd_dnnl_post *k) {
    static const dnnl_alg_kind_t alg[] = {
        [HD_POST_RELU] = dnnl_eltwise_relu,        [HD_POST_CLIP] = dnnl_eltwise_clip,
        [HD_POST_SIGMOID] = dnnl_eltwise_logistic, [HD_POST_TANH] = dnnl_eltwise_tanh,
        [HD_POST_LEAKY] = dnnl_eltwise_relu,       [HD_POST_SWISH] = dnnl_eltwise_swish,
        [HD_POST_GELU] = dnnl_eltwise_gelu_erf,    [HD_POST_HARDSWISH] = dnnl_eltwise_hardswish,
        [HD_POST_LINEAR] = dnnl_eltwise_linear,
    };
    dnnl_memory_desc_t md;
    switch (k->kind) {
    case HD_POST_SUM:
        return dnnl_post_ops_append_sum(ops, 1.0f);
    case HD_POST_ADD:
    case HD_POST_MUL:
        hd_dnnl_dense_md(&md, k->rank, k->dim);
        return dnnl_post_ops_append_binary(
            ops, k->kind == HD_POST_ADD ? dnnl_binary_add : dnnl_binary_mul, &md);
    default:
        return dnnl_post_ops_append_eltwise(ops, 1.0f, alg[k->kind], k->alpha, k->beta);
    }
}

/* Attributes with user scratchpad and post-ops; NULL when oneDNN refuses them. */
static dnnl_primitive_attr_t attributes(const struct hd_dnnl_post *post, int n, float alpha) {
    dnnl_primitive_attr_t attr = NULL;
    dnnl_post_ops_t ops = NULL;
    bool ok =
        dnnl_primitive_attr_create(&attr) == dnnl_success &&
        dnnl_post_ops_create(&ops) == dnnl_success &&
        dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user) == dnnl_success;
    for (int i = 0; i < n && ok; i++) ok = add_post(ops, &post[i]) == dnnl_success;
    ok = ok && dnnl_primitive_attr_set_post_ops(attr, ops) == dnnl_success;
    if (alpha != 1.0f)
        ok = ok && dnnl_primitive_attr_set_output_scales(attr, 1, 0, &alpha) == dnnl_success;
    if (ops) dnnl_post_ops_destroy(ops);
    if (ok) return attr;
    if (attr) dnnl_primitive_attr_destroy(attr);
    return NULL;
}

/* Operands of ADD and MUL, from number `operand` on. */
static bool post_args(hd_dnnl_op *op, const struct hd_dnnl_post *post, int n, int operand) {
    for (int i = 0; i < n; i++) {
        dnnl_memory_desc_t md;
        if (post[i].kind != HD_POST_ADD && post[i].kind != HD_POST_MUL) continue;
        hd_dnnl_dense_md(&md, post[i].rank, post[i].dim);
        if (!hd_dnnl_arg(op, DNNL_ARG_ATTR_MULTIPLE_POST_OP(i) | DNNL_ARG_SRC_1, &md, NULL,
                         operand++))
            return false;
    }
    return true;
}

static const dnnl_memory_desc_t *query(const hd_dnnl_op *op, dnnl_query_t what, int index) {
    return hd_dnnl_intern(op->e, dnnl_primitive_desc_query_md(op->pd, what, index));
}

static int64_t elements(int rank, const int64_t *dim) {
    int64_t n = 1;
    for (int i = 0; i < rank; i++) n *= dim[i];
    return n;
}

/* dims [n, c, spatial..]; returns how many. */
static int image(dnnl_dims_t d, int sp, int64_t n, int64_t c, const int64_t *size) {
    d[0] = n, d[1] = c;
    memcpy(&d[2], size, (size_t)sp * sizeof *size);
    return sp + 2;
}

/* oneDNN counts from 0 how far apart taps are, and wants the padding behind that its own size
 * formula gives. */
struct window {
    dnnl_dims_t stride, kernel, dilation, before, after;
};

static struct window window_of(const struct hd_window_nd *v, bool transposed) {
    struct window w = {{0}, {0}, {0}, {0}, {0}};
    for (int i = 0; i < v->sp; i++) {
        int64_t big = transposed ? v->out[i] : v->in[i], small = transposed ? v->in[i] : v->out[i];
        w.stride[i] = v->stride[i], w.kernel[i] = v->kernel[i], w.before[i] = v->before[i];
        w.dilation[i] = v->dilation[i] - 1;
        w.after[i] = (small - 1) * v->stride[i] + (v->kernel[i] - 1) * v->dilation[i] + 1 -
                     v->before[i] - big;
    }
    return w;
}

static void image_md(dnnl_memory_desc_t *md, int rank, const dnnl_dims_t d, bool dense) {
    if (dense)
        hd_dnnl_dense_md(md, rank, d);
    else
        dnnl_memory_desc_init_by_tag(md, rank, d, dnnl_f32, dnnl_format_tag_any);
}

/* Weights as they are stored: [M][C/group].., or [C][M/group].. when transposed, as oneDNN's
 * logical [group][M/group][C/group].. */
static int weights_md(const struct hd_dnnl_conv *d, dnnl_memory_desc_t *stored,
                      dnnl_memory_desc_t *any) {
    int64_t mg = d->m / d->group, cg = d->v.c / d->group, taps = elements(d->v.sp, d->v.kernel);
    dnnl_dims_t dim = {0}, stride = {0};
    int r = 0;
    if (d->group > 1) dim[r] = d->group, stride[r++] = mg * cg * taps;
    dim[r] = mg, stride[r++] = d->transposed ? taps : cg * taps;
    dim[r] = cg, stride[r++] = d->transposed ? mg * taps : taps;
    for (int i = 0; i < d->v.sp; i++) dim[r] = d->v.kernel[i], stride[r++] = taps /= d->v.kernel[i];
    dnnl_memory_desc_init_by_strides(stored, r, dim, dnnl_f32, stride);
    dnnl_memory_desc_init_by_tag(any, r, dim, dnnl_f32, dnnl_format_tag_any);
    return r;
}

static bool build_conv(hd_dnnl_op *op, const struct hd_dnnl_conv *d, const dnnl_memory_desc_t *x,
                       const dnnl_memory_desc_t *w, const dnnl_memory_desc_t *b,
                       const dnnl_memory_desc_t *y, dnnl_primitive_attr_t attr) {
    const struct window v = window_of(&d->v, d->transposed);
    if (d->transposed) {
        dnnl_deconvolution_desc_t desc;
        return dnnl_dilated_deconvolution_forward_desc_init(
                   &desc, dnnl_forward_inference, dnnl_deconvolution_direct, x, w, b, y, v.stride,
                   v.dilation, v.before, v.after) == dnnl_success &&
               hd_dnnl_build(op, &desc, attr);
    }
    dnnl_convolution_desc_t desc;
    return dnnl_dilated_convolution_forward_desc_init(
               &desc, dnnl_forward_inference, dnnl_convolution_direct, x, w, b, y, v.stride,
               v.dilation, v.before, v.after) == dnnl_success &&
           hd_dnnl_build(op, &desc, attr);
}

/* Weights that a run gives, as operand 1: moved into the layout `to` before each operation. */
static bool weights_operand(hd_dnnl_op *op, const dnnl_memory_desc_t *stored,
                            const dnnl_memory_desc_t *to) {
    void *packed = hd_dnnl_keep(op, dnnl_memory_desc_get_size(to));
    hd_dnnl_op *r = packed ? hd_dnnl_op_new(op->e, 0) : NULL; /* little work: one thread */
    if (!r) return false;
    op->first = r;
    return dnnl_reorder_primitive_desc_create(&r->pd, stored, op->e->engine, to, op->e->engine,
                                              NULL) == dnnl_success &&
           dnnl_primitive_create(&r->primitive, r->pd) == dnnl_success &&
           hd_dnnl_arg(r, DNNL_ARG_FROM, stored, NULL, 1) &&
           hd_dnnl_arg(r, DNNL_ARG_TO, to, NULL, HD_DNNL_RESULT) &&
           hd_dnnl_arg(op, DNNL_ARG_WEIGHTS, to, packed, HD_DNNL_FIXED);
}

static bool weights_arg(hd_dnnl_op *op, const struct hd_dnnl_conv *d,
                        const dnnl_memory_desc_t *stored) {
    const dnnl_memory_desc_t *to = query(op, dnnl_query_weights_md, 0);
    if (!d->w_data) return weights_operand(op, stored, to);
    void *packed = hd_dnnl_pack(op, stored, d->w_data, to);
    return packed && hd_dnnl_arg(op, DNNL_ARG_WEIGHTS, to, packed, HD_DNNL_FIXED);
}

static bool bias_arg(hd_dnnl_op *op, const struct hd_dnnl_conv *d, const dnnl_memory_desc_t *b) {
    if (d->b_operand) return hd_dnnl_arg(op, DNNL_ARG_BIAS, b, NULL, 2);
    if (!d->b_data) return true;
    void *packed = hd_dnnl_pack(op, b, d->b_data, b);
    return packed && hd_dnnl_arg(op, DNNL_ARG_BIAS, b, packed, HD_DNNL_FIXED);
}

hd_dnnl_op *hd_dnnl_conv_op(void *engine, const struct hd_dnnl_conv *d) {
    const struct hd_window_nd *v = &d->v;
    hd_dnnl_op *op = hd_dnnl_op_new(engine, v->n * d->m * elements(v->sp, v->out) *
                                                (v->c / d->group) * elements(v->sp, v->kernel));
    dnnl_memory_desc_t x, y, w, stored, b;
    dnnl_dims_t xd = {0}, yd = {0}, bd = {d->m};
    if (!op) return NULL;
    int rank = image(xd, v->sp, v->n, v->c, v->in);
    image(yd, v->sp, v->n, d->m, v->out);
    image_md(&x, rank, xd, d->x_dense);
    image_md(&y, rank, yd, d->y_dense);
    weights_md(d, &stored, &w);
    hd_dnnl_dense_md(&b, 1, bd);
    dnnl_primitive_attr_t attr = attributes(d->post, d->n_posts, 1.0f);
    bool ok = attr && build_conv(op, d, &x, &w, d->b_data || d->b_operand ? &b : NULL, &y, attr);
    if (attr) dnnl_primitive_attr_destroy(attr);
    if (ok) {
        op->x_md = query(op, dnnl_query_src_md, 0);
        op->y_md = query(op, dnnl_query_dst_md, 0);
        ok = weights_arg(op, d, &stored) && bias_arg(op, d, &b) &&
             hd_dnnl_arg(op, DNNL_ARG_SRC, op->x_md, NULL, 0) &&
             hd_dnnl_arg(op, DNNL_ARG_DST, op->y_md, NULL, HD_DNNL_RESULT);
    }
    int posts = 1 + !d->w_data + d->b_operand;
    if (ok && post_args(op, d->post, d->n_posts, posts) && hd_dnnl_scratch(op)) return op;
    hd_dnnl_op_destroy(op);
    return NULL;
}

/* Scales per output channel, zero points, and the rounding in front of the zero point that
 * docs/numerics.md has. */
static dnnl_primitive_attr_t quant_attributes(const struct hd_dnnl_qconv *d) {
    dnnl_primitive_attr_t attr = NULL;
    dnnl_post_ops_t ops = NULL;
    bool ok =
        dnnl_primitive_attr_create(&attr) == dnnl_success &&
        dnnl_post_ops_create(&ops) == dnnl_success &&
        dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user) == dnnl_success &&
        dnnl_primitive_attr_set_output_scales(attr, d->m, 2, d->scale) == dnnl_success;
    if (d->x_zp)
        ok = ok && dnnl_primitive_attr_set_zero_points(attr, DNNL_ARG_SRC, 1, 0, &d->x_zp) ==
                       dnnl_success;
    if (d->y_zp) {
        ok = ok &&
             dnnl_primitive_attr_set_zero_points(attr, DNNL_ARG_DST, 1, 0, &d->y_zp) ==
                 dnnl_success &&
             dnnl_post_ops_append_eltwise(ops, 1.0f, dnnl_eltwise_round, 0, 0) == dnnl_success;
    }
    if (d->clip)
        ok = ok && dnnl_post_ops_append_eltwise(ops, 1.0f, dnnl_eltwise_clip, d->clip_lo,
                                                d->clip_hi) == dnnl_success;
    ok = ok && dnnl_primitive_attr_set_post_ops(attr, ops) == dnnl_success;
    if (ops) dnnl_post_ops_destroy(ops);
    if (ok) return attr;
    if (attr) dnnl_primitive_attr_destroy(attr);
    return NULL;
}

hd_dnnl_op *hd_dnnl_qconv_op(void *engine, const struct hd_dnnl_qconv *d) {
    hd_dnnl_op *op =
        hd_dnnl_op_new(engine, d->n * d->m * d->oh * d->ow * (d->c / d->group) * d->kh * d->kw);
    dnnl_memory_desc_t x, y, stored, any, b;
    dnnl_convolution_desc_t desc;
    int64_t mg = d->m / d->group, cg = d->c / d->group;
    dnnl_dims_t xd = {d->n, d->c, d->h, d->w}, yd = {d->n, d->m, d->oh, d->ow}, bd = {d->m};
    dnnl_dims_t wd = {mg, cg, d->kh, d->kw}, gd = {d->group, mg, cg, d->kh, d->kw};
    dnnl_dims_t stride = {d->sy, d->sx}, dilate = {d->dy - 1, d->dx - 1}, left = {d->pt, d->pl};
    dnnl_dims_t right = {(d->oh - 1) * d->sy + (d->kh - 1) * d->dy + 1 - d->pt - d->h,
                         (d->ow - 1) * d->sx + (d->kw - 1) * d->dx + 1 - d->pl - d->w};
    if (!op) return NULL;
    bool grouped = d->group > 1;
    dnnl_memory_desc_init_by_tag(&x, 4, xd, d->x_signed ? dnnl_s8 : dnnl_u8, dnnl_nhwc);
    dnnl_memory_desc_init_by_tag(&y, 4, yd, d->y_signed ? dnnl_s8 : dnnl_u8, dnnl_nhwc);
    dnnl_memory_desc_init_by_tag(&stored, grouped ? 5 : 4, grouped ? gd : wd, dnnl_s8,
                                 grouped ? dnnl_goihw : dnnl_oihw);
    dnnl_memory_desc_init_by_tag(&any, grouped ? 5 : 4, grouped ? gd : wd, dnnl_s8,
                                 dnnl_format_tag_any);
    dnnl_memory_desc_init_by_tag(&b, 1, bd, dnnl_s32, dnnl_a);
    dnnl_primitive_attr_t attr = quant_attributes(d);
    bool ok = attr &&
              dnnl_dilated_convolution_forward_desc_init(
                  &desc, dnnl_forward_inference, dnnl_convolution_direct, &x, &any, &b, &y, stride,
                  dilate, left, right) == dnnl_success &&
              hd_dnnl_build(op, &desc, attr);
    if (attr) dnnl_primitive_attr_destroy(attr);
    if (ok) {
        op->x_md = query(op, dnnl_query_src_md, 0);
        op->y_md = query(op, dnnl_query_dst_md, 0);
        const dnnl_memory_desc_t *to = query(op, dnnl_query_weights_md, 0);
        void *weights = hd_dnnl_pack(op, &stored, d->w_data, to);
        void *bias = hd_dnnl_pack(op, &b, d->bias, &b);
        ok = weights && bias && hd_dnnl_arg(op, DNNL_ARG_WEIGHTS, to, weights, HD_DNNL_FIXED) &&
             hd_dnnl_arg(op, DNNL_ARG_BIAS, &b, bias, HD_DNNL_FIXED) &&
             hd_dnnl_arg(op, DNNL_ARG_SRC, op->x_md, NULL, 0) &&
             hd_dnnl_arg(op, DNNL_ARG_DST, op->y_md, NULL, HD_DNNL_RESULT);
    }
    if (ok && hd_dnnl_scratch(op)) return op;
    hd_dnnl_op_destroy(op);
    return NULL;
}

/* [..][rows][cols], or stored with the last two exchanged. */
static void matrix_md(dnnl_memory_desc_t *md, int rank, const int64_t *dim, bool turned) {
    dnnl_dims_t d = {0}, s = {0};
    int64_t step = 1;
    for (int i = rank - 1; i >= 0; i--) {
        int k = !turned || i < rank - 2 ? i : i == rank - 1 ? rank - 2 : rank - 1;
        d[k] = dim[k];
        s[k] = step;
        step *= dim[k];
    }
    dnnl_memory_desc_init_by_strides(md, rank, d, dnnl_f32, s);
}

/* Rows of b that are a multiple of a page apart fall into the same sets of the cache, and
 * oneDNN 2.6 reads them at half its speed. Where there are rows of a to pay for it, b is copied
 * with rows that are a little longer. */
static bool pages_apart(const struct hd_dnnl_matmul *d) {
    enum { PAGE = 1024, ROWS = 64 };
    return !d->b_data && !d->b_turned && d->rank == 2 && d->b[1] % PAGE == 0 && d->y[0] >= ROWS;
}

static void longer_rows(dnnl_memory_desc_t *md, const int64_t *dim) {
    enum { MORE = 16 };
    dnnl_dims_t d = {dim[0], dim[1]}, s = {dim[1] + MORE, 1};
    dnnl_memory_desc_init_by_strides(md, 2, d, dnnl_f32, s);
}

hd_dnnl_op *hd_dnnl_matmul_op(void *engine, const struct hd_dnnl_matmul *d) {
    int64_t work = d->a[d->rank - 1];
    for (int i = 0; i < d->rank; i++) work *= d->y[i];
    hd_dnnl_op *op = hd_dnnl_op_new(engine, work);
    dnnl_memory_desc_t a, b, any, y, bias;
    dnnl_dims_t bd = {0};
    dnnl_matmul_desc_t desc;
    if (!op) return NULL;
    matrix_md(&a, d->rank, d->a, d->a_turned);
    matrix_md(&b, d->rank, d->b, d->b_turned);
    matrix_md(&y, d->rank, d->y, false);
    any = b;
    if (pages_apart(d)) longer_rows(&any, d->b);
    if (d->b_data) {
        memcpy(bd, d->b, (size_t)d->rank * sizeof *bd);
        dnnl_memory_desc_init_by_tag(&any, d->rank, bd, dnnl_f32, dnnl_format_tag_any);
    }
    int64_t bias_dim[HD_DNNL_RANK];
    for (int i = 0; i < d->rank; i++) bias_dim[i] = i == d->rank - 1 ? d->y[i] : 1;
    hd_dnnl_dense_md(&bias, d->rank, bias_dim);
    dnnl_primitive_attr_t attr = attributes(d->post, d->n_posts, d->alpha);
    bool ok = attr &&
              dnnl_matmul_desc_init(&desc, &a, &any, d->bias ? &bias : NULL, &y) == dnnl_success &&
              hd_dnnl_build(op, &desc, attr);
    if (attr) dnnl_primitive_attr_destroy(attr);
    int operand = 1;
    if (ok && d->b_data) {
        const dnnl_memory_desc_t *to = query(op, dnnl_query_weights_md, 0);
        void *packed = hd_dnnl_pack(op, &b, d->b_data, to);
        ok = packed && hd_dnnl_arg(op, DNNL_ARG_WEIGHTS, to, packed, HD_DNNL_FIXED);
    } else if (ok) {
        ok = pages_apart(d) ? weights_operand(op, &b, &any)
                            : hd_dnnl_arg(op, DNNL_ARG_WEIGHTS, &b, NULL, operand);
        operand++;
    }
    if (ok && d->bias) {
        void *packed = hd_dnnl_pack(op, &bias, d->bias, &bias);
        ok = packed && hd_dnnl_arg(op, DNNL_ARG_BIAS, &bias, packed, HD_DNNL_FIXED);
    }
    if (ok && hd_dnnl_arg(op, DNNL_ARG_SRC, &a, NULL, 0) &&
        hd_dnnl_arg(op, DNNL_ARG_DST, &y, NULL, HD_DNNL_RESULT) &&
        post_args(op, d->post, d->n_posts, operand) && hd_dnnl_scratch(op))
        return op;
    hd_dnnl_op_destroy(op);
    return NULL;
}

/* Source, destination and scratch of an operation with one operand. */
static hd_dnnl_op *finish_unary(hd_dnnl_op *op, bool ok) {
    if (ok) {
        op->x_md = query(op, dnnl_query_src_md, 0);
        op->y_md = query(op, dnnl_query_dst_md, 0);
        ok = hd_dnnl_arg(op, DNNL_ARG_SRC, op->x_md, NULL, 0) &&
             hd_dnnl_arg(op, DNNL_ARG_DST, op->y_md, NULL, HD_DNNL_RESULT) && hd_dnnl_scratch(op);
    }
    if (ok) return op;
    hd_dnnl_op_destroy(op);
    return NULL;
}

hd_dnnl_op *hd_dnnl_pool_op(void *engine, const struct hd_dnnl_pool *d) {
    static const dnnl_alg_kind_t alg[] = {[HD_POOL_MAX] = dnnl_pooling_max,
                                          [HD_POOL_AVG] = dnnl_pooling_avg_exclude_padding,
                                          [HD_POOL_AVG_PADDED] = dnnl_pooling_avg_include_padding};
    const struct window v = window_of(&d->v, false);
    int64_t taps = elements(d->v.sp, d->v.kernel);
    hd_dnnl_op *op = hd_dnnl_op_new(engine, d->v.n * d->v.c * elements(d->v.sp, d->v.out) * taps);
    dnnl_memory_desc_t x, y;
    dnnl_dims_t xd = {0}, yd = {0};
    dnnl_pooling_v2_desc_t desc;
    if (!op) return NULL;
    int rank = image(xd, d->v.sp, d->v.n, d->v.c, d->v.in);
    image(yd, d->v.sp, d->v.n, d->v.c, d->v.out);
    if (d->x_md)
        x = *(const dnnl_memory_desc_t *)d->x_md;
    else
        hd_dnnl_dense_md(&x, rank, xd);
    dnnl_memory_desc_init_by_tag(&y, rank, yd, dnnl_f32, dnnl_format_tag_any);
    dnnl_primitive_attr_t attr = attributes(NULL, 0, 1.0f);
    bool ok = attr &&
              dnnl_pooling_v2_forward_desc_init(&desc, dnnl_forward_inference, alg[d->kind], &x, &y,
                                                v.stride, v.kernel, v.dilation, v.before,
                                                v.after) == dnnl_success &&
              hd_dnnl_build(op, &desc, attr);
    if (attr) dnnl_primitive_attr_destroy(attr);
    return finish_unary(op, ok);
}

hd_dnnl_op *hd_dnnl_lrn_op(void *engine, const struct hd_dnnl_lrn *d) {
    hd_dnnl_op *op = hd_dnnl_op_new(engine, elements(d->rank, d->dim) * HD_DNNL_MOVE);
    dnnl_memory_desc_t x;
    dnnl_lrn_desc_t desc;
    if (!op) return NULL;
    if (d->x_md)
        x = *(const dnnl_memory_desc_t *)d->x_md;
    else
        hd_dnnl_dense_md(&x, d->rank, d->dim);
    dnnl_primitive_attr_t attr = attributes(NULL, 0, 1.0f);
    bool ok = attr &&
              dnnl_lrn_forward_desc_init(&desc, dnnl_forward_inference, dnnl_lrn_across_channels,
                                         &x, d->size, d->alpha, d->beta, d->k) == dnnl_success &&
              hd_dnnl_build(op, &desc, attr);
    if (attr) dnnl_primitive_attr_destroy(attr);
    return finish_unary(op, ok);
}

hd_dnnl_op *hd_dnnl_reorder_op(void *engine, int rank, const int64_t *dim, const void *from,
                               const void *to) {
    struct hd_dnnl_engine *e = engine;
    hd_dnnl_op *op = hd_dnnl_op_new(e, elements(rank, dim) * HD_DNNL_MOVE);
    dnnl_memory_desc_t plain;
    if (!op) return NULL;
    hd_dnnl_dense_md(&plain, rank, dim);
    op->x_md = from ? from : &plain;
    op->y_md = to ? to : &plain;
    dnnl_primitive_attr_t attr = attributes(NULL, 0, 1.0f);
    bool ok = attr &&
              dnnl_reorder_primitive_desc_create(&op->pd, op->x_md, e->engine, op->y_md, e->engine,
                                                 attr) == dnnl_success &&
              dnnl_primitive_create(&op->primitive, op->pd) == dnnl_success &&
              hd_dnnl_arg(op, DNNL_ARG_FROM, op->x_md, NULL, 0) &&
              hd_dnnl_arg(op, DNNL_ARG_TO, op->y_md, NULL, HD_DNNL_RESULT) && hd_dnnl_scratch(op);
    if (attr) dnnl_primitive_attr_destroy(attr);
    snprintf(op->impl, sizeof op->impl, "onednn reorder");
    op->x_md = from, op->y_md = to;
    if (ok) return op;
    hd_dnnl_op_destroy(op);
    return NULL;
}

hd_dnnl_op *hd_dnnl_concat_op(void *engine, int n, const void *const *md) {
    struct hd_dnnl_engine *e = engine;
    dnnl_memory_desc_t x[HD_DNNL_ARGS - 2];
    if (n > HD_DNNL_ARGS - 2) return NULL;
    int64_t work = 0;
    for (int i = 0; i < n; i++)
        work += (int64_t)(dnnl_memory_desc_get_size(md[i]) / sizeof(float)) * HD_DNNL_MOVE;
    hd_dnnl_op *op = hd_dnnl_op_new(e, work);
    if (!op) return NULL;
    for (int i = 0; i < n; i++) x[i] = *(const dnnl_memory_desc_t *)md[i];
    dnnl_primitive_attr_t attr = attributes(NULL, 0, 1.0f);
    bool ok = attr && dnnl_concat_primitive_desc_create(&op->pd, NULL, n, 1, x, attr, e->engine) ==
                          dnnl_success;
    if (attr) dnnl_primitive_attr_destroy(attr);
    const char *impl = "ref";
    if (ok) dnnl_primitive_desc_query(op->pd, dnnl_query_impl_info_str, 0, &impl);
    snprintf(op->impl, sizeof op->impl, "onednn %s", impl);
    ok =
        ok && !strstr(impl, "ref") && dnnl_primitive_create(&op->primitive, op->pd) == dnnl_success;
    if (ok) op->y_md = query(op, dnnl_query_dst_md, 0);
    for (int i = 0; i < n && ok; i++)
        ok = hd_dnnl_arg(op, DNNL_ARG_MULTIPLE_SRC + i, md[i], NULL, i);
    if (ok && hd_dnnl_arg(op, DNNL_ARG_DST, op->y_md, NULL, HD_DNNL_RESULT) && hd_dnnl_scratch(op))
        return op;
    hd_dnnl_op_destroy(op);
    return NULL;
}
