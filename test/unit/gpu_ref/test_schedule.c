/* Schedules of kernels on random shapes with ragged edges, by the interpreter of loops: results of
 * integers never change, for GPUs with much local memory and with little, and for processors.
 * Products are tiled, and their operands go through local memory where there is room; those of
 * bytes are on the instructions of a warp, or on those of four products, where the device has them.
 * The same for choices that heddle tune may measure, and for others that a file may hold. */
#include "compiler/expr/rewrite.h"
#include "compiler/loop/loop.h"
#include "gpu_ref/gpu_choice.h"
#include "test/rng.h"
#include "test/unit/expr/expr_util.h"

enum { CASES = 24, KINDS = 8, SAMPLES = 2 };
#define OK(call)                                                                                   \
    do {                                                                                           \
        if ((call) != HD_OK) fail_msg("%s", hd_message(ctx));                                      \
    } while (0)

static const struct hd_gpu_limits devices[] = {
    {.name = "gpu", .local_bytes = 48 << 10, .max_threads = 1024, .align = 256},
    {.name = "small gpu", .local_bytes = 4 << 10, .max_threads = 256, .align = 256},
    {.name = "mma",
     .mma = true,
     .dot8 = true,
     .local_bytes = 48 << 10,
     .max_threads = 1024,
     .align = 256},
    {.name = "dp4a", .dot8 = true, .local_bytes = 48 << 10, .max_threads = 1024, .align = 256},
    {.name = "processor", .is_cpu = true, .local_bytes = 1 << 20, .max_threads = 4096, .align = 64},
};
enum { DEVICES = sizeof devices / sizeof *devices };

static const char *sized(hd_arena *a, struct rng *r, int kind) {
    int64_t s[4], stride = rng_range(r, 1, 2), pad = rng_range(r, 0, 2);
    int depth = 16 * (int)rng_range(r, 1, 4);
    for (int i = 0; i < 4; i++) s[i] = rng_range(r, 2, i ? 21 : 70);
    switch (kind) {
    case 0:
        return hd_sprintf(a,
                          "(a: i16[%d,%d], b: i16[%d,%d]) -> y\ny[i,j] += i32(a[i,k])*i32(b[k,j])",
                          (int)s[0], (int)s[1], (int)s[1], (int)s[2] * 3);
    case 1:
        return hd_sprintf(
            a,
            "(x: u8[2,%d,%d,9], w: i8[%d,%d,3,2], b: i32[%d]) -> y\n"
            "s[n,m,i,j] += (i32(pad(x[n,c,%d*i+p-%d,j+q-%d], 7)) - 7)*i32(w[m,c,p,q]) where i < "
            "%d, j < 10\ny[n,m,i,j] = i8(clamp(i32.even(f32(s[n,m,i,j] + b[m])*0.013), -128, 127))",
            (int)s[1], (int)s[2] + 4, (int)s[3], (int)s[1], (int)s[3], (int)stride, (int)pad,
            (int)pad, (int)(s[2] + 2) / (int)stride);
    case 2: /* each output channel reads its own input: no tile */
        return hd_sprintf(a,
                          "(x: i8[%d,%d], w: i8[%d,3]) -> y\ny[c,i] += i32(x[c,i+k])*i32(w[c,k])",
                          (int)s[1], (int)s[2] + 2, (int)s[1]);
    case 3:
        return hd_sprintf(a,
                          "(x: i32[%d,%d]) -> y\nm[i] max= x[i,j]\nd[i,j] = x[i,j] - m[i]\n"
                          "s[i] += d[i,j]\ny[i,j] = d[i,j]*s[i]",
                          (int)s[0], (int)s[1]);
    case 4: /* bytes of all signs, both less a zero point */
        return hd_sprintf(a,
                          "(a: %s[%d,%d], b: %s[%d,%d]) -> y\n"
                          "s[i,j] += (i32(a[i,k]) - 3)*(i32(b[j,k]) - %d)\n"
                          "y[i,j] = i8(clamp(i32.even(f32(s[i,j])*0.001), -128, 127))",
                          s[0] & 1 ? "i8" : "u8", (int)s[0], (int)s[1] + 15, s[2] & 1 ? "i8" : "u8",
                          (int)s[2], (int)s[1] + 15, (int)s[3]);
    case 5: /* channels enough for a warp's instruction; strides, padding, residual sum */
        return hd_sprintf(
            a,
            "(x: u8[1,%d,5,11], w: i8[%d,%d,3,2], b: i32[%d], r: i8[1,%d,2,10]) -> y\n"
            "s[n,m,i,j] += (i32(pad(x[n,c,%d*i+p-%d,j+q-%d], 131)) - 131)*i32(w[m,c,p,q]) where i "
            "< 2, j < 10\ny[n,m,i,j] = i8(clamp(i32.even(f32(s[n,m,i,j] + b[m])*0.013) + "
            "i32(r[n,m,i,j]), -128, 127))",
            (int)s[1] + 15, (int)s[3], (int)s[1] + 15, (int)s[3], (int)s[3], (int)stride, (int)pad,
            (int)pad);
    case 6: /* channels last: whole pieces of 16, ragged rows and pixels, padding, a sum behind it
             */
        return hd_sprintf(
            a,
            "(x: u8[2,%d,6,%d], w: i8[%d,3,2,%d], b: i32[%d], r: i8[2,%d,5,%d]) -> y\n"
            "s[n,i,j,m] += i32(pad(x[n,%d*i+p-%d,j+q-%d,c], 131))*i32(w[m,p,q,c]) where i < %d, j "
            "< 5\ny[n,i,j,m] = i8(clamp(i32.even(f32(s[n,i,j,m] + b[m])*0.0013) + "
            "i32(r[n,i,j,m]), -128, 127))",
            (int)s[1] / 2 + 3, depth, (int)s[3] * 2, depth, (int)s[3] * 2, (int)s[1] / 4 + 1,
            (int)s[3] * 2, (int)stride, (int)pad, (int)pad, (int)s[1] / 4 + 1);
    default:
        return hd_sprintf(a, "(x: i8[%d,%d], t: i8[%d,%d]) -> y\ny[i] argmax= x[i,j] ^ t[i,j]",
                          (int)s[0], (int)s[1], (int)s[0], (int)s[1]);
    }
}

struct counts {
    int tiled, shared, warps, dots, gemms, cases;
};

static void count(const struct hd_nest *n, struct counts *c) {
    bool shared = false, tiled = false;
    for (size_t i = 0; i < n->f->n_tensors; i++) shared = shared || n->shared[i];
    for (int i = 0; i < n->n_loops; i++) tiled = tiled || n->loop[i].mark == HD_LOOP_THREAD_Y;
    bool warps = false, dots = false, gemms = false;
    for (int i = 0; i < n->n_loops; i++) {
        const char *name = n->loop[i].intrinsic;
        warps = warps || (name && !strncmp(name, "mma", 3));
        gemms = gemms || n->loop[i].parts;
        dots = dots || (name && !strncmp(name, "dp4a", 4));
    }
    c->warps += warps;
    c->dots += dots;
    c->gemms += gemms;
    c->cases++;
    c->shared += shared;
    c->tiled += tiled;
}

/* A choice at random: of the candidates, or of what can be written down. */
static const struct hd_gpu_choice *sample(hd_arena *a, struct rng *r, const struct hd_expr *f,
                                          const struct hd_gpu_limits *l, bool candidate) {
    struct hd_gpu_candidate *list;
    int n = hd_gpu_space(a, f, l, &list);
    assert_true(n > 0);
    for (int i = 1; i < n; i++) assert_true(list[i - 1].cycles <= list[i].cycles);
    if (candidate) return &list[rng_range(r, 0, n - 1)].choice;
    struct hd_gpu_choice *c = hd_new(a, struct hd_gpu_choice), back;
    c->form = rng_next(r) % 4;
    for (int d = 0; d < 2; d++)
        c->threads[d] = (int)rng_range(r, 1, 6), c->each[d] = (int)rng_range(r, 1, 9);
    if (c->form == HD_GPU_TILE) c->depth = (int)rng_range(r, 0, 20), c->unroll = rng_next(r) & 1;
    if (c->form == HD_GPU_FLAT) c->threads[0] = c->each[0] = 1;
    if (c->form == HD_GPU_WARPS) c->threads[1] = 1;
    if (c->form == HD_GPU_GEMM) {
        c->depth = (int)rng_range(r, 10, 40), c->stages = (int)rng_range(r, 0, 4);
        for (int d = 0; d < 2; d++) c->threads[d] = 1 << rng_range(r, 0, 3);
        c->each[0] = 8 << rng_range(r, 0, 2), c->each[1] = 1 << rng_range(r, 0, 2);
        if (rng_next(r) & 3) c->depth = 16 << rng_range(r, 0, 2);
    }
    assert_true(hd_gpu_choice_read(hd_gpu_choice_text(a, c), &back));
    assert_memory_equal(back.threads, c->threads, sizeof back.threads);
    assert_memory_equal(back.each, c->each, sizeof back.each);
    assert_true(back.form == c->form && back.depth == c->depth && back.unroll == c->unroll);
    assert_int_equal(back.stages, c->stages);
    return c;
}

enum what { BY_RULE, CANDIDATE, ANY };

/* The schedule's result is the definition's. Others than those by rule may be refused; then false.
 */
static bool check(hd_ctx *ctx, hd_arena *a, const char *text, const struct hd_gpu_limits *l,
                  struct rng *r, enum what what, struct counts *c) {
    struct hd_expr *f, *b, *plain;
    struct hd_schedule *s;
    struct hd_nest *n;
    const void *in[4];
    OK(hd_expr_parse(ctx, a, text, &f));
    OK(hd_expr_bind(ctx, a, f, NULL, &plain));
    OK(hd_expr_bind(ctx, a, f, NULL, &b));
    hd_expr_simplify(b);
    if (l->dot8) hd_expr_split_offsets(b);
    hd_expr_split_sums(b);
    const struct hd_gpu_choice *choice =
        what == BY_RULE ? NULL : sample(a, r, b, l, what == CANDIDATE);
    const char *steps = hd_gpu_schedule(a, b, l, choice);
    if (choice && !steps) return false;
    OK(hd_schedule_parse(ctx, a, steps, &s));
    if (hd_loop_lower(ctx, a, b, s, &n) != HD_OK) {
        if (!choice) fail_msg("%s", hd_message(ctx));
        hd_clear(ctx);
        return false;
    }
    hd_loop_tidy(a, n);
    count(n, c);
    for (int i = 0; i < plain->n_params; i++) {
        void *data = expr_room(a, &plain->tensor[i]);
        expr_fill(&plain->tensor[i], data, (uint32_t)c->cases + (uint32_t)i);
        in[i] = data;
    }
    const struct hd_expr_tensor *y = &plain->tensor[plain->result[0]];
    void *want = expr_room(a, y), *got = expr_room(a, y);
    OK(hd_expr_run(ctx, plain, in, &want, a));
    OK(hd_loop_run(ctx, n, in, &got, a));
    if (memcmp(want, got, (size_t)hd_expr_elems(y) * hd_dtype_bytes((hd_dtype)y->type)))
        fail_msg("%s:\n%s\n%s\n%s", l->name, text, steps, hd_loop_text(a, n));
    return true;
}

static void nothing_changes(void **state) {
    hd_ctx *ctx = hd_ctx_create();
    struct rng r = {1};
    (void)state;
    for (int d = 0; d < DEVICES; d++)
        for (int kind = 0; kind < KINDS; kind++) {
            struct counts c = {0};
            bool product = kind < 2 || (kind > 3 && kind < 7), gpu = !devices[d].is_cpu;
            for (int i = 0; i < CASES / KINDS; i++) {
                hd_arena *a = hd_arena_create();
                check(ctx, a, sized(a, &r, kind), &devices[d], NULL, BY_RULE, &c);
                hd_arena_destroy(a);
            }
            assert_int_equal(c.tiled, product ? c.cases : 0);
            if (product && d == 0 && kind < 6) assert_int_equal(c.shared, c.cases);
            if (!product || !gpu) assert_int_equal(c.shared, 0);
            bool bytes = kind == 1 || (kind > 3 && kind < 7);
            if (!devices[d].mma || !bytes) assert_int_equal(c.gemms, 0);
            if (devices[d].mma && kind == 6) assert_int_equal(c.gemms, c.cases);
            if (kind < 6 || devices[d].mma)
                assert_int_equal(c.warps + c.dots + c.gemms,
                                 devices[d].dot8 && bytes ? c.cases : 0);
            if (devices[d].mma && kind > 3)
                assert_int_equal(c.warps + c.gemms, bytes ? c.cases : 0);
            if (!devices[d].mma) assert_int_equal(c.warps, 0);
        }
    hd_ctx_destroy(ctx);
}

static void whatever_is_chosen(void **state) {
    hd_ctx *ctx = hd_ctx_create();
    struct rng r = {2};
    int ran[] = {0, 0, 0}, of = 0;
    (void)state;
    for (int d = 0; d < DEVICES; d++)
        for (int kind = 0; kind < KINDS; kind++)
            for (int i = 0; i < SAMPLES; i++, of++)
                for (enum what what = CANDIDATE; what <= ANY; what++) {
                    struct counts c = {.cases = of};
                    hd_arena *a = hd_arena_create();
                    ran[what] += check(ctx, a, sized(a, &r, kind), &devices[d], &r, what, &c);
                    hd_arena_destroy(a);
                }
    assert_true(ran[CANDIDATE] > 9 * of / 10); /* hardly any is measured in vain */
    assert_true(ran[ANY] > of / 4);
    hd_ctx_destroy(ctx);
}

static void what_is_no_choice(void **state) {
    static const char *const bad[] = {"",
                                      "tile",
                                      "tile 4x16, threads 1x1, depth 0, ",
                                      "tile 4x16, threads 1x1, depth 0, unrolled twice",
                                      "tile 4x16, threads 1x1, depth -1",
                                      "tile 04x16, threads 1x1, depth 1",
                                      "tile 0x16, threads 1x1, depth 1",
                                      "tile 128x128, threads 1x1, depth 1",
                                      "tile 4x4, threads 64x64, depth 1",
                                      "tile 99999999999x4, threads 1x1, depth 1",
                                      "flat, 64 threads",
                                      "flat, 2048 threads, 1 each",
                                      "warps 4, columns 32x2\n",
                                      "gemm, warps 1x8, rows 16, columns 8x2",
                                      "gemm, warps 1x8, rows 16, columns 8x2, stages 9",
                                      "split y i 8 io ii"};
    struct hd_gpu_choice c = {.depth = 77};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (hd_gpu_choice_read(bad[i], &c)) fail_msg("'%s' is taken", bad[i]);
    assert_int_equal(c.depth, 77);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_changes),
                                       cmocka_unit_test(whatever_is_chosen),
                                       cmocka_unit_test(what_is_no_choice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
