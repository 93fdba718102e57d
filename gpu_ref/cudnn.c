/* Convolutions by cuDNN: see cudnn.h. Source of calls and numbers: cudnn_graph.h of cuDNN 9.19,
 * whose interface is that of cuDNN 9.0.
 *
 * Everything is a descriptor: made, given attributes, finalised. A convolution and what lies behind
 * it are a graph of operations; the library's heuristics list engines for it, the best first, and a
 * plan is an engine that is ready to run. */
#include "gpu_ref/cudnn.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_ref/cuda_api.h"

enum {
    /* types of attributes */
    T_HANDLE = 0,
    T_DATA_TYPE = 1,
    T_BOOLEAN = 2,
    T_INT64 = 3,
    T_FLOAT = 4,
    T_VOID_PTR = 6,
    T_CONVOLUTION_MODE = 7,
    T_HEUR_MODE = 8,
    T_NUMERICAL_NOTE = 11,
    T_POINTWISE_MODE = 14,
    T_DESCRIPTOR = 15,
    /* descriptors, and attributes of each */
    POINTWISE = 0,
    POINTWISE_MODE = 0,
    POINTWISE_MATH_PREC = 1,
    CONVOLUTION = 1,
    CONVOLUTION_COMP_TYPE = 100,
    CONVOLUTION_CONV_MODE = 101,
    CONVOLUTION_DILATIONS = 102,
    CONVOLUTION_FILTER_STRIDES = 103,
    CONVOLUTION_POST_PADDINGS = 104,
    CONVOLUTION_PRE_PADDINGS = 105,
    CONVOLUTION_SPATIAL_DIMS = 106,
    ENGINE = 2,
    ENGINE_NUMERICAL_NOTE = 1303,
    ENGINECFG = 3,
    ENGINECFG_ENGINE = 300,
    ENGINEHEUR = 4,
    ENGINEHEUR_MODE = 200,
    ENGINEHEUR_OPERATION_GRAPH = 201,
    ENGINEHEUR_RESULTS = 202,
    EXECUTION_PLAN = 5,
    EXECUTION_PLAN_HANDLE = 400,
    EXECUTION_PLAN_ENGINE_CONFIG = 401,
    EXECUTION_PLAN_WORKSPACE_SIZE = 402,
    OPERATION_CONVOLUTION = 10,
    OPERATION_CONVOLUTION_ALPHA = 700,
    OPERATION_CONVOLUTION_BETA = 701,
    OPERATION_CONVOLUTION_CONV_DESC = 702,
    OPERATION_CONVOLUTION_W = 703,
    OPERATION_CONVOLUTION_X = 704,
    OPERATION_CONVOLUTION_Y = 705,
    OPERATION_POINTWISE = 13,
    OPERATION_POINTWISE_PW_DESCRIPTOR = 750,
    OPERATION_POINTWISE_XDESC = 751,
    OPERATION_POINTWISE_BDESC = 752,
    OPERATION_POINTWISE_YDESC = 753,
    OPERATIONGRAPH = 15,
    OPERATIONGRAPH_HANDLE = 800,
    OPERATIONGRAPH_OPS = 801,
    VARIANT_PACK = 16,
    VARIANT_PACK_UNIQUE_IDS = 1000,
    VARIANT_PACK_DATA_POINTERS = 1001,
    VARIANT_PACK_WORKSPACE = 1003,
    TENSOR = 17,
    TENSOR_BYTE_ALIGNMENT = 900,
    TENSOR_DATA_TYPE = 901,
    TENSOR_DIMENSIONS = 902,
    TENSOR_STRIDES = 903,
    TENSOR_UNIQUE_ID = 906,
    TENSOR_IS_VIRTUAL = 907,
    /* values of attributes */
    DATA_FLOAT = 0,
    CROSS_CORRELATION = 1,
    POINTWISE_ADD = 0,
    POINTWISE_RELU_FWD = 100,
    HEUR_MODE_FALLBACK = 2,
    HEUR_MODE_A = 3,
    NOTE_TENSOR_CORE = 0,
    NOTE_STRICT_NAN_PROP = 9
};

enum {
    WORKSPACE_BYTES = 32 << 20,
    ALIGN = 16,        /* of tensors, at least */
    MOST_CONFIGS = 64, /* of a list */
    MOST_DESCRIPTORS = 2 * MOST_CONFIGS + 32,
    MOST_NOTES = 32,
    MOST_DIMS = 5, /* of a tensor */
    MOST_OPS = 4
};

/* Tensors by their names in a plan; those that lie nowhere follow. */
enum { X = 1, W, Y, BIAS, RESIDUAL, BETWEEN };

#define DNN_CALLS(CALL)                                                                            \
    CALL(int, cudnnCreate, (void **out))                                                           \
    CALL(int, cudnnDestroy, (void *handle))                                                        \
    CALL(int, cudnnSetStream, (void *handle, void *stream))                                        \
    CALL(int, cudnnBackendCreateDescriptor, (int type, void **out))                                \
    CALL(int, cudnnBackendDestroyDescriptor, (void *d))                                            \
    CALL(int, cudnnBackendFinalize, (void *d))                                                     \
    CALL(int, cudnnBackendSetAttribute, (void *d, int what, int type, int64_t n, const void *v))   \
    CALL(int, cudnnBackendGetAttribute,                                                            \
         (void *d, int what, int type, int64_t most, int64_t *out_n, void *out))                   \
    CALL(int, cudnnBackendExecute, (void *handle, void *plan, void *pack))                         \
    CALL(const char *, cudnnGetErrorString, (int status))

static struct {
#define CALL(result, name, args) result(*name) args;
    DNN_CALLS(CALL)
#undef CALL
} dnn;
static bool is_here;

struct hd_dnn {
    void *handle;
};

struct hd_dnn_call {
    void *descriptor[MOST_DESCRIPTORS]; /* all that are given back with it, in the order made */
    int n_descriptors;
    void *plan;
    int64_t id[RESIDUAL]; /* of the tensors that lie somewhere, in hd_dnn_run's order */
    int n_ids;
    int64_t workspace_bytes;
};

/* ---- the library ---------------------------------------------------------------------------- */

static void open_library(void) {
    static const char *const name[] = {"libcudnn.so.9"};
    void *lib;
    is_here = hd_cuda_library("cudnnBackendExecute", name, 1, &lib);
#define CALL(result, name, args)                                                                   \
    if (is_here) {                                                                                 \
        *(void **)&dnn.name = dlsym(lib, #name);                                                   \
        is_here = dnn.name != NULL;                                                                \
    }
    DNN_CALLS(CALL)
#undef CALL
}

const char *hd_dnn_why_not(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const char *off = hd_cuda_library_off("cudnn");
    if (off) return off;
    pthread_once(&once, open_library);
    return is_here ? NULL : "libcudnn.so.9 is not here: install cuDNN 9";
}

static hd_status failed(hd_ctx *ctx, const char *call, int status) {
    const char *text = dnn.cudnnGetErrorString(status);
    return hd_fail(ctx, HD_DEVICE,
                   "cuda: %s: status %d (%s); HEDDLE_CUDA_LIBRARIES=none leaves cuDNN out", call,
                   status, text ? text : "unknown");
}
#define DNN(ctx, call, args)                                                                       \
    do {                                                                                           \
        int status_ = dnn.call args;                                                               \
        if (status_) return failed((ctx), #call, status_);                                         \
    } while (0)

hd_status hd_dnn_open(hd_ctx *ctx, void *stream, struct hd_dnn **out) {
    struct hd_dnn *d = calloc(1, sizeof *d);
    if (!d) return hd_fail(ctx, HD_NOMEM, "cuda: no memory for cuDNN");
    const char *call = "cudnnCreate";
    int status = dnn.cudnnCreate(&d->handle);
    if (!status) {
        call = "cudnnSetStream";
        status = dnn.cudnnSetStream(d->handle, stream);
        if (status) dnn.cudnnDestroy(d->handle);
    }
    if (status) {
        free(d);
        return failed(ctx, call, status);
    }
    *out = d;
    return HD_OK;
}

void hd_dnn_close(struct hd_dnn *d) {
    if (!d) return;
    dnn.cudnnDestroy(d->handle);
    free(d);
}

/* ---- descriptors ---------------------------------------------------------------------------- */

void hd_dnn_drop(struct hd_dnn_call *c) {
    while (c->n_descriptors) dnn.cudnnBackendDestroyDescriptor(c->descriptor[--c->n_descriptors]);
    free(c);
}

/* Given back with c. */
static hd_status create(hd_ctx *ctx, struct hd_dnn_call *c, int type, void **out) {
    if (c->n_descriptors == MOST_DESCRIPTORS)
        return hd_fail(ctx, HD_UNSUPPORTED, "cuda: more than %d descriptors of cuDNN",
                       MOST_DESCRIPTORS);
    DNN(ctx, cudnnBackendCreateDescriptor, (type, out));
    c->descriptor[c->n_descriptors++] = *out;
    return HD_OK;
}

static hd_status set(hd_ctx *ctx, void *d, int what, int type, int64_t n, const void *v) {
    DNN(ctx, cudnnBackendSetAttribute, (d, what, type, n, v));
    return HD_OK;
}

static hd_status set_one(hd_ctx *ctx, void *d, int what, void *other) {
    return set(ctx, d, what, T_DESCRIPTOR, 1, &other);
}

static hd_status finalize(hd_ctx *ctx, void *d) {
    DNN(ctx, cudnnBackendFinalize, (d));
    return HD_OK;
}

/* Dense, by rows. id: BETWEEN or more: it lies nowhere. */
static hd_status tensor(hd_ctx *ctx, struct hd_dnn_call *c, int64_t id, int rank,
                        const int64_t *dim, void **out) {
    int type = DATA_FLOAT;
    int64_t align = ALIGN, stride[MOST_DIMS];
    bool nowhere = id >= BETWEEN;
    stride[rank - 1] = 1;
    for (int i = rank - 2; i >= 0; i--) stride[i] = stride[i + 1] * dim[i + 1];
    TRY(create(ctx, c, TENSOR, out));
    TRY(set(ctx, *out, TENSOR_DATA_TYPE, T_DATA_TYPE, 1, &type));
    TRY(set(ctx, *out, TENSOR_DIMENSIONS, T_INT64, rank, dim));
    TRY(set(ctx, *out, TENSOR_STRIDES, T_INT64, rank, stride));
    TRY(set(ctx, *out, TENSOR_UNIQUE_ID, T_INT64, 1, &id));
    TRY(set(ctx, *out, TENSOR_BYTE_ALIGNMENT, T_INT64, 1, &align));
    if (nowhere) TRY(set(ctx, *out, TENSOR_IS_VIRTUAL, T_BOOLEAN, 1, &nowhere));
    return finalize(ctx, *out);
}

/* ---- operations ----------------------------------------------------------------------------- */

struct made { /* of a convolution, as it is described */
    struct hd_dnn_call *c;
    const struct hd_gpu_convolution *of;
    int rank;
    int64_t shape[MOST_DIMS]; /* of the result */
    void *op[MOST_OPS];
    int n_ops, left; /* operations that there are, those that are still to come */
    void *last;      /* the tensor that the last one makes */
    int64_t engines; /* that the library lists */
    bool rounds;     /* the one that was chosen */
};

/* The result of the next operation: y when none follows. */
static hd_status result(hd_ctx *ctx, struct made *m, void **out) {
    int64_t id = --m->left ? BETWEEN + m->n_ops : Y;
    return tensor(ctx, m->c, id, m->rank, m->shape, out);
}

static hd_status window(hd_ctx *ctx, struct made *m, void **out) {
    const struct hd_gpu_convolution *of = m->of;
    int type = DATA_FLOAT, mode = CROSS_CORRELATION;
    int64_t dims = of->dims;
    TRY(create(ctx, m->c, CONVOLUTION, out));
    TRY(set(ctx, *out, CONVOLUTION_COMP_TYPE, T_DATA_TYPE, 1, &type));
    TRY(set(ctx, *out, CONVOLUTION_CONV_MODE, T_CONVOLUTION_MODE, 1, &mode));
    TRY(set(ctx, *out, CONVOLUTION_SPATIAL_DIMS, T_INT64, 1, &dims));
    TRY(set(ctx, *out, CONVOLUTION_DILATIONS, T_INT64, dims, of->dilation));
    TRY(set(ctx, *out, CONVOLUTION_FILTER_STRIDES, T_INT64, dims, of->stride));
    TRY(set(ctx, *out, CONVOLUTION_PRE_PADDINGS, T_INT64, dims, of->before));
    TRY(set(ctx, *out, CONVOLUTION_POST_PADDINGS, T_INT64, dims, of->after));
    return finalize(ctx, *out);
}

/* How many groups there are is in the shape of the weights. */
static hd_status convolve(hd_ctx *ctx, struct made *m) {
    const struct hd_gpu_convolution *of = m->of;
    int64_t dx[MOST_DIMS] = {of->batches, of->channels};
    int64_t dw[MOST_DIMS] = {of->features, of->channels / of->groups};
    const float alpha = 1, beta = 0;
    void *x, *w, *y, *v, *op;
    for (int i = 0; i < of->dims; i++) dx[2 + i] = of->in[i], dw[2 + i] = of->kernel[i];
    TRY(tensor(ctx, m->c, X, m->rank, dx, &x));
    TRY(tensor(ctx, m->c, W, m->rank, dw, &w));
    TRY(result(ctx, m, &y));
    TRY(window(ctx, m, &v));
    TRY(create(ctx, m->c, OPERATION_CONVOLUTION, &op));
    TRY(set_one(ctx, op, OPERATION_CONVOLUTION_CONV_DESC, v));
    TRY(set_one(ctx, op, OPERATION_CONVOLUTION_X, x));
    TRY(set_one(ctx, op, OPERATION_CONVOLUTION_W, w));
    TRY(set_one(ctx, op, OPERATION_CONVOLUTION_Y, y));
    TRY(set(ctx, op, OPERATION_CONVOLUTION_ALPHA, T_FLOAT, 1, &alpha));
    TRY(set(ctx, op, OPERATION_CONVOLUTION_BETA, T_FLOAT, 1, &beta));
    m->op[m->n_ops++] = op;
    m->last = y;
    return finalize(ctx, op);
}

/* second: the other operand of an add; NULL = none. */
static hd_status pointwise(hd_ctx *ctx, struct made *m, int mode, void *second) {
    int type = DATA_FLOAT;
    void *y, *what, *op;
    TRY(create(ctx, m->c, POINTWISE, &what));
    TRY(set(ctx, what, POINTWISE_MODE, T_POINTWISE_MODE, 1, &mode));
    TRY(set(ctx, what, POINTWISE_MATH_PREC, T_DATA_TYPE, 1, &type));
    TRY(finalize(ctx, what));
    TRY(result(ctx, m, &y));
    TRY(create(ctx, m->c, OPERATION_POINTWISE, &op));
    TRY(set_one(ctx, op, OPERATION_POINTWISE_PW_DESCRIPTOR, what));
    TRY(set_one(ctx, op, OPERATION_POINTWISE_XDESC, m->last));
    if (second) TRY(set_one(ctx, op, OPERATION_POINTWISE_BDESC, second));
    TRY(set_one(ctx, op, OPERATION_POINTWISE_YDESC, y));
    m->op[m->n_ops++] = op;
    m->last = y;
    return finalize(ctx, op);
}

/* The order is the only one that the library's engines take: the residual, the bias, the relu. */
static hd_status describe(hd_ctx *ctx, struct hd_dnn *d, struct made *m, void **out_graph) {
    const struct hd_gpu_convolution *of = m->of;
    int64_t features[MOST_DIMS] = {1, of->features, 1, 1, 1};
    void *t;
    m->rank = 2 + of->dims;
    m->shape[0] = of->batches, m->shape[1] = of->features;
    for (int i = 0; i < of->dims; i++) m->shape[2 + i] = of->out[i];
    m->left = 1 + of->residual + of->bias + of->relu;
    TRY(convolve(ctx, m));
    if (of->residual) {
        TRY(tensor(ctx, m->c, RESIDUAL, m->rank, m->shape, &t));
        TRY(pointwise(ctx, m, POINTWISE_ADD, t));
    }
    if (of->bias) {
        TRY(tensor(ctx, m->c, BIAS, m->rank, features, &t));
        TRY(pointwise(ctx, m, POINTWISE_ADD, t));
    }
    if (of->relu) TRY(pointwise(ctx, m, POINTWISE_RELU_FWD, NULL));
    TRY(create(ctx, m->c, OPERATIONGRAPH, out_graph));
    TRY(set(ctx, *out_graph, OPERATIONGRAPH_HANDLE, T_HANDLE, 1, &d->handle));
    TRY(set(ctx, *out_graph, OPERATIONGRAPH_OPS, T_DESCRIPTOR, m->n_ops, m->op));
    return finalize(ctx, *out_graph);
}

/* ---- engines -------------------------------------------------------------------------------- */

/* Tensor cores round operands of f32 to tf32. What other notes tell of (sums that are rounded, an
 * order that changes from run to run, transforms such as Winograd's) is never taken. */
static bool fits(const int *note, int64_t n, enum hd_precision precision, bool *out_rounds) {
    *out_rounds = false;
    for (int64_t i = 0; i < n; i++) {
        if (note[i] != NOTE_STRICT_NAN_PROP && note[i] != NOTE_TENSOR_CORE) return false;
        *out_rounds = *out_rounds || note[i] == NOTE_TENSOR_CORE;
    }
    return !*out_rounds || precision != HD_PRECISION_f32;
}

static hd_status notes_of(hd_ctx *ctx, void *config, void *engine, int *out_note, int64_t *out_n) {
    int64_t n = 0;
    DNN(ctx, cudnnBackendGetAttribute, (config, ENGINECFG_ENGINE, T_DESCRIPTOR, 1, &n, &engine));
    DNN(ctx, cudnnBackendGetAttribute,
        (engine, ENGINE_NUMERICAL_NOTE, T_NUMERICAL_NOTE, MOST_NOTES, out_n, out_note));
    return HD_OK;
}

/* A plan of the configuration, if its engine fits and does not refuse. */
static hd_status plan(hd_ctx *ctx, struct hd_dnn *d, struct made *m, void *config) {
    struct hd_dnn_call *c = m->c;
    int note[MOST_NOTES], before = c->n_descriptors;
    int64_t n = 0, n_notes = 0;
    void *engine, *p;
    TRY(create(ctx, c, ENGINE, &engine));
    TRY(notes_of(ctx, config, engine, note, &n_notes));
    if (fits(note, n_notes, m->of->precision, &m->rounds)) {
        TRY(create(ctx, c, EXECUTION_PLAN, &p));
        TRY(set(ctx, p, EXECUTION_PLAN_HANDLE, T_HANDLE, 1, &d->handle));
        TRY(set_one(ctx, p, EXECUTION_PLAN_ENGINE_CONFIG, config));
        bool is = dnn.cudnnBackendFinalize(p) == 0;
        if (is)
            DNN(ctx, cudnnBackendGetAttribute,
                (p, EXECUTION_PLAN_WORKSPACE_SIZE, T_INT64, 1, &n, &c->workspace_bytes));
        if (is && c->workspace_bytes <= WORKSPACE_BYTES) c->plan = p;
    }
    while (!c->plan && c->n_descriptors > before)
        dnn.cudnnBackendDestroyDescriptor(c->descriptor[--c->n_descriptors]);
    return HD_OK;
}

/* The first engine that gives a plan, in the order of the library's heuristics of this mode. */
static hd_status choose(hd_ctx *ctx, struct hd_dnn *d, struct made *m, void *graph, int mode) {
    void *heuristics, *config[MOST_CONFIGS];
    int64_t n = 0, got = 0;
    TRY(create(ctx, m->c, ENGINEHEUR, &heuristics));
    TRY(set_one(ctx, heuristics, ENGINEHEUR_OPERATION_GRAPH, graph));
    TRY(set(ctx, heuristics, ENGINEHEUR_MODE, T_HEUR_MODE, 1, &mode));
    if (dnn.cudnnBackendFinalize(heuristics)) return HD_OK; /* it knows none */
    DNN(ctx, cudnnBackendGetAttribute, (heuristics, ENGINEHEUR_RESULTS, T_DESCRIPTOR, 0, &n, NULL));
    if (n > MOST_CONFIGS) n = MOST_CONFIGS;
    for (int64_t i = 0; i < n; i++) TRY(create(ctx, m->c, ENGINECFG, &config[i]));
    if (n)
        DNN(ctx, cudnnBackendGetAttribute,
            (heuristics, ENGINEHEUR_RESULTS, T_DESCRIPTOR, n, &got, config));
    if (got > n) got = n;
    m->engines += got;
    for (int64_t i = 0; i < got && !m->c->plan; i++) TRY(plan(ctx, d, m, config[i]));
    return HD_OK;
}

static hd_status make(hd_ctx *ctx, struct hd_dnn *d, struct made *m) {
    void *graph;
    TRY(describe(ctx, d, m, &graph));
    TRY(choose(ctx, d, m, graph, HEUR_MODE_A));
    if (!m->c->plan) TRY(choose(ctx, d, m, graph, HEUR_MODE_FALLBACK));
    if (!m->c->plan)
        return hd_fail(ctx, HD_UNSUPPORTED,
                       "cuda: cuDNN lists %lld engines for these sizes, and "
                       "none that fits",
                       (long long)m->engines);
    return HD_OK;
}

hd_status hd_dnn_make(hd_ctx *ctx, struct hd_dnn *d, const struct hd_gpu_convolution *of,
                      struct hd_gpu_library_facts *out_facts, struct hd_dnn_call **out) {
    struct hd_dnn_call *c = calloc(1, sizeof *c);
    if (!c) return hd_fail(ctx, HD_NOMEM, "cuda: no memory for a convolution");
    struct made m = {.c = c, .of = of};
    const int id[] = {X, W, Y, of->bias ? BIAS : 0, of->residual ? RESIDUAL : 0};
    for (int i = 0; i < RESIDUAL; i++)
        if (id[i]) c->id[c->n_ids++] = id[i];
    hd_status s = make(ctx, d, &m);
    if (s != HD_OK) {
        hd_dnn_drop(c);
        return s;
    }
    out_facts->workspace_bytes = (size_t)c->workspace_bytes;
    out_facts->rounded = m.rounds ? HD_PRECISION_tf32 : HD_PRECISION_f32;
    *out = c;
    return HD_OK;
}

/* ---- runs ----------------------------------------------------------------------------------- */

static hd_status execute(hd_ctx *ctx, struct hd_dnn *d, const struct hd_dnn_call *c, void *pack,
                         const uint64_t *at) {
    void *pointer[RESIDUAL + 1];
    for (int i = 0; i <= c->n_ids; i++) pointer[i] = NULL;
    for (int i = 0; i < c->n_ids; i++) pointer[i] = (void *)(uintptr_t)at[i];
    TRY(set(ctx, pack, VARIANT_PACK_UNIQUE_IDS, T_INT64, c->n_ids, c->id));
    TRY(set(ctx, pack, VARIANT_PACK_DATA_POINTERS, T_VOID_PTR, c->n_ids, pointer));
    if (c->workspace_bytes) {
        void *workspace = (void *)(uintptr_t)at[c->n_ids];
        TRY(set(ctx, pack, VARIANT_PACK_WORKSPACE, T_VOID_PTR, 1, &workspace));
    }
    TRY(finalize(ctx, pack));
    DNN(ctx, cudnnBackendExecute, (d->handle, c->plan, pack));
    return HD_OK;
}

/* A pack that is finalised takes no other pointers: one for each call. A run that is repeated as a
 * recording makes none. */
hd_status hd_dnn_run(hd_ctx *ctx, struct hd_dnn *d, struct hd_dnn_call *c, const uint64_t *at) {
    void *pack;
    DNN(ctx, cudnnBackendCreateDescriptor, (VARIANT_PACK, &pack));
    hd_status s = execute(ctx, d, c, pack, at);
    dnn.cudnnBackendDestroyDescriptor(pack);
    return s;
}
