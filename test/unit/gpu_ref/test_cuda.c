/* Device cuda on a driver that stands in (test/gpu/cuda_stand_in.h), which runs its kernels: the
 * networks of gpu_nets.def against golden, by rules of thumb and by schedules at random from a
 * database; one launch for a run; what happens when any call fails,
 * memory does not suffice, the GPU is lost, and two contexts are open. */
#include "gpu_ref/gpu_plan.h"
#include "test/gpu/cublaslt_stand_in.h"
#include "test/gpu/cuda_life.h"
#include "test/gpu/tuned.h"
#include "test/unit/cpu_ref/nets.h"

static const struct net nets[] = {
#define NET(operands, nodes, output) {operands, nodes, output},
#include "gpu_nets.def"
};
enum { N_NETS = sizeof nets / sizeof *nets };

static void like_golden(void **unused) {
    hd_ctx *ctx = hd_ctx_create();
    int once =
        0; /* launches beside those of runs, when a plan is made: sums and transposes of weights */
    (void)unused;
    for (int i = 0; i < N_NETS; i++) {
        nets_state = (uint32_t)(1000 + i);
        int graphs = emu.graph_launches, launches = emu.launches;
        run_net(ctx, &nets[i], "cuda", 1, "cuda");
        if (emu.wrong) fail_msg("%s: %s", nets[i].nodes, emu.wrong);
        assert_int_equal(emu.graph_launches - graphs, 2); /* two runs */
        assert_true(emu.launches - launches <= 4);
        once += emu.launches - launches;
        assert_int_equal(emu.live, 0);
    }
    assert_true(once > 0);
    hd_ctx_destroy(ctx);
}

/* With a choice for each kernel, among those of a GPU with tensor cores. */
static void like_golden_tuned(void **unused) {
    static const char db[] = "build/test_cuda.db";
    hd_ctx *ctx = hd_ctx_create();
    struct tuned sum = {0, 0};
    struct rng r = {3};
    (void)unused;
    for (int i = 0; i < N_NETS; i++) {
        nets_state = (uint32_t)(1000 + i);
        hd_graph *g = NULL;
        hd_gpu *gpu = NULL;
        hd_model *m = build(ctx, &nets[i], &g);
        hd_status s = hd_gpu_cuda.open(ctx, &gpu);
        if (s == HD_OK)
            s = tuned_db(ctx, &hd_gpu_cuda, hd_gpu_cuda.limits(gpu), g, m, &r, db, &sum);
        if (s != HD_OK) fail_msg("%s: %s", nets[i].nodes, hd_message(ctx));
        hd_gpu_cuda.close(gpu);
        hd_model_destroy(m);
        hd_graph_destroy(g);
        nets_db = db;
        run_net(ctx, &nets[i], "cuda", 1, "cuda, tuned");
        nets_db = NULL;
        if (emu.wrong) fail_msg("%s: %s", nets[i].nodes, emu.wrong);
        assert_int_equal(emu.live, 0);
    }
    assert_true(sum.works > 20 && sum.steps > 3 * sum.works / 4);
    unlink(db);
    hd_ctx_destroy(ctx);
}

/* ---- where products go ---------------------------------------------------------------------- */

static int count(const char *text, const char *what) {
    int n = 0;
    for (const char *p = text; (p = strstr(p, what)); p++) n++;
    return n;
}

#define QCONV(y, x, c, w, wb, ws, rest)                                                            \
    y " ? = qconv(" x ", " w ", " wb ", " ws ") x_zp=" c " y_zp=7 lo=-128 hi=127 to=\"i8\" " rest

/* Kernels of step gemm, and those of mma alone. */
static void on_tensor_cores(void **unused) {
    static const struct {
        struct net net;
        int gemms, mmas;
    } cases[] = {
        /* images between convolutions have channels last */
        {{"x i8 1,32,6,6 -9 9; w i8 48,32,3,3 -9 9; wb i32 48 -9 9; ws f32 48 0.1 0.2; w2 i8 "
          "48,48,1,1 -9 9",
          QCONV("a", "x", "3", "w", "wb", "ws", "kernel_shape=[3,3]\n")
              QCONV("b", "a", "7", "w2", "wb", "ws", "kernel_shape=[1,1]\n") "y ? = relu(b)",
          "y"},
         1,
         1},
        /* a sequence has the reduced range last already, whatever its length */
        {{"x i8 2,32,48 -9 9; w i8 48,64 -9 9; w2 i8 64,48 -9 9",
          "a ? = qmatmul(x, w) a_zp=3 b_zp=0 scale=0x1p-6 y_zp=4 lo=-128 hi=127 to=\"i8\"\n"
          "y ? = qmatmul(a, w2) a_zp=4 b_zp=0 scale=0x1p-6 y_zp=4 lo=-128 hi=127 to=\"i8\"",
          "y"},
         2,
         0},
        {{"x i8 1,192 -9 9; w i8 35,192 -9 9; wb i32 35 -9 9; ws f32 35 0.1 0.3", /* one row */
          "y ? = qgemm(x, w, wb, ws) x_zp=3 y_zp=-7 lo=-128 hi=127 to=\"i8\"", "y"},
         1,
         0},
        {{"x u8 1,33,7,7 0 9; w i8 70,33,1,1 -9 9; wb i32 70 -9 9; ws f32 70 0.1 0.2", /* ragged */
          QCONV("y", "x", "0", "w", "wb", "ws", "kernel_shape=[1,1]"), "y"},
         0,
         1},
    };
    const struct hd_gpu_limits card = {.name = "card",
                                       .f64 = true,
                                       .mma = true,
                                       .dot8 = true,
                                       .local_bytes = 48 << 10,
                                       .max_threads = 1024,
                                       .align = 256,
                                       .units = 132};
    hd_ctx *ctx = hd_ctx_create();
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hd_graph *g = NULL;
        struct hd_gpu_plan *p = NULL;
        hd_model *m = build(ctx, &cases[i].net, &g);
        if (hd_gpu_plan_on_paper(ctx, &hd_gpu_cuda, &card, g, m, NULL, &p) != HD_OK)
            fail_msg("%s", hd_message(ctx));
        const char *text = hd_kernels_text(p->kernels);
        int mmas = count(text, "hd_mma_ss(f") + count(text, "hd_mma_su(f");
        if (count(text, "int hd_f[") != cases[i].gemms || (mmas > 0) != cases[i].mmas)
            fail_msg("%s: %d gemms, %d mmas", cases[i].net.nodes, count(text, "int hd_f["), mmas);
        hd_gpu_plan_destroy(p);
        hd_model_destroy(m);
        hd_graph_destroy(g);
    }
    hd_ctx_destroy(ctx);
}

/* The host (f16) reads an image that lies channels last, and makes another. */
static void host_between(void **unused) {
    static const struct net net = {
        "x i8 2,32,5,6 -128 127; w i8 32,32,3,3 -128 127; wb i32 32 -999 999; ws f32 32 0.0001 "
        "0.001",
        QCONV("a", "x", "3", "w", "wb", "ws", "kernel_shape=[3,3] pads=[1,1,1,1]\n") QCONV(
            "b", "a", "7", "w", "wb", "ws",
            "kernel_shape=[3,3] pads=[1,1,1,1]\n") "c ? = cast(b) to=\"f16\"\nd ? = cast(c) "
                                                   "to=\"i8\"\n" QCONV("y", "d", "7", "w", "wb",
                                                                       "ws", "kernel_shape=[3,3]"),
        "y"};
    hd_ctx *ctx = hd_ctx_create();
    int graphs = emu.graph_launches;
    (void)unused;
    run_net(ctx, &net, "cuda", 1, "cuda");
    if (emu.wrong) fail_msg("%s", emu.wrong);
    assert_int_equal(emu.graph_launches - graphs, 2 * 2); /* two runs of two segments */
    hd_ctx_destroy(ctx);
}

/* ---- errors --------------------------------------------------------------------------------- */

/* Kernels, a node of the host (det), and kernels again: two segments. */
static const struct net mixed = {
    "x f32 1,3,6,6 -2 2; w f32 3,3,3,3 -1 1",
    "a ? = conv(x, w) kernel_shape=[3,3] pads=[1,1,1,1]\nb ? = reshape(a) shape=[3,6,6]\n"
    "c ? = det(b)\ny ? = exp(c)",
    "y"};

static int setup(void **state) {
    struct world *w = calloc(1, sizeof *w);
    w->ctx = hd_ctx_create();
    w->a = hd_arena_create();
    w->m = build(w->ctx, &mixed, &w->g);
    assert_int_equal(hd_host_choose_io(w->ctx, w->a, w->m, -1, w->g, &w->io), HD_OK);
    emu.calls = emu.fail_at = 0;
    emu.lost = false;
    emu.memory_bytes = (size_t)1 << 30;
    *state = w;
    return 0;
}

static int teardown(void **state) {
    struct world *w = *state;
    hd_model_destroy(w->m);
    hd_graph_destroy(w->g);
    hd_arena_destroy(w->a);
    hd_ctx_destroy(w->ctx);
    free(w);
    return 0;
}

static void two_segments(void **state) {
    struct world *w = *state;
    int graphs = emu.graph_launches, launches = emu.launches;
    if (whole_life(w) != HD_OK) fail_msg("%s", hd_message(w->ctx));
    assert_int_equal(emu.graph_launches - graphs, 3 * 2);
    assert_int_equal(emu.launches - launches, 2); /* the timed run */
    assert_null(emu.wrong);
    assert_int_equal(emu.live, 0);
}

/* The code is on disk after the first time, so that nothing compiles again. */
static void any_call_may_fail(void **state) {
    struct world *w = *state;
    assert_int_equal(whole_life(w), HD_OK);
    int calls = emu.calls, compilations = emu.compilations;
    assert_true(calls > 60);
    for (int lost = 0; lost < 2; lost++)
        for (int at = 1; at <= calls; at++) {
            emu.calls = 0;
            emu.fail_at = at;
            emu.fail_with = lost ? 719 : 2;
            assert_int_equal(whole_life(w), lost ? HD_DEVICE : HD_NOMEM);
            assert_non_null(strstr(hd_message(w->ctx), "cuda: cu"));
            if (!lost) assert_null(emu.wrong);
            if (!lost) assert_int_equal(emu.live, 0);
            hd_clear(w->ctx);
            emu_forget();
        }
    assert_int_equal(emu.compilations, compilations);
}

static void little_memory(void **state) {
    struct world *w = *state;
    emu.memory_bytes = 1000;
    assert_int_equal(whole_life(w), HD_NOMEM);
    assert_non_null(strstr(hd_message(w->ctx), "stand-in allows 1000 at once and 1000 in all"));
    hd_clear(w->ctx);
    emu.memory_bytes = 5000; /* the plan fits, the buffers do not */
    assert_int_equal(whole_life(w), HD_NOMEM);
    assert_non_null(strstr(hd_message(w->ctx), "cuMemAlloc: error 2 (CUDA_ERROR_OUT_OF_MEMORY)"));
    assert_int_equal(emu.live, 0);
    assert_null(emu.wrong);
}

static void two_contexts(void **state) {
    struct world *w = *state;
    hd_gpu *a = NULL, *b = NULL;
    assert_int_equal(hd_gpu_cuda.open(w->ctx, &a), HD_OK);
    assert_int_equal(hd_gpu_cuda.open(w->ctx, &b), HD_OK);
    hd_gpu_cuda.close(a);
    assert_int_equal(whole_life(w), HD_OK); /* b holds the context */
    assert_int_equal(emu.contexts, 1);
    hd_gpu_cuda.close(b);
    assert_int_equal(emu.contexts, 0);
    assert_null(emu.wrong);
}

/* A GPU that is newer than the compiler gets PTX; one that is older gets a message. */
static void other_gpus(void **state) {
    struct world *w = *state;
    emu.cc = 120;
    assert_int_equal(whole_life(w), HD_OK);
    emu.cc = 52;
    assert_int_equal(whole_life(w), HD_UNSUPPORTED);
    assert_non_null(strstr(hd_message(w->ctx), "compute capability 5.2"));
    hd_clear(w->ctx);
    emu.cc = 90;
    emu.devices = 0;
    assert_int_equal(whole_life(w), HD_DEVICE);
    assert_non_null(strstr(hd_message(w->ctx), "the driver finds no NVIDIA GPU"));
    emu.devices = 1;
    assert_int_equal(emu.live, 0);
}

/* ---- cuBLASLt ------------------------------------------------------------------------------- */

/* Rows of batches as one product, batches, both transposed, with a bias and a relu. */
static const struct net products[] = {
    {"x f32 4,64,64 -1 1; w f32 64,96 -1 1", "a ? = matmul(x, w)\ny ? = sigmoid(a)", "y"},
    {"x f32 8,64,64 -1 1; z f32 8,64,48 -1 1", "y ? = matmul(x, z)", "y"},
    {"x f32 128,64 -1 1; w f32 160,128 -1 1; wb f32 160 -1 1",
     "a ? = gemm(x, w, wb) transA=1 transB=1\ny ? = relu(a)", "y"}};

static void library(void **unused) {
    hd_ctx *ctx = hd_ctx_create();
    (void)unused;
    for (int i = 0; i < 3; i++) {
        lt_seen.products = 0;
        run_net(ctx, &products[i], "cuda", 1, "cuBLASLt");
        if (emu.wrong) fail_msg("%s: %s", products[i].nodes, emu.wrong);
        assert_int_equal(lt_seen.products, 1); /* recorded once, replayed */
        assert_int_equal(lt_seen.live, 0);
        assert_int_equal(emu.live, 0);
    }
    lt_seen.products = 0;
    setenv("HEDDLE_CUDA_LIBRARIES", "none", 1);
    run_net(ctx, &products[1], "cuda", 1, "without cuBLASLt");
    unsetenv("HEDDLE_CUDA_LIBRARIES");
    assert_int_equal(lt_seen.products, 0);
    hd_ctx_destroy(ctx);
}

/* --precision is a type of computing of the library, and has its row of bounds. */
static void precisions(void **unused) {
    static const int want[HD_PRECISIONS] = {68, 77, 74};
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = NULL;
    hd_model *m = build(ctx, &products[1], &g);
    void *in[INPUTS] = {NULL};
    size_t n = hd_value_dense_bytes(&m->values[m->outputs[0]]) / sizeof(float);
    float *golden = calloc(n, sizeof *golden), *y = calloc(n, sizeof *y);
    (void)unused;
    fill(m, &products[1], in);
    for (int p = -1; p < HD_PRECISIONS; p++) {
        struct hd_device_options o = {.machine = m->machine};
        hd_session *s = NULL;
        void *out = p < 0 ? golden : y;
        if (p >= 0) o.precision = (enum hd_precision)p;
        assert_int_equal(hd_session_open(ctx, m, p < 0 ? "golden" : "cuda", &o, &s), HD_OK);
        assert_int_equal(hd_session_run(ctx, s, (const void *const *)in, &out), HD_OK);
        hd_session_close(s);
        if (p < 0) continue;
        assert_int_equal(lt_seen.compute, want[p]);
        struct hd_cpu_bound b = hd_cpu_bound_in(HD_IR_matmul, o.precision);
        double largest = 0, most = 0;
        for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs((double)golden[i]));
        for (size_t i = 0; i < n; i++) {
            double d = fabs((double)y[i] - (double)golden[i]);
            most = fmax(most, d);
            assert_true(d <= b.relative * fabs((double)golden[i]) + b.of_largest * largest);
        }
        assert_int_equal(most > 1e-5 * largest, p > 0); /* rounded only when that was asked for */
    }
    for (int i = 0; i < INPUTS; i++) free(in[i]);
    free(golden);
    free(y);
    hd_model_destroy(m);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

/* While a plan is made, an error gives a kernel of ours, and the reason; in a run it is one. */
static void library_may_fail(void **unused) {
    struct world w = {.ctx = hd_ctx_create(), .a = hd_arena_create()};
    (void)unused;
    w.m = build(w.ctx, &products[2], &w.g);
    assert_int_equal(hd_host_choose_io(w.ctx, w.a, w.m, -1, w.g, &w.io), HD_OK);
    emu.memory_bytes = (size_t)1 << 30;
    emu.fail_at = lt_seen.fail_at = 0;
    lt_seen.calls = 0;
    assert_int_equal(whole_life(&w), HD_OK);
    int calls = lt_seen.calls, refused = 0;
    for (int at = 1; at <= calls; at++) {
        lt_seen.calls = 0;
        lt_seen.fail_at = at;
        hd_status s = whole_life(&w);
        refused += s == HD_DEVICE;
        if (s == HD_DEVICE) assert_non_null(strstr(hd_message(w.ctx), "cuda: cublasLt"));
        if (s != HD_DEVICE) assert_int_equal(s, HD_OK);
        hd_clear(w.ctx);
        if (emu.wrong) fail_msg("call %d: %s", at, emu.wrong);
        assert_int_equal(lt_seen.live, 0);
        assert_int_equal(emu.live, 0);
    }
    lt_seen.fail_at = 0;
    assert_int_equal(refused, 2 * 3); /* bias and product of each: recorded, with times, recorded */
    hd_model_destroy(w.m);
    hd_graph_destroy(w.g);
    hd_arena_destroy(w.a);
    hd_ctx_destroy(w.ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(like_golden),
        cmocka_unit_test(like_golden_tuned),
        cmocka_unit_test(on_tensor_cores),
        cmocka_unit_test(host_between),
        cmocka_unit_test(library),
        cmocka_unit_test(precisions),
        cmocka_unit_test(library_may_fail),
        cmocka_unit_test_setup_teardown(two_segments, setup, teardown),
        cmocka_unit_test_setup_teardown(any_call_may_fail, setup, teardown),
        cmocka_unit_test_setup_teardown(little_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(two_contexts, setup, teardown),
        cmocka_unit_test_setup_teardown(other_gpus, setup, teardown),
    };
    char cache[] = "/tmp/hd_cuda_XXXXXX", command[64];
    if (!mkdtemp(cache)) return 1;
    setenv("XDG_CACHE_HOME", cache, 1);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    emu_clean();
    snprintf(command, sizeof command, "rm -r %s", cache);
    return failed || system(command) != 0;
}
