/* Device opencl against golden: the networks of gpu_nets.def, as a processor computes them and as a
 * GPU does, with local memory and barriers. Skipped, with the reason, where there is no device. */
#include "gpu_ref/gpu.h"
#include "test/unit/cpu_ref/nets.h"

static const struct net nets[] = {
#define NET(operands, nodes, output) {operands, nodes, output},
#include "gpu_nets.def"
};
enum { N_NETS = sizeof nets / sizeof *nets };

static void run_all(const char *tiles) {
    if (hd_gpu_opencl.why_not()) {
        print_message("skipped: %s\n", hd_gpu_opencl.why_not());
        skip();
    }
    setenv("HEDDLE_GPU_TILES", tiles, 1);
    hd_ctx *ctx = hd_ctx_create();
    for (int i = 0; i < N_NETS; i++) {
        nets_state = (uint32_t)(1000 + i);
        run_net(ctx, &nets[i], "opencl", 1, tiles);
    }
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

/* The schedules of tensor cores; their instructions are loops that a warp's threads share. */
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
