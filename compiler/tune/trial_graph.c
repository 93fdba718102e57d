/* A work as a graph, with operands: of floats between -1 and 1; of bytes with weights as quantised
 * networks have them, most of them small. */
#include <math.h>
#include <string.h>

#include "compiler/tune/trial_int.h"

static uint32_t number(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 32);
}

static float *floats(hd_arena *a, size_t n, uint64_t seed) {
    float *v = hd_new_array(a, float, n + 16);
    for (size_t i = 0; i < n; i++) v[i] = (float)(int32_t)number(&seed) / 2147483648.0f;
    return v;
}

/* The mean of so many random bytes. */
static int8_t *bytes(hd_arena *a, size_t n, int of, uint64_t seed) {
    int8_t *v = hd_new_array(a, int8_t, n + 64);
    for (size_t i = 0; i < n; i++) {
        int sum = 0;
        for (int k = 0; k < of; k++) sum += (int8_t)(number(&seed) >> 24);
        v[i] = (int8_t)(sum / of);
    }
    return v;
}

/* [n][c][pixels] to [n][pixels][c]. */
static void turn(int64_t n, int64_t c, int64_t pixels, const uint8_t *from, uint8_t *to) {
    for (int64_t i = 0; i < n; i++, to += c * pixels, from += c * pixels)
        for (int64_t p = 0; p < pixels; p++)
            for (int64_t k = 0; k < c; k++) to[p * c + k] = from[k * pixels + p];
}

void hd_trial_turn_result(struct hd_trial *t) {
    const struct hd_tunable *w = &t->w;
    if (w->product)
        memcpy(t->y, t->laid_y, t->n_y);
    else /* turned back: rows and columns exchanged */
        turn(w->n, w->oh * w->ow, w->g * w->m, t->laid_y, t->y);
}

/* ---- operands ------------------------------------------------------------------------------- */

static void float_operands(struct hd_trial *t) {
    const struct hd_tunable *w = &t->w;
    t->laid = t->x = floats(t->a, t->n_x, 1);
    t->weights = floats(t->a, t->n_w, 2);
    t->bias = floats(t->a, (size_t)(w->g * w->m), 3);
    t->y = floats(t->a, t->n_y, 4);
    t->want = floats(t->a, t->n_y, 4);
}

/* Scales that spread the results over the range of a byte. */
static void byte_operands(struct hd_trial *t) {
    const struct hd_tunable *w = &t->w;
    size_t n_m = (size_t)(w->g * w->m);
    double depth = (double)t->n_w / (double)n_m;
    t->x = bytes(t->a, t->n_x, 1, 1);
    t->weights = bytes(t->a, t->n_w, 4, 2);
    t->y = bytes(t->a, t->n_y, 1, 4), t->want = bytes(t->a, t->n_y, 1, 4);
    t->laid = bytes(t->a, t->n_x, 1, 1), t->laid_y = bytes(t->a, t->n_y, 1, 4);
    if (!w->product) turn(w->n, w->g * w->c, w->h * w->w, t->x, t->laid);
    int32_t *bias = hd_new_array(t->a, int32_t, n_m);
    uint64_t seed = 3;
    t->scale = hd_new_array(t->a, float, n_m);
    for (size_t i = 0; i < n_m; i++) {
        bias[i] = (int32_t)number(&seed) >> 16;
        t->scale[i] = (float)((0.5 + (double)number(&seed) / 4294967296.0) / (64 * sqrt(depth)));
    }
    t->bias = bias;
}

/* ---- the work as a graph -------------------------------------------------------------------- */

/* Weights, bias and, of bytes, scales behind x. */
static int operands(struct hd_trial *t, int x, int rank, const int64_t *k, int in[4]) {
    const struct hd_tunable *w = &t->w;
    int64_t n_m = w->g * w->m;
    in[0] = x;
    in[1] = hd_graph_const(t->g, "w", w->bytes ? HD_I8 : HD_F32, rank, k, t->weights);
    if (!w->bias && !w->bytes) return 2;
    in[2] = hd_graph_const(t->g, "b", w->bytes ? HD_I32 : HD_F32, 1, &n_m, t->bias);
    if (w->bytes) in[3] = hd_graph_const(t->g, "s", HD_F32, 1, &n_m, t->scale);
    return w->bytes ? 4 : 3;
}

static void requantises(struct hd_trial *t, int node) {
    const struct hd_tunable *w = &t->w;
    hd_attr_set_int(t->g, node, "x_zp", w->x_zp);
    hd_attr_set_int(t->g, node, "y_zp", w->y_zp);
    hd_attr_set_int(t->g, node, "lo", w->lo);
    hd_attr_set_int(t->g, node, "hi", w->hi);
    hd_attr_set_string(t->g, node, "to", w->y_signed ? "i8" : "u8");
}

static int make_conv(struct hd_trial *t, int x) {
    const struct hd_tunable *w = &t->w;
    int64_t k[] = {w->g * w->m, w->c, w->kh, w->kw};
    int in[4], n_in = operands(t, x, 4, k, in), out = hd_graph_tensor(t->g, "y", HD_F32, 0, NULL);
    int n = hd_graph_node(t->g, w->bytes ? HD_IR_qconv : HD_IR_conv, "conv", n_in, in, 1, &out);
    hd_attr_set_int(t->g, n, "group", w->g);
    hd_attr_set_ints(t->g, n, "strides", 2, (int64_t[]){w->sy, w->sx});
    hd_attr_set_ints(t->g, n, "dilations", 2, (int64_t[]){w->dy, w->dx});
    hd_attr_set_ints(t->g, n, "pads", 4, (int64_t[]){w->pt, w->pl, w->pb, w->pr});
    if (w->bytes) requantises(t, n);
    return out;
}

static int make_product(struct hd_trial *t, int x) {
    const struct hd_tunable *w = &t->w;
    int64_t k[] = {w->rows ? w->m : w->c, w->rows ? w->c : w->m};
    int in[4], n_in = operands(t, x, 2, k, in), out = hd_graph_tensor(t->g, "y", HD_F32, 0, NULL);
    int n = hd_graph_node(t->g, w->bytes ? HD_IR_qgemm : HD_IR_gemm, "product", n_in, in, 1, &out);
    if (w->bytes)
        requantises(t, n);
    else
        hd_attr_set_int(t->g, n, "transB", w->rows);
    return out;
}

hd_status hd_trial_graph(struct hd_trial *t) {
    const struct hd_tunable *w = &t->w;
    int64_t conv[] = {w->n, w->g * w->c, w->h, w->w}, rows[] = {w->h, w->c};
    size_t taps = w->product ? 1 : (size_t)(w->kh * w->kw);
    t->n_w = (size_t)(w->g * w->m * w->c) * taps;
    t->n_x = w->product ? (size_t)(w->h * w->c) : (size_t)(w->n * w->g * w->c * w->h * w->w);
    t->n_y = w->product ? (size_t)(w->h * w->m) : (size_t)(w->n * w->g * w->m * w->oh * w->ow);
    if (w->bytes)
        byte_operands(t);
    else
        float_operands(t);
    struct hd_compile_options o = {.host_only = true, .latency_hiding = true};
    TRY(hd_machine_load(t->c->ctx, "base", &o.machine)); /* none of it runs there */
    t->g = hd_graph_create();
    hd_dtype type = !w->bytes ? HD_F32 : w->x_signed ? HD_I8 : HD_U8;
    int x = hd_graph_tensor(t->g, "x", type, w->product ? 2 : 4, w->product ? rows : conv);
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
