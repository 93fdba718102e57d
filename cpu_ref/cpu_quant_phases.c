/* Step maker for transposed convolutions of bytes. Results whose places differ by multiples of the
 * stride are a *phase*: a convolution of stride 1 whose window has each stride-th tap, turned
 * round. Each phase is computed by itself, and copied to its places. */
#include <string.h>

#include "cpu_ref/cpu_quant.h"
#include "runtime/base/num.h"

#ifdef __x86_64__

struct axis {                       /* of a phase */
    int64_t phase, out;             /* first result; how many */
    int64_t first, step, n;         /* taps of the kernel */
    int64_t dilation, before, past; /* of the window; elements in front of the image, and behind */
};

struct phase {
    hd_q_conv *conv;
    struct axis y, x;
};

struct phases {
    int n;
    struct phase *of;
    int64_t images, oh, ow, m, sy, sx;
    size_t result; /* where a phase's results lie in scratch */
};

/* y[phase + stride * t] = sum of x[t + at - j * dilation] * w[first + step * j]. False: no tap
 * meets it, or its window begins inside the image. */
static bool axis_of(int64_t phase, int64_t stride, int64_t dilation, int64_t before, int64_t kernel,
                    int64_t in, int64_t out, struct axis *a) {
    const int64_t both = hd_gcd(stride, dilation), place = phase + before;
    *a = (struct axis){.phase = phase, .step = stride / both, .dilation = dilation / both};
    while (a->first < kernel && (place - a->first * dilation) % stride) a->first++;
    if (a->first == kernel) return false;
    int64_t at = (place - a->first * dilation) / stride;
    a->n = hd_ceil_div(kernel - a->first, a->step);
    a->out = hd_ceil_div(out - phase, stride);
    a->before = (a->n - 1) * a->dilation - at;
    a->past = a->out + at - in;
    return a->before >= 0;
}

/* Weights [M][C/group][kh][kw] -> those of a phase; elements of `bytes`. */
static void *weights_of(hd_arena *arena, const struct hd_tensor *w, const void *data, int64_t kh,
                        int64_t kw, const struct axis *y, const struct axis *x) {
    const size_t bytes = hd_dtype_bytes(w->dtype);
    const int64_t planes = w->dim[0] * w->dim[1];
    uint8_t *to = hd_new_array(arena, uint8_t, (size_t)(planes * y->n * x->n) * bytes), *at = to;
    for (int64_t p = 0; p < planes; p++)
        for (int64_t i = y->n - 1; i >= 0; i--)
            for (int64_t j = x->n - 1; j >= 0; j--, at += bytes) {
                int64_t row = y->first + y->step * i, col = x->first + x->step * j;
                memcpy(at, (const uint8_t *)data + (size_t)((p * kh + row) * kw + col) * bytes,
                       bytes);
            }
    return to;
}

/* The window of a phase of the transposed window v. */
static struct hd_window window_of(const struct hd_window *v, const struct axis *y,
                                  const struct axis *x) {
    return (struct hd_window){.n = v->n,
                              .c = v->c,
                              .h = v->h,
                              .w = v->w,
                              .oh = y->out,
                              .ow = x->out,
                              .kh = y->n,
                              .kw = x->n,
                              .sy = 1,
                              .sx = 1,
                              .dy = y->dilation,
                              .dx = x->dilation,
                              .pt = y->before,
                              .pl = x->before,
                              .pb = y->past,
                              .pr = x->past};
}

static void destroy(void *state) {
    struct phases *k = state;
    for (int i = 0; i < k->n; i++) hd_q_conv_destroy(k->of[i].conv);
    k->n = 0;
}

static void copy_phase(const struct phases *k, const struct phase *f, const uint8_t *from,
                       uint8_t *y) {
    for (int64_t n = 0; n < k->images; n++)
        for (int64_t i = 0; i < f->y.out; i++) {
            int64_t row = (n * k->oh + f->y.phase + i * k->sy) * k->ow + f->x.phase;
            for (int64_t j = 0; j < f->x.out; j++, from += k->m)
                memcpy(y + (row + j * k->sx) * k->m, from, (size_t)k->m);
        }
}

static hd_status run(struct hd_cpu_run *r, const struct hd_cpu_step *s) {
    const struct phases *k = s->state;
    const bool whole = k->sy == 1 && k->sx == 1;
    uint8_t *y = r->at[s->out[0]], *to = whole ? y : (uint8_t *)r->scratch + k->result;
    for (int i = 0; i < k->n; i++) {
        hd_q_conv_run(k->of[i].conv, r->at[s->in[0]], NULL, to, r->scratch);
        if (!whole) copy_phase(k, &k->of[i], to, y);
    }
    return HD_OK;
}

/* Adds a phase; false: no kernel computes it. */
static bool add_phase(struct hd_cpu_plan *p, const struct hd_node *n, const struct hd_window *v,
                      const struct hd_q_conv_desc *all, const struct axis *y, const struct axis *x,
                      struct phases *k) {
    struct hd_q_conv_desc d = *all;
    d.v = window_of(v, y, x);
    if (!hd_q_offsets_fit(&d.v)) return false;
    d.w = weights_of(p->arena, hd_cpu_tensor(p, n->in[1]), all->w, v->kh, v->kw, y, x);
    hd_q_conv *c = hd_q_conv_create(&d, p->threads);
    if (!c) return false;
    k->of[k->n++] = (struct phase){c, *y, *x};
    k->result = (size_t)hd_max((int64_t)k->result, hd_round_up((int64_t)hd_q_conv_scratch(c), 64));
    return true;
}

static bool add_phases(struct hd_cpu_plan *p, const struct hd_node *n, const struct hd_window *v,
                       const struct hd_q_conv_desc *all, struct phases *k) {
    struct axis y, x;
    for (int64_t i = 0; i < hd_min(v->sy, v->oh); i++) {
        if (!axis_of(i, v->sy, v->dy, v->pt, v->kh, v->h, v->oh, &y)) return false;
        for (int64_t j = 0; j < hd_min(v->sx, v->ow); j++)
            if (!axis_of(j, v->sx, v->dx, v->pl, v->kw, v->w, v->ow, &x) ||
                !add_phase(p, n, v, all, &y, &x, k))
                return false;
    }
    return true;
}

hd_status hd_cpu_q_phases(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *x = hd_cpu_tensor(p, n->in[0]), *w = hd_cpu_tensor(p, n->in[1]);
    struct hd_q_conv_desc d;
    struct hd_window v;
    int in, out;
    if (x->rank < 3 || x->rank > 4 || !hd_cpu_q_conv(p, n, &d)) return HD_OK;
    TRY(hd_window_get(p->ctx, n, x, w->dim + 2, &v));
    struct phases *k = hd_new(p->arena, struct phases);
    *k = (struct phases){.images = v.n, .oh = v.oh, .ow = v.ow, .m = d.m_all};
    k->sy = v.sy, k->sx = v.sx;
    k->of = hd_new_array(p->arena, struct phase, (size_t)(hd_min(v.sy, v.oh) * hd_min(v.sx, v.ow)));
    d.group = hd_attr_int(n, "group", 1);
    hd_status s =
        add_phases(p, n, &v, &d, k) ? hd_cpu_need(p, n->in[0], hd_cpu_last, &in) : HD_UNSUPPORTED;
    if (s != HD_OK) {
        destroy(k);
        return s == HD_UNSUPPORTED ? HD_OK : s;
    }
    int64_t most = hd_ceil_div(v.oh, v.sy) * hd_ceil_div(v.ow, v.sx) * v.n * d.m_all;
    hd_cpu_scratch(p, k->result + (size_t)most);
    out = hd_cpu_make(p, n->out[0], hd_cpu_last, 0);
    struct hd_cpu_step *step = hd_cpu_step(p, node, "int8", 1, &in, 1, &out);
    step->run = run;
    step->state = k;
    step->destroy = destroy;
    *out_taken = true;
    return HD_OK;
}

#endif
