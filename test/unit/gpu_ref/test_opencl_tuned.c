/* Device opencl against golden with a file of schedules: a candidate at random for each kernel of
 * the networks of gpu_nets.def, among those that heddle tune measures on a processor, on a GPU, and
 * on one with tensor cores. Skipped, with the reason, where there is no device. */
#include "test/gpu/tuned.h"
#include "test/unit/cpu_ref/nets.h"

static const struct net nets[] = {
#define NET(operands, nodes, output) {operands, nodes, output},
#include "gpu_nets.def"
};
enum { N_NETS = sizeof nets / sizeof *nets };

/* Writes the network's file. */
static void tune(hd_ctx *ctx, const struct net *n, struct rng *r, const char *path,
                 struct tuned *sum) {
    hd_graph *g = NULL;
    hd_gpu *gpu = NULL;
    hd_model *m = build(ctx, n, &g);
    hd_status s = hd_gpu_opencl.open(ctx, &gpu);
    if (s == HD_OK)
        s = tuned_db(ctx, &hd_gpu_opencl, hd_gpu_opencl.limits(gpu), g, m, r, path, sum);
    if (s != HD_OK) fail_msg("%s: %s", n->nodes, hd_message(ctx));
    hd_gpu_opencl.close(gpu);
    hd_model_destroy(m);
    hd_graph_destroy(g);
}

static void run_all(const char *tiles) {
    static const char db[] = "build/test_opencl_tuned.db";
    struct tuned sum = {0, 0};
    struct rng r = {7};
    if (hd_gpu_opencl.why_not()) {
        print_message("skipped: %s\n", hd_gpu_opencl.why_not());
        skip();
    }
    setenv("HEDDLE_GPU_TILES", tiles, 1);
    hd_ctx *ctx = hd_ctx_create();
    nets_db = db;
    for (int i = 0; i < N_NETS; i++) {
        int before = sum.works;
        nets_state = (uint32_t)(1000 + i);
        tune(ctx, &nets[i], &r, db, &sum);
        if (sum.works > before) run_net(ctx, &nets[i], "opencl", 1, tiles);
    }
    assert_true(sum.works > 20 && sum.steps > 3 * sum.works / 4);
    assert_int_equal(unlink(db), 0);
    hd_ctx_destroy(ctx);
}

static void as_a_processor(void **unused) {
    (void)unused;
    run_all("cpu");
}

static void as_a_gpu(void **unused) {
    (void)unused;
    run_all("gpu");
}

static void as_tensor_cores(void **unused) {
    (void)unused;
    run_all("mma");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_a_processor),
        cmocka_unit_test(as_a_gpu),
        cmocka_unit_test(as_tensor_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
