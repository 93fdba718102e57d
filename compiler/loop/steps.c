/* The steps of a schedule that change the loops of one statement. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "compiler/expr/expr_int.h"
#include "compiler/loop/loop_int.h"

const char *const hd_loop_mark_text[HD_LOOP_MARKS] = {"serial",   "unrolled", "vector",  "parallel",
                                                      "threads",  "block.x",  "block.y", "block.z",
                                                      "thread.x", "thread.y", "thread.z"};

static const char *const step_name[HD_STEPS] = {
#define STEP(name, ...) #name,
#include "compiler/loop/steps.def"
};

hd_status hd_step_fail(const struct hd_lowering *l, const char *fmt, ...) {
    char what[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    return hd_fail(l->ctx, HD_INVALID, "schedule, line %d (%s): %s", l->step->line,
                   step_name[l->step->step], what);
}

hd_status hd_find_stage(const struct hd_lowering *l, const char *name, int *out) {
    for (int i = 0; i < l->n_stages; i++)
        if (!strcmp(l->f->tensor[l->stage[i].s->tensor].name, name)) {
            *out = i;
            return HD_OK;
        }
    return hd_step_fail(l, "no statement defines '%.40s'", name);
}

hd_status hd_find_loop(const struct hd_lowering *l, const struct hd_stage *g, const char *name,
                       int *out) {
    for (int i = 0; i < g->n_loops; i++)
        if (!strcmp(l->nest->loop[g->loop[i]].name, name)) {
            *out = i;
            return HD_OK;
        }
    char have[200] = "";
    for (int i = 0; i < g->n_loops; i++) {
        size_t n = strlen(have);
        snprintf(have + n, sizeof have - n, " %s", l->nest->loop[g->loop[i]].name);
    }
    return hd_step_fail(l, "'%s' has no loop '%.40s', only%s", l->f->tensor[g->s->tensor].name,
                        name, have);
}

hd_status hd_find_tensor(const struct hd_lowering *l, const char *name, int *out) {
    *out = hd_expr_tensor_by_name(l->f, name);
    return *out >= 0 ? HD_OK : hd_step_fail(l, "there is no tensor '%.40s'", name);
}

hd_status hd_new_loop(struct hd_lowering *l, const char *name, int64_t extent, bool reduced,
                      int *out) {
    if (l->nest->n_loops == HD_LOOP_MAX) return hd_step_fail(l, "more than %d loops", HD_LOOP_MAX);
    *out = l->nest->n_loops++;
    l->nest->loop[*out] = (struct hd_loop){.name = name, .extent = extent, .reduced = reduced};
    l->definition[*out] = -1;
    return HD_OK;
}

hd_status hd_new_buffer(struct hd_lowering *l, const char *name, int type, int rank,
                        const int64_t *dim, int *out) {
    struct hd_expr *f = l->f;
    int64_t bytes = 8;
    if (hd_expr_tensor_by_name(f, name) >= 0)
        return hd_step_fail(l, "the name '%.40s' is taken", name);
    struct hd_expr_tensor *t = hd_push(f->arena, f->tensor, f->n_tensors, f->cap_tensors);
    *t = (struct hd_expr_tensor){.name = name, .type = type, .rank = rank};
    for (int d = 0; d < rank; d++) {
        t->dim[d].value = dim[d];
        if (__builtin_mul_overflow(bytes, dim[d], &bytes) || bytes > INT64_C(1) << 33)
            return hd_step_fail(l, "the buffer '%.40s' has more than %d elements", name, 1 << 30);
    }
    *out = (int)f->n_tensors - 1;
    return HD_OK;
}

/* ---- steps ---------------------------------------------------------------------------------- */

static hd_status free_name(const struct hd_lowering *l, const struct hd_stage *g,
                           const char *name) {
    for (int i = 0; i < g->n_loops; i++)
        if (!strcmp(l->nest->loop[g->loop[i]].name, name))
            return hd_step_fail(l, "there is a loop '%.40s' already", name);
    return HD_OK;
}

static hd_status split(struct hd_lowering *l, struct hd_stage *g,
                       const struct hd_schedule_step *k) {
    int at, outer = 0, inner = 0;
    int64_t n = k->number[2];
    TRY(hd_find_loop(l, g, k->word[1], &at));
    int old = g->loop[at];
    const struct hd_loop was = l->nest->loop[old];
    if (n < 1 || n > 1 << 20)
        return hd_step_fail(l, "parts of %lld, allowed 1 to %d", (long long)n, 1 << 20);
    if (was.mark || was.intrinsic) return hd_step_fail(l, "'%s' is marked already", was.name);
    for (int w = 3; w < 5; w++) TRY(free_name(l, g, k->word[w]));
    if (!strcmp(k->word[3], k->word[4])) return hd_step_fail(l, "two loops of one name");
    if (g->n_loops == HD_LOOP_DEPTH) return hd_step_fail(l, "more than %d loops", HD_LOOP_DEPTH);
    TRY(hd_new_loop(l, k->word[3], (was.extent + n - 1) / n, was.reduced, &outer));
    TRY(hd_new_loop(l, k->word[4], n, was.reduced, &inner));
    l->definition[old] = hd_node_of(
        l, HD_EXPR_add, hd_node_of(l, HD_EXPR_mul, hd_node_loop(l, outer), hd_node_int(l, n)),
        hd_node_loop(l, inner));
    if (was.extent % n) { /* the last part is ragged */
        g->guard_reduced[g->n_guards] = was.reduced;
        g->guard[g->n_guards++] =
            hd_node_of(l, HD_EXPR_lt, hd_node_loop(l, old), hd_node_int(l, was.extent));
    }
    memmove(&g->loop[at + 2], &g->loop[at + 1], (size_t)(g->n_loops - at - 1) * sizeof g->loop[0]);
    g->loop[at] = outer;
    g->loop[at + 1] = inner;
    g->n_loops++;
    return HD_OK;
}

static hd_status fuse(struct hd_lowering *l, struct hd_stage *g, const struct hd_schedule_step *k) {
    int a, b, both = 0;
    TRY(hd_find_loop(l, g, k->word[1], &a));
    TRY(hd_find_loop(l, g, k->word[2], &b));
    const struct hd_loop x = l->nest->loop[g->loop[a]], y = l->nest->loop[g->loop[b]];
    if (b != a + 1) return hd_step_fail(l, "'%s' is not directly inside '%s'", y.name, x.name);
    if (x.reduced != y.reduced)
        return hd_step_fail(l, "one of '%s' and '%s' is reduced", x.name, y.name);
    if (x.mark || y.mark || x.intrinsic || y.intrinsic)
        return hd_step_fail(l, "'%s' or '%s' is marked already", x.name, y.name);
    if (strcmp(k->word[3], x.name) && strcmp(k->word[3], y.name)) TRY(free_name(l, g, k->word[3]));
    if (x.extent > INT32_MAX / (y.extent ? y.extent : 1))
        return hd_step_fail(l, "%lld times %lld iterations, at most %d", (long long)x.extent,
                            (long long)y.extent, INT32_MAX);
    TRY(hd_new_loop(l, k->word[3], x.extent * y.extent, x.reduced, &both));
    int64_t n = y.extent ? y.extent : 1;
    l->definition[g->loop[a]] =
        hd_node_of(l, HD_EXPR_div, hd_node_loop(l, both), hd_node_int(l, n));
    l->definition[g->loop[b]] =
        hd_node_of(l, HD_EXPR_mod, hd_node_loop(l, both), hd_node_int(l, n));
    g->loop[a] = both;
    memmove(&g->loop[b], &g->loop[b + 1], (size_t)(g->n_loops - b - 1) * sizeof g->loop[0]);
    g->n_loops--;
    return HD_OK;
}

static hd_status reorder(struct hd_lowering *l, struct hd_stage *g,
                         const struct hd_schedule_step *k) {
    int place[HD_LOOP_WORDS], loop[HD_LOOP_WORDS], n = k->n - 1;
    for (int i = 0; i < n; i++) {
        TRY(hd_find_loop(l, g, k->word[1 + i], &place[i]));
        loop[i] = g->loop[place[i]];
        for (int j = 0; j < i; j++)
            if (loop[j] == loop[i]) return hd_step_fail(l, "'%s' twice", k->word[1 + i]);
    }
    for (int i = 0; i < n; i++) /* places in order */
        for (int j = i + 1; j < n; j++)
            if (place[j] < place[i]) {
                int swap = place[i];
                place[i] = place[j];
                place[j] = swap;
            }
    for (int i = 0; i < n; i++) g->loop[place[i]] = loop[i];
    return HD_OK;
}

static hd_status mark(struct hd_lowering *l, struct hd_stage *g, const struct hd_schedule_step *k,
                      enum hd_loop_mark m) {
    int at;
    TRY(hd_find_loop(l, g, k->word[1], &at));
    struct hd_loop *x = &l->nest->loop[g->loop[at]];
    if (x->mark || x->intrinsic) return hd_step_fail(l, "'%s' is marked already", x->name);
    if (m != HD_LOOP_UNROLLED && x->reduced)
        return hd_step_fail(l, "'%s' is reduced: its iterations add to the same elements", x->name);
    if (m == HD_LOOP_UNROLLED && x->extent > 256)
        return hd_step_fail(l, "'%s' has %lld iterations, at most 256", x->name,
                            (long long)x->extent);
    for (int i = 0; i < g->n_loops && m >= HD_LOOP_BLOCK_X; i++)
        if (l->nest->loop[g->loop[i]].mark == m)
            return hd_step_fail(l, "%s is taken by '%s'", hd_loop_mark_text[m],
                                l->nest->loop[g->loop[i]].name);
    x->mark = m;
    return HD_OK;
}

static enum hd_loop_mark axis_of(const char *word) {
    for (int m = HD_LOOP_BLOCK_X; m < HD_LOOP_MARKS; m++)
        if (!strcmp(hd_loop_mark_text[m], word)) return (enum hd_loop_mark)m;
    return HD_LOOP_SERIAL;
}

hd_status hd_step_apply(struct hd_lowering *l, const struct hd_schedule_step *k) {
    int stage, at;
    l->step = k;
    TRY(hd_find_stage(l, k->word[0], &stage));
    struct hd_stage *g = &l->stage[stage];
    bool moves = k->step == HD_STEP_split || k->step == HD_STEP_fuse ||
                 k->step == HD_STEP_reorder || k->step == HD_STEP_pack;
    if (g->fixed && moves)
        return hd_step_fail(l, "'%s' has another statement or a cache inside; order the steps",
                            k->word[0]);
    if (k->step != HD_STEP_compute_at) g->touched = true;
    switch (k->step) {
    case HD_STEP_split:
        return split(l, g, k);
    case HD_STEP_fuse:
        return fuse(l, g, k);
    case HD_STEP_reorder:
        return reorder(l, g, k);
    case HD_STEP_unroll:
        return mark(l, g, k, HD_LOOP_UNROLLED);
    case HD_STEP_vectorize:
        return mark(l, g, k, HD_LOOP_VECTOR);
    case HD_STEP_parallel:
        return mark(l, g, k, HD_LOOP_PARALLEL);
    case HD_STEP_bind:
        return mark(l, g, k, axis_of(k->word[2]));
    case HD_STEP_tensorize:
        TRY(hd_find_loop(l, g, k->word[1], &at));
        return hd_step_tensorize(l, g, at, k->word[2]);
    case HD_STEP_gemm:
        TRY(hd_find_loop(l, g, k->word[1], &at));
        return hd_step_gemm(l, g, at);
    case HD_STEP_cache:
    case HD_STEP_share:
    case HD_STEP_share_last:
        return hd_step_cache(l, k);
    case HD_STEP_compute_at:
        return hd_step_compute_at(l, k);
    default:
        return hd_step_pack(l, k);
    }
}
