/* The peer of `heddle bench cpu`. See bench_ort.h.
 * Source: the public C API of ONNX Runtime, a struct of function pointers that only grows. */
#include "compiler/bench/ort.h"

#include <dlfcn.h>
#include <stdlib.h>

typedef void (*ort_fn)(void);
struct ort_base {
    const ort_fn *(*get_api)(uint32_t version);
    const char *(*version)(void);
};

enum ort_slot { /* positions in the table */
                ORT_MESSAGE = 2,
                ORT_CREATE_ENV = 3,
                ORT_CREATE_SESSION = 7,
                ORT_RUN = 9,
                ORT_CREATE_OPTIONS = 10,
                ORT_OPTIMISATION = 23,
                ORT_INTRA_THREADS = 24,
                ORT_INTER_THREADS = 25,
                ORT_TENSOR_WITH_DATA = 49,
                ORT_CPU_MEMORY = 69,
                ORT_RELEASE_ENV = 92,
                ORT_RELEASE_STATUS = 93,
                ORT_RELEASE_MEMORY = 94,
                ORT_RELEASE_SESSION = 95,
                ORT_RELEASE_VALUE = 96,
                ORT_RELEASE_OPTIONS = 100
};
enum { ORT_API = 13, ORT_ALL_OPTIMISATIONS = 99, ORT_ERROR = 3 };

struct hd_ort {
    void *library, *env, *options, *session, *memory;
    const ort_fn *api;
    const hd_model *m;
    void **in, **out;
    const char **in_name, **out_name;
};

#define SLOT(o, slot, type) ((type)(o)->api[slot])

static hd_status check(hd_ctx *ctx, hd_ort *o, void *status, const char *what) {
    if (!status) return HD_OK;
    hd_status s = hd_fail(ctx, HD_DEVICE, "ONNX Runtime: %s: %s", what,
                          SLOT(o, ORT_MESSAGE, const char *(*)(const void *))(status));
    SLOT(o, ORT_RELEASE_STATUS, void (*)(void *))(status);
    return s;
}

static hd_status open_session(hd_ctx *ctx, hd_ort *o, const char *onnx, int threads) {
    typedef void *(*create_env)(int, const char *, void **);
    typedef void *(*create)(void **);
    typedef void *(*set)(void *, int);
    typedef void *(*create_session)(void *, const char *, const void *, void **);
    typedef void *(*cpu_memory)(int, int, void **);
    TRY(check(ctx, o, SLOT(o, ORT_CREATE_ENV, create_env)(ORT_ERROR, "heddle", &o->env), "env"));
    TRY(check(ctx, o, SLOT(o, ORT_CREATE_OPTIONS, create)(&o->options), "options"));
    TRY(check(ctx, o, SLOT(o, ORT_OPTIMISATION, set)(o->options, ORT_ALL_OPTIMISATIONS), "level"));
    TRY(check(ctx, o, SLOT(o, ORT_INTRA_THREADS, set)(o->options, threads), "threads"));
    TRY(check(ctx, o, SLOT(o, ORT_INTER_THREADS, set)(o->options, 1), "threads"));
    TRY(check(ctx, o,
              SLOT(o, ORT_CREATE_SESSION, create_session)(o->env, onnx, o->options, &o->session),
              onnx));
    return check(ctx, o, SLOT(o, ORT_CPU_MEMORY, cpu_memory)(0, 0, &o->memory), "memory");
}

hd_status hd_ort_open(hd_ctx *ctx, const char *library, const char *onnx, int threads,
                      const hd_model *m, hd_ort **out) {
    hd_ort *o = calloc(1, sizeof *o);
    HD_ASSERT(o);
    *out = o;
    o->m = m;
    o->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!o->library) return hd_fail(ctx, HD_IO, "HEDDLE_ORT: %s", dlerror());
    const struct ort_base *(*base)(void);
    *(void **)&base = dlsym(o->library, "OrtGetApiBase");
    if (base) o->api = base()->get_api(ORT_API);
    if (!o->api)
        return hd_fail(ctx, HD_IO, "HEDDLE_ORT: %s: no ONNX Runtime with C API %d", library,
                       ORT_API);
    o->in = calloc((size_t)m->n_inputs + 1, sizeof *o->in);
    o->out = calloc((size_t)m->n_outputs + 1, sizeof *o->out);
    o->in_name = calloc((size_t)m->n_inputs + 1, sizeof *o->in_name);
    o->out_name = calloc((size_t)m->n_outputs + 1, sizeof *o->out_name);
    HD_ASSERT(o->in && o->out && o->in_name && o->out_name);
    for (int i = 0; i < m->n_inputs; i++) o->in_name[i] = m->values[m->inputs[i]].name;
    for (int i = 0; i < m->n_outputs; i++) o->out_name[i] = m->values[m->outputs[i]].name;
    return open_session(ctx, o, onnx, threads);
}

hd_status hd_ort_run(hd_ctx *ctx, hd_ort *o, const void *const *in) {
    typedef void *(*tensor)(const void *, void *, size_t, const int64_t *, size_t, int, void **);
    typedef void *(*run)(void *, const void *, const char *const *, const void *const *, size_t,
                         const char *const *, size_t, void **);
    typedef void (*release)(void *);
    const hd_model *m = o->m;
    hd_status s = HD_OK;
    for (int i = 0; i < m->n_inputs && s == HD_OK; i++) {
        const struct hd_value_info *v = &m->values[m->inputs[i]];
        s = check(ctx, o,
                  SLOT(o, ORT_TENSOR_WITH_DATA, tensor)(o->memory, (void *)(uintptr_t)in[i],
                                                        hd_value_dense_bytes(v), v->dim,
                                                        (size_t)v->rank, v->dtype, &o->in[i]),
                  v->name);
    }
    for (int i = 0; i < m->n_outputs; i++) o->out[i] = NULL;
    if (s == HD_OK)
        s = check(ctx, o,
                  SLOT(o, ORT_RUN, run)(o->session, NULL, o->in_name, (const void *const *)o->in,
                                        (size_t)m->n_inputs, o->out_name, (size_t)m->n_outputs,
                                        o->out),
                  "run");
    for (int i = 0; i < m->n_outputs; i++)
        if (o->out[i]) SLOT(o, ORT_RELEASE_VALUE, release)(o->out[i]);
    for (int i = 0; i < m->n_inputs; i++) {
        if (o->in[i]) SLOT(o, ORT_RELEASE_VALUE, release)(o->in[i]);
        o->in[i] = NULL;
    }
    return s;
}

void hd_ort_close(hd_ort *o) {
    typedef void (*release)(void *);
    if (!o) return;
    if (o->session) SLOT(o, ORT_RELEASE_SESSION, release)(o->session);
    if (o->options) SLOT(o, ORT_RELEASE_OPTIONS, release)(o->options);
    if (o->memory) SLOT(o, ORT_RELEASE_MEMORY, release)(o->memory);
    if (o->env) SLOT(o, ORT_RELEASE_ENV, release)(o->env);
    free(o->in);
    free(o->out);
    free((void *)o->in_name);
    free((void *)o->out_name);
    free(o); /* the library stays: it does not like to be unloaded */
}
