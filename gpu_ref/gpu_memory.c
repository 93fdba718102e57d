/* Memory of a plan on its device: see gpu_memory.h. */
#include "gpu_ref/gpu_memory.h"

#include "compiler/ir/memory.h"
#include "runtime/base/num.h"

enum { GRAIN = 64 }; /* hd_mem_pack's */

static int root_of(const struct hd_gpu_plan *p, int view) {
    return p->views[view].root < 0 ? view : p->views[view].root;
}

static void touch(struct hd_gpu_plan *p, int view, int step) {
    if (view < 0) return;
    struct hd_gpu_view *v = &p->views[root_of(p, view)];
    if (v->first < 0 || step < v->first) v->first = step;
    if (step > v->last) v->last = step;
}

static void find_lives(struct hd_gpu_plan *p) {
    for (size_t i = 0; i < p->n_steps; i++) {
        struct hd_gpu_step *s = &p->steps[i];
        for (int c = 0; c < s->n_calls; c++)
            for (int k = 0; k < s->call[c].n_args; k++) touch(p, s->call[c].arg[k], (int)i);
        for (int k = 0; k < s->n_in; k++) touch(p, s->in[k], (int)i);
        for (int k = 0; k < s->n_out; k++) touch(p, s->out[k], (int)i);
        if (s->kind != HD_GPU_KERNELS)
            for (int k = 0; k < s->n_in + s->n_out; k++) {
                int v = k < s->n_in ? s->in[k] : s->out[k - s->n_in];
                if (v >= 0 && !p->views[root_of(p, v)].constant)
                    p->views[root_of(p, v)].on_device = true;
            }
    }
    for (int i = 0; i < p->io.n_out; i++) {
        touch(p, p->out_view[i], (int)p->n_steps);
        p->views[root_of(p, p->out_view[i])].on_device = true;
    }
    if (p->fault >= 0) { /* it lives all the time */
        touch(p, p->fault, 0);
        touch(p, p->fault, (int)p->n_steps);
    }
}

static bool has_memory(const struct hd_gpu_view *v, bool weight) {
    return v->root < 0 && v->io < 0 && v->on_device && (v->constant != NULL || v->once) == weight;
}

static hd_status take(struct hd_gpu_plan *p, size_t bytes, const char *what, hd_gpu_mem **out) {
    const struct hd_gpu_limits *l = p->limits;
    if (!bytes) return HD_OK;
    if (bytes > l->max_bytes ||
        p->memory.weight_bytes + p->memory.temporary_bytes > l->memory_bytes)
        return hd_fail(p->ctx, HD_NOMEM,
                       "%s: %s of %s take %zu bytes; %s allows %zu at once and %zu in all; take a "
                       "smaller batch, or another device",
                       p->api->scheme, what, p->model->name, bytes, l->name, l->max_bytes,
                       l->memory_bytes);
    return p->api->alloc(p->ctx, p->gpu, bytes, out);
}

/* Blocks are packed in units of the device's alignment, so that every offset is a multiple of it.
 */
static void place_temporaries(struct hd_gpu_plan *p) {
    size_t unit = p->limits->align / GRAIN, n = 0;
    struct hd_mem_block *b = hd_new_array(p->arena, struct hd_mem_block, p->n_views + 1);
    int *view = hd_new_array(p->arena, int, p->n_views + 1);
    for (size_t i = 0; i < p->n_views; i++) {
        const struct hd_gpu_view *v = &p->views[i];
        if (!has_memory(v, false)) continue;
        size_t units = ((v->bytes ? v->bytes : 1) + p->limits->align - 1) / p->limits->align;
        view[n] = (int)i;
        b[n++] = (struct hd_mem_block){units * GRAIN, v->first, v->last, 0};
    }
    p->memory.temporary_bytes = hd_mem_pack(b, n) * unit;
    for (size_t i = 0; i < n; i++) p->views[view[i]].offset = b[i].offset * unit;
}

static void place_weights(struct hd_gpu_plan *p) {
    for (size_t i = 0; i < p->n_views; i++) {
        struct hd_gpu_view *v = &p->views[i];
        if (!has_memory(v, true)) continue;
        v->offset = p->memory.weight_bytes;
        p->memory.weight_bytes +=
            (size_t)hd_round_up((int64_t)v->bytes + 1, (int64_t)p->limits->align);
    }
}

hd_status hd_gpu_memory_plan(struct hd_gpu_plan *p) {
    find_lives(p);
    place_temporaries(p);
    place_weights(p);
    TRY(take(p, p->memory.temporary_bytes, "temporaries", &p->memory.temporaries));
    TRY(take(p, p->memory.weight_bytes, "weights", &p->memory.weights));
    for (size_t i = 0; i < p->n_views; i++) {
        struct hd_gpu_view *v = &p->views[i];
        bool weight = v->constant != NULL || v->once;
        if (!has_memory(v, weight)) continue;
        TRY(p->api->part(p->ctx, p->gpu, weight ? p->memory.weights : p->memory.temporaries,
                         v->offset, v->bytes ? v->bytes : 1, &v->mem));
        if (v->constant && v->bytes)
            TRY(p->api->write(p->ctx, p->gpu, v->mem, 0, v->constant, v->bytes));
    }
    if (p->fault < 0) return HD_OK;
    return p->api->write(p->ctx, p->gpu, p->views[p->fault].mem, 0, &(int32_t){0}, sizeof(int32_t));
}

void hd_gpu_memory_free(struct hd_gpu_plan *p) {
    for (size_t i = 0; i < p->n_views; i++)
        if (p->views[i].mem) p->api->free(p->gpu, p->views[i].mem);
    if (p->memory.weights) p->api->free(p->gpu, p->memory.weights);
    if (p->memory.temporaries) p->api->free(p->gpu, p->memory.temporaries);
}
