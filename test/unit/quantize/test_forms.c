/* Operations between layers that have no integer form, as some that have: the same values, and
 * nothing of the old operation is left. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "compiler/quantize/quantize.h"
#include "cpu_ref/golden.h"

enum { LONG = 1500, MOST = 4 * 2 * LONG * 3 }; /* a channel has more than 4096 pixels */

/* Of c f32[1,4,h,3], the result of a convolution of x f32[1,4,h,3]: y, which a product reads. */
static const struct form {
    const char *text;
    enum hd_ir_op gone;
    int high, norms; /* h; layer norms that are left */
} forms[] = {
    {"y ? = reducel1(c, pixels) keepdims=1\n", HD_IR_reducel1, 5, 0},
    {"y ? = reducel2(c, pixels) keepdims=0\n", HD_IR_reducel2, 5, 0},
    {"y ? = reducesumsquare(c, one)\n", HD_IR_reducesumsquare, 5, 0},
    {"y ? = reducesumsquare(c)\n", HD_IR_reducesumsquare, 5, 0},
    {"a ? = abs(c)\ny ? = reducelogsum(a, one)\n", HD_IR_reducelogsum, 5, 0},
    {"y ? = reducelogsumexp(c, one) keepdims=0\n", HD_IR_reducelogsumexp, 5, 0},
    {"y ? = reducemin(c, pixels)\n", HD_IR_reducemin, 5, 0},
    {"y ? = logsoftmax(c) axis=1\n", HD_IR_logsoftmax, 5, 0},
    {"p ? = softmax(c) axis=2\ny ? = log(p)\n", HD_IR_softmax, 5, 0},
    /* a pool over pixels, and one over channels */
    {"y ? = reducemax(c, sample) keepdims=1\n", HD_IR_reducemax, 5, 0},
    {"r ? = reshape(c) shape=[1,2,2,5,3]\ny ? = reduceprod(r, one) keepdims=0\n", HD_IR_reduceprod,
     5, 0},
    /* one repeats along the other */
    {"y ? = max(c, f)\n", HD_IR_max, 5, 0},
    {"y ? = min(f, c)\n", HD_IR_min, 5, 0},
    {"m ? = reducemean(c, pixels)\ny ? = max(m, c)\n", HD_IR_max, 5, 0},
    {"m ? = reducemean(c, pixels)\ny ? = min(c, m)\n", HD_IR_min, 5, 0},
    {"y ? = div(c, by)\n", HD_IR_div, 5, 0},
    /* divided by what a vector has as its length, and by its deviation */
    {"s ? = mul(c, c)\nm ? = reducesum(s, one)\nn ? = sqrt(m)\ny ? = div(c, n)\n", HD_IR_div, 5, 1},
    {"m ? = reducemean(c, sample)\nd ? = sub(c, m)\ns ? = mul(d, d)\nu ? = reducesum(s, sample)\n"
     "w ? = div(u, seven)\nr ? = sqrt(w)\ne ? = add(r, little)\ny ? = div(d, e)\n",
     HD_IR_reducesum, 5, 1},
    /* rows of a layer norm, unless they are longer than the machine's, or would be made by bytes */
    {"y ? = instancenorm(c, k, f4)\n", HD_IR_instancenorm, 16, 1},
    {"y ? = instancenorm(c, k, f4)\n", HD_IR_instancenorm, 5, 0},
    {"r ? = reshape(c) shape=[1,15,4]\nm ? = matmul(r, square)\nt ? = transpose(m) perm=[0,2,1]\n"
     "y ? = groupnorm(t, k, f4) num_groups=2\n",
     HD_IR_groupnorm, 5, 0},
    {"y ? = instancenorm(c, k, f4)\n", HD_IR_instancenorm, LONG, 0},
    {"y ? = groupnorm(c, k, f4) num_groups=2\n", HD_IR_groupnorm, LONG, 0},
    {"y ? = groupnorm(c, k, f4) num_groups=2\n", HD_IR_groupnorm, 160, 1},
    {"y ? = groupnorm(c, k, f4) num_groups=2\n", HD_IR_groupnorm, 176, 0},
    {"s ? = expand(f, all)\nb ? = expand(f, all)\ny ? = layernorm(c, s, b) axis=1\n",
     HD_IR_layernorm, LONG, 0},
    {"y ? = instancenorm(c, k, f4)\n", HD_IR_instancenorm, 700, 0},
    /* channels of one dimension: of an image, or rows already */
    {"q ? = reshape(x) shape=[1,4,15]\ne ? = conv(q, line)\ny ? = instancenorm(e, k, f4)\n",
     HD_IR_instancenorm, 5, 0},
    {"q ? = reshape(c) shape=[1,4,15]\ny ? = instancenorm(q, k, f4)\n", HD_IR_instancenorm, 5, 1},
    /* an image as rows of groups, and back: the norm of the image */
    {"r ? = reshape(c) shape=[1,2,9000]\nn ? = instancenorm(r, k2, f2)\n"
     "y ? = reshape(n) shape=[1,4,1500,3]\n",
     HD_IR_reshape, LONG, 0},
    /* batch normalisation of rows, which a reshape made or did not */
    {"t ? = reshape(c) shape=[15,4]\nb ? = batchnorm(t, k, f4, f4, v4)\ny ? = relu(b)\n",
     HD_IR_batchnorm, 5, 0},
    {"r ? = transpose(c) perm=[0,2,3,1]\nt ? = reshape(r) shape=[15,4]\nb ? = batchnorm(t, k, f4, "
     "f4, v4)\ny ? = relu(b)\n",
     HD_IR_batchnorm, 5, 0},
    {"r ? = reshape(c) shape=[5,3,4]\nm ? = matmul(r, square)\ns ? = add(m, f4)\nt ? = reshape(s) "
     "shape=[15,4]\ny ? = batchnorm(t, k, f4, f4, v4)\n",
     HD_IR_mul, 5, 0},
    {"r ? = reshape(c) shape=[1,4,5,3,1]\np ? = avgpool(r) kernel_shape=[2,3,1]\ny ? = relu(p)\n",
     HD_IR_avgpool, 5, 0},
    /* channels of volumes */
    {"r ? = reshape(c) shape=[1,4,1,5,3]\ny ? = prelu(r, slopes)\n", HD_IR_prelu, 5, 0},
    {"r ? = reshape(c) shape=[1,4,5,1,3]\na ? = abs(r)\ny ? = batchnorm(a, k, f4, f4, v4)\n",
     HD_IR_batchnorm, 5, 0},
    {"r ? = reshape(c) shape=[1,4,5,1,3]\ne ? = conv(r, cube)\ny ? = reducemean(e, pixels)\n",
     HD_IR_reducemean, 5, 0},
    {"r ? = reshape(c) shape=[1,4,1,5,3]\ne ? = conv(r, cube)\ny ? = reducemax(e, sample) "
     "keepdims=0\n",
     HD_IR_reducemax, 5, 0},
    {"r ? = reshape(c) shape=[1,4,15,100,3]\ny ? = instancenorm(r, k, f4)\n", HD_IR_instancenorm,
     LONG, 0},
    {"s ? = reshape(c) shape=[1,4,15,100,3]\nr ? = reshape(s) shape=[1,2,9000]\nn ? = "
     "instancenorm(r, k2, f2)\ny ? = reshape(n) shape=[1,4,15,100,3]\n",
     HD_IR_instancenorm, LONG, 0},
    /* it changes from pixel to pixel, too */
    {"s ? = expand(slope, all)\ny ? = layernorm(c, s) axis=1\n", HD_IR_layernorm, LONG, 0},
    /* the sum of all pixels, and running sums: along rows, a middle dimension, channels */
    {"y ? = reducesum(c, pixels) keepdims=0\n", HD_IR_reducesum, 16, 0},
    {"y ? = cumsum(c, last)\n", HD_IR_cumsum, 5, 0},
    {"y ? = cumsum(c, middle) exclusive=1\n", HD_IR_cumsum, 5, 0},
    {"y ? = cumsum(c, first) reverse=1\n", HD_IR_cumsum, 5, 0},
    {"y ? = cumsum(c, first) reverse=1 exclusive=1\n", HD_IR_cumsum, 5, 0},
    /* weighted sums: of pixels, of rows; the weights stand on either side. Not of what is no matrix
     */
    {"m ? = reducemean(c, one)\np ? = mul(m, c)\ny ? = reducesum(p, pixels) keepdims=0\n",
     HD_IR_mul, 16, 0},
    {"r ? = reshape(c) shape=[1,15,4]\nm ? = matmul(r, square)\ns ? = reducemean(m, two)\n"
     "p ? = mul(m, s)\ny ? = reducesum(p, one)\n",
     HD_IR_mul, 5, 0},
    /* averages over windows that no tile holds, in two */
    {"p ? = avgpool(c) kernel_shape=[2800,3] strides=[100,1]\ny ? = relu(p)\n", HD_IR_identity,
     2 * LONG, 0},
    /* the sum over rows; the largest channel where pixels are too many to be channels */
    {"r ? = reshape(c) shape=[1,48,4]\nm ? = matmul(r, square)\ny ? = reducesum(m, one)\n",
     HD_IR_reducesum, 16, 0},
    {"y ? = reducemax(c, one)\n", HD_IR_reducemax, LONG, 0},
    {"y ? = reducemax(c, one) keepdims=0\n", HD_IR_reducemax, LONG, 0},
    /* the larger and the smaller of rows */
    {"r ? = reshape(c) shape=[1,15,4]\nm ? = matmul(r, square)\nn ? = matmul(m, square)\n"
     "y ? = max(m, n)\n",
     HD_IR_max, 5, 0},
    {"r ? = reshape(c) shape=[1,15,4]\nm ? = matmul(r, square)\nn ? = matmul(m, square)\n"
     "y ? = min(m, n)\n",
     HD_IR_min, 5, 0},
    /* a bias of zeros for the channels of all groups */
    {"l ? = reducel1(c, pixels) keepdims=1\ny ? = convtranspose(l, grouped) kernel_shape=[1,1] "
     "group=2\n",
     HD_IR_reducel1, 5, 0},
};

static hd_graph *parse(hd_ctx *ctx, hd_arena *a, const struct form *f) {
    hd_graph *g = NULL;
    const char *text = hd_sprintf(
        a,
        "graph net {\ninput x f32[1,4,%d,3]\nconst one i64[1] = {1}\nconst pixels i64[2] = {2,3}\n"
        "const all i64[3] = {4,%d,3}\nconst slope f32[1,1,3] = {1,2,-0.5}\n"
        "const first i64[] = {1}\nconst middle i64[] = {2}\nconst last i64[] = {-1}\n"
        "const two i64[1] = {2}\n"
        "const slopes f32[4,1,1,1] = {0.25,-0.5,0.125,2}\n"
        "const sample i64[3] = {1,-2,-1}\nconst seven f32[] = {7}\nconst little f32[] = {0x1p-30}\n"
        "const f f32[4,1,1] = {0.5,-0.25,0,1}\nconst f4 f32[4] = {0.5,-0.25,0,1}\n"
        "const k2 f32[2] = {1,2}\nconst f2 f32[2] = {0.5,-1}\nconst v4 f32[4] = {1,2,0.5,4}\n"
        "const square f32[4,4] = {1,2,-1,0.5, 0.25,-1,1,2, -2,1,0.5,0.5, 1,1,1,-1}\n"
        "const k f32[4] = {1,2,-1,0.5}\nconst by f32[1,1,5,1] = {1,2,4,-0.5,0.25}\n"
        "const weights f32[4,4,1,1] = {1,2,-1,0.5, 0.25,-1,1,2, -2,1,0.5,0.5, 1,1,1,-1}\n"
        "const line f32[4,4,1] = {1,2,-1,0.5, 0.25,-1,1,2, -2,1,0.5,0.5, 1,1,1,-1}\n"
        "const cube f32[4,4,1,1,1] = {1,2,-1,0.5, 0.25,-1,1,2, -2,1,0.5,0.5, 1,1,1,-1}\n"
        "const grouped f32[4,2,1,1] = {1,2,-1,0.5, 0.25,-1,1,2}\n"
        "const bias f32[4] = {0.5,-0.5,1,0}\nconst unit f32[1,1] = {2}\nc ? = conv(x, weights, "
        "bias)\n"
        "%sflat ? = flatten(y) axis=0\nrows ? = transpose(flat) perm=[1,0]\n"
        "v ? = matmul(rows, unit)\noutput v\n}",
        f->high, f->high, f->text);
    if (hd_graph_parse(ctx, text, "net", &g) || hd_graph_infer(ctx, g))
        fail_msg("%s\n%s", hd_message(ctx), text);
    return g;
}

static const float *run(hd_ctx *ctx, const hd_graph *g, hd_arena *a, const float *x) {
    struct hd_tensor *t = hd_golden_tensors(g, a);
    t[g->inputs[0]].data = x;
    if (hd_golden_eval(ctx, g, NULL, 0, t, a) != HD_OK) fail_msg("%s", hd_message(ctx));
    return t[g->outputs[0]].data;
}

static int count(const hd_graph *g, enum hd_ir_op op) {
    int n = 0;
    for (size_t i = 0; i < g->n_nodes; i++) n += !g->nodes[i].dead && g->nodes[i].op == op;
    return n;
}

static void same_values(void **state) {
    (void)state;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        hd_ctx *ctx = hd_ctx_create();
        hd_arena *a = hd_arena_create();
        hd_graph *g = parse(ctx, a, &forms[f]), *p = parse(ctx, a, &forms[f]);
        float *x = hd_new_array(a, float, MOST);
        for (int i = 0; i < MOST; i++) x[i] = (float)(i * 37 % 129 - 64) / 31;
        if (hd_quant_prepare(ctx, p) != HD_OK) fail_msg("%s", hd_message(ctx));
        if (count(p, forms[f].gone))
            fail_msg("form %d: %s is left", (int)f, hd_ir_ops[forms[f].gone].name);
        if (forms[f].gone == HD_IR_max && !count(p, HD_IR_relu) && count(p, HD_IR_transpose) != 4)
            fail_msg("form %d: rows are not turned to channels, which is free", (int)f);
        if (forms[f].high == 2 * LONG && count(p, HD_IR_avgpool) != 2)
            fail_msg("form %d has %d pools", (int)f, count(p, HD_IR_avgpool));
        if (count(p, HD_IR_layernorm) != forms[f].norms)
            fail_msg("form %d has %d norms", (int)f, count(p, HD_IR_layernorm));
        const float *want = run(ctx, g, a, x), *got = run(ctx, p, a, x);
        int64_t n = hd_tensor_elems(&g->tensors[g->outputs[0]]);
        for (int64_t i = 0; i < n; i++)
            if (!(fabsf(want[i] - got[i]) <= 2e-5f * (1 + fabsf(want[i]))))
                fail_msg("form %d, element %d: %g, want %g", (int)f, (int)i, (double)got[i],
                         (double)want[i]);
        hd_graph_destroy(g);
        hd_graph_destroy(p);
        hd_arena_destroy(a);
        hd_ctx_destroy(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
