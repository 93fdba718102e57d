/* What a device can be asked for as text, which a database of schedules keeps, and the names of
 * devices and works there. */
#include <string.h>

#include "gpu_ref/gpu_choice.h"
#include "runtime/base/sha256.h"

enum {
    MOST_THREADS = 1024,
    MOST_EACH = 256,
    MOST_ELEMENTS = 4096,
    MOST_DEPTH = 256,
    MOST_STAGES = 8,
    DIGITS = 8
};

const char *hd_gpu_choice_text(hd_arena *a, const struct hd_gpu_choice *c) {
    switch (c->form) {
    case HD_GPU_FLAT:
        return hd_sprintf(a, "flat, %d threads, %d each", c->threads[1], c->each[1]);
    case HD_GPU_WARPS:
        return hd_sprintf(a, "warps %d, columns %dx%d", c->threads[0], c->each[0], c->each[1]);
    case HD_GPU_GEMM:
        return hd_sprintf(a, "gemm, warps %dx%d, rows %d, columns %dx%d, stages %d", c->threads[0],
                          c->threads[1], c->depth, c->each[0], c->each[1], c->stages);
    default:
        return hd_sprintf(a, "tile %dx%d, threads %dx%d, depth %d%s", c->each[0], c->each[1],
                          c->threads[0], c->threads[1], c->depth, c->unroll ? ", unrolled" : "");
    }
}

static bool between(int v, int least, int most) {
    return v >= least && v <= most;
}

static bool sensible(const struct hd_gpu_choice *c) {
    for (int d = 0; d < 2; d++)
        if (!between(c->threads[d], 1, MOST_THREADS) || !between(c->each[d], 1, MOST_EACH))
            return false;
    return c->threads[0] * c->threads[1] <= MOST_THREADS &&
           c->each[0] * c->each[1] <= MOST_ELEMENTS && between(c->depth, 0, MOST_DEPTH) &&
           between(c->stages, 0, MOST_STAGES);
}

bool hd_gpu_choice_read(const char *text, struct hd_gpu_choice *out) {
    struct hd_gpu_choice c = {HD_GPU_FLAT, {1, 1}, {1, 1}, 0, false, 0};
    int n = 0;
    if (sscanf(text, "tile %dx%d, threads %dx%d, depth %d%n", &c.each[0], &c.each[1], &c.threads[0],
               &c.threads[1], &c.depth, &n) == 5) {
        c.form = HD_GPU_TILE;
        c.unroll = text[n];
    } else if (sscanf(text, "gemm, warps %dx%d, rows %d, columns %dx%d, stages %d", &c.threads[0],
                      &c.threads[1], &c.depth, &c.each[0], &c.each[1], &c.stages) == 6) {
        c.form = HD_GPU_GEMM;
    } else if (sscanf(text, "warps %d, columns %dx%d", &c.threads[0], &c.each[0], &c.each[1]) ==
               3) {
        c.form = HD_GPU_WARPS;
    } else if (sscanf(text, "flat, %d threads, %d each", &c.threads[1], &c.each[1]) != 2) {
        return false;
    }
    hd_arena *a = hd_arena_create();
    bool same = sensible(&c) && !strcmp(text, hd_gpu_choice_text(a, &c)); /* nothing else in it */
    hd_arena_destroy(a);
    if (same) *out = c;
    return same;
}

const char *hd_gpu_device_key(hd_arena *a, const struct hd_gpu_api *api,
                              const struct hd_gpu_limits *l) {
    return hd_sprintf(a, "%s %s, driver %s, tiles of %s", api->scheme, l->name,
                      l->driver ? l->driver : "?",
                      l->is_cpu ? "a processor"
                      : l->mma  ? "tensor cores"
                                : "a GPU");
}

/* Numbers that are no index change no speed: scales, zero points, limits. */
static void hide_numbers(struct hd_expr *f, hd_arena *a) {
    f->node = hd_dup(a, f->node, f->n_nodes * sizeof *f->node);
    for (size_t i = 0; i < f->n_nodes; i++) {
        struct hd_expr_node *k = &f->node[i];
        if (k->op == HD_EXPR_FLOAT || (k->op == HD_EXPR_INT && k->type != HD_I64))
            k->f = 0, k->i = 0;
    }
}

const char *hd_gpu_work_name(hd_arena *a, const struct hd_expr *f) {
    struct hd_expr named = *f;
    unsigned char hash[HD_SHA256_BYTES];
    const struct hd_expr_tensor *y = &f->tensor[f->result[0]];
    const char *name = hd_dtype_name((hd_dtype)y->type);
    hide_numbers(&named, a);
    const char *text = hd_expr_text(a, &named);
    hd_sha256(text, strlen(text), hash);
    for (int d = 0; d < y->rank; d++)
        name = hd_sprintf(a, "%s%s%lld", name, d ? "x" : " ", (long long)y->dim[d].value);
    name = hd_sprintf(a, "%s ", name);
    for (int i = 0; i < DIGITS; i++) name = hd_sprintf(a, "%s%02x", name, hash[i]);
    return name;
}
