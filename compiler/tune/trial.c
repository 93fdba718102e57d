/* One work, run by what cpu has for it and under schedules, each result against golden's. */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compiler/session/session.h"
#include "compiler/tune/trial_int.h"
#include "cpu_ref/cpu_tuned.h"
#include "runtime/base/num.h"
#include "runtime/base/plugin.h"

#define ISA "AVX512_CORE_VNNI" /* the widest of oneDNN below AMX */

double hd_trial_now(int threads) {
    struct timespec t;
    clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static hd_status run_golden(struct hd_trial *t) {
    hd_session *s = NULL;
    TRY(hd_session_open(t->c->ctx, t->m, "golden", NULL, &s));
    hd_status r = hd_session_run(t->c->ctx, s, (const void *const[]){t->x}, (void *[]){t->want});
    hd_session_close(s);
    return r;
}

static double at(hd_dtype type, const void *v, size_t i) {
    return type == HD_F32 ? (double)((const float *)v)[i] : ((const double *)v)[i];
}

bool hd_trial_same(hd_dtype type, const void *y, const void *want, size_t n,
                   struct hd_cpu_bound bound) {
    double largest = 0;
    if (type != HD_F32 && type != HD_F64) return !memcmp(y, want, n * hd_dtype_bytes(type));
    for (size_t i = 0; i < n; i++)
        if (isfinite(at(type, want, i))) largest = fmax(largest, fabs(at(type, want, i)));
    for (size_t i = 0; i < n; i++) {
        double a = at(type, y, i), b = at(type, want, i);
        if (isnan(b) ? isnan(a) : a == b) continue;
        if (!isfinite(b) || !(fabs(a - b) <= bound.relative * fabs(b) + bound.of_largest * largest))
            return false;
    }
    return true;
}

static bool is_right(const struct hd_trial *t) {
    return hd_trial_same(t->w.bytes ? HD_U8 : HD_F32, t->y, t->want, t->n_y, t->bound);
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

struct cpu { /* the state of the command */
    struct hd_cmd *c;
    int threads;
};

static hd_status cpu_start(struct hd_cmd *c, int threads, void **out_state) {
    struct cpu *s = calloc(1, sizeof *s);
    if (!s) return hd_fail(c->ctx, HD_NOMEM, "no memory to tune");
    setenv("DNNL_MAX_CPU_ISA", ISA, 0); /* before oneDNN is opened */
    *s = (struct cpu){c, threads};
    *out_state = s;
    return HD_OK;
}

static hd_status cpu_find(void *state, hd_arena *a, const char *path, struct hd_tune_list *l) {
    return hd_tune_network(((struct cpu *)state)->c, a, path, l);
}

static void cpu_close(void *trial) {
    struct hd_trial *t = trial;
    if (!t) return;
    if (t->m) hd_model_destroy(t->m);
    if (t->g) hd_graph_destroy(t->g);
    if (t->engine) t->jit->close(t->engine);
    hd_arena_destroy(t->a);
    free(t);
}

static hd_status cpu_open(void *state, const struct hd_tune_work *w, void **out_trial) {
    const struct cpu *device = state;
    struct hd_cmd *c = device->c;
    struct hd_trial *t = calloc(1, sizeof *t);
    if (!t) return hd_fail(c->ctx, HD_NOMEM, "no memory for a trial");
    *t = (struct hd_trial){.c = c, .a = hd_arena_create(), .w = w->w, .threads = device->threads};
    hd_status s = open_jit(t);
    if (s == HD_OK) s = hd_trial_graph(t);
    if (s == HD_OK) s = run_golden(t);
    if (s == HD_OK)
        *out_trial = t;
    else
        cpu_close(t);
    return s;
}

static const char *cpu_key(const void *trial) {
    const struct hd_trial *t = trial;
    return hd_cpu_device_key(t->a, t->jit, t->engine, t->threads);
}

static int cpu_space(const void *trial, hd_arena *a, struct hd_candidate **out) {
    const struct hd_trial *t = trial;
    const struct hd_tune_host host = {t->jit->lanes(t->engine), t->jit->vnni(t->engine)};
    return hd_tune_space(a, &t->w, &host, out);
}

/* ---- measuring ------------------------------------------------------------------------------ */

static hd_status cpu_other(void *trial, double *out_seconds, const char **out_how) {
    struct hd_trial *t = trial;
    struct hd_device_options o = {.machine = t->m->machine, .threads = t->threads, .timed = true};
    hd_session *s = NULL;
    hd_status r = HD_OK;
    double start = hd_trial_now(t->threads);
    TRY(hd_session_open(t->c->ctx, t->m, "cpu", &o, &s));
    for (int i = 0; i < HD_TRIAL_MOST && r == HD_OK; i++) {
        r = hd_session_run(t->c->ctx, s, (const void *const[]){t->x}, (void *[]){t->y});
        if (i + 1 >= HD_TRIAL_LEAST && hd_trial_now(t->threads) - start > 2 * HD_TRIAL_LONG) break;
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

static hd_status cpu_schedule(void *trial, const struct hd_candidate *candidate,
                              double *out_seconds) {
    struct hd_trial *t = trial;
    struct hd_cpu_kernel *k = NULL;
    struct hd_cpu_constants c = {t->weights, t->w.bias || t->w.bytes ? t->bias : NULL, t->scale};
    *out_seconds = 0;
    hd_status s =
        hd_cpu_kernel_create(t->c->ctx, t->jit, t->engine, &t->w, candidate->schedule, &c, &k);
    if (s != HD_OK) { /* it does not fit */
        hd_clear(t->c->ctx);
        return s == HD_NOMEM ? s : HD_OK;
    }
    double best = 0, all = 0;
    for (int i = 0; i < HD_TRIAL_MOST && (i < HD_TRIAL_LEAST || all < HD_TRIAL_LONG); i++) {
        double start = hd_trial_now(t->threads);
        hd_cpu_kernel_run(k, t->laid, t->w.bytes ? t->laid_y : t->y, t->threads);
        double took = hd_trial_now(t->threads) - start;
        all += took;
        if (i == 0 || took < best) best = took;
        if (i == 0 && t->w.bytes) hd_trial_turn_result(t);
        if (i == 0 && !is_right(t)) {
            best = 0;
            break;
        }
    }
    hd_cpu_kernel_destroy(k);
    *out_seconds = best;
    return HD_OK;
}

const struct hd_tune_device hd_tune_cpu = {.scheme = "cpu",
                                           .works = "convolution or product with constant weights",
                                           .start = cpu_start,
                                           .end = free,
                                           .find = cpu_find,
                                           .open = cpu_open,
                                           .close = cpu_close,
                                           .key = cpu_key,
                                           .space = cpu_space,
                                           .other = cpu_other,
                                           .onednn = hd_trial_onednn,
                                           .schedule = cpu_schedule};
