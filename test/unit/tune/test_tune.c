/* Candidates of random works as machine code against plain loops; a database that device cpu uses;
 * one that it need not; what a GPU computes is compared with golden. */
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/compiler.h"
#include "compiler/schedules/schedules.h"
#include "compiler/tune/trial_int.h"
#include "cpu_ref/cpu_kernel.h"
#include "cpu_ref/cpu_tuned.h"
#include "runtime/base/num.h"
#include "runtime/base/plugin.h"
#include "runtime/runtime.h"
#include "test/gpu/stand_in.h"
#include "test/rng.h"

enum { WORKS = 12, CANDIDATES = 5 };

static const struct hd_jit_api *jit;
static void *engine;

static int open_jit(void **state) {
    void *lib = hd_plugin_open("libhd_jit.so", HD_PLUGIN_LOCAL);
    (void)state;
    jit = lib ? dlsym(lib, HD_JIT_ENTRY) : NULL;
    engine = jit ? jit->open() : NULL;
    return 0;
}

static int close_jit(void **state) {
    (void)state;
    if (engine) jit->close(engine);
    return 0;
}

static struct hd_tunable random_work(struct rng *r) {
    struct hd_tunable w = {.bias = rng_next(r) % 2, .relu = rng_next(r) % 2, .n = 1, .g = 1};
    int64_t many = 8 * rng_range(r, 1, 4);
    w.m = rng_next(r) % 3 ? many : rng_range(r, 1, 20);
    w.c = rng_range(r, 1, 9);
    w.product = rng_next(r) % 3 == 0;
    w.rows = rng_next(r) % 2;
    w.h = rng_range(r, 3, 14);
    if (w.product) return w;
    w.n = rng_range(r, 1, 2);
    if (rng_next(r) % 3 == 0) w.g = rng_range(r, 2, 5), w.c = w.m = rng_range(r, 1, 2);
    w.w = rng_range(r, 3, 40);
    w.kh = rng_range(r, 1, 3), w.kw = rng_range(r, 1, 3);
    w.sy = rng_range(r, 1, 2), w.sx = rng_range(r, 1, 2);
    w.dy = w.dx = 1;
    w.pt = rng_range(r, 0, 1), w.pl = rng_range(r, 0, 1), w.pb = rng_range(r, 0, 1);
    w.oh = (w.h + w.pt + w.pb - w.kh) / w.sy + 1;
    w.ow = (w.w + w.pl + w.pr - w.kw) / w.sx + 1;
    hd_tunable_simplify(&w);
    return w;
}

static double conv_at(const struct hd_tunable *w, const float *x, const float *k, int64_t n,
                      int64_t g, int64_t m, int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t c = 0; c < w->c; c++)
        for (int64_t p = 0; p < w->kh; p++)
            for (int64_t q = 0; q < w->kw; q++) {
                int64_t u = i * w->sy + p * w->dy - w->pt, v = j * w->sx + q * w->dx - w->pl;
                if (u < 0 || v < 0 || u >= w->h || v >= w->w) continue;
                sum += (double)x[(((n * w->g + g) * w->c + c) * w->h + u) * w->w + v] *
                       (double)k[(((g * w->m + m) * w->c + c) * w->kh + p) * w->kw + q];
            }
    return sum;
}

static double finish(const struct hd_tunable *w, double sum, float bias) {
    if (w->bias) sum += (double)bias;
    return w->relu && sum < 0 ? 0 : sum;
}

static void reference(const struct hd_tunable *w, const float *x, const float *k, const float *b,
                      double *y) {
    for (int64_t i = 0; i < w->h && w->product; i++)
        for (int64_t m = 0; m < w->m; m++) {
            double sum = 0;
            for (int64_t c = 0; c < w->c; c++)
                sum += (double)x[i * w->c + c] * (double)k[w->rows ? m * w->c + c : c * w->m + m];
            y[i * w->m + m] = finish(w, sum, b[m]);
        }
    for (int64_t n = 0; n < w->n && !w->product; n++)
        for (int64_t f = 0; f < w->g * w->m; f++)
            for (int64_t i = 0; i < w->oh; i++)
                for (int64_t j = 0; j < w->ow; j++)
                    *y++ = finish(w, conv_at(w, x, k, n, f / w->m, f % w->m, i, j), b[f]);
}

static float *numbers(hd_arena *a, struct rng *r, size_t n) {
    float *v = hd_new_array(a, float, n + 16);
    for (size_t i = 0; i < n; i++) v[i] = rng_float(r, -1, 1);
    return v;
}

static void candidates_compute_the_same(void **state) {
    int ran = 0;
    (void)state;
    if (!engine) skip();
    for (uint64_t seed = 1; seed <= WORKS; seed++) {
        struct rng r = {seed};
        struct hd_tunable w = random_work(&r);
        struct hd_candidate *list;
        hd_arena *a = hd_arena_create();
        hd_ctx *ctx = hd_ctx_create();
        size_t taps = w.product ? 1 : (size_t)(w.kh * w.kw), n_w = (size_t)(w.g * w.m * w.c) * taps;
        size_t n_x = w.product ? (size_t)(w.h * w.c) : (size_t)(w.n * w.g * w.c * w.h * w.w);
        size_t n_y = w.product ? (size_t)(w.h * w.m) : (size_t)(w.n * w.g * w.m * w.oh * w.ow);
        const float *x = numbers(a, &r, n_x), *k = numbers(a, &r, n_w);
        const float *b = numbers(a, &r, (size_t)(w.g * w.m));
        double *want = hd_new_array(a, double, n_y + 1);
        float *y = hd_new_array(a, float, n_y + 1);
        reference(&w, x, k, b, want);
        const struct hd_tune_host host = {jit->lanes(engine), 0};
        int n = hd_tune_space(a, &w, &host, &list);
        for (int i = 0; i < CANDIDATES && n; i++) {
            struct hd_cpu_kernel *kernel = NULL;
            const struct hd_candidate *c = &list[rng_range(&r, 0, n - 1)];
            const struct hd_cpu_constants given = {k, w.bias ? b : NULL, NULL};
            hd_clear(ctx);
            if (hd_cpu_kernel_create(ctx, jit, engine, &w, c->schedule, &given, &kernel) != HD_OK)
                continue;
            ran++;
            memset(y, 0xff, n_y * sizeof *y);
            y[n_y] = 42;
            hd_cpu_kernel_run(kernel, x, y, 1);
            for (size_t e = 0; e < n_y; e++)
                if (!(fabs((double)y[e] - want[e]) < 1e-4))
                    fail_msg("seed %d, %s, %s: element %zu is %g, want %g", (int)seed,
                             hd_tunable_name(a, &w), c->schedule, e, (double)y[e], want[e]);
            assert_true(y[n_y] == 42);
            hd_cpu_kernel_destroy(kernel);
        }
        hd_ctx_destroy(ctx);
        hd_arena_destroy(a);
    }
    assert_int_equal(ran, WORKS * CANDIDATES); /* each work has some */
}

/* ---- bytes ---------------------------------------------------------------------------------- */

/* Channels last; one result. */
static int byte_at(const struct hd_tunable *w, const uint8_t *x, const int8_t *k, int32_t bias,
                   float scale, int64_t n, int64_t f, int64_t i, int64_t j) {
    uint32_t sum = (uint32_t)bias;
    for (int64_t c = 0; c < w->c; c++)
        for (int64_t p = 0; p < w->kh; p++)
            for (int64_t q = 0; q < w->kw; q++) {
                int64_t u = i * w->sy + p * w->dy - w->pt, v = j * w->sx + q * w->dx - w->pl;
                if (u < 0 || v < 0 || u >= w->h || v >= w->w) continue;
                int64_t at = ((n * w->h + u) * w->w + v) * w->g * w->c + f / w->m * w->c + c;
                int value = w->x_signed ? (int8_t)x[at] : x[at];
                sum += (uint32_t)((value - w->x_zp) * k[((f * w->c + c) * w->kh + p) * w->kw + q]);
            }
    return hd_requant((float)(int32_t)sum * scale, w->y_zp, w->lo, w->hi);
}

static struct hd_tunable random_bytes(struct rng *r) {
    struct hd_tunable w = random_work(r);
    w.bytes = true, w.bias = w.relu = false;
    w.m = 8 * rng_range(r, 1, 4);
    w.x_signed = rng_next(r) % 2, w.y_signed = rng_next(r) % 2;
    w.x_zp = (int32_t)rng_range(r, w.x_signed ? -128 : 0, w.x_signed ? 127 : 255);
    w.y_zp = (int32_t)rng_range(r, -9, 9);
    w.lo = w.y_signed ? -128 : 3, w.hi = w.y_signed ? 100 : 255;
    if (!w.product) return w;
    w.rows = true; /* an image of a pixel for each row, so that one reference does */
    w.w = w.ow = w.h;
    w.oh = w.kh = w.kw = w.sy = w.sx = w.dy = w.dx = 1;
    return w;
}

struct byte_work {
    hd_arena *a;
    struct hd_tunable w;
    uint8_t *x, *want, *y;
    int8_t *k;
    int32_t *bias;
    float *scale;
    size_t n_y;
};

static void fill_bytes(hd_arena *a, struct rng *r, struct byte_work *b) {
    const struct hd_tunable *w = &b->w;
    struct hd_tunable image = *w;
    if (w->product) image.h = 1;
    size_t n_k = (size_t)(w->g * w->m * w->c * w->kh * w->kw), n_m = (size_t)(w->g * w->m);
    size_t n_x = (size_t)(w->n * image.h * w->w * w->g * w->c);
    b->n_y = (size_t)(w->n * w->oh * w->ow) * n_m;
    b->x = hd_new_array(a, uint8_t, n_x + 1), b->k = hd_new_array(a, int8_t, n_k + 1);
    b->want = hd_new_array(a, uint8_t, b->n_y + 1), b->y = hd_new_array(a, uint8_t, b->n_y + 1);
    b->bias = hd_new_array(a, int32_t, n_m), b->scale = hd_new_array(a, float, n_m);
    for (size_t i = 0; i < n_x; i++) b->x[i] = (uint8_t)rng_next(r);
    for (size_t i = 0; i < n_k; i++) b->k[i] = (int8_t)rng_next(r);
    for (size_t i = 0; i < n_m; i++)
        b->bias[i] = (int32_t)rng_range(r, -9999, 9999),
        b->scale[i] = rng_float(r, -0.001f, 0.004f);
    uint8_t *to = b->want;
    for (int64_t n = 0; n < w->n; n++)
        for (int64_t p = 0; p < w->oh * w->ow; p++)
            for (int64_t f = 0; f < w->g * w->m; f++)
                *to++ = (uint8_t)byte_at(&image, b->x, b->k, b->bias[f], b->scale[f], n, f,
                                         p / w->ow, p % w->ow);
}

/* The schedule by the interpreter of loops. */
static void interpret(hd_ctx *ctx, hd_arena *a, struct byte_work *b, const char *schedule) {
    struct hd_tunable w = hd_tunable_under(&b->w, schedule);
    int8_t *ordered = hd_new_array(a, int8_t, hd_tunable_weights(&w, b->k, NULL));
    int32_t *bias = hd_new_array(a, int32_t, (size_t)(w.g * w.m));
    const void *in[] = {b->x, ordered, bias, b->scale};
    hd_tunable_weights(&w, b->k, ordered);
    hd_tunable_bias(&w, b->k, b->bias, bias);
    struct hd_expr *f;
    struct hd_schedule *s;
    struct hd_nest *nest;
    void *out = b->y;
    if (hd_tunable_expr(ctx, a, &w, &f) != HD_OK ||
        hd_schedule_parse(ctx, a, schedule, &s) != HD_OK ||
        hd_loop_lower(ctx, a, f, s, &nest) != HD_OK || hd_loop_run(ctx, nest, in, &out, a) != HD_OK)
        fail_msg("%s: %s: %s", hd_tunable_name(a, &b->w), schedule, hd_message(ctx));
}

/* One schedule as machine code, where the processor has what it is made of. */
static void compiled(hd_ctx *ctx, struct byte_work *b, const char *schedule, uint64_t seed) {
    const struct hd_cpu_constants given = {b->k, b->bias, b->scale};
    struct hd_cpu_kernel *kernel = NULL;
    if (hd_cpu_kernel_create(ctx, jit, engine, &b->w, schedule, &given, &kernel) != HD_OK)
        fail_msg("%s: %s", schedule, hd_message(ctx));
    memset(b->y, 0x55, b->n_y + 1);
    hd_cpu_kernel_run(kernel, b->x, b->y, 1);
    hd_cpu_kernel_destroy(kernel);
    if (memcmp(b->y, b->want, b->n_y) || b->y[b->n_y] != 0x55)
        fail_msg("seed %d, %s, %s differs", (int)seed, hd_tunable_name(b->a, &b->w), schedule);
}

/* Each schedule for processors with such a VNNI has the bits of the definition: by the interpreter
 * and, where this processor has the instruction, as machine code. */
static void bytes_of(int vnni, int works) {
    const struct hd_tune_host host = {16, vnni};
    int ran = 0, fours = 0, direct = 0, have = engine ? jit->vnni(engine) : 0;
    bool runs = engine && hd_cpu_kernel_bytes() && vnni <= have;
    if (!runs) printf("vnni %d: no machine code, this processor has %d\n", vnni, have);
    for (uint64_t seed = 1; seed <= (uint64_t)works; seed++) {
        struct rng r = {seed};
        struct byte_work b = {.w = random_bytes(&r), .a = hd_arena_create()};
        struct hd_candidate *list;
        hd_ctx *ctx = hd_ctx_create();
        fill_bytes(b.a, &r, &b);
        int n = hd_tune_space(b.a, &b.w, &host, &list);
        for (int i = 0; i < CANDIDATES && n; i++) {
            const char *schedule = list[rng_range(&r, 0, n - 1)].schedule;
            ran++;
            fours += hd_tunable_vnni(schedule) > 0;
            direct += hd_tunable_vnni(schedule) && !strstr(schedule, "parallel xp");
            if (i == 0) {
                memset(b.y, 0x55, b.n_y + 1);
                interpret(ctx, b.a, &b, schedule);
                assert_memory_equal(b.y, b.want, b.n_y);
            }
            if (runs) compiled(ctx, &b, schedule, seed);
        }
        hd_ctx_destroy(ctx);
        hd_arena_destroy(b.a);
    }
    assert_int_equal(ran, works * CANDIDATES);
    assert_true(vnni ? fours > ran / 4 && direct > 0 : !fours);
}

static void bytes_are_exact(void **state) {
    (void)state;
    bytes_of(0, WORKS);
}

static void bytes_in_fours_are_exact(void **state) {
    (void)state;
    bytes_of(8, 2 * WORKS);
    bytes_of(16, 2 * WORKS);
}

static int no_vnni(void *e) {
    (void)e;
    return 0;
}

static int narrow_vnni(void *e) {
    (void)e;
    return 8;
}

/* A schedule of another processor's is refused, with the reason. */
static void vnni_is_refused_where_it_is_not(void **state) {
    static const char *const want[][2] = {
        {"intrinsic vnni is for processors with VNNI", "has madd"},
        {"with AVX-512 VNNI", "has vnni_8"}};
    int8_t k[16 * 4] = {0};
    int32_t bias[16] = {0};
    float scale[16] = {0};
    const struct hd_cpu_constants given = {k, bias, scale};
    const struct hd_tunable w = {
        .product = true, .rows = true, .bytes = true, .n = 1, .g = 1, .h = 1, .m = 16, .c = 4};
    const struct hd_tile tile = {.lanes = 16, .across = 1, .unroll = 1, .dot = HD_DOT_VNNI};
    (void)state;
    if (!engine || !hd_cpu_kernel_bytes()) skip();
    for (int i = 0; i < 2; i++) {
        struct hd_jit_api other = *jit;
        struct hd_cpu_kernel *kernel = NULL;
        hd_ctx *ctx = hd_ctx_create();
        hd_arena *a = hd_arena_create();
        other.vnni = i ? narrow_vnni : no_vnni;
        const char *schedule = hd_tunable_schedule(a, &w, &tile);
        assert_int_equal(hd_cpu_kernel_create(ctx, &other, engine, &w, schedule, &given, &kernel),
                         HD_UNSUPPORTED);
        assert_null(kernel);
        for (int j = 0; j < 2; j++)
            if (!strstr(hd_message(ctx), want[i][j])) fail_msg("%s", hd_message(ctx));
        hd_arena_destroy(a);
        hd_ctx_destroy(ctx);
    }
}

/* ---- device cpu with a database ------------------------------------------------------------- */

static const char graph[] = "graph g {\n  input x f32[3,4]\n  const w f32[4,8] = {1, 2, 3, 4, 5, "
                            "6, 7, 8, 1, 0, 0, 0, 0, 0, "
                            "0, 1, 2, 2, 2, 2, 2, 2, 2, 2, -1, -1, -1, -1, -1, -1, -1, -1}\n"
                            "  p f32[3,8] = matmul(x, w)\n  y f32[3,8] = relu(p)\n  output y\n}\n";

static const char *how_of(hd_ctx *ctx, const hd_model *m, const char *db, float *y) {
    struct hd_device_options o = {.machine = m->machine, .threads = 1, .db = db};
    const struct hd_exec_step *step;
    hd_session *s = NULL;
    float x[12];
    static char how[64];
    for (int i = 0; i < 12; i++) x[i] = (float)(i - 5);
    if (hd_session_open(ctx, m, "cpu", &o, &s) != HD_OK) fail_msg("%s", hd_message(ctx));
    assert_int_equal(hd_session_run(ctx, s, (const void *const[]){x}, (void *[]){y}), HD_OK);
    assert_true(hd_session_steps(s, &step) > 0);
    snprintf(how, sizeof how, "%s", step[0].how);
    hd_session_close(s);
    return how;
}

static void cpu_takes_what_is_faster(void **state) {
    static const char db[] = "build/test_tune.db";
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    struct hd_compile_options o = {.host_only = true};
    struct hd_schedules *d = NULL;
    hd_graph *g = NULL;
    hd_model *m = NULL;
    float want[24], y[24];
    (void)state;
    if (!engine) skip();
    assert_int_equal(hd_machine_load(ctx, "base", &o.machine), HD_OK);
    assert_int_equal(hd_graph_parse(ctx, graph, "graph", &g), HD_OK);
    assert_int_equal(hd_compile_graph(ctx, g, &o, &m), HD_OK);
    assert_string_not_equal(how_of(ctx, m, NULL, want), "tuned");
    struct hd_tunable w = {.product = true, .relu = true, .n = 1, .g = 1, .h = 3, .m = 8, .c = 4};
    const struct hd_tile tile = {.lanes = 8, .across = 3, .unroll = 2};
    const char *key = hd_cpu_device_key(a, jit, engine, 1), *name = hd_tunable_name(a, &w);
    const struct hd_schedule_row rows[] = {{key, name, "", 2e-6},
                                           {key, name, hd_tunable_schedule(a, &w, &tile), 1e-6}};
    for (int faster = 0; faster < 2; faster++) {
        remove(db);
        assert_int_equal(hd_schedules_open(ctx, db, true, &d), HD_OK);
        for (int i = 0; i <= faster; i++)
            assert_int_equal(hd_schedules_put(ctx, d, &rows[i]), HD_OK);
        hd_schedules_close(d);
        const char *how = how_of(ctx, m, db, y);
        assert_int_equal(!strcmp(how, "tuned"), faster);
        for (int i = 0; i < 24; i++) assert_true(y[i] == want[i]);
    }
    remove(db);
    hd_model_destroy(m);
    hd_graph_destroy(g);
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
}

static void products_by_name(void **state) {
    struct hd_tunable w;
    (void)state;
    assert_true(hd_tune_product("128x768x3072", &w));
    assert_true(w.product && w.h == 128 && w.m == 768 && w.c == 3072);
    assert_false(hd_tune_product("128x768", &w));
    assert_false(hd_tune_product("0x768x7", &w));
    assert_false(hd_tune_product("1x2x3/model.onnx", &w));
}

/* Seconds of the first candidates of a product; returns what the device's own way comes to. */
static hd_status try_candidates(hd_ctx *ctx, const struct hd_gpu_api *api, double *out_least) {
    struct hd_cmd c = {.ctx = ctx};
    const struct hd_tune_device *d = &hd_tune_opencl;
    struct hd_tune_list works = {0};
    hd_arena *a = hd_arena_create();
    void *state = NULL, *trial = NULL;
    struct hd_candidate *list;
    const char *how = NULL;
    double own = 0, seconds = 1;
    assert_int_equal(hd_trial_gpu_start(&c, api, &state), HD_OK);
    assert_int_equal(d->find(state, a, "9x21x17", &works), HD_OK);
    assert_int_equal(works.n, 1);
    assert_int_equal(d->open(state, &works.work[0], &trial), HD_OK);
    assert_true(d->space(trial, a, &list) >= 3);
    *out_least = 1;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(d->schedule(trial, &list[i], &seconds), HD_OK);
        if (seconds < *out_least) *out_least = seconds;
    }
    hd_status s = d->other(trial, &own, &how);
    if (s == HD_OK) assert_true(own > 0 && !strcmp(how, "opencl"));
    d->close(trial);
    d->end(state);
    hd_arena_destroy(a);
    return s;
}

/* A driver that computes nothing is caught, by each candidate and by its own way. */
static void gpus_are_held_to_golden(void **state) {
    hd_ctx *ctx = hd_ctx_create();
    double least;
    (void)state;
    assert_int_equal(try_candidates(ctx, &stand_in_api, &least), HD_INVALID);
    assert_non_null(strstr(hd_message(ctx), "stand-in differs from golden"));
    assert_true(least == 0);
    assert_int_equal(stand_in.live, 0);
    hd_clear(ctx);
    if (!hd_gpu_opencl.why_not()) {
        if (try_candidates(ctx, &hd_gpu_opencl, &least) != HD_OK) fail_msg("%s", hd_message(ctx));
        assert_true(least > 0);
    }
    hd_ctx_destroy(ctx);
}

static void what_is_the_same(void **state) {
    const struct hd_cpu_bound b = {.relative = 1e-3, .of_largest = 1e-4};
    const float want[] = {100, 1, 0, NAN, INFINITY},
                near[] = {100.1f, 1.01f, -0.01f, NAN, INFINITY};
    const int8_t bytes[] = {1, 2, 3}, other[] = {1, 2, 4};
    const double wide[] = {1, 2}, off[] = {1, 2.003};
    (void)state;
    assert_true(hd_trial_same(HD_F32, near, want, 3, b));
    assert_true(hd_trial_same(HD_F32, want + 3, want + 3, 2, b));
    for (int i = 0; i < 5; i++) { /* each element counts */
        float far[5];
        memcpy(far, want, sizeof far);
        far[i] = i == 3 ? 1 : i == 4 ? -INFINITY : want[i] + 0.3f;
        assert_false(hd_trial_same(HD_F32, far, want, 5, b));
    }
    assert_true(hd_trial_same(HD_I8, bytes, bytes, 3, b));
    assert_false(hd_trial_same(HD_I8, bytes, other, 3, b));
    assert_true(hd_trial_same(HD_F64, wide, wide, 2, b));
    assert_false(hd_trial_same(HD_F64, off, wide, 2, b));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(candidates_compute_the_same),
                                       cmocka_unit_test(bytes_are_exact),
                                       cmocka_unit_test(bytes_in_fours_are_exact),
                                       cmocka_unit_test(vnni_is_refused_where_it_is_not),
                                       cmocka_unit_test(cpu_takes_what_is_faster),
                                       cmocka_unit_test(products_by_name),
                                       cmocka_unit_test(gpus_are_held_to_golden),
                                       cmocka_unit_test(what_is_the_same)};
    return cmocka_run_group_tests(tests, open_jit, close_jit);
}
