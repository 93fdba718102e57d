/* Transposes between channels first and last at the border of the machine: they are values in
 * another layout, no work of the host. */
#include "test/unit/plan/golden_iss.h"

#define POOL "kernel_shape=[2,2]\n"

struct border {
    const char *text;       /* between the input and the output, of tensors x and y */
    enum hd_layout in, out; /* of their values */
    const char *host;       /* an operation on the host; NULL: there is none */
    int pixel;              /* bytes of one of the input in memory; 0: not looked at */
};

static void turns(void **state) {
    static const struct border cases[] = {
        {"input x i8[2,5,6,3]\n t ? = transpose(x) perm=[0,3,1,2]\n p ? = qmaxpool(t) " POOL
         "y ? = transpose(p) perm=[0,2,3,1]\n",
         HD_LAYOUT_ROWS, HD_LAYOUT_ROWS, NULL, 0},
        {"input x i8[1,8,8,3]\n const w i8[2,3,2,2] = "
         "{1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6}\n"
         "const b i32[2] = {1,2}\n const s f32[1] = {0.0625}\n"
         "t ? = transpose(x) perm=[0,3,1,2]\n y ? = qconv(t, w, b, s) kernel_shape=[2,2] x_zp=0 "
         "y_zp=0 lo=-128 hi=127 to=\"i8\"\n",
         HD_LAYOUT_ROWS, HD_LAYOUT_NHWC, NULL, 4},
        {"input x i8[1,20,9,8]\n p ? = qmaxpool(x) " POOL "y ? = transpose(p) perm=[0,2,3,1]\n",
         HD_LAYOUT_NHWC, HD_LAYOUT_ROWS, NULL, 0},
        {"input x i8[1,300,300,3]\n t ? = transpose(x) perm=[0,3,1,2]\n y ? = qmaxpool(t) " POOL,
         HD_LAYOUT_ROWS, HD_LAYOUT_NHWC, NULL, 0}, /* more pixels than a row may have */
        {"input x i8[1,12,7]\n const g f32[12] = {1,1,1,1,1,1,1,1,1,1,1,1}\n"
         "const b f32[12] = {0,0,0,0,0,0,0,0,0,0,0,0}\n"
         "t ? = transpose(x) perm=[0,2,1]\n n ? = qlayernorm(t, g, b) axis=-1 epsilon=0.5 x_zp=0 "
         "y_zp=0 lo=-128 hi=127 to=\"i8\"\n y ? = transpose(n) perm=[0,2,1]\n",
         HD_LAYOUT_NHWC, HD_LAYOUT_NHWC, NULL, 0},
        {"input x i8[1,9,7,1]\n t ? = reshape(x) shape=[1,1,9,7]\n y ? = qmaxpool(t) " POOL,
         HD_LAYOUT_ROWS, HD_LAYOUT_NHWC, NULL, 0}, /* one channel: a transpose moves nothing */
        {"input x i8[1,9,8,1]\n t ? = reshape(x) shape=[1,1,8,9]\n y ? = qmaxpool(t) " POOL,
         HD_LAYOUT_DENSE, HD_LAYOUT_NHWC, "reshape", 0},
        {"input x i8[1,6,5,8]\n t ? = transpose(x) perm=[0,2,1,3]\n y ? = qmaxpool(t) " POOL,
         HD_LAYOUT_DENSE, HD_LAYOUT_NHWC, "transpose", 0}, /* these bytes do move */
    };
    static const char *const machine[] = {"base", "tiny xm_banks=4"};
    hd_ctx *ctx = hd_ctx_create();
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct border *b = &cases[i];
        char text[1024];
        hd_graph *g = NULL;
        snprintf(text, sizeof text, "graph g {\n%s output y\n}", b->text);
        if (hd_graph_parse(ctx, text, "net", &g) != HD_OK) fail_msg("%s", hd_message(ctx));
        hd_model *m = golden_is_iss(ctx, g, machine[i % 2], 64);
        if (m->n_host_ops != (b->host != NULL) || (b->host && strcmp(m->host_ops[0].op, b->host)))
            fail_msg("case %zu: %d operations on the host, the first is %s", i, m->n_host_ops,
                     m->n_host_ops ? m->host_ops[0].op : "none");
        assert_int_equal(m->values[m->inputs[0]].layout, b->in);
        assert_int_equal(m->values[m->outputs[0]].layout, b->out);
        if (b->pixel) assert_int_equal(m->values[m->inputs[0]].c_pad, b->pixel);
        hd_model_destroy(m);
    }
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(turns)};
    return cmocka_run_group_tests_name("border", tests, NULL, NULL);
}
