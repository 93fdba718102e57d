/* Convolutions of device cuda by cuDNN, which stands in (test/gpu/cudnn_stand_in.h): networks
 * against golden, what is one call of the library, engines that are refused, precisions, each call
 * failing in turn. */
#include "gpu_ref/gpu_plan.h"
#include "test/gpu/cublaslt_stand_in.h"
#include "test/gpu/cuda_life.h"
#include "test/gpu/cudnn_stand_in.h"

static const struct convolutions {
    struct net net;
    int runs, ops; /* calls of the library, and operations in them */
} nets[] = {
    {{"x f32 2,16,19,23 -2 2; w f32 33,16,3,2 -1 1; wb f32 33 -1 1",
      "a ? = conv(x, w, wb) kernel_shape=[3,2] strides=[1,2] pads=[2,1,0,1]\ny ? = relu(a)", "y"},
     1,
     3},
    {{"x f32 1,16,29,23 -2 2; w f32 16,16,3,3 -1 1; wb f32 16 -1 1",
      "a ? = conv(x, w, wb) kernel_shape=[3,3] pads=[1,1,1,1]\nb ? = add(x, a)\ny ? = relu(b)",
      "y"},
     1,
     4},
    {{"x f32 1,16,27,23 -2 2; w f32 20,16,3,3 -1 1; wb f32 20 -1 1; wz f32 20,16,2,4 -1 1",
      "a ? = conv(x, w, wb) kernel_shape=[3,3] strides=[1,1] dilations=[2,3] pads=[2,3,2,3]\n"
      "b ? = conv(x, wz, wb) kernel_shape=[2,4] pads=[1,1,0,2]\nc ? = add(a, b)\ny ? = sigmoid(c)",
      "y"},
     2,
     5},
    {{"x f32 1,256,47,33 -2 2; w f32 256,1,5,3 -1 1; wb f32 256 -1 1",
      "a ? = conv(x, w, wb) kernel_shape=[5,3] strides=[2,1] pads=[2,1,2,1] group=256\n"
      "y ? = relu(a)",
      "y"},
     1,
     3},
    {{"x f32 2,24,22,14 -2 2; w f32 39,8,3,3 -1 1",
      "a ? = conv(x, w) kernel_shape=[3,3] pads=[1,1,1,1] group=3\ny ? = relu(a)", "y"},
     1,
     3},
    {{"x f32 3,32,131 -2 2; w f32 25,32,5 -1 1; wb f32 25 -1 1",
      "y ? = conv(x, w, wb) kernel_shape=[5] strides=[1] dilations=[2] pads=[4,3]", "y"},
     1,
     2},
    {{"x f32 1,8,9,11,7 -2 2; w f32 17,8,2,3,3 -1 1; wb f32 17 -1 1",
      "a ? = conv(x, w, wb) kernel_shape=[2,3,3] pads=[1,1,0,0,1,2]\ny ? = relu(a)", "y"},
     1,
     3},
    /* Batch normalisation becomes weights, but not with a scale that is no constant. */
    {{"x f32 1,18,29,23 -2 2; w f32 18,18,3,3 -1 1; ws f32 18 0.5 2; wb f32 18 -1 1",
      "a ? = conv(x, w) kernel_shape=[3,3] pads=[1,1,1,1]\nb ? = batchnorm(a, ws, wb, wb, ws) "
      "epsilon=0x1p-4\nc ? = add(b, x)\ny ? = relu(c)",
      "y"},
     1,
     4},
    {{"x f32 1,18,29,23 -2 2; w f32 18,18,3,3 -1 1; ws f32 18 0.5 2; wb f32 18 -1 1; z f32 18 -1 1",
      "a ? = conv(x, w, wb) kernel_shape=[3,3] pads=[1,1,1,1]\nb ? = batchnorm(a, wb, ws, ws, ws)\n"
      "c ? = conv(b, w, wb) kernel_shape=[3,3] pads=[1,1,1,1]\n"
      "y ? = batchnorm(c, z, ws, ws, ws)",
      "y"},
     2,
     4},
    /* The add is of another shape, and a value has two readers: neither is part of a call. */
    {{"x f32 1,16,29,23 -2 2; w f32 16,16,3,3 -1 1; wb f32 16 -1 1; z f32 16,1,1 -1 1",
      "a ? = conv(x, w, wb) kernel_shape=[3,3] pads=[1,1,1,1]\nb ? = add(a, z)\n"
      "c ? = conv(b, w, wb) kernel_shape=[3,3] pads=[1,1,1,1]\nd ? = relu(c)\ny ? = sub(d, c)",
      "y"},
     2,
     4},
    {{"x f32 1,4,9,11 -2 2; w f32 6,4,3,3 -1 1; wb f32 6 -1 1",
      "y ? = conv(x, w, wb) kernel_shape=[3,3]", "y"},
     0,
     0},
};
enum { N_NETS = sizeof nets / sizeof *nets };

static int start(void **state) {
    (void)state;
    emu.calls = emu.fail_at = nn_seen.calls = nn_seen.fail_at = nn_seen.runs = nn_seen.ops = 0;
    emu.memory_bytes = (size_t)1 << 30;
    nn_seen.alone = false;
    nn_seen.refuse = 1u << NN_REFUSES;
    return 0;
}

static void nothing_left(const char *of) {
    if (emu.wrong) fail_msg("%s: %s", of, emu.wrong);
    assert_int_equal(nn_seen.live, 0);
    assert_int_equal(emu.live, 0);
}

static void like_golden(void **state) {
    hd_ctx *ctx = hd_ctx_create();
    for (int i = 0; i < N_NETS; i++) {
        start(state);
        nets_state = (uint32_t)(500 + i);
        run_net(ctx, &nets[i].net, "cuda", 1, "cuDNN");
        nothing_left(nets[i].net.nodes);
        assert_int_equal(nn_seen.runs, nets[i].runs); /* recorded once, replayed */
        assert_int_equal(nn_seen.ops, nets[i].ops);
        if (nets[i].runs) assert_int_equal(nn_seen.engine, NN_EXACT);
    }
    hd_ctx_destroy(ctx);
}

/* ---- what the library does not take --------------------------------------------------------- */

/* The plan's first step that has `name`; `from` of it is its first letters. */
static void first_step(const struct net *n, const struct hd_device_options *o, const char *how,
                       int nodes) {
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = NULL;
    hd_gpu *gpu = NULL;
    struct hd_gpu_plan *p = NULL;
    hd_model *m = build(ctx, n, &g);
    assert_int_equal(hd_gpu_cuda.open(ctx, &gpu), HD_OK);
    if (hd_gpu_plan_create(ctx, &hd_gpu_cuda, gpu, g, m, NULL, NULL, 0, o, NULL, &p) != HD_OK)
        fail_msg("%s", hd_message(ctx));
    assert_string_equal(p->steps[0].how, how);
    assert_int_equal(p->steps[0].n_nodes, nodes);
    hd_gpu_plan_destroy(p);
    hd_gpu_cuda.close(gpu);
    hd_model_destroy(m);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
    nothing_left(n->nodes);
}

static void refused(void **state) {
    hd_ctx *ctx = hd_ctx_create();
    (void)state;
    first_step(&nets[1].net, NULL, "cuda: cuDNN", 3);
    nn_seen.refuse |= 1u << NN_EXACT;
    first_step(&nets[1].net, NULL, "cuda: cuDNN", 3);
    assert_int_equal(nn_seen.engine, NN_FALLBACK);
    run_net(ctx, &nets[1].net, "cuda", 1, "cuDNN's last engine");
    nn_seen.refuse |= 1u << NN_FALLBACK;
    first_step(&nets[1].net, NULL,
               "cuda in f32; not by cuDNN: cuda: cuDNN lists 6 engines for these sizes, and none "
               "that fits",
               3);
    nn_seen.refuse = 1u << NN_REFUSES;
    nn_seen.alone = true; /* nothing behind the bias */
    first_step(&nets[1].net, NULL, "cuda: cuDNN", 1);
    nn_seen.runs = nn_seen.ops = 0;
    run_net(ctx, &nets[1].net, "cuda", 1, "cuDNN alone");
    assert_int_equal(nn_seen.runs, 1);
    assert_int_equal(nn_seen.ops, 2);
    nothing_left("alone");
    hd_ctx_destroy(ctx);
}

static void left_out(void **state) {
    (void)state;
    setenv("HEDDLE_CUDA_LIBRARIES", "cublaslt,cudnnx", 1);
    first_step(&nets[0].net, NULL, "cuda in f32; not by cuDNN: HEDDLE_CUDA_LIBRARIES leaves it out",
               2);
    setenv("HEDDLE_CUDA_LIBRARIES", "nccl,cudnn", 1);
    first_step(&nets[0].net, NULL, "cuda: cuDNN", 2);
    unsetenv("HEDDLE_CUDA_LIBRARIES");
}

/* ---- precisions ----------------------------------------------------------------------------- */

static void run_once(hd_ctx *ctx, const hd_model *m, const char *device, enum hd_precision in,
                     void *const *x, float *y) {
    struct hd_device_options o = {.machine = m->machine, .precision = in};
    hd_session *s = NULL;
    void *out = y;
    assert_int_equal(hd_session_open(ctx, m, device, &o, &s), HD_OK);
    assert_int_equal(hd_session_run(ctx, s, (const void *const *)x, &out), HD_OK);
    hd_session_close(s);
}

/* Tensor cores when they are asked for, within their bounds and outside of those of f32. */
static void precisions(void **state) {
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = NULL;
    hd_model *m = build(ctx, &nets[5].net, &g);
    void *in[INPUTS] = {NULL};
    size_t n = hd_value_dense_bytes(&m->values[m->outputs[0]]) / sizeof(float);
    float *golden = calloc(n, sizeof *golden), *y = calloc(n, sizeof *y);
    double largest = 0;
    (void)state;
    fill(m, &nets[5].net, in);
    run_once(ctx, m, "golden", HD_PRECISION_f32, in, golden);
    for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs((double)golden[i]));
    for (int p = 0; p < HD_PRECISIONS; p++) {
        struct hd_device_options o = {.precision = (enum hd_precision)p};
        first_step(&nets[5].net, &o, p ? "cuda: cuDNN, operands in tf32" : "cuda: cuDNN", 1);
        run_once(ctx, m, "cuda", (enum hd_precision)p, in, y);
        assert_int_equal(nn_seen.engine, p ? NN_ROUNDS : NN_EXACT);
        struct hd_cpu_bound b = hd_cpu_bound_in(HD_IR_conv, (enum hd_precision)p);
        double most = 0;
        for (size_t i = 0; i < n; i++) {
            double d = fabs((double)y[i] - (double)golden[i]);
            most = fmax(most, d);
            assert_true(d <= b.relative * fabs((double)golden[i]) + b.of_largest * largest);
        }
        assert_int_equal(most > 1e-5 * largest, p > 0);
    }
    for (int i = 0; i < INPUTS; i++) free(in[i]);
    free(golden);
    free(y);
    hd_model_destroy(m);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

/* ---- errors --------------------------------------------------------------------------------- */

/* Few elements: they are those of a kernel of ours when the library is tried without the add. */
static const struct net few = {
    "x f32 1,384,3,3 -2 2; w f32 384,384,1,1 -1 1; wb f32 384 -1 1",
    "a ? = conv(x, w, wb) kernel_shape=[1,1]\nb ? = add(a, x)\ny ? = relu(b)", "y"};

/* While a plan is made, an error gives another engine, or a kernel of ours; in a run it is one. */
static void any_call_may_fail(void **state) {
    struct world w = {.ctx = hd_ctx_create(), .a = hd_arena_create()};
    w.m = build(w.ctx, &few, &w.g);
    assert_int_equal(hd_host_choose_io(w.ctx, w.a, w.m, -1, w.g, &w.io), HD_OK);
    start(state);
    assert_int_equal(whole_life(&w), HD_OK);
    int calls = nn_seen.calls, failed = 0, otherwise = 0;
    assert_true(calls > 100);
    nn_seen.idle = true;
    for (int at = 1; at <= calls; at++) {
        nn_seen.calls = nn_seen.runs = 0;
        nn_seen.fail_at = at;
        hd_status s = whole_life(&w);
        failed += s == HD_DEVICE;
        otherwise += s == HD_OK && nn_seen.runs == 0;
        if (s == HD_DEVICE) assert_non_null(strstr(hd_message(w.ctx), "cuda: cudnnBackend"));
        if (s != HD_DEVICE) assert_int_equal(s, HD_OK);
        hd_clear(w.ctx);
        nothing_left("a call that fails");
    }
    nn_seen.idle = false;
    /* Of three runs by launches: make a pack, three attributes, finalise, execute. */
    assert_int_equal(failed, 3 * 6);
    assert_int_equal(otherwise, 0); /* cuDNN is tried again without what lies behind */
    hd_model_destroy(w.m);
    hd_graph_destroy(w.g);
    hd_arena_destroy(w.a);
    hd_ctx_destroy(w.ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(like_golden, start),       cmocka_unit_test_setup(refused, start),
        cmocka_unit_test_setup(left_out, start),          cmocka_unit_test_setup(precisions, start),
        cmocka_unit_test_setup(any_call_may_fail, start),
    };
    char cache[] = "/tmp/hd_cudnn_XXXXXX", command[64];
    if (!mkdtemp(cache)) return 1;
    setenv("XDG_CACHE_HOME", cache, 1);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    emu_clean();
    snprintf(command, sizeof command, "rm -r %s", cache);
    return failed || system(command) != 0;
}
