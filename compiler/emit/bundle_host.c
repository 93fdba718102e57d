/* Host operations of a bundle as plain C: what stands at the border of a quantised network. The
 * arithmetic is golden's (cpu_ref/k_quant.c, k_elem.c), so outputs are the same to the bit. */
#include <string.h>

#include "compiler/emit/bundle.h"

typedef void put_fn(struct hd_buf *b, const struct hd_bundle *x, const struct hd_node *n);

static const struct hd_tensor *in(const struct hd_bundle *x, const struct hd_node *n, int i) {
    return &x->g->tensors[n->in[i]];
}
static const struct hd_tensor *out(const struct hd_bundle *x, const struct hd_node *n) {
    return &x->g->tensors[n->out[0]];
}
static const char *src(const struct hd_bundle *x, const struct hd_node *n) {
    return x->place[n->in[0]];
}
static const char *dst(const struct hd_bundle *x, const struct hd_node *n) {
    return x->place[n->out[0]];
}
static long long elems(const struct hd_tensor *t) {
    return (long long)hd_tensor_elems(t);
}

/* Elements that share one scale: all of them, or the dimensions behind `axis`; *out_n = scales. */
static long long inner_of(const struct hd_bundle *x, const struct hd_node *n, long long *out_n) {
    const struct hd_tensor *t = in(x, n, 0);
    *out_n = elems(in(x, n, 1));
    if (*out_n == 1) return elems(t) > 0 ? elems(t) : 1;
    int64_t axis = hd_attr_int(n, "axis", 1), inner = 1;
    if (axis < 0) axis += t->rank;
    for (int64_t d = axis + 1; d < t->rank; d++) inner *= t->dim[d];
    return (long long)inner;
}

static long long integer(const struct hd_tensor *t, long long i) {
    switch (t->dtype) {
    case HD_U8:
        return ((const uint8_t *)t->data)[i];
    case HD_I8:
        return ((const int8_t *)t->data)[i];
    case HD_U16:
        return ((const uint16_t *)t->data)[i];
    case HD_I16:
        return ((const int16_t *)t->data)[i];
    default:
        return ((const int32_t *)t->data)[i];
    }
}

static void put_scales(struct hd_buf *b, const struct hd_bundle *x, const struct hd_node *n,
                       long long n_scales) {
    const struct hd_tensor *scale = in(x, n, 1), *zero = in(x, n, 2);
    hd_bundle_put(b, "        static const float scale[%lld] = {", n_scales);
    for (long long i = 0; i < n_scales; i++)
        hd_bundle_put(b, "%s%af", i ? ", " : "", (double)((const float *)scale->data)[i]);
    hd_bundle_put(b, "};\n        static const int32_t zero[%lld] = {", n_scales);
    for (long long i = 0; i < n_scales; i++)
        hd_bundle_put(b, "%s%lld", i ? ", " : "", integer(zero, i));
    hd_bundle_put(b, "};\n");
}

static void put_quantize(struct hd_buf *b, const struct hd_bundle *x, const struct hd_node *n) {
    const struct hd_tensor *y = out(x, n);
    long long n_scales, inner = inner_of(x, n, &n_scales);
    put_scales(b, x, n, n_scales);
    hd_bundle_put(b,
                  "        const float *from = %s;\n        %s *to = %s;\n"
                  "        for (size_t i = 0; i < %lldu; i++) {\n"
                  "            size_t s = i / %lldu %% %lldu;\n"
                  "            to[i] = (%s)requant(from[i] / scale[s], zero[s], %d, %d);\n"
                  "        }\n",
                  src(x, n), hd_bundle_type(y->dtype), dst(x, n), elems(y), inner, n_scales,
                  hd_bundle_type(y->dtype), hd_dtype_least(y->dtype), hd_dtype_most(y->dtype));
}

static void put_dequantize(struct hd_buf *b, const struct hd_bundle *x, const struct hd_node *n) {
    const struct hd_tensor *t = in(x, n, 0);
    long long n_scales, inner = inner_of(x, n, &n_scales);
    put_scales(b, x, n, n_scales);
    hd_bundle_put(b,
                  "        const %s *from = %s;\n        float *to = %s;\n"
                  "        for (size_t i = 0; i < %lldu; i++) {\n"
                  "            size_t s = i / %lldu %% %lldu;\n"
                  "            to[i] = (float)(int32_t)((uint32_t)from[i] - (uint32_t)zero[s]) * "
                  "scale[s];\n        }\n",
                  hd_bundle_type(t->dtype), src(x, n), dst(x, n), elems(t), inner, n_scales);
}

static void put_softmax(struct hd_buf *b, const struct hd_bundle *x, const struct hd_node *n) {
    const struct hd_tensor *t = in(x, n, 0);
    int64_t axis = hd_attr_int(n, "axis", -1), inner = 1;
    if (axis < 0) axis += t->rank;
    for (int64_t d = axis + 1; d < t->rank; d++) inner *= t->dim[d];
    long long size = (long long)t->dim[axis], all = size * (long long)inner;
    hd_bundle_put(b, "        softmax(%s, %s, %lldu, %lldu, %lldu);\n", dst(x, n), src(x, n),
                  all > 0 ? elems(t) / all : 0, size, (long long)inner);
}

static void put_copy(struct hd_buf *b, const struct hd_bundle *x, const struct hd_node *n) {
    hd_bundle_put(b, "        memcpy(%s, %s, %zuu);\n", dst(x, n), src(x, n),
                  hd_tensor_bytes(out(x, n)));
}

static void put_relu(struct hd_buf *b, const struct hd_bundle *x, const struct hd_node *n) {
    hd_bundle_put(b,
                  "        const float *from = %s;\n        float *to = %s;\n"
                  "        for (size_t i = 0; i < %lldu; i++) to[i] = from[i] > 0 ? from[i] : 0;\n",
                  src(x, n), dst(x, n), elems(out(x, n)));
}

/* A loop per dimension of the result; the strides of the operand are constants. */
static void put_transpose(struct hd_buf *b, const struct hd_bundle *x, const struct hd_node *n) {
    const struct hd_tensor *t = in(x, n, 0), *y = out(x, n);
    int64_t perm[HD_MAX_RANK], stride[HD_MAX_RANK], s = 1;
    int given = hd_attr_ints(n, "perm", perm, HD_MAX_RANK, 0);
    for (int d = t->rank - 1; d >= 0; d--) {
        stride[d] = s;
        s *= t->dim[d];
    }
    hd_bundle_put(b, "        const %s *from = %s;\n        %s *to = %s;\n",
                  hd_bundle_type(t->dtype), src(x, n), hd_bundle_type(t->dtype), dst(x, n));
    for (int d = 0; d < y->rank; d++)
        hd_bundle_put(b, "        for (size_t i%d = 0; i%d < %lldu; i%d++)\n", d, d,
                      (long long)y->dim[d], d);
    hd_bundle_put(b, "            *to++ = from[0");
    for (int d = 0; d < y->rank; d++)
        hd_bundle_put(b, " + i%d * %lldu", d, (long long)stride[given ? perm[d] : y->rank - 1 - d]);
    hd_bundle_put(b, "];\n");
}

static const struct {
    enum hd_ir_op op;
    put_fn *put;
} ops[] = {
    {HD_IR_quantize, put_quantize}, {HD_IR_dequantize, put_dequantize}, {HD_IR_identity, put_copy},
    {HD_IR_reshape, put_copy},      {HD_IR_transpose, put_transpose},   {HD_IR_relu, put_relu},
    {HD_IR_softmax, put_softmax},
};

static put_fn *find(enum hd_ir_op op) {
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (ops[i].op == op) return ops[i].put;
    return NULL;
}

/* Quantise and dequantise are between float and integers of at most 32 bits, with constant scales;
 * softmax and relu are of float. */
bool hd_bundle_has(const hd_graph *g, const struct hd_node *n) {
    const struct hd_tensor *x = n->n_in && n->in[0] >= 0 ? &g->tensors[n->in[0]] : NULL;
    const struct hd_tensor *y = &g->tensors[n->out[0]];
    if (!find(n->op) || !x || x->data || !x->known || !y->known || n->n_out != 1) return false;
    if (!hd_bundle_type(x->dtype) || !hd_bundle_type(y->dtype)) return false;
    bool scales = n->op == HD_IR_quantize || n->op == HD_IR_dequantize;
    for (int i = 1; scales && i < 3; i++)
        if (i >= n->n_in || n->in[i] < 0 || !g->tensors[n->in[i]].data) return false;
    if (scales && g->tensors[n->in[1]].dtype != HD_F32) return false;
    if (n->op == HD_IR_quantize) return x->dtype == HD_F32 && y->dtype != HD_F32;
    if (n->op == HD_IR_dequantize) return x->dtype != HD_F32 && y->dtype == HD_F32;
    return (n->op != HD_IR_relu && n->op != HD_IR_softmax) || x->dtype == HD_F32;
}

void hd_bundle_node(struct hd_buf *b, const struct hd_bundle *x, const struct hd_node *n) {
    hd_bundle_put(b, "    { /* %s */\n", hd_ir_ops[n->op].name);
    find(n->op)(b, x, n);
    hd_bundle_put(b, "    }\n");
}

static bool uses(const struct hd_bundle *x, enum hd_ir_op op) {
    for (int i = 0; i < x->m->n_steps; i++)
        for (int k = 0; x->m->steps[i].kind == HD_STEP_HOST && k < x->m->steps[i].n_nodes; k++)
            if (x->g->nodes[x->m->steps[i].nodes[k]].op == op) return true;
    return false;
}

void hd_bundle_helpers(struct hd_buf *b, const struct hd_bundle *x) {
    if (uses(x, HD_IR_quantize))
        hd_bundle_put(b, "/* Nearest, ties to even; not a number gives the zero point. */\n"
                         "static int32_t requant(float v, int32_t zero, int32_t lo, int32_t hi) {\n"
                         "    int32_t q = !(v == v)               ? 0\n"
                         "                : v >= 1073741824.0f    ? 1 << 30\n"
                         "                : v <= -1073741824.0f   ? -(1 << 30)\n"
                         "                                        : (int32_t)rintf(v);\n"
                         "    q += zero;\n"
                         "    return q < lo ? lo : q > hi ? hi : q;\n}\n\n");
    if (uses(x, HD_IR_softmax))
        hd_bundle_put(
            b,
            "static void softmax(float *y, const float *x, size_t outer, size_t size, size_t "
            "inner) {\n"
            "    for (size_t o = 0; o < outer; o++)\n"
            "        for (size_t i = 0; i < inner; i++) {\n"
            "            const float *p = x + o * size * inner + i;\n"
            "            float *q = y + o * size * inner + i;\n"
            "            double max = -INFINITY, sum = 0;\n"
            "            for (size_t j = 0; j < size; j++) max = fmax(max, (double)p[j * inner]);\n"
            "            for (size_t j = 0; j < size; j++) sum += exp((double)p[j * inner] - "
            "max);\n"
            "            for (size_t j = 0; j < size; j++)\n"
            "                q[j * inner] = (float)(exp((double)p[j * inner] - max) / sum);\n"
            "        }\n}\n\n");
}
