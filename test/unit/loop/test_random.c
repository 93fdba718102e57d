/* Random schedules on random shapes with ragged edges: integer results never change, and schedules
 * read back. Prints seed, expression and schedule of a failure.
 *
 *   test_random [first seed] [number of schedules]                                              */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "compiler/loop/llvm.h"
#include "cpu_ref/jit_api.h"
#include "runtime/base/plugin.h"
#include "test/rng.h"
#include "test/unit/expr/expr_util.h"

enum { SCHEDULES = 1500, STEPS = 9 };

/* Sizes are %d; each gets a random one. */
static const struct {
    const char *text;
    const char *statements[3]; /* with their loops and tensors, all of which steps may name */
    const char *tensors[3];
} templates[] = {
    {"(x: i8[%d,%d], w: i8[%d,%d]) -> y\n"
     "y[m,n] += i32(x[m,k]) * i32(w[n,k]) where m < %m, n < %m, k < %m",
     {"y m n k"},
     {"x w"}},
    {"(x: u8[2,%d,9,8], w: i8[%d,%d,3,2]) -> z\n"
     "p[n,c,i,j] = pad(x[n,c,i-1,j-1], 3) where i < 11, j < 10\n"
     "y[n,m,i,j] += i32(p[n,c,2*i+r,j+s]) * i32(w[m,c,r,s]) where c < %m, m < %m\n"
     "z[n,m,i,j] = i8.even.sat(f32(y[n,m,i,j]) * 0.013)",
     {"p n c i j", "y n m i j c r s", "z n m i j"},
     {"x", "p w", "y"}},
    {"(x: i32[%d,%d]) -> a, b\n"
     "h[i,j] = max(x[i,j], -x[i,j]) * 3\n"
     "a[i] argmax= h[i,j] & 15\n"
     "b[j] max= pad(h[i-1,j], 7) where i < 5",
     {"h i j", "a i j", "b j i"},
     {"x", "h", "h"}},
    {"(x: i16[%d,%d,%d]) -> y\n"
     "t[c,i] = x[0,c,i] + 1\n"
     "y[c,i] *= i32(pad(t[c, i + k - 2], 1)) where k < 5, i < %m",
     {"t c i", "y c i k"},
     {"x", "t"}},
    {"(x: i8[%d], i: i32[%d]) -> y\ns[k] = x[abs(i[k]) % 2] where k < %m\ny[k,l] = s[k] - s[l]",
     {"s k", "y k l"},
     {"x i", "s"}}};
enum { TEMPLATES = sizeof templates / sizeof templates[0] };

/* %d: a size; %m: a size that is not above the smallest one. */
static const char *fill_in(hd_arena *a, struct rng *r, const char *t) {
    const char *out = "";
    int64_t least = 99;
    for (; *t; t++) {
        if (*t != '%' || (t[1] != 'd' && t[1] != 'm')) {
            out = hd_sprintf(a, "%s%c", out, *t);
            continue;
        }
        int64_t v = *++t == 'd' ? rng_range(r, 2, 9) : least;
        if (v < least) least = v;
        out = hd_sprintf(a, "%s%d", out, (int)v);
    }
    return out;
}

static const char *word(hd_arena *a, struct rng *r, const char *list, int first) {
    const char *w[24];
    int n = 0;
    char *save, *copy = hd_strdup(a, list);
    for (char *p = strtok_r(copy, " ", &save); p && n < 24; p = strtok_r(NULL, " ", &save))
        w[n++] = p;
    return n > first ? w[rng_range(r, first, n - 1)] : "none";
}

/* A step that may fit; loops[s] is the list of loops that statement s had at some time. */
static const char *random_step(hd_arena *a, struct rng *r, int t, const char **loops, int id) {
    int n = 0;
    while (n < 3 && templates[t].statements[n]) n++;
    int s = (int)rng_range(r, 0, n - 1), other = (int)rng_range(r, 0, n - 1);
    const char *name = word(a, r, templates[t].statements[s], 0);
    name = hd_strndup(a, templates[t].statements[s], strcspn(templates[t].statements[s], " "));
    const char *l1 = word(a, r, loops[s], 0), *l2 = word(a, r, loops[s], 0),
               *l3 = word(a, r, loops[s], 0);
    const char *tensor = word(a, r, templates[t].tensors[s], 0);
    switch (rng_range(r, 0, 13)) {
    case 0:
    case 1:
    case 2:
        loops[s] = hd_sprintf(a, "%s o%d i%d", loops[s], id, id);
        return hd_sprintf(a, "split %s %s %d o%d i%d", name, l1, (int)rng_range(r, 1, 5), id, id);
    case 3:
        return hd_sprintf(a, "reorder %s %s %s %s", name, l1, l2, l3);
    case 4:
        loops[s] = hd_sprintf(a, "%s f%d", loops[s], id);
        return hd_sprintf(a, "fuse %s %s %s f%d", name, l1, l2, id);
    case 5:
        return hd_sprintf(a, "%s %s %s", rng_next(r) & 1 ? "parallel" : "vectorize", name, l1);
    case 6:
        return hd_sprintf(a, "unroll %s %s", name, l1);
    case 7:
    case 8:
        return hd_sprintf(a, "compute_at %s %s %s", name,
                          hd_strndup(a, templates[t].statements[other],
                                     strcspn(templates[t].statements[other], " ")),
                          word(a, r, loops[other], 0));
    case 9:
        return hd_sprintf(a, "cache %s %s %s c%d", name, tensor, l1, id);
    case 10:
        return hd_sprintf(a, "share %s %s %s c%d", name, tensor, l1, id);
    case 11:
        return hd_sprintf(a, "share_last %s %s %s %d c%d", name, tensor, l1,
                          (int)rng_range(r, 0, 2), id);
    case 12:
        return hd_sprintf(a, "bind %s %s %s.%c", name, l1, rng_next(r) & 1 ? "thread" : "block",
                          "xyz"[rng_range(r, 0, 2)]);
    default:
        return hd_sprintf(a, "pack %s %s %d %d c%d", name, tensor, (int)rng_range(r, 0, 2),
                          (int)rng_range(r, 1, 5), id);
    }
}

/* Steps one by one; those that do not fit are left out. */
static const char *random_schedule(hd_ctx *ctx, hd_arena *a, struct rng *r, int t,
                                   const struct hd_expr *b, int *taken) {
    const char *text = "", *loops[3];
    for (int s = 0; s < 3 && templates[t].statements[s]; s++)
        loops[s] = strchr(templates[t].statements[s], ' ') + 1;
    for (int i = 0; i < STEPS; i++) {
        const char *step = random_step(a, r, t, loops, i);
        const char *longer = hd_sprintf(a, "%s%s\n", text, step);
        struct hd_schedule *s;
        struct hd_nest *n;
        assert_int_equal(hd_schedule_parse(ctx, a, longer, &s), HD_OK);
        assert_string_equal(hd_schedule_text(a, s), longer);
        if (hd_loop_lower(ctx, a, b, s, &n) == HD_OK) {
            text = longer;
            taken[s->step[s->n - 1].step]++;
        } else {
            assert_non_null(strstr(hd_message(ctx), "schedule, line"));
            hd_clear(ctx);
        }
    }
    return text;
}

struct random_case {
    const char *text, *schedule;
    struct hd_expr *b;
    struct hd_nest *n;
    const void *in[2];
    void *want[2], *got[2];
};

static void make_case(hd_ctx *ctx, hd_arena *a, uint64_t seed, int *taken, struct random_case *c) {
    struct rng r = {seed};
    struct hd_expr *f;
    struct hd_schedule *s;
    int t = (int)rng_range(&r, 0, TEMPLATES - 1);
    c->text = fill_in(a, &r, templates[t].text);
    assert_int_equal(hd_expr_parse(ctx, a, c->text, &f), HD_OK);
    bool bound = hd_expr_bind(ctx, a, f, NULL, &c->b) == HD_OK;
    if (!bound) printf("%s\n%s", c->text, hd_message(ctx));
    assert_true(bound);
    c->schedule = random_schedule(ctx, a, &r, t, c->b, taken);
    assert_int_equal(hd_schedule_parse(ctx, a, c->schedule, &s), HD_OK);
    assert_int_equal(hd_loop_lower(ctx, a, c->b, s, &c->n), HD_OK);
    for (int i = 0; i < c->b->n_params; i++) {
        void *data = expr_room(a, &c->b->tensor[i]);
        expr_fill(&c->b->tensor[i], data, (uint32_t)seed + (uint32_t)i);
        c->in[i] = data;
    }
    for (size_t i = 0; i < c->b->n_results; i++) {
        c->want[i] = expr_room(a, &c->b->tensor[c->b->result[i]]);
        c->got[i] = expr_room(a, &c->b->tensor[c->b->result[i]]);
    }
    assert_int_equal(hd_expr_run(ctx, c->b, c->in, c->want, a), HD_OK);
}

static void expect_equal(hd_ctx *ctx, hd_arena *a, uint64_t seed, const struct random_case *c,
                         bool ran) {
    bool equal = ran;
    for (size_t i = 0; i < c->b->n_results; i++) {
        const struct hd_expr_tensor *y = &c->b->tensor[c->b->result[i]];
        equal = equal && !memcmp(c->want[i], c->got[i],
                                 (size_t)hd_expr_elems(y) * hd_dtype_bytes((hd_dtype)y->type));
    }
    if (!equal)
        printf("seed %llu\n%s\n%s\n%s%s", (unsigned long long)seed, c->text, c->schedule,
               hd_loop_text(a, c->n), hd_message(ctx));
    assert_true(equal);
}

static void compare(uint64_t seed, int *taken) {
    hd_arena *a = hd_arena_create();
    hd_ctx *ctx = hd_ctx_create();
    struct random_case c;
    make_case(ctx, a, seed, taken, &c);
    expect_equal(ctx, a, seed, &c, hd_loop_run(ctx, c.n, c.in, c.got, a) == HD_OK);
    hd_loop_tidy(a, c.n);
    for (size_t i = 0; i < c.b->n_results; i++)
        memset(c.got[i], 0x5a, (size_t)hd_expr_elems(&c.b->tensor[c.b->result[i]]));
    expect_equal(ctx, a, seed, &c, hd_loop_run(ctx, c.n, c.in, c.got, a) == HD_OK);
    hd_ctx_destroy(ctx);
    hd_arena_destroy(a);
}

/* ---- the same through C, all functions in one file ------------------------------------------ */

enum { C_CASES = 80 };

static void *compiled(const char *source) {
    char path[] = "/tmp/heddle_loops_XXXXXX.c", command[160];
    int fd = mkstemps(path, 2);
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "w");
    assert_non_null(f);
    assert_true(fputs(source, f) >= 0);
    assert_int_equal(fclose(f), 0);
    snprintf(command, sizeof command,
             "cc -w -O2 -fopenmp -ffp-contract=off -fPIC -shared %s -o %s.so -lm", path, path);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "%s.so", path);
    void *lib = dlopen(command, RTLD_NOW | RTLD_NODELETE); /* OpenMP has threads in it */
    assert_non_null(lib);
    unlink(command);
    unlink(path);
    return lib;
}

static void c_computes_the_same(void **state) {
    static struct random_case cases[C_CASES];
    int taken[HD_STEPS] = {0}, printed = 0;
    hd_arena *a = hd_arena_create();
    hd_ctx *ctx = hd_ctx_create();
    const char *source = hd_loop_c_prologue(), *text;
    bool made[C_CASES];
    (void)state;
    for (int i = 0; i < C_CASES; i++) {
        make_case(ctx, a, (uint64_t)i + 7, taken, &cases[i]);
        made[i] = hd_loop_c(ctx, a, cases[i].n, hd_sprintf(a, "f%d", i), &text) == HD_OK;
        hd_clear(ctx);
        if (made[i]) source = hd_sprintf(a, "%s%s", source, text);
        printed += made[i];
    }
    assert_true(printed > C_CASES / 2);
    void *lib = compiled(source);
    for (int i = 0; i < C_CASES; i++) {
        void (*run)(const void *const *, void *const *) = NULL;
        if (!made[i]) continue;
        *(void **)&run = dlsym(lib, hd_sprintf(a, "f%d", i));
        assert_non_null(*(void **)&run);
        run(cases[i].in, cases[i].got);
        expect_equal(ctx, a, (uint64_t)i + 7, &cases[i], true);
    }
    dlclose(lib);
    hd_ctx_destroy(ctx);
    hd_arena_destroy(a);
}

/* ---- the same through LLVM ------------------------------------------------------------------ */

enum { LLVM_CASES = 120 };

static void run_parts(hd_arena *a, const struct hd_jit_api *jit, void *engine,
                      const struct random_case *c, const struct hd_loop_llvm *code,
                      const char *name) {
    void **tensor = hd_new_array(a, void *, c->n->f->n_tensors + 1);
    for (size_t i = 0; i < c->n->f->n_tensors; i++)
        tensor[i] = (int)i < c->n->f->n_params ? (void *)(uintptr_t)c->in[i]
                                               : expr_room(a, &c->n->f->tensor[i]);
    for (size_t i = 0; i < c->b->n_results; i++) tensor[c->b->result[i]] = c->got[i];
    for (int i = 0; i < code->n_parts; i++) {
        void (*run)(void *const *, int64_t, int64_t) = NULL;
        *(void **)&run = jit->find(engine, hd_sprintf(a, "%s_%d", name, i));
        assert_non_null(*(void **)&run);
        int64_t half = code->part[i].iterations / 2; /* as two threads would */
        run(tensor, half, code->part[i].iterations);
        if (half) run(tensor, 0, half);
    }
}

static void llvm_computes_the_same(void **state) {
    void *lib = hd_plugin_open("libhd_jit.so", HD_PLUGIN_LOCAL);
    const struct hd_jit_api *jit = lib ? dlsym(lib, HD_JIT_ENTRY) : NULL;
    int taken[HD_STEPS] = {0}, printed = 0;
    (void)state;
    if (!jit) skip();
    hd_arena *a = hd_arena_create();
    hd_ctx *ctx = hd_ctx_create();
    void *engine = jit->open();
    assert_non_null(engine);
    for (uint64_t seed = 1; seed <= LLVM_CASES; seed++) {
        struct random_case c;
        struct hd_loop_llvm code;
        const char *why = "", *name = hd_sprintf(a, "case%llu", (unsigned long long)seed);
        make_case(ctx, a, seed, taken, &c);
        if (seed % 2) hd_loop_tidy(a, c.n);
        bool made = hd_loop_llvm(ctx, a, c.n, name, jit->lanes(engine), &code) == HD_OK;
        hd_clear(ctx);
        if (!made) continue;
        printed++;
        bool built = jit->build(engine, code.text, &why);
        if (!built) printf("seed %llu: %s\n%s", (unsigned long long)seed, why, code.text);
        assert_true(built);
        run_parts(a, jit, engine, &c, &code, name);
        expect_equal(ctx, a, seed, &c, true);
    }
    assert_true(printed > LLVM_CASES / 4);
    jit->close(engine);
    hd_ctx_destroy(ctx);
    hd_arena_destroy(a);
}

static uint64_t first_seed = 1, count = SCHEDULES;

static void schedules_change_nothing(void **state) {
    int taken[HD_STEPS] = {0};
    (void)state;
    for (uint64_t i = 0; i < count; i++) compare(first_seed + i, taken);
    for (int k = 0; k < HD_STEPS && count >= SCHEDULES; k++) /* each step was in force */
        if (k != HD_STEP_tensorize && k != HD_STEP_gemm) assert_true(taken[k] > 20);
}

int main(int argc, char **argv) {
    if (argc > 1) first_seed = strtoull(argv[1], NULL, 10);
    if (argc > 2) count = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(schedules_change_nothing),
                                       cmocka_unit_test(c_computes_the_same),
                                       cmocka_unit_test(llvm_computes_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
