/* One work, run by what cpu has for it and under schedules, each result against golden's. */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compiler/compiler.h"
#include "compiler/session/session.h"
#include "compiler/tune/tune_int.h"
#include "cpu_ref/cpu_bounds.h"
#include "cpu_ref/cpu_kernel.h"
#include "cpu_ref/cpu_tuned.h"
#include "runtime/base/num.h"
#include "runtime/base/plugin.h"

enum { LEAST_RUNS = 3, MOST_RUNS = 200 };
static const double LONG_ENOUGH = 0.06; /* seconds of runs for one figure */

struct hd_trial {
    struct hd_cmd *c;
    hd_arena *a;
    struct hd_tunable w;
    int threads;
    hd_graph *g;
    hd_model *m;
    const struct hd_jit_api *jit;
    void *engine;
    float *x, *weights, *bias, *y, *want;
    size_t n_x, n_w, n_y;
    struct hd_cpu_bound bound;
    double largest;
};

static double now(int threads) {
    struct timespec t;
    clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Values between -1 and 1 that do not repeat. */
static float *values(hd_arena *a, size_t n, uint64_t seed) {
    float *v = hd_new_array(a, float, n + 16);
    uint64_t s = seed;
    for (size_t i = 0; i < n; i++) {
        s = s * 6364136223846793005u + 1442695040888963407u;
        v[i] = (float)(int32_t)(s >> 32) / 2147483648.0f;
    }
    return v;
}

/* ---- the work as a graph -------------------------------------------------------------------- */

static int make_conv(struct hd_trial *t, int x) {
    const struct hd_tunable *w = &t->w;
    int64_t k[] = {w->g * w->m, w->c, w->kh, w->kw}, y[] = {w->n, w->g * w->m, w->oh, w->ow};
    int in[3] = {x, hd_graph_const(t->g, "w", HD_F32, 4, k, t->weights), -1};
    if (w->bias) in[2] = hd_graph_const_f32(t->g, "b", (int)(w->g * w->m), t->bias);
    int out = hd_graph_tensor(t->g, "y", HD_F32, 4, y);
    int n = hd_graph_node(t->g, HD_IR_conv, "conv", w->bias ? 3 : 2, in, 1, &out);
    hd_attr_set_int(t->g, n, "group", w->g);
    hd_attr_set_ints(t->g, n, "strides", 2, (int64_t[]){w->sy, w->sx});
    hd_attr_set_ints(t->g, n, "dilations", 2, (int64_t[]){w->dy, w->dx});
    hd_attr_set_ints(t->g, n, "pads", 4, (int64_t[]){w->pt, w->pl, w->pb, w->pr});
    return out;
}

static int make_product(struct hd_trial *t, int x) {
    const struct hd_tunable *w = &t->w;
    int64_t k[] = {w->rows ? w->m : w->c, w->rows ? w->c : w->m};
    int in[3] = {x, hd_graph_const(t->g, "w", HD_F32, 2, k, t->weights), -1};
    if (w->bias) in[2] = hd_graph_const_f32(t->g, "b", (int)w->m, t->bias);
    int out = hd_graph_tensor(t->g, "y", HD_F32, 2, (int64_t[]){w->h, w->m});
    int n = hd_graph_node(t->g, HD_IR_gemm, "product", w->bias ? 3 : 2, in, 1, &out);
    hd_attr_set_int(t->g, n, "transB", w->rows);
    return out;
}

static hd_status make_graph(struct hd_trial *t) {
    const struct hd_tunable *w = &t->w;
    int64_t conv[] = {w->n, w->g * w->c, w->h, w->w}, rows[] = {w->h, w->c};
    struct hd_compile_options o = {.host_only = true, .latency_hiding = true};
    TRY(hd_machine_load(t->c->ctx, "base", &o.machine)); /* none of it runs there */
    t->g = hd_graph_create();
    int x = hd_graph_tensor(t->g, "x", HD_F32, w->product ? 2 : 4, w->product ? rows : conv);
    hd_graph_input(t->g, x);
    int y = w->product ? make_product(t, x) : make_conv(t, x);
    t->bound = hd_cpu_bound_of(w->product ? HD_IR_gemm : HD_IR_conv);
    if (w->relu) {
        int z = hd_graph_tensor(t->g, "z", HD_F32, 0, NULL);
        hd_graph_node(t->g, HD_IR_relu, "relu", 1, &y, 1, &z);
        y = z;
    }
    hd_graph_output(t->g, y);
    TRY(hd_graph_infer(t->c->ctx, t->g));
    return hd_compile_graph(t->c->ctx, t->g, &o, &t->m);
}

static hd_status run_golden(struct hd_trial *t) {
    hd_session *s = NULL;
    TRY(hd_session_open(t->c->ctx, t->m, "golden", NULL, &s));
    hd_status r = hd_session_run(t->c->ctx, s, (const void *const[]){t->x}, (void *[]){t->want});
    hd_session_close(s);
    for (size_t i = 0; i < t->n_y; i++) t->largest = fmax(t->largest, fabs((double)t->want[i]));
    return r;
}

static bool is_right(const struct hd_trial *t) {
    for (size_t i = 0; i < t->n_y; i++) {
        double d = fabs((double)t->y[i] - (double)t->want[i]);
        if (!(d <= t->bound.relative * fabs((double)t->want[i]) + t->bound.of_largest * t->largest))
            return false;
    }
    return true;
}

/* ---- open, close ---------------------------------------------------------------------------- */

static hd_status open_jit(struct hd_trial *t) {
    void *lib = hd_plugin_open("libhd_jit.so", HD_PLUGIN_LOCAL);
    const struct hd_jit_api *api = lib ? dlsym(lib, HD_JIT_ENTRY) : NULL;
    if (api && api->version == HD_JIT_API) t->engine = api->open();
    if (!t->engine)
        return hd_fail(t->c->ctx, HD_UNSUPPORTED,
                       "device cpu has no LLVM plugin here (libhd_jit.so); run 'scripts/deps.sh' "
                       "and make again");
    t->jit = api;
    return HD_OK;
}

hd_status hd_trial_open(struct hd_cmd *c, const struct hd_tunable *w, int threads,
                        struct hd_trial **out) {
    struct hd_trial *t = calloc(1, sizeof *t);
    if (!t) return hd_fail(c->ctx, HD_NOMEM, "no memory for a trial");
    *t = (struct hd_trial){.c = c, .a = hd_arena_create(), .w = *w, .threads = threads};
    size_t taps = w->product ? 1 : (size_t)(w->kh * w->kw);
    t->n_w = (size_t)(w->g * w->m * w->c) * taps;
    t->n_x = w->product ? (size_t)(w->h * w->c) : (size_t)(w->n * w->g * w->c * w->h * w->w);
    t->n_y = w->product ? (size_t)(w->h * w->m) : (size_t)(w->n * w->g * w->m * w->oh * w->ow);
    t->x = values(t->a, t->n_x, 1);
    t->weights = values(t->a, t->n_w, 2);
    t->bias = values(t->a, (size_t)(w->g * w->m), 3);
    t->y = hd_new_array(t->a, float, t->n_y + 16);
    t->want = hd_new_array(t->a, float, t->n_y + 16);
    hd_status s = open_jit(t);
    if (s == HD_OK) s = make_graph(t);
    if (s == HD_OK) s = run_golden(t);
    if (s == HD_OK)
        *out = t;
    else
        hd_trial_close(t);
    return s;
}

void hd_trial_close(struct hd_trial *t) {
    if (!t) return;
    if (t->m) hd_model_destroy(t->m);
    if (t->g) hd_graph_destroy(t->g);
    if (t->engine) t->jit->close(t->engine);
    hd_arena_destroy(t->a);
    free(t);
}

const char *hd_trial_key(const struct hd_trial *t) {
    return hd_cpu_device_key(t->a, t->jit, t->engine, t->threads);
}

int hd_trial_lanes(const struct hd_trial *t) {
    return t->jit->lanes(t->engine);
}

/* ---- measuring ------------------------------------------------------------------------------ */

hd_status hd_trial_other(struct hd_trial *t, double *out_seconds, const char **out_how) {
    struct hd_device_options o = {.machine = t->m->machine, .threads = t->threads, .timed = true};
    hd_session *s = NULL;
    hd_status r = HD_OK;
    double start = now(t->threads);
    TRY(hd_session_open(t->c->ctx, t->m, "cpu", &o, &s));
    for (int i = 0; i < MOST_RUNS && r == HD_OK; i++) {
        r = hd_session_run(t->c->ctx, s, (const void *const[]){t->x}, (void *[]){t->y});
        if (i + 1 >= LEAST_RUNS && now(t->threads) - start > 2 * LONG_ENOUGH) break;
    }
    const struct hd_exec_step *step;
    int n = r == HD_OK ? hd_session_steps(s, &step) : 0;
    double sum = 0;
    for (int i = 0; i < n; i++) {
        if (!step[i].node) continue; /* a change of layout, which the neighbours may not need */
        sum += step[i].seconds;
        if (step[i].n_nodes) *out_how = hd_strdup(t->a, step[i].how);
    }
    hd_session_close(s);
    if (r == HD_OK && !is_right(t))
        return hd_fail(t->c->ctx, HD_INVALID,
                       "device cpu differs from golden beyond its bounds; please report it");
    *out_seconds = sum;
    return r;
}

hd_status hd_trial_schedule(struct hd_trial *t, const char *schedule, double *out_seconds) {
    struct hd_cpu_kernel *k = NULL;
    *out_seconds = 0;
    hd_status s = hd_cpu_kernel_create(t->c->ctx, t->jit, t->engine, &t->w, schedule, t->weights,
                                       t->w.bias ? t->bias : NULL, &k);
    if (s != HD_OK) { /* it does not fit */
        hd_clear(t->c->ctx);
        return s == HD_NOMEM ? s : HD_OK;
    }
    double best = 0, all = 0;
    for (int i = 0; i < MOST_RUNS && (i < LEAST_RUNS || all < LONG_ENOUGH); i++) {
        double start = now(t->threads);
        hd_cpu_kernel_run(k, t->x, t->y, t->threads);
        double took = now(t->threads) - start;
        all += took;
        if (i == 0 || took < best) best = took;
        if (i == 0 && !is_right(t)) {
            best = 0;
            break;
        }
    }
    hd_cpu_kernel_destroy(k);
    *out_seconds = best;
    return HD_OK;
}
