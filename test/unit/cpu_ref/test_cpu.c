/* Device cpu against golden: the networks of cpu_nets.def on random operands, with one thread and
 * two, with the plugins and without; integers bit for bit, floats within cpu_bounds.def. And
 * oneDNN's quantised convolution against its definition, with weights so small that no processor
 * saturates. */
#include "cpu_ref/cpu_plan.h"
#include "cpu_ref/dnnl_api.h"
#include "runtime/base/num.h"
#include "test/unit/cpu_ref/nets.h"

static const struct net nets[] = {
#define NET(operands, nodes, output) {operands, nodes, output},
#include "cpu_nets.def"
};
enum { N_NETS = sizeof nets / sizeof *nets, SEEDS = 3 };

static void run_all(int threads, const char *how) {
    hd_ctx *ctx = hd_ctx_create();
    for (int seed = 1; seed <= SEEDS; seed++)
        for (int i = 0; i < N_NETS; i++) {
            nets_state = (uint32_t)(seed * 1000 + i);
            run_net(ctx, &nets[i], "cpu", threads, how);
        }
    hd_ctx_destroy(ctx);
}

static void one_thread(void **unused) {
    (void)unused;
    run_all(1, "one thread");
}

static void two_threads(void **unused) {
    (void)unused;
    run_all(2, "two threads");
}

static void without_plugins(void **unused) {
    (void)unused;
    setenv("HEDDLE_PLUGINS", "none", 1);
    run_all(1, "without plugins");
    unsetenv("HEDDLE_PLUGINS");
}

/* ---- oneDNN's quantised convolution --------------------------------------------------------- */

enum { QC = 16, QM = 32, QH = 7, QW = 5 };

struct onednn_want {
    const int8_t *w;
    const int32_t *bias;
    const float *scale;
    const uint8_t *x, *y; /* y: what came */
    bool x_signed, y_signed;
    int x_zp, y_zp, lo, hi;
};

static void check_onednn(const struct onednn_want *q) {
    for (int oy = 0; oy < QH; oy++)
        for (int ox = 0; ox < QW; ox++)
            for (int m = 0; m < QM; m++) {
                int32_t acc = q->bias[m];
                for (int k = 0; k < 9 * QC; k++) {
                    int iy = oy + k / QC / 3 - 1, ix = ox + k / QC % 3 - 1, c = k % QC;
                    if (iy < 0 || iy >= QH || ix < 0 || ix >= QW) continue;
                    int v = q->x[(iy * QW + ix) * QC + c];
                    acc +=
                        ((q->x_signed ? (int8_t)v : v) - q->x_zp) * q->w[(m * QC + c) * 9 + k / QC];
                }
                int got = q->y[(oy * QW + ox) * QM + m];
                assert_int_equal(q->y_signed ? (int8_t)got : got,
                                 hd_requant((float)acc * q->scale[m], q->y_zp, q->lo, q->hi));
            }
}

static void onednn_case(struct hd_cpu_plan *p, bool x_signed, bool y_signed, int x_zp, int y_zp,
                        bool clip) {
    static int8_t w[QM * QC * 9];
    static int32_t bias[QM];
    static float scale[QM];
    static uint8_t x[QH * QW * QC], y[QH * QW * QM];
    for (int i = 0; i < QM * QC * 9; i++) w[i] = (int8_t)floor(uniform(-63, 63.99));
    for (int i = 0; i < QH * QW * QC; i++) x[i] = (uint8_t)uniform(0, 255.99);
    for (int i = 0; i < QM; i++)
        bias[i] = (int32_t)uniform(-999, 999), scale[i] = (float)uniform(0.001, 0.01);
    struct hd_dnnl_qconv d = {.n = 1,
                              .c = QC,
                              .h = QH,
                              .w = QW,
                              .m = QM,
                              .oh = QH,
                              .ow = QW,
                              .kh = 3,
                              .kw = 3,
                              .sy = 1,
                              .sx = 1,
                              .dy = 1,
                              .dx = 1,
                              .pt = 1,
                              .pl = 1,
                              .group = 1,
                              .x_signed = x_signed,
                              .y_signed = y_signed,
                              .x_zp = x_zp,
                              .y_zp = y_zp,
                              .clip = clip,
                              .clip_lo = -20,
                              .clip_hi = 30,
                              .w_data = w,
                              .bias = bias,
                              .scale = scale};
    hd_dnnl_op *op = p->dnnl->qconv(p->dnnl_engine, &d);
    if (!op) { /* what it has no good code for here, ours does */
        print_message("oneDNN has no code for u8/s8 %d %d, zero points %d %d here\n", x_signed,
                      y_signed, x_zp, y_zp);
        return;
    }
    void *scratch = aligned_alloc(64, (p->dnnl->scratch(op) + 127) / 64 * 64), *operand = x;
    assert_int_equal(p->dnnl->run(op, &operand, y, scratch), 0);
    int lo = y_signed ? -128 : 0, hi = y_signed ? 127 : 255;
    if (clip) lo = lo > y_zp - 20 ? lo : y_zp - 20, hi = hi < y_zp + 30 ? hi : y_zp + 30;
    struct onednn_want want = {w, bias, scale, x, y, x_signed, y_signed, x_zp, y_zp, lo, hi};
    check_onednn(&want);
    free(scratch);
    p->dnnl->destroy(op);
}

static void onednn_int8(void **unused) {
    (void)unused;
    struct hd_cpu_plan p = {.threads = 1, .arena = hd_arena_create()};
    hd_cpu_open_plugins(&p);
    if (!p.dnnl) {
        print_message("skipped: the oneDNN plugin is not built here\n");
        hd_arena_destroy(p.arena);
        skip();
    }
    nets_state = 7;
    for (int k = 0; k < 16; k++) /* without VNNI it halves the weights of signed operands */
        if (!(k & 1) || p.dnnl->exact_int8(p.dnnl_engine))
            onednn_case(&p, k & 1, k & 2, k & 4 ? (k & 1 ? -7 : 120) : 0, k & 8 ? 5 : 0,
                        k % 3 == 0);
    /* the verdict about full-range weights is that of the processor */
    bool exact = hd_cpu_trial_int8(p.dnnl, p.dnnl_engine);
    if (p.dnnl->exact_int8(p.dnnl_engine)) assert_true(exact);
    hd_cpu_close_plugins(&p);
    hd_arena_destroy(p.arena);
}

/* One scale stands for all channels: the kernels of bytes take it, too. */
static void one_scale(void **unused) {
    static const struct net n = {
        "x i8 1,8,4,4 -128 127; w i8 16,8,1,1 -128 127; wb i32 16 -900 900; "
        "ws f32 1 0.001 0.01",
        "y ? = qconv(x, w, wb, ws) to=\"i8\" lo=-128 hi=127", "y"};
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = NULL;
    (void)unused;
    nets_state = 3;
    setenv("HEDDLE_PLUGINS", "none", 1); /* with VNNI oneDNN would take it */
    run_net(ctx, &n, "cpu", 1, "one scale");
    hd_model *m = build(ctx, &n, &g);
    struct hd_device_options o = {.machine = m->machine, .threads = 1};
    const struct hd_exec_step *step;
    hd_session *s = NULL;
    assert_int_equal(hd_session_open(ctx, m, "cpu", &o, &s), HD_OK);
    bool ours = false;
    for (int i = 0, k = hd_session_steps(s, &step); i < k; i++)
        ours = ours || !strcmp(step[i].how, "int8");
    unsetenv("HEDDLE_PLUGINS");
    hd_session_close(s);
    hd_model_destroy(m);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) assert_true(ours);
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_scale),   cmocka_unit_test(one_thread),
        cmocka_unit_test(two_threads), cmocka_unit_test(without_plugins),
        cmocka_unit_test(onednn_int8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
