/* Shapes of resizing, sampling, regions of interest and recurrent networks. */
#include <string.h>

#include "compiler/ir/infer_int.h"
#include "compiler/ir/resize.h"
#include "compiler/ir/rnn.h"

/* Attribute `name` is one of the words of `list`, which commas part. */
static hd_status want_word(struct infer *c, const char *name, const char *def, const char *list) {
    const char *s = hd_attr_string(c->n, name, def), *at = list;
    size_t len = strlen(s);
    while (at && (strncmp(at, s, len) || (at[len] && at[len] != ',')))
        at = (at = strchr(at, ',')) ? at + 1 : NULL;
    return at ? HD_OK : BAD(c, "%s '%s', allowed %s", name, s, list);
}

hd_status hd_infer_resize(struct infer *c) {
    const struct hd_tensor *x = in(c, 0), *scales = in(c, 2), *sizes = in(c, 3);
    struct hd_resize r;
    TRY(hd_infer_want_types(c, 1, HD_T_FLOAT));
    TRY(hd_infer_want_type(c, 2, HD_F32));
    TRY(hd_infer_want_type(c, 3, HD_I64));
    TRY(want_word(c, "mode", "nearest", "nearest,linear,cubic"));
    TRY(want_word(c, "nearest_mode", "round_prefer_floor",
                  "round_prefer_floor,round_prefer_ceil,floor,ceil"));
    TRY(want_word(c, "coordinate_transformation_mode", "half_pixel",
                  "half_pixel,half_pixel_symmetric,pytorch_half_pixel,align_corners,asymmetric,"
                  "tf_half_pixel_for_nn,tf_crop_and_resize"));
    int64_t n_scales = scales ? hd_tensor_elems(scales) : 0,
            n_sizes = sizes ? hd_tensor_elems(sizes) : 0;
    if ((n_scales && !hd_infer_value(c, 2)) || (n_sizes && !hd_infer_value(c, 3)))
        return hd_infer_later(c);
    TRY(hd_resize_get(c->ctx, c->n, x, hd_infer_value(c, 2), n_scales, hd_infer_value(c, 3),
                      n_sizes, &r));
    bool crop =
        !strcmp(hd_attr_string(c->n, "coordinate_transformation_mode", ""), "tf_crop_and_resize");
    if (crop && (!in(c, 1) || hd_tensor_elems(in(c, 1)) != 2 * r.n_axes))
        return BAD(c, "tf_crop_and_resize with %lld values of roi, want %d",
                   (long long)(in(c, 1) ? hd_tensor_elems(in(c, 1)) : 0), 2 * r.n_axes);
    hd_infer_set(c, 0, x->dtype, x->rank, r.out);
    return HD_OK;
}

hd_status hd_infer_gridsample(struct infer *c) {
    const struct hd_tensor *x = in(c, 0), *g = in(c, 1);
    TRY(hd_infer_want_types(c, 0, HD_T_NUMBER));
    TRY(hd_infer_want_types(c, 1, HD_T_FLOAT));
    TRY(want_word(c, "mode", "linear", "linear,nearest,cubic"));
    TRY(want_word(c, "padding_mode", "zeros", "zeros,border,reflection"));
    if (x->rank < 3 || g->rank != x->rank || g->dim[0] != x->dim[0] ||
        g->dim[g->rank - 1] != x->rank - 2)
        return BAD(c,
                   "operands '%s' and '%s' have ranks %d and %d: want [N,C,..] of rank 3 or more "
                   "and [N,..,%d] of the same rank and N",
                   x->name, g->name, x->rank, g->rank, x->rank - 2);
    hd_infer_like(c, 0, x);
    for (int d = 2; d < x->rank; d++) {
        if (x->dim[d] < 1) return BAD(c, "dimension %d of '%s' is empty", d, x->name);
        c->out->dim[d] = g->dim[d - 1];
    }
    return HD_OK;
}

/* x [N,C,H,W] and rois [R,columns] -> [R,C,height,width] */
static hd_status roi_shape(struct infer *c, int64_t columns, int64_t height, int64_t width) {
    const struct hd_tensor *x = in(c, 0), *rois = in(c, 1);
    TRY(hd_infer_want_types(c, 0, HD_T_FLOAT));
    TRY(hd_infer_want_type(c, 1, x->dtype));
    TRY(hd_infer_want_rank(c, 0, 4));
    TRY(hd_infer_want_rank(c, 1, 2));
    if (rois->dim[1] != columns)
        return BAD(c, "rois '%s' have %lld columns, want %lld", rois->name, (long long)rois->dim[1],
                   (long long)columns);
    if (height < 1 || width < 1 || x->dim[2] < 1 || x->dim[3] < 1)
        return BAD(c, "a result of %lldx%lld from an image of %lldx%lld", (long long)height,
                   (long long)width, (long long)x->dim[2], (long long)x->dim[3]);
    hd_infer_set(c, 0, x->dtype, 4, (int64_t[]){rois->dim[0], x->dim[1], height, width});
    return HD_OK;
}

hd_status hd_infer_roialign(struct infer *c) {
    int64_t ratio = hd_attr_int(c->n, "sampling_ratio", 0);
    TRY(want_word(c, "mode", "avg", "avg,max"));
    TRY(want_word(c, "coordinate_transformation_mode", "half_pixel",
                  "half_pixel,output_half_pixel"));
    if (ratio < 0 || ratio > 1024)
        return BAD(c, "sampling_ratio %lld, allowed 0..1024", (long long)ratio);
    TRY(roi_shape(c, 4, hd_attr_int(c->n, "output_height", 1),
                  hd_attr_int(c->n, "output_width", 1)));
    TRY(hd_infer_want_types(c, 2, 1u << HD_I64 | 1u << HD_I32));
    return hd_infer_want_vector(c, 2, in(c, 1)->dim[0]);
}

hd_status hd_infer_maxroipool(struct infer *c) {
    int64_t size[2];
    if (hd_attr_ints(c->n, "pooled_shape", size, 2, 0) != 2)
        return BAD(c, "%s", "pooled_shape must have two values");
    return roi_shape(c, 5, size[0], size[1]);
}

hd_status hd_infer_nonmaxsuppression(struct infer *c) {
    const struct hd_tensor *b = in(c, 0), *s = in(c, 1);
    static const hd_dtype types[] = {HD_F32, HD_F32, HD_I64, HD_F32, HD_F32};
    for (int i = 0; i < 5; i++) {
        TRY(hd_infer_want_type(c, i, types[i]));
        if (i >= 2 && in(c, i) && hd_tensor_elems(in(c, i)) != 1)
            return BAD(c, "operand '%s' has %lld values, want 1", in(c, i)->name,
                       (long long)hd_tensor_elems(in(c, i)));
    }
    TRY(hd_infer_want_rank(c, 0, 3));
    TRY(hd_infer_want_rank(c, 1, 3));
    if (b->dim[2] != 4 || b->dim[0] != s->dim[0] || b->dim[1] != s->dim[2])
        return BAD(c,
                   "boxes [%lld,%lld,%lld] and scores [%lld,%lld,%lld]: want [B,N,4] and [B,C,N]",
                   (long long)b->dim[0], (long long)b->dim[1], (long long)b->dim[2],
                   (long long)s->dim[0], (long long)s->dim[1], (long long)s->dim[2]);
    return hd_infer_later(c);
}

hd_status hd_infer_detections(struct infer *c) {
    const struct hd_tensor *e = in(c, 0), *s = in(c, 1), *a = in(c, 2);
    static const int rank[] = {3, 3, 2};
    for (int i = 0; i < 3; i++) {
        TRY(hd_infer_want_type(c, i, HD_F32));
        TRY(hd_infer_want_rank(c, i, rank[i]));
    }
    int64_t n = e->dim[1], classes = hd_attr_int(c->n, "num_classes", s->dim[2]),
            most = hd_attr_int(c->n, "max_detections", 1),
            each = hd_attr_int(c->n, "max_classes_per_detection", 1);
    if (e->dim[0] != 1 || s->dim[0] != 1 || e->dim[2] < 4 || s->dim[1] != n || a->dim[0] != n ||
        a->dim[1] != 4)
        return BAD(c,
                   "encodings [%lld,%lld,%lld], scores [%lld,%lld,..], anchors [%lld,%lld]: want "
                   "[1,N,4..], [1,N,C] and [N,4]",
                   (long long)e->dim[0], (long long)n, (long long)e->dim[2], (long long)s->dim[0],
                   (long long)s->dim[1], (long long)a->dim[0], (long long)a->dim[1]);
    if (classes < 1 || (s->dim[2] != classes && s->dim[2] != classes + 1))
        return BAD(c, "%lld classes, scores have %lld: want as many, or one more",
                   (long long)classes, (long long)s->dim[2]);
    if (most < 0 || most > 1 << 20 || each < 1 || each > 1 << 10)
        return BAD(c, "%lld detections of %lld classes, allowed to 2^20 and 1..2^10",
                   (long long)most, (long long)each);
    most *= each;
    hd_infer_set(c, 0, HD_F32, 3, (int64_t[]){1, most, 4});
    hd_infer_set(c, 1, HD_F32, 2, (int64_t[]){1, most});
    hd_infer_set(c, 2, HD_F32, 2, (int64_t[]){1, most});
    hd_infer_set(c, 3, HD_F32, 1, (int64_t[]){1});
    return HD_OK;
}

/* ---- recurrent networks ---- */

static hd_status recur(struct infer *c) {
    const struct hd_tensor *x = in(c, 0), *t[8];
    struct hd_rnn r;
    TRY(hd_infer_want_types(c, 0, HD_T_FLOAT));
    for (int i = 0; i < 8; i++) {
        t[i] = in(c, i);
        TRY(hd_infer_want_type(c, i, i == 4 ? HD_I32 : x->dtype));
    }
    TRY(hd_rnn_get(c->ctx, c->n, t, &r));
    int64_t d = r.directions;
    if (r.batch_first) {
        hd_infer_set(c, 0, x->dtype, 4, (int64_t[]){r.batch, r.steps, d, r.hidden});
        for (int o = 1; o < 3; o++)
            hd_infer_set(c, o, x->dtype, 3, (int64_t[]){r.batch, d, r.hidden});
    } else {
        hd_infer_set(c, 0, x->dtype, 4, (int64_t[]){r.steps, d, r.batch, r.hidden});
        for (int o = 1; o < 3; o++)
            hd_infer_set(c, o, x->dtype, 3, (int64_t[]){d, r.batch, r.hidden});
    }
    return HD_OK;
}

hd_status hd_infer_lstm(struct infer *c) {
    return recur(c);
}
hd_status hd_infer_gru(struct infer *c) {
    return recur(c);
}
hd_status hd_infer_rnn(struct infer *c) {
    return recur(c);
}
