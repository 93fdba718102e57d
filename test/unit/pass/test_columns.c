/* Pass columns: golden computes the same bytes before and after, and a convolution takes the form
 * that costs least, by hand. */
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
    int n, c, h, w, m, kh, kw, pt, pl, pb, pr, sy, sx, dy, x_zp;
};

static const char ints[] = "%s%d";

static int numbers(char *text, size_t room, int n, int step, int range) {
    int at = 0;
    for (int i = 0; i < n; i++)
        at += snprintf(text + at, room - (size_t)at, ints, i ? "," : "",
                       i * step % (2 * range + 1) - range);
    return at;
}

/* Neither what it reads nor what it makes is at the border. */
static hd_graph *network(hd_ctx *ctx, const struct conv *v) {
    static char text[1 << 17];
    int at = snprintf(text, sizeof text,
                      "graph g {\n input x i8[%d,%d,%d,%d]\n"
                      " const w i8[%d,%d,%d,%d] = {",
                      v->n, v->c, v->h, v->w, v->m, v->c, v->kh, v->kw);
    at += numbers(text + at, sizeof text - (size_t)at, v->m * v->c * v->kh * v->kw, 37, 50);
    at += snprintf(text + at, sizeof text - (size_t)at, "}\n const b i32[%d] = {", v->m);
    at += numbers(text + at, sizeof text - (size_t)at, v->m, 211, 900);
    at += snprintf(text + at, sizeof text - (size_t)at, "}\n const s f32[%d] = {", v->m);
    for (int i = 0; i < v->m; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%s0.00%d", i ? "," : "", 3 + i % 7);
    snprintf(text + at, sizeof text - (size_t)at,
             "}\n u ? = qrescale(x)\n"
             " y ? = qconv(u, w, b, s) x_zp=%d y_zp=3 kernel_shape=[%d,%d] pads=[%d,%d,%d,%d]"
             " strides=[%d,%d] dilations=[%d,1] group=1\n z ? = qadd(y, y)\n output z\n}",
             v->x_zp, v->kh, v->kw, v->pt, v->pl, v->pb, v->pr, v->sy, v->sx, v->dy);
    hd_graph *g = NULL;
    if (hd_graph_parse(ctx, text, "net", &g) != HD_OK) fail_msg("%s", hd_message(ctx));
    return g;
}

/* The product that stands for the convolution; NULL: it stays as it is. */
static const struct hd_node *made(const hd_graph *g) {
    for (size_t i = 0; i < g->n_nodes; i++)
        if (!g->nodes[i].dead && hd_attr_get(&g->nodes[i], "macs")) return &g->nodes[i];
    return NULL;
}

/* Runs the pass; true: it changed something. Channels in and out, and whether it is transposed. */
static bool passes(const struct conv *v, int64_t *in, int64_t *out, bool *transposed) {
    static int8_t want[1 << 16], got[1 << 16];
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = network(ctx, v);
    size_t n = golden_bytes(ctx, g, want, sizeof want);
    if (hd_pass_run(ctx, g, "columns") != HD_OK) fail_msg("%s", hd_message(ctx));
    assert_int_equal(golden_bytes(ctx, g, got, sizeof got), n);
    const struct hd_node *k = made(g);
    if (k) {
        *in = g->tensors[k->in[0]].dim[1], *out = g->tensors[k->out[0]].dim[1];
        *transposed = k->op == HD_IR_qconvtranspose;
    }
    if (memcmp(want, got, n))
        fail_msg("[%d,%d,%d,%d] to %d, window %dx%d, strides %d, %d: other bytes", v->n, v->c, v->h,
                 v->w, v->m, v->kh, v->kw, v->sy, v->sx);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
    return k != NULL;
}

static void forms(void **state) {
    (void)state;
    static const struct {
        struct conv v;
        int in, out; /* channels; 0: it stays */
        bool transposed;
    } rows[] = {
        /* One channel, stride 3: 12 columns at once, 4 results. Eight to one: pairs in, 16 out. */
        {{1, 1, 40, 48, 32, 7, 7, 3, 2, 3, 2, 1, 3, 1, 5}, 12, 32, true},
        {{1, 8, 40, 48, 1, 5, 5, 2, 2, 2, 2, 1, 1, 1, -3}, 16, 16, false},
        /* Stride 2 both ways: pairs in, one result at once. */
        {{1, 3, 40, 48, 32, 7, 7, 3, 3, 3, 3, 2, 2, 1, 4}, 6, 32, false},
        {{1, 16, 40, 48, 32, 3, 3, 1, 1, 1, 1, 2, 2, 1, 4}, 0, 0, false},
        {{1, 1, 40, 47, 32, 7, 7, 3, 3, 3, 3, 1, 1, 1, 4},
         16,
         32,
         true}, /* 47 is filled up to 48 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t in = 0, out = 0;
        bool transposed = false;
        passes(&rows[i].v, &in, &out, &transposed);
        if (in != rows[i].in || out != rows[i].out || transposed != rows[i].transposed)
            fail_msg("row %zu: %d channels to %d%s", i, (int)in, (int)out,
                     transposed ? ", transposed" : "");
    }
}

static void same_values(void **state) {
    (void)state;
    enum { NETS = 300 };
    struct rng r = {7};
    int changed = 0, spread = 0, strided = 0;
    for (int i = 0; i < NETS; i++) {
        struct conv v = {.n = (int)rng_range(&r, 1, 2), .kh = (int)rng_range(&r, 1, 5)};
        bool few = (int)rng_range(&r, 0, 2) > 0; /* in, or out */
        v.c = few ? (int)rng_range(&r, 1, 6) : (int)rng_range(&r, 8, 20);
        v.m = few ? (int)rng_range(&r, 1, 20) : (int)rng_range(&r, 1, 3);
        v.kw = (int)rng_range(&r, 2, 7), v.dy = (int)rng_range(&r, 0, 3) ? 1 : 2;
        v.h = (v.kh - 1) * v.dy + (int)rng_range(&r, 1, 9),
        v.w = 12 * (int)rng_range(&r, 1, 4) + (i % 2 ? (int)rng_range(&r, 1, 11) : 0);
        v.pt = (int)rng_range(&r, 0, v.kh - 1), v.pb = (int)rng_range(&r, 0, v.kh - 1);
        v.pl = (int)rng_range(&r, 0, v.kw - 1), v.pr = (int)rng_range(&r, 0, v.kw - 1);
        v.sy = (int)rng_range(&r, 0, 1) ? 1 : (int)rng_range(&r, 1, 3),
        v.sx = (int)rng_range(&r, 1, 4);
        v.x_zp = (int)rng_range(&r, -5, 5);
        int64_t in, out;
        bool transposed = false, is = passes(&v, &in, &out, &transposed);
        changed += is, spread += transposed, strided += is && v.sx > 1;
    }
    if (changed < 60 || spread < 8 || strided < 40)
        fail_msg("%d changed, %d transposed, %d with strides", changed, spread, strided);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(forms), cmocka_unit_test(same_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
