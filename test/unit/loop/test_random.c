/* Random schedules on random shapes with ragged edges: integer results never change, and schedules
 * read back. Prints seed, expression and schedule of a failure.
 *
 *   test_random [first seed] [number of schedules]                                              */
#include <stdlib.h>

#include "compiler/loop/loop.h"
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
    switch (rng_range(r, 0, 10)) {
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

static void compare(uint64_t seed, int *taken) {
    struct rng r = {seed};
    hd_arena *a = hd_arena_create();
    hd_ctx *ctx = hd_ctx_create();
    struct hd_expr *f, *b;
    struct hd_schedule *s;
    struct hd_nest *n;
    int t = (int)rng_range(&r, 0, TEMPLATES - 1);
    const char *text = fill_in(a, &r, templates[t].text);
    assert_int_equal(hd_expr_parse(ctx, a, text, &f), HD_OK);
    bool bound = hd_expr_bind(ctx, a, f, NULL, &b) == HD_OK;
    if (!bound) printf("%s\n%s", text, hd_message(ctx));
    assert_true(bound);
    const char *schedule = random_schedule(ctx, a, &r, t, b, taken);
    assert_int_equal(hd_schedule_parse(ctx, a, schedule, &s), HD_OK);
    assert_int_equal(hd_loop_lower(ctx, a, b, s, &n), HD_OK);
    const void *in[2];
    void *want[2], *got[2];
    for (int i = 0; i < b->n_params; i++) {
        void *data = expr_room(a, &b->tensor[i]);
        expr_fill(&b->tensor[i], data, (uint32_t)seed + (uint32_t)i);
        in[i] = data;
    }
    for (size_t i = 0; i < b->n_results; i++) {
        want[i] = expr_room(a, &b->tensor[b->result[i]]);
        got[i] = expr_room(a, &b->tensor[b->result[i]]);
    }
    assert_int_equal(hd_expr_run(ctx, b, in, want, a), HD_OK);
    hd_status ran = hd_loop_run(ctx, n, in, got, a);
    bool equal = ran == HD_OK;
    for (size_t i = 0; i < b->n_results; i++) {
        const struct hd_expr_tensor *y = &b->tensor[b->result[i]];
        equal = equal && !memcmp(want[i], got[i],
                                 (size_t)hd_expr_elems(y) * hd_dtype_bytes((hd_dtype)y->type));
    }
    if (!equal)
        printf("seed %llu\n%s\n%s\n%s%s", (unsigned long long)seed, text, schedule,
               hd_loop_text(a, n), hd_message(ctx));
    assert_true(equal);
    hd_ctx_destroy(ctx);
    hd_arena_destroy(a);
}

static uint64_t first_seed = 1, count = SCHEDULES;

static void schedules_change_nothing(void **state) {
    int taken[HD_STEPS] = {0};
    (void)state;
    for (uint64_t i = 0; i < count; i++) compare(first_seed + i, taken);
    for (int k = 0; k < HD_STEPS && count >= SCHEDULES; k++) /* each step was in force */
        if (k != HD_STEP_bind && k != HD_STEP_tensorize) assert_true(taken[k] > 20);
}

int main(int argc, char **argv) {
    if (argc > 1) first_seed = strtoull(argv[1], NULL, 10);
    if (argc > 2) count = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(schedules_change_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
