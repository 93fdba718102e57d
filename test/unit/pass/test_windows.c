/* Passes taps and windows: golden computes the same bytes before and after; taps that meet nothing
 * go, and a window that spans too much is taken apart, by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/pass/pass.h"
#include "test/rng.h"
#include "test/unit/pass/golden_bytes.h"

struct conv {
    int n, c, h, w, m, group, k[2], d[2], s[2], pads[4]; /* along rows, along columns */
};

static hd_graph *network(hd_ctx *ctx, const struct conv *v) {
    char text[2048];
    hd_graph *g = NULL;
    int64_t dim[4] = {v->m, v->c / v->group, v->k[0], v->k[1]};
    snprintf(text, sizeof text,
             "graph g {\n input x i8[%d,%d,%d,%d]\n input w i8[%d,%d,%d,%d]\n input b i32[%d]\n"
             " input s f32[%d]\n"
             " y ? = qconv(x, w, b, s) x_zp=-7 y_zp=3 kernel_shape=[%d,%d] pads=[%d,%d,%d,%d]"
             " strides=[%d,%d] dilations=[%d,%d] group=%d\n output y\n}",
             v->n, v->c, v->h, v->w, v->m, v->c / v->group, v->k[0], v->k[1], v->m, v->m, v->k[0],
             v->k[1], v->pads[0], v->pads[1], v->pads[2], v->pads[3], v->s[0], v->s[1], v->d[0],
             v->d[1], v->group);
    if (hd_graph_parse(ctx, text, "net", &g) != HD_OK) fail_msg("%s", hd_message(ctx));
    struct hd_tensor *t = &g->tensors[g->inputs[1]];
    int8_t *w = hd_new_array(g->arena, int8_t, (size_t)hd_tensor_elems(t));
    for (int64_t i = 0; i < hd_tensor_elems(t); i++) w[i] = (int8_t)(i * 37 % 101 - 50);
    int32_t *b = hd_new_array(g->arena, int32_t, (size_t)v->m);
    float *s = hd_new_array(g->arena, float, (size_t)v->m);
    for (int i = 0; i < v->m; i++)
        b[i] = i * 211 % 1801 - 900, s[i] = 0.3f / (float)(dim[1] * dim[2] * dim[3]);
    g->tensors[g->inputs[1]].data = w, g->tensors[g->inputs[2]].data = b;
    g->tensors[g->inputs[3]].data = s;
    g->n_inputs = 1;
    return g;
}

/* Runs the pass; *k: the convolution then, *d: how many images one became. */
static struct conv passes(const struct conv *v, int *images) {
    static int8_t want[1 << 19], got[1 << 19];
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = network(ctx, v);
    size_t n = golden_bytes(ctx, g, want, sizeof want);
    if (hd_pass_run(ctx, g, "taps") != HD_OK || hd_pass_run(ctx, g, "windows") != HD_OK)
        fail_msg("%s", hd_message(ctx));
    assert_int_equal(golden_bytes(ctx, g, got, sizeof got), n);
    struct conv k = {0};
    for (size_t i = 0; i < g->n_nodes; i++) {
        const struct hd_node *q = &g->nodes[i];
        if (q->dead || q->op != HD_IR_qconv) continue;
        const int64_t *w = g->tensors[q->in[1]].dim;
        int64_t d[2];
        hd_attr_ints(q, "dilations", d, 2, 1);
        k = (struct conv){.k = {(int)w[2], (int)w[3]}, .d = {(int)d[0], (int)d[1]}};
        *images = (int)(g->tensors[q->in[0]].dim[0] / v->n);
    }
    if (memcmp(want, got, n))
        fail_msg("[%d,%d,%d,%d] to %d, window %dx%d, dilations %d, %d: other bytes", v->n, v->c,
                 v->h, v->w, v->m, v->k[0], v->k[1], v->d[0], v->d[1]);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
    return k;
}

static void by_hand(void **state) {
    (void)state;
    static const struct {
        struct conv v;
        int k[2], d[2], images;
    } rows[] = {
        /* 3x3 on one pixel: the middle tap. 5x5 on 2x2: three taps each way. */
        {{1, 8, 1, 1, 4, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}}, {1, 1}, {1, 1}, 1},
        {{1, 8, 2, 2, 8, 8, {5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}}, {3, 3}, {1, 1}, 1},
        /* Dilation 24 on 8x8. Stride 2 on two rows: tap 0 meets row -1 alone. */
        {{1, 8, 8, 8, 4, 1, {3, 3}, {24, 24}, {1, 1}, {24, 24, 24, 24}}, {1, 1}, {24, 24}, 1},
        {{1, 8, 2, 5, 4, 1, {3, 3}, {1, 1}, {2, 1}, {1, 1, 1, 1}}, {2, 3}, {1, 1}, 1},
        /* 17 rows of 33 pixels of 256 channels are 140 KiB: 8 images of 5 rows. */
        {{1, 256, 33, 33, 2, 1, {3, 3}, {8, 8}, {1, 1}, {8, 8, 8, 8}}, {3, 3}, {1, 8}, 8},
        {{1, 256, 33, 33, 2, 1, {3, 3}, {4, 4}, {1, 1}, {4, 4, 4, 4}}, {3, 3}, {4, 4}, 1},
        /* Depthwise, a word of channels at a time; strides. */
        {{1, 256, 33, 33, 256, 256, {3, 3}, {8, 8}, {1, 1}, {8, 8, 8, 8}}, {3, 3}, {8, 8}, 1},
        {{1, 256, 33, 33, 2, 1, {3, 3}, {8, 8}, {2, 2}, {8, 8, 8, 8}}, {3, 3}, {8, 8}, 1},
        /* Three rows of 65 pixels are too much, too: 4 x 20 images. */
        {{1, 2048, 12, 65, 1, 1, {3, 3}, {4, 20}, {1, 1}, {4, 20, 4, 20}}, {3, 3}, {1, 1}, 80},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int images = 0;
        struct conv k = passes(&rows[i].v, &images);
        if (memcmp(k.k, rows[i].k, sizeof k.k) || memcmp(k.d, rows[i].d, sizeof k.d) ||
            images != rows[i].images)
            fail_msg("row %zu: window %dx%d, dilations %d, %d, %d images", i, k.k[0], k.k[1],
                     k.d[0], k.d[1], images);
    }
}

static void same_values(void **state) {
    (void)state;
    enum { NETS = 400 };
    struct rng r = {11};
    int trimmed = 0, apart = 0;
    for (int i = 0; i < NETS; i++) {
        bool wide = i % 2;
        struct conv v = {.n = (int)rng_range(&r, 1, 2), .m = (int)rng_range(&r, 1, 2), .group = 1};
        v.c = wide ? (int)rng_range(&r, 10, 20) * 16 : (int)rng_range(&r, 1, 5);
        v.h = (int)rng_range(&r, 1, wide ? 40 : 9), v.w = (int)rng_range(&r, 1, wide ? 40 : 9);
        for (int a = 0; a < 2; a++) {
            int in = a ? v.w : v.h, most = wide ? 30 : 12;
            v.k[a] = (int)rng_range(&r, 1, wide ? 3 : 5), v.d[a] = (int)rng_range(&r, 1, most);
            v.s[a] = (int)rng_range(&r, 0, 3) ? 1 : 2;
            int span = (v.k[a] - 1) * v.d[a];
            v.pads[a] = (int)rng_range(&r, 0, span), v.pads[2 + a] = (int)rng_range(&r, 0, span);
            if (in + v.pads[a] + v.pads[2 + a] <= span) v.pads[a] = v.pads[2 + a] = span;
        }
        int images = 0;
        struct conv k = passes(&v, &images);
        trimmed += k.k[0] < v.k[0] || k.k[1] < v.k[1];
        apart += images > 1;
    }
    if (trimmed < 30 || apart < 15) fail_msg("%d trimmed, %d taken apart", trimmed, apart);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand), cmocka_unit_test(same_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
