/* Is oneDNN's quantised convolution exact on this processor? Tried once, on operands at the ends of
 * their ranges, where kernels without VNNI saturate. */
#include <pthread.h>
#include <stdlib.h>

#include "cpu_ref/cpu_plan.h"
#include "cpu_ref/dnnl_api.h"
#include "runtime/base/num.h"

enum { C = 32, M = 32, SIDE = 6, TAPS = 9, PIXELS = SIDE * SIDE };

struct trial {
    int8_t w[M * C * TAPS];
    int32_t bias[M];
    float scale[M];
    uint8_t x[PIXELS * C], y[PIXELS * M];
};

/* One result: 3x3 window, padding 1, layout last. */
static int expect(const struct trial *t, const struct hd_dnnl_qconv *d, int oy, int ox, int m) {
    int32_t acc = t->bias[m];
    for (int ky = 0; ky < 3; ky++)
        for (int kx = 0; kx < 3; kx++) {
            int iy = oy + ky - 1, ix = ox + kx - 1;
            if (iy < 0 || iy >= SIDE || ix < 0 || ix >= SIDE) continue;
            for (int c = 0; c < C; c++) {
                int v = t->x[(iy * SIDE + ix) * C + c];
                if (d->x_signed) v = (int8_t)v;
                acc += (v - d->x_zp) * t->w[(m * C + c) * TAPS + ky * 3 + kx];
            }
        }
    return hd_requant((float)acc * t->scale[m], d->y_zp, d->y_signed ? -128 : 0,
                      d->y_signed ? 127 : 255);
}

static bool same(const struct trial *t, const struct hd_dnnl_qconv *d) {
    for (int p = 0; p < PIXELS; p++)
        for (int m = 0; m < M; m++) {
            int want = expect(t, d, p / SIDE, p % SIDE, m), got = t->y[p * M + m];
            if ((d->y_signed ? (int8_t)got : got) != want) return false;
        }
    return true;
}

static bool try_one(const struct hd_dnnl_api *api, void *engine, struct trial *t, bool is_signed) {
    struct hd_dnnl_qconv d = {.n = 1,
                              .c = C,
                              .h = SIDE,
                              .w = SIDE,
                              .m = M,
                              .oh = SIDE,
                              .ow = SIDE,
                              .kh = 3,
                              .kw = 3,
                              .sy = 1,
                              .sx = 1,
                              .dy = 1,
                              .dx = 1,
                              .pt = 1,
                              .pl = 1,
                              .group = 1,
                              .x_signed = is_signed,
                              .y_signed = is_signed,
                              .x_zp = is_signed ? -5 : 130,
                              .y_zp = is_signed ? 3 : 7,
                              .w_data = t->w,
                              .bias = t->bias,
                              .scale = t->scale};
    hd_dnnl_op *op = api->qconv(engine, &d);
    if (!op) return true; /* nothing to distrust: ours runs instead */
    void *scratch = aligned_alloc(64, (api->scratch(op) + 127) / 64 * 64), *x = t->x;
    bool ok = scratch && api->run(op, &x, t->y, scratch) == 0 && same(t, &d);
    free(scratch);
    api->destroy(op);
    return ok;
}

bool hd_cpu_trial_int8(const struct hd_dnnl_api *api, void *engine) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static int verdict; /* 0: not tried */
    pthread_mutex_lock(&lock);
    struct trial *t = verdict ? NULL : malloc(sizeof *t);
    if (t) {
        uint32_t r = 1;
        for (int i = 0; i < M * C * TAPS; i++) {
            r = r * 1664525u + 1013904223u;
            t->w[i] = (int8_t)(r >> 30 ? (r >> 29 & 1 ? 127 : -128) : (int)(r >> 8 & 255) - 128);
        }
        for (int i = 0; i < PIXELS * C; i++) {
            r = r * 1664525u + 1013904223u;
            t->x[i] = (uint8_t)(r >> 31 ? 255 : r >> 8 & 255);
        }
        for (int m = 0; m < M; m++) {
            t->bias[m] = (m - 16) * 999;
            t->scale[m] = 0.0001f * (float)(m + 1);
        }
        verdict = try_one(api, engine, t, false) && try_one(api, engine, t, true) ? 1 : -1;
        free(t);
    }
    bool ok = verdict > 0;
    pthread_mutex_unlock(&lock);
    return ok;
}
