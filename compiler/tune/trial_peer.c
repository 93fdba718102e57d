/* oneDNN's speed at a work of bytes, whether its sums are exact here or not. */
#include <dlfcn.h>
#include <stdlib.h>

#include "compiler/tune/trial_int.h"
#include "cpu_ref/dnnl_api.h"
#include "runtime/base/num.h"
#include "runtime/base/plugin.h"

/* A product is an image of a pixel for each row. */
static struct hd_dnnl_qconv describe(const struct hd_trial *t) {
    const struct hd_tunable *w = &t->w;
    struct hd_dnnl_qconv d = {.n = 1, .h = 1, .w = w->h, .oh = 1, .ow = w->h, .kh = 1, .kw = 1};
    d.sy = d.sx = d.dy = d.dx = d.group = 1;
    if (!w->product)
        d = (struct hd_dnnl_qconv){.n = w->n,
                                   .h = w->h,
                                   .w = w->w,
                                   .oh = w->oh,
                                   .ow = w->ow,
                                   .kh = w->kh,
                                   .kw = w->kw,
                                   .sy = w->sy,
                                   .sx = w->sx,
                                   .dy = w->dy,
                                   .dx = w->dx,
                                   .pt = w->pt,
                                   .pl = w->pl,
                                   .group = w->g};
    d.c = w->g * w->c, d.m = w->g * w->m;
    d.x_signed = w->x_signed, d.y_signed = w->y_signed;
    d.x_zp = w->x_zp, d.y_zp = w->y_zp;
    d.w_data = t->weights, d.bias = t->bias, d.scale = t->scale;
    return d;
}

static hd_status measure(struct hd_trial *t, const struct hd_dnnl_api *api, hd_dnnl_op *op,
                         double *out_seconds) {
    void *scratch = aligned_alloc(64, (size_t)hd_round_up((int64_t)api->scratch(op) + 64, 64));
    if (!scratch) return hd_fail(t->c->ctx, HD_NOMEM, "no memory for oneDNN's scratch");
    double best = 0, all = 0;
    for (int i = 0; i < HD_TRIAL_MOST && (i < HD_TRIAL_LEAST || all < HD_TRIAL_LONG); i++) {
        double start = hd_trial_now(t->threads);
        if (api->run(op, &t->laid, t->laid_y, scratch)) break;
        double took = hd_trial_now(t->threads) - start;
        all += took;
        if (i == 0 || took < best) best = took;
    }
    free(scratch);
    *out_seconds = best;
    return HD_OK;
}

hd_status hd_trial_onednn(void *trial, double *out_seconds) {
    struct hd_trial *t = trial;
    void *lib = hd_plugin_open("libhd_dnnl.so", HD_PLUGIN_LOCAL);
    const struct hd_dnnl_api *api = lib ? dlsym(lib, HD_DNNL_ENTRY) : NULL;
    void *engine = api && api->version == HD_DNNL_API ? api->open(t->threads) : NULL;
    hd_status s = HD_OK;
    *out_seconds = 0;
    if (!engine) return HD_OK;
    struct hd_dnnl_qconv d = describe(t);
    hd_dnnl_op *op = api->qconv(engine, &d);
    d.x_zp = d.y_zp = 0; /* some it has only without zero points: as many products */
    if (!op) op = api->qconv(engine, &d);
    if (op) s = measure(t, api, op, out_seconds);
    if (op) api->destroy(op);
    api->close(engine);
    return s;
}
