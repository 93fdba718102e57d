/* Convolutions by the real cuDNN, as far as that goes without a GPU: its heuristics list engines of
 * an H100, and plans of them are made. So numbers and types of attributes, shapes and the order of
 * operations are those that the library takes. Skipped, and told, where it is not here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpu_ref/cudnn.h"
#include "test/gpu/cudnn_on_paper.h"

/* Of one number in all dimensions but the padding; out is computed. */
struct square {
    int dims;
    int64_t batches, channels, features, groups, in, kernel, stride, dilation, before, after;
};
static const struct square squares[] = {
    {2, 1, 64, 64, 1, 56, 3, 1, 1, 1, 1},  {2, 1, 3, 64, 1, 224, 7, 2, 1, 3, 3},
    {2, 8, 256, 64, 1, 56, 1, 1, 1, 0, 0}, {2, 1, 96, 96, 96, 112, 3, 2, 1, 1, 1},
    {2, 2, 64, 96, 4, 31, 3, 1, 2, 2, 2},  {3, 1, 16, 32, 1, 20, 3, 1, 1, 1, 1},
    {2, 1, 13, 21, 1, 37, 5, 3, 1, 0, 0},
};
enum { N_SQUARES = sizeof squares / sizeof *squares };

static struct hd_gpu_convolution convolution(const struct square *s) {
    struct hd_gpu_convolution c = {.dims = s->dims,
                                   .batches = s->batches,
                                   .channels = s->channels,
                                   .features = s->features,
                                   .groups = s->groups};
    int64_t room = s->in + s->before + s->after - (s->kernel - 1) * s->dilation - 1;
    for (int i = 0; i < s->dims; i++) {
        c.in[i] = s->in, c.out[i] = room / s->stride + 1, c.kernel[i] = s->kernel;
        c.stride[i] = s->stride, c.dilation[i] = s->dilation;
        c.before[i] = s->before, c.after[i] = s->after;
    }
    return c;
}

/* Made, run as far as a pack of pointers goes, and given back. */
static hd_status life(hd_ctx *ctx, struct hd_dnn *d, const struct hd_gpu_convolution *c,
                      struct hd_gpu_library_facts *out_facts) {
    static const uint64_t at[6] = {256, 512, 768, 1024, 1280, 1536};
    struct hd_dnn_call *call = NULL;
    int live = paper.live, runs = paper.runs;
    hd_status s = hd_dnn_make(ctx, d, c, out_facts, &call);
    if (s == HD_OK) {
        s = hd_dnn_run(ctx, d, call, at);
        assert_int_equal(paper.runs, runs + 1);
        hd_dnn_drop(call);
    }
    assert_int_equal(paper.live, live);
    return s;
}

/* Nothing, a bias, a bias and a relu, a residual and a bias, all of them. How many of them are on
 * tensor cores. */
static int all_behind(hd_ctx *ctx, struct hd_dnn *d, struct hd_gpu_convolution c) {
    static const struct {
        bool bias, residual, relu;
    } behind[] = {{false, false, false},
                  {true, false, false},
                  {true, false, true},
                  {true, true, false},
                  {true, true, true}};
    int on_cores = 0;
    for (int i = 0; i < 5; i++) {
        struct hd_gpu_library_facts facts = {0};
        c.bias = behind[i].bias, c.residual = behind[i].residual, c.relu = behind[i].relu;
        if (life(ctx, d, &c, &facts) != HD_OK) fail_msg("%s", hd_message(ctx));
        assert_true(facts.workspace_bytes <= 32 << 20);
        assert_int_equal(paper.refused, 0);
        bool cores = paper.notes & 1; /* CUDNN_NUMERICAL_NOTE_TENSOR_CORE of the last engine */
        assert_int_equal(facts.rounded, cores ? HD_PRECISION_tf32 : HD_PRECISION_f32);
        on_cores += cores;
    }
    return on_cores;
}

static void engines(void **state) {
    struct hd_dnn *d = *state;
    hd_ctx *ctx = hd_ctx_create();
    int on_cores[HD_PRECISIONS] = {0};
    for (int i = 0; i < N_SQUARES; i++)
        for (int p = 0; p < HD_PRECISIONS; p++) {
            struct hd_gpu_convolution c = convolution(&squares[i]);
            c.precision = (enum hd_precision)p;
            on_cores[p] += all_behind(ctx, d, c);
        }
    assert_int_equal(on_cores[HD_PRECISION_f32], 0);
    assert_true(on_cores[HD_PRECISION_tf32] > 0);
    assert_int_equal(on_cores[HD_PRECISION_fp16], on_cores[HD_PRECISION_tf32]);
    hd_ctx_destroy(ctx);
}

/* A line as an image of height 1, padding that differs, and a shape that is wrong. */
static void shapes(void **state) {
    struct hd_dnn *d = *state;
    hd_ctx *ctx = hd_ctx_create();
    struct hd_gpu_convolution line = {.dims = 2,
                                      .batches = 4,
                                      .channels = 32,
                                      .features = 48,
                                      .groups = 1,
                                      .in = {1, 400},
                                      .out = {1, 200},
                                      .kernel = {1, 5},
                                      .stride = {1, 2},
                                      .dilation = {1, 1},
                                      .before = {0, 2},
                                      .after = {0, 2}};
    struct hd_gpu_library_facts facts = {0};
    all_behind(ctx, d, line);
    line.before[1] = 4, line.after[1] = 0;
    all_behind(ctx, d, line);
    line.out[1] = 201;
    assert_int_equal(life(ctx, d, &line, &facts), HD_DEVICE);
    assert_non_null(strstr(hd_message(ctx), "cudnnBackendFinalize: status 20"));
    hd_ctx_destroy(ctx);
}

/* Why a call is one of the five of all_behind: there is no engine for others. */
static void no_engines(void **state) {
    struct hd_dnn *d = *state;
    hd_ctx *ctx = hd_ctx_create();
    struct hd_gpu_convolution c = convolution(&squares[0]);
    struct hd_gpu_library_facts facts = {0};
    for (int i = 1; i < 4; i++) {
        c.residual = i & 1, c.relu = i & 2;
        assert_int_equal(life(ctx, d, &c, &facts), HD_UNSUPPORTED);
        assert_non_null(strstr(hd_message(ctx), "lists 0 engines"));
    }
    hd_ctx_destroy(ctx);
}

static int start(void **state) {
    hd_ctx *ctx = hd_ctx_create();
    struct hd_dnn *d = NULL;
    hd_status s = hd_dnn_why_not() ? HD_DEVICE : hd_dnn_open(ctx, &d, &d);
    hd_ctx_destroy(ctx);
    *state = d;
    return s != HD_OK;
}

static int end(void **state) {
    hd_dnn_close(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(engines), cmocka_unit_test(shapes),
                                       cmocka_unit_test(no_engines)};
    const char *why = paper_open();
    if (!why) return cmocka_run_group_tests(tests, start, end);
    printf("skipped, without the real cuDNN: %s\n", why);
    return 0;
}
