/* Scheduled kernels: see cpu_kernel.h. */
#include "cpu_ref/cpu_kernel.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/loop/llvm.h"
#include "runtime/base/num.h"
#include "runtime/base/parallel.h"

enum { ALIGN = 64, MOST_TENSORS = 16, MOST_PARTS = 8, PIECES = 4 };

typedef void (*part_fn)(void *const *tensor, int64_t begin, int64_t end);

struct hd_cpu_kernel {
    void *tensor[MOST_TENSORS]; /* of the nest; x and y are filled in for each run */
    bool own[MOST_TENSORS];
    int n_tensors, y, n_parts;
    int8_t *weights; /* of bytes, in the expression's order */
    int32_t *bias;
    struct {
        part_fn fn;
        int64_t iterations;
        bool once;
    } part[MOST_PARTS];
};

static hd_status compile(hd_ctx *ctx, const struct hd_jit_api *jit, void *engine,
                         const struct hd_loop_llvm *code, const char *name,
                         struct hd_cpu_kernel *k) {
    const char *why = "";
    if (code->n_parts > MOST_PARTS)
        return hd_fail(ctx, HD_UNSUPPORTED, "a kernel of %d parts, at most %d", code->n_parts,
                       MOST_PARTS);
    if (!jit->build(engine, code->text, &why)) return hd_fail(ctx, HD_UNSUPPORTED, "%s", why);
    for (int i = 0; i < code->n_parts; i++) {
        char function[64];
        snprintf(function, sizeof function, "%s_%d", name, i);
        k->part[i].fn = (part_fn)(uintptr_t)jit->find(engine, function);
        k->part[i].iterations = code->part[i].iterations;
        k->part[i].once = code->part[i].once == 1; /* of the weights */
        if (!k->part[i].fn) return hd_fail(ctx, HD_UNSUPPORTED, "LLVM has no %s", function);
    }
    k->n_parts = code->n_parts;
    return HD_OK;
}

/* Buffers that no loop fills anew are the kernel's. */
static hd_status take_buffers(hd_ctx *ctx, struct hd_cpu_kernel *k, const struct hd_nest *n,
                              const struct hd_cpu_constants *c) {
    k->n_tensors = (int)n->f->n_tensors;
    k->y = n->f->result[0];
    if (k->n_tensors > MOST_TENSORS)
        return hd_fail(ctx, HD_UNSUPPORTED, "a kernel of %d tensors, at most %d", k->n_tensors,
                       MOST_TENSORS);
    const void *given[] = {NULL, c->weights, c->bias, c->scale};
    for (int i = 1, at = 1; i < 4; i++)
        if (given[i]) k->tensor[at++] = (void *)(uintptr_t)given[i];
    for (int i = n->f->n_params; i < k->n_tensors; i++) {
        if (i == k->y || n->scope[i] >= 0) continue;
        const struct hd_expr_tensor *t = &n->f->tensor[i];
        size_t bytes = (size_t)hd_expr_elems(t) * hd_dtype_bytes((hd_dtype)t->type);
        k->tensor[i] = aligned_alloc(ALIGN, (size_t)hd_round_up((int64_t)bytes + 1, ALIGN));
        k->own[i] = true;
        if (!k->tensor[i]) return hd_fail(ctx, HD_NOMEM, "no memory for packed weights");
    }
    return HD_OK;
}

bool hd_cpu_kernel_bytes(void) {
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

/* Machine code with an instruction that is not there ends the process, so it is not made. */
static hd_status has_instructions(hd_ctx *ctx, const struct hd_jit_api *jit, void *engine,
                                  const struct hd_tunable *w, const char *schedule) {
    int have = jit->vnni(engine), want = hd_tunable_vnni(schedule);
    if (w->bytes && !hd_cpu_kernel_bytes())
        return hd_fail(ctx, HD_UNSUPPORTED, "schedules of bytes are for processors with AVX2");
    if (want <= have) return HD_OK;
    if (have)
        return hd_fail(ctx, HD_UNSUPPORTED,
                       "intrinsic vnni is for processors with AVX-512 VNNI, this one (%s) has "
                       "vnni_8; run 'heddle tune' here",
                       jit->processor(engine));
    return hd_fail(ctx, HD_UNSUPPORTED,
                   "intrinsic %s is for processors with VNNI, this one (%s) has madd; run 'heddle "
                   "tune' here",
                   want > 8 ? "vnni" : "vnni_8", jit->processor(engine));
}

/* Weights and bias of bytes as the work's expression has them. */
static hd_status order(hd_ctx *ctx, const struct hd_tunable *w, struct hd_cpu_constants *c,
                       struct hd_cpu_kernel *k) {
    if (!w->bytes) return HD_OK;
    k->weights = malloc(hd_tunable_weights(w, c->weights, NULL) + 1);
    k->bias = malloc((size_t)(w->g * w->m) * sizeof *k->bias);
    if (!k->weights || !k->bias) return hd_fail(ctx, HD_NOMEM, "no memory for weights in order");
    hd_tunable_weights(w, c->weights, k->weights);
    hd_tunable_bias(w, c->weights, c->bias, k->bias);
    c->weights = k->weights, c->bias = k->bias;
    return HD_OK;
}

static hd_status make(hd_ctx *ctx, hd_arena *a, const struct hd_jit_api *jit, void *engine,
                      const struct hd_tunable *w, const char *schedule,
                      const struct hd_cpu_constants *c, struct hd_cpu_kernel *k) {
    struct hd_expr *f;
    struct hd_schedule *s;
    struct hd_nest *n;
    struct hd_loop_llvm code;
    static int made;
    const char *name = hd_sprintf(a, "work%d", __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED));
    struct hd_tunable under = hd_tunable_under(w, schedule);
    struct hd_cpu_constants mine = *c;
    TRY(has_instructions(ctx, jit, engine, w, schedule));
    TRY(order(ctx, &under, &mine, k));
    TRY(hd_tunable_expr(ctx, a, &under, &f));
    TRY(hd_schedule_parse(ctx, a, schedule, &s));
    TRY(hd_loop_lower(ctx, a, f, s, &n));
    hd_loop_tidy(a, n);
    TRY(hd_loop_llvm(ctx, a, n, name, jit->lanes(engine), &code));
    TRY(compile(ctx, jit, engine, &code, name, k));
    TRY(take_buffers(ctx, k, n, &mine));
    for (int i = 0; i < k->n_parts; i++)
        if (k->part[i].once) k->part[i].fn(k->tensor, 0, k->part[i].iterations);
    return HD_OK;
}

hd_status hd_cpu_kernel_create(hd_ctx *ctx, const struct hd_jit_api *jit, void *engine,
                               const struct hd_tunable *w, const char *schedule,
                               const struct hd_cpu_constants *c, struct hd_cpu_kernel **out) {
    struct hd_cpu_kernel *k = calloc(1, sizeof *k);
    if (!k) return hd_fail(ctx, HD_NOMEM, "no memory for a kernel");
    hd_arena *a = hd_arena_create();
    hd_status s = make(ctx, a, jit, engine, w, schedule, c, k);
    hd_arena_destroy(a);
    if (s == HD_OK)
        *out = k;
    else
        hd_cpu_kernel_destroy(k);
    return s;
}

void hd_cpu_kernel_destroy(struct hd_cpu_kernel *k) {
    if (!k) return;
    for (int i = 0; i < k->n_tensors && i < MOST_TENSORS; i++)
        if (k->own[i]) free(k->tensor[i]);
    free(k->weights);
    free(k->bias);
    free(k);
}

/* ---- running -------------------------------------------------------------------------------- */

struct job {
    const struct hd_cpu_kernel *k;
    int part;
    int64_t pieces;
};

static void piece(void *arg, int64_t i, int thread) {
    const struct job *j = arg;
    int64_t n = j->k->part[j->part].iterations;
    (void)thread;
    j->k->part[j->part].fn(j->k->tensor, n * i / j->pieces, n * (i + 1) / j->pieces);
}

void hd_cpu_kernel_run(struct hd_cpu_kernel *k, const void *x, void *y, int threads) {
    k->tensor[0] = (void *)(uintptr_t)x;
    k->tensor[k->y] = y;
    for (int i = 0; i < k->n_parts; i++) {
        if (k->part[i].once) continue;
        struct job j = {k, i, 1};
        if (threads > 1) j.pieces = hd_min(k->part[i].iterations, (int64_t)threads * PIECES);
        hd_parallel(threads, j.pieces, piece, &j);
    }
}
