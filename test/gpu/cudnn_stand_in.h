/* cuDNN on a computer without it, for tests: takes note of what is made and given back, refuses
 * what it would refuse (attributes that are none or are of another type, shapes that do not meet,
 * orders of operations that no engine has), fails where it is told to, and computes when the
 * stream's work runs, from the tensors as they are described. hd_dnn_why_not finds these symbols in
 * the program. Numbers: cudnn_graph.h of cuDNN 9. Behind cuda_stand_in.h. */
#ifndef HD_TEST_GPU_CUDNN_STAND_IN_H
#define HD_TEST_GPU_CUDNN_STAND_IN_H

#include "test/gpu/cuda_stand_in.h"

enum { NN_ATTRS = 12, NN_WORKS = 64, NN_OPS = 4, NN_LIVE = 1 << 14 };
enum { NN_CONV = 1, NN_ENGINE = 2, NN_CONFIG = 3, NN_HEUR = 4, NN_PLAN = 5, NN_OP_CONV = 10 };
enum { NN_POINTWISE = 0, NN_OP_POINTWISE = 13, NN_GRAPH = 15, NN_PACK = 16, NN_TENSOR = 17 };

/* Its engines, in the order of the lists: the first five by heuristics, the last one as fallback.
 */
enum { NN_ROUNDS, NN_LARGE, NN_REFUSES, NN_OTHER_BITS, NN_EXACT, NN_FALLBACK, NN_ENGINES };
static const struct nn_engine {
    int notes, note[2];
    int64_t workspace_bytes;
} nn_engine[NN_ENGINES] = {{1, {0}, 4096}, {0, {0}, (32 << 20) + 1}, {0, {0}, 0},
                           {2, {9, 4}, 0}, {1, {9}, 1 << 20},        {0, {0}, 0}};

struct nn_attr {
    int what;
    int64_t n;
    void *v;
};
struct nn_thing { /* a descriptor, or a handle */
    int type, engine, n_attrs;
    bool final;
    struct nn_attr attr[NN_ATTRS];
    void *stream;
};
static struct {
    int calls, fail_at;  /* so far; the one that fails */
    int live, runs, ops; /* things not given back; convolutions run, and operations of them */
    int engine;          /* of the last plan */
    unsigned refuse;     /* engines whose plans are refused, a bit of each */
    bool alone;          /* nothing behind a bias is taken */
    bool idle;           /* runs compute nothing */
    struct nn_thing *thing[NN_LIVE];
} nn_seen;

#define NN_CALL()                                                                                  \
    do {                                                                                           \
        if (++nn_seen.calls == nn_seen.fail_at) return 4000;                                       \
        emu_needs_context();                                                                       \
    } while (0)

/* ---- things --------------------------------------------------------------------------------- */

static const struct nn_rule { /* an attribute of a descriptor */
    int of, what, type, most, bytes;
    bool needed;
} nn_rules[] = {{NN_POINTWISE, 0, 14, 1, 4, true},      {NN_POINTWISE, 1, 1, 1, 4, true},
                {NN_CONV, 100, 1, 1, 4, true},          {NN_CONV, 101, 7, 1, 4, true},
                {NN_CONV, 102, 3, 3, 8, true},          {NN_CONV, 103, 3, 3, 8, true},
                {NN_CONV, 104, 3, 3, 8, true},          {NN_CONV, 105, 3, 3, 8, true},
                {NN_CONV, 106, 3, 1, 8, true},          {NN_HEUR, 200, 8, 1, 4, true},
                {NN_HEUR, 201, 15, 1, 8, true},         {NN_PLAN, 400, 0, 1, 8, true},
                {NN_PLAN, 401, 15, 1, 8, true},         {NN_OP_CONV, 700, 4, 1, 4, true},
                {NN_OP_CONV, 701, 4, 1, 4, true},       {NN_OP_CONV, 702, 15, 1, 8, true},
                {NN_OP_CONV, 703, 15, 1, 8, true},      {NN_OP_CONV, 704, 15, 1, 8, true},
                {NN_OP_CONV, 705, 15, 1, 8, true},      {NN_OP_POINTWISE, 750, 15, 1, 8, true},
                {NN_OP_POINTWISE, 751, 15, 1, 8, true}, {NN_OP_POINTWISE, 752, 15, 1, 8, false},
                {NN_OP_POINTWISE, 753, 15, 1, 8, true}, {NN_GRAPH, 800, 0, 1, 8, true},
                {NN_GRAPH, 801, 15, NN_OPS, 8, true},   {NN_PACK, 1000, 3, 5, 8, true},
                {NN_PACK, 1001, 6, 5, 8, true},         {NN_PACK, 1003, 6, 1, 8, false},
                {NN_TENSOR, 900, 3, 1, 8, true},        {NN_TENSOR, 901, 1, 1, 4, true},
                {NN_TENSOR, 902, 3, 5, 8, true},        {NN_TENSOR, 903, 3, 5, 8, true},
                {NN_TENSOR, 906, 3, 1, 8, true},        {NN_TENSOR, 907, 2, 1, 1, false}};
enum { NN_RULES = sizeof nn_rules / sizeof *nn_rules };

static int nn_new(int type, void **out) {
    struct nn_thing *t = calloc(1, sizeof *t);
    int i = 0;
    while (i < NN_LIVE - 1 && nn_seen.thing[i]) i++;
    nn_seen.thing[i] = *out = t;
    nn_seen.live++;
    t->type = type;
    return 0;
}
static bool nn_lives(const void *thing, int type) {
    for (int i = 0; i < NN_LIVE && thing; i++)
        if (nn_seen.thing[i] == thing) return nn_seen.thing[i]->type == type;
    return false;
}
static int nn_old(void *thing) {
    struct nn_thing *t = thing;
    int i = 0;
    while (i < NN_LIVE && nn_seen.thing[i] != t) i++;
    if (i == NN_LIVE) {
        emu_wrong("something of cuDNN is given back that there is not");
        return 2000;
    }
    nn_seen.thing[i] = NULL;
    nn_seen.live--;
    for (int k = 0; k < t->n_attrs; k++) free(t->attr[k].v);
    free(t);
    return 0;
}
static const struct nn_attr *nn_attr(const struct nn_thing *t, int what) {
    static const struct nn_attr none = {0, 0, NULL};
    for (int i = 0; i < t->n_attrs; i++)
        if (t->attr[i].what == what) return &t->attr[i];
    return &none;
}
static int64_t nn_int64(const struct nn_thing *t, int what, int i) {
    return ((const int64_t *)nn_attr(t, what)->v)[i];
}
static int nn_int(const struct nn_thing *t, int what) {
    return *(const int *)nn_attr(t, what)->v;
}
/* The i-th descriptor of an attribute; NULL = it is none that lives and is finalised. */
static struct nn_thing *nn_other(const struct nn_thing *t, int what, int i, int type) {
    const struct nn_attr *a = nn_attr(t, what);
    struct nn_thing *other = a->n > i ? ((struct nn_thing *const *)a->v)[i] : NULL;
    return nn_lives(other, type) && other->final ? other : NULL;
}

/* ---- tensors and operations ----------------------------------------------------------------- */

struct nn_tensor {
    int64_t id;
    int64_t dim[5], stride[5]; /* batches, channels, and three dimensions of an image */
    bool nowhere;
    float *data;
};
struct nn_op { /* a convolution, or a pointwise operation */
    bool conv;
    int mode;
    struct nn_tensor x, w, y; /* pointwise: w is the second operand, if it has one */
    int64_t stride[3], dilation[3], before[3];
};

static struct nn_tensor nn_tensor(const struct nn_thing *t) {
    int rank = (int)nn_attr(t, 902)->n, gap = 5 - rank;
    struct nn_tensor r = {.id = nn_int64(t, 906, 0), .nowhere = nn_attr(t, 907)->n};
    for (int i = 0; i < 5; i++) {
        int k = i < 2 ? i : i - gap;
        bool is = i < 2 || i >= 2 + gap;
        r.dim[i] = is ? nn_int64(t, 902, k) : 1;
        r.stride[i] = is ? nn_int64(t, 903, k) : 0;
    }
    return r;
}
static size_t nn_bytes(const struct nn_tensor *t) {
    int64_t last = 0;
    for (int i = 0; i < 5; i++) last += (t->dim[i] - 1) * t->stride[i];
    return sizeof(float) * (size_t)(last + 1);
}
static bool nn_convolution(const struct nn_thing *t, struct nn_op *o) {
    const struct nn_thing *v = nn_other(t, 702, 0, NN_CONV), *x = nn_other(t, 704, 0, NN_TENSOR),
                          *w = nn_other(t, 703, 0, NN_TENSOR), *y = nn_other(t, 705, 0, NN_TENSOR);
    if (!v || !x || !w || !y) return false;
    int n = (int)nn_int64(v, 106, 0), gap = 3 - n;
    *o = (struct nn_op){.conv = true, .x = nn_tensor(x), .w = nn_tensor(w), .y = nn_tensor(y)};
    if (nn_attr(x, 902)->n != n + 2 || nn_attr(w, 902)->n != n + 2) return false;
    bool fits = o->x.dim[0] == o->y.dim[0] && o->w.dim[0] == o->y.dim[1] &&
                o->x.dim[1] % o->w.dim[1] == 0 && o->w.dim[0] % (o->x.dim[1] / o->w.dim[1]) == 0;
    for (int i = 0; i < 3; i++) {
        bool is = i >= gap;
        int64_t after = is ? nn_int64(v, 104, i - gap) : 0;
        o->stride[i] = is ? nn_int64(v, 103, i - gap) : 1;
        o->dilation[i] = is ? nn_int64(v, 102, i - gap) : 1;
        o->before[i] = is ? nn_int64(v, 105, i - gap) : 0;
        int64_t spread = (o->w.dim[2 + i] - 1) * o->dilation[i] + 1;
        int64_t room = o->x.dim[2 + i] + o->before[i] + after - spread;
        fits = fits && room >= 0 && o->y.dim[2 + i] == room / o->stride[i] + 1;
    }
    return fits && *(const float *)nn_attr(t, 700)->v == 1 &&
           *(const float *)nn_attr(t, 701)->v == 0;
}
static bool nn_pointwise(const struct nn_thing *t, struct nn_op *o) {
    const struct nn_thing *p = nn_other(t, 750, 0, NN_POINTWISE),
                          *x = nn_other(t, 751, 0, NN_TENSOR), *y = nn_other(t, 753, 0, NN_TENSOR),
                          *b = nn_other(t, 752, 0, NN_TENSOR);
    if (!p || !x || !y) return false;
    *o = (struct nn_op){.mode = nn_int(p, 0), .x = nn_tensor(x), .y = nn_tensor(y)};
    if (b) o->w = nn_tensor(b);
    bool fits = o->mode == 0 ? b != NULL : o->mode == 100 && !b;
    for (int i = 0; i < 5; i++) {
        fits = fits && o->x.dim[i] == o->y.dim[i];
        if (b) fits = fits && (o->w.dim[i] == 1 || o->w.dim[i] == o->y.dim[i]);
    }
    return fits;
}
static bool nn_op(const struct nn_thing *graph, int i, struct nn_op *o) {
    const struct nn_thing *c = nn_other(graph, 801, i, NN_OP_CONV),
                          *p = nn_other(graph, 801, i, NN_OP_POINTWISE);
    return c ? nn_convolution(c, o) : p && nn_pointwise(p, o);
}

/* A chain that begins with a convolution; what is between its operations lies nowhere. */
static bool nn_chain(const struct nn_thing *graph) {
    int n = (int)nn_attr(graph, 801)->n;
    struct nn_op before = {0}, o;
    for (int i = 0; i < n; i++) {
        if (!nn_op(graph, i, &o) || o.conv != (i == 0)) return false;
        if (i && (o.x.id != before.y.id || !o.x.nowhere)) return false;
        if ((!i && o.x.nowhere) || o.w.nowhere || o.y.nowhere != (i < n - 1)) return false;
        before = o;
    }
    return n > 0;
}
/* What the real library's lists of engines are empty for, of f32 on an H100. */
static bool nn_has_engines(const struct nn_thing *graph) {
    int n = (int)nn_attr(graph, 801)->n, bias = 0;
    struct nn_op o;
    for (int i = 1; i < n; i++) {
        nn_op(graph, i, &o);
        bool is_bias = o.mode == 0 && o.w.dim[0] == 1 && o.w.dim[1] == o.y.dim[1] &&
                       o.w.dim[2] == 1 && o.w.dim[3] == 1 && o.w.dim[4] == 1;
        bool residual = o.mode == 0 && !is_bias;
        if (residual && i != 1) return false;
        if (is_bias && bias++) return false;
        if (o.mode == 100 && (i != n - 1 || !bias)) return false;
        if (nn_seen.alone && !is_bias) return false;
    }
    return n == 1 || bias;
}

/* ---- calls ---------------------------------------------------------------------------------- */

const char *cudnnGetErrorString(int status);
const char *cudnnGetErrorString(int status) {
    return status == 4000 ? "CUDNN_STATUS_INTERNAL_ERROR" : "CUDNN_STATUS_BAD_PARAM";
}
int cudnnCreate(void **out);
int cudnnCreate(void **out) {
    NN_CALL();
    return nn_new(-1, out);
}
int cudnnDestroy(void *handle);
int cudnnDestroy(void *handle) {
    nn_old(handle);
    if (nn_seen.live) emu_wrong("something of cuDNN outlives its handle");
    return 0;
}
int cudnnSetStream(void *handle, void *stream);
int cudnnSetStream(void *handle, void *stream) {
    NN_CALL();
    if (!nn_lives(handle, -1) || !stream) return 2000;
    ((struct nn_thing *)handle)->stream = stream;
    return 0;
}
int cudnnBackendCreateDescriptor(int type, void **out);
int cudnnBackendCreateDescriptor(int type, void **out) {
    NN_CALL();
    return nn_new(type, out);
}
int cudnnBackendDestroyDescriptor(void *d);
int cudnnBackendDestroyDescriptor(void *d) {
    return nn_old(d);
}
int cudnnBackendSetAttribute(void *d, int what, int type, int64_t n, const void *v);
int cudnnBackendSetAttribute(void *d, int what, int type, int64_t n, const void *v) {
    NN_CALL();
    struct nn_thing *t = d;
    const struct nn_rule *r = nn_rules;
    while (r < nn_rules + NN_RULES && (r->of != t->type || r->what != what)) r++;
    if (r == nn_rules + NN_RULES || t->final || t->n_attrs == NN_ATTRS) return 2000;
    if (r->type != type) return 2010;
    if (n < 1 || n > r->most || !v || nn_attr(t, what)->n) return 2000;
    struct nn_attr *a = &t->attr[t->n_attrs++];
    *a = (struct nn_attr){what, n, malloc((size_t)n * (size_t)r->bytes)};
    memcpy(a->v, v, (size_t)n * (size_t)r->bytes);
    return 0;
}

static int nn_finalize(const struct nn_thing *t) {
    struct nn_op o;
    for (const struct nn_rule *r = nn_rules; r < nn_rules + NN_RULES; r++)
        if (r->of == t->type && r->needed && !nn_attr(t, r->what)->n) return 2000;
    if (t->type == NN_TENSOR) {
        if (nn_int(t, 901) || nn_int64(t, 900, 0) % 16 || nn_attr(t, 902)->n < 4) return 2000;
        return nn_attr(t, 902)->n == nn_attr(t, 903)->n ? 0 : 2000;
    }
    if (t->type == NN_CONV) {
        for (int what = 102; what <= 105; what++)
            if (nn_attr(t, what)->n != nn_int64(t, 106, 0)) return 2000;
        return nn_int(t, 100) == 0 && nn_int(t, 101) == 1 ? 0 : 2000;
    }
    if (t->type == NN_OP_CONV) return nn_convolution(t, &o) ? 0 : 2000;
    if (t->type == NN_OP_POINTWISE) return nn_pointwise(t, &o) ? 0 : 2000;
    if (t->type == NN_GRAPH)
        return nn_lives(*(void **)nn_attr(t, 800)->v, -1) && nn_chain(t) ? 0 : 2000;
    if (t->type == NN_HEUR) {
        int mode = nn_int(t, 200);
        return nn_other(t, 201, 0, NN_GRAPH) && (mode == 3 || mode == 2) ? 0 : 2000;
    }
    if (t->type == NN_PLAN) {
        const struct nn_thing *c = nn_other(t, 401, 0, NN_CONFIG);
        if (!c || !nn_lives(*(void **)nn_attr(t, 400)->v, -1)) return 2000;
        nn_seen.engine = c->engine;
        return nn_seen.refuse & 1u << c->engine ? 3000 : 0;
    }
    return t->type == NN_PACK && nn_attr(t, 1000)->n != nn_attr(t, 1001)->n ? 2000 : 0;
}
int cudnnBackendFinalize(void *d);
int cudnnBackendFinalize(void *d) {
    NN_CALL();
    struct nn_thing *t = d;
    int status = t->final ? 2000 : nn_finalize(t);
    if (status / 1000 == 2) emu_wrong("a descriptor of cuDNN that does not fit together");
    t->final = !status;
    return status;
}

/* Configurations take the place of descriptors that the caller has made. */
static int nn_results(const struct nn_thing *t, int64_t most, int64_t *out_n, void *out) {
    struct nn_thing *graph = nn_other(t, 201, 0, NN_GRAPH), **config = out;
    bool fallback = nn_int(t, 200) == 2;
    int first = fallback ? NN_FALLBACK : NN_ROUNDS, end = fallback ? NN_ENGINES : NN_FALLBACK;
    if (!graph || !nn_has_engines(graph)) end = first;
    *out_n = end - first;
    for (int i = 0; i < end - first && i < most; i++) {
        if (!nn_lives(config[i], NN_CONFIG)) return 2000;
        config[i]->engine = first + i;
        config[i]->final = true;
        config[i]->attr[0] = (struct nn_attr){201, 1, malloc(sizeof graph)};
        memcpy(config[i]->attr[0].v, &graph, sizeof graph);
        config[i]->n_attrs = 1;
    }
    return 0;
}
int cudnnBackendGetAttribute(void *d, int what, int type, int64_t most, int64_t *out_n, void *out);
int cudnnBackendGetAttribute(void *d, int what, int type, int64_t most, int64_t *out_n, void *out) {
    NN_CALL();
    const struct nn_thing *t = d;
    if (!t->final) return 2004;
    if (t->type == NN_HEUR && what == 202 && type == 15) return nn_results(t, most, out_n, out);
    if (most < 1 || !out) return 2000;
    *out_n = 1;
    if (t->type == NN_CONFIG && what == 300 && type == 15) {
        struct nn_thing *engine = *(struct nn_thing **)out;
        if (!nn_lives(engine, NN_ENGINE)) return 2000;
        engine->engine = t->engine;
        engine->final = true;
        return 0;
    }
    const struct nn_engine *e = &nn_engine[t->engine];
    if (t->type == NN_ENGINE && what == 1303 && type == 11) {
        *out_n = e->notes;
        memcpy(out, e->note, sizeof(int) * (size_t)(most < e->notes ? most : e->notes));
        return 0;
    }
    if (t->type != NN_PLAN || what != 402 || type != 3) return 2000;
    const struct nn_thing *c = nn_other(t, 401, 0, NN_CONFIG);
    *(int64_t *)out = c ? nn_engine[c->engine].workspace_bytes : 0;
    return 0;
}

/* ---- runs ----------------------------------------------------------------------------------- */

static struct nn_work {
    int n;
    bool rounds;
    struct nn_op op[NN_OPS];
} nn_works[NN_WORKS];

/* 11 bits of a number, halves away from 0. */
static double nn_rounded(float v, bool rounds) {
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    if (rounds) bits = (bits + 0x1000) & ~0x1fffu;
    memcpy(&v, &bits, sizeof v);
    return (double)v;
}
static float *nn_at(const struct nn_tensor *t, const int64_t *i) {
    int64_t at = 0;
    for (int k = 0; k < 5; k++) at += t->dim[k] == 1 ? 0 : i[k] * t->stride[k];
    return t->data + at;
}
static float nn_sum(const struct nn_op *o, const int64_t *i, bool rounds) {
    int64_t of_group = o->w.dim[0] / (o->x.dim[1] / o->w.dim[1]), from = i[1] / of_group;
    double sum = 0;
    int64_t k[5] = {i[1], 0, 0, 0, 0}, x[5] = {i[0], 0, 0, 0, 0};
    for (k[1] = 0; k[1] < o->w.dim[1]; k[1]++)
        for (k[2] = 0; k[2] < o->w.dim[2]; k[2]++)
            for (k[3] = 0; k[3] < o->w.dim[3]; k[3]++)
                for (k[4] = 0; k[4] < o->w.dim[4]; k[4]++) {
                    bool inside = true;
                    x[1] = from * o->w.dim[1] + k[1];
                    for (int d = 0; d < 3; d++) {
                        x[2 + d] =
                            i[2 + d] * o->stride[d] + k[2 + d] * o->dilation[d] - o->before[d];
                        inside = inside && x[2 + d] >= 0 && x[2 + d] < o->x.dim[2 + d];
                    }
                    if (inside)
                        sum += nn_rounded(*nn_at(&o->x, x), rounds) *
                               nn_rounded(*nn_at(&o->w, k), rounds);
                }
    return (float)sum;
}
static void nn_compute_op(const struct nn_op *o, bool rounds) {
    int64_t i[5];
    for (i[0] = 0; i[0] < o->y.dim[0]; i[0]++)
        for (i[1] = 0; i[1] < o->y.dim[1]; i[1]++)
            for (i[2] = 0; i[2] < o->y.dim[2]; i[2]++)
                for (i[3] = 0; i[3] < o->y.dim[3]; i[3]++)
                    for (i[4] = 0; i[4] < o->y.dim[4]; i[4]++) {
                        float v = o->conv ? nn_sum(o, i, rounds) : *nn_at(&o->x, i);
                        if (!o->conv && o->mode == 0) v += *nn_at(&o->w, i);
                        if (!o->conv && o->mode == 100 && v < 0) v = 0;
                        *nn_at(&o->y, i) = v;
                    }
}
static void nn_compute(void *what) {
    struct nn_work w = *(const struct nn_work *)what;
    float *between[NN_OPS] = {NULL};
    for (int i = 0; i < w.n && !nn_seen.idle; i++) {
        struct nn_op *o = &w.op[i];
        if (i) o->x.data = between[i - 1];
        if (o->y.nowhere) o->y.data = between[i] = calloc(1, nn_bytes(&o->y));
        nn_compute_op(o, w.rounds);
    }
    for (int i = 0; i < w.n; i++) free(between[i]);
}

/* Where the pack says that the tensor lies. */
static void nn_place(const struct nn_thing *pack, struct nn_tensor *t, int *out_found) {
    for (int i = 0; i < nn_attr(pack, 1000)->n; i++)
        if (nn_int64(pack, 1000, i) == t->id && !t->nowhere)
            t->data = ((float *const *)nn_attr(pack, 1001)->v)[i];
    *out_found += t->data != NULL;
    if (!t->nowhere && !emu_inside((uint64_t)(uintptr_t)t->data, nn_bytes(t)))
        emu_wrong("a tensor of cuDNN outside memory");
}
int cudnnBackendExecute(void *handle, void *plan, void *pack);
int cudnnBackendExecute(void *handle, void *plan, void *pack) {
    NN_CALL();
    const struct nn_thing *p = plan, *k = pack;
    if (!nn_lives(handle, -1) || !nn_lives(p, NN_PLAN) || !nn_lives(k, NN_PACK)) return 2000;
    if (!p->final || !k->final || !((struct nn_thing *)handle)->stream) return 2004;
    const struct nn_thing *c = nn_other(p, 401, 0, NN_CONFIG);
    const struct nn_thing *graph = c ? nn_other(c, 201, 0, NN_GRAPH) : NULL;
    if (!graph || !nn_chain(graph)) {
        emu_wrong("a plan of cuDNN whose operations are gone");
        return 2000;
    }
    size_t wanted = (size_t)nn_engine[c->engine].workspace_bytes;
    void *const *workspace = nn_attr(k, 1003)->v;
    if (wanted && (!workspace || !emu_inside((uint64_t)(uintptr_t)*workspace, wanted)))
        emu_wrong("a workspace that is not there");
    struct nn_work *w = &nn_works[nn_seen.runs++ % NN_WORKS];
    *w = (struct nn_work){.n = (int)nn_attr(graph, 801)->n, .rounds = c->engine == NN_ROUNDS};
    int found = 0;
    for (int i = 0; i < w->n; i++) {
        struct nn_op *o = &w->op[i];
        nn_op(graph, i, o);
        if (!i) nn_place(k, &o->x, &found);
        if (o->conv || o->mode == 0) nn_place(k, &o->w, &found);
        if (!o->y.nowhere) nn_place(k, &o->y, &found);
    }
    if (found != nn_attr(k, 1000)->n) emu_wrong("a pack of cuDNN with other tensors");
    nn_seen.ops += w->n;
    if (emu.wrong) return 2000;
    return emu_enqueue(&(struct emu_op){.later = nn_compute, .what = w});
}

#endif
