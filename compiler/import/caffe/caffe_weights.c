/* Weights: blobs of a caffemodel by layer, and made-up ones for networks without one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/import/caffe/caffe.h"
#include "compiler/import/pb.h"
#include "runtime/base/num.h"

/* The field is a message or a string of this number. */
static bool is(const struct hd_pb_field *f, uint32_t number) {
    return f->number == number && f->wire == HD_PB_BYTES;
}

/* Field numbers of LayerParameter and of V1LayerParameter. */
static hd_status parse_layer(struct hd_caffe *m, const struct hd_pb_field *layer, uint32_t name,
                             uint32_t blobs) {
    struct hd_pb r = hd_pb_open(layer->data, layer->bytes);
    struct hd_pb_field f;
    struct hd_caffe_weights w = {.layer = ""};
    size_t cap = 0, cap_bytes = 0, n_bytes = 0;
    while (hd_pb_next(&r, &f)) {
        if (is(&f, name)) w.layer = hd_strndup(m->arena, (const char *)f.data, f.bytes);
        if (!is(&f, blobs)) continue;
        *hd_push(m->arena, w.blob, w.n, cap) = f.data;
        *hd_push(m->arena, w.bytes, n_bytes, cap_bytes) = f.bytes;
    }
    if (r.bad) return hd_fail(m->ctx, HD_INVALID, "layer '%s': %s", w.layer, r.bad);
    if (w.n) *hd_push(m->arena, m->weights, m->n_weights, m->cap_weights) = w;
    return HD_OK;
}

hd_status hd_caffe_read_weights(struct hd_caffe *m, const void *data, size_t bytes) {
    struct hd_pb r = hd_pb_open(data, bytes);
    struct hd_pb_field f;
    while (hd_pb_next(&r, &f)) {
        if (is(&f, 100)) TRY(parse_layer(m, &f, 1, 7));
        if (is(&f, 2)) TRY(parse_layer(m, &f, 4, 6));
    }
    if (r.bad) return hd_fail(m->ctx, HD_INVALID, "not a caffemodel, or cut short: %s", r.bad);
    m->trained = true;
    return HD_OK;
}

static const struct hd_caffe_weights *of_layer(const struct hd_caffe *m) {
    for (size_t i = 0; i < m->n_weights; i++)
        if (!strcmp(m->weights[i].layer, m->name)) return &m->weights[i];
    return NULL;
}

bool hd_caffe_has_weight(const struct hd_caffe *m, size_t i) {
    const struct hd_caffe_weights *w = of_layer(m);
    return !m->trained || (w && i < w->n);
}

/* BlobProto: data (5) packed or not, double_data (8). */
static hd_status read_blob(struct hd_caffe *m, size_t i, int64_t n, float *out) {
    const struct hd_caffe_weights *w = of_layer(m);
    if (!w || i >= w->n)
        return hd_caffe_bad(m, HD_INVALID, "the caffemodel has no blob %zu of it", i);
    struct hd_pb r = hd_pb_open(w->blob[i], w->bytes[i]);
    struct hd_pb_field f;
    int64_t got = 0;
    while (hd_pb_next(&r, &f)) {
        bool wide = f.number == 8;
        if (f.number != 5 && !wide) continue;
        size_t elem = wide ? 8 : 4;
        bool packed = f.wire == HD_PB_BYTES;
        int64_t more = packed ? (int64_t)(f.bytes / elem) : 1;
        for (int64_t k = 0; k < more && got + k < n; k++) {
            uint64_t bits = f.value;
            if (packed) memcpy(&bits, f.data + (size_t)k * elem, elem);
            out[got + k] = wide ? (float)hd_pb_f64(bits) : hd_pb_f32(bits);
        }
        got += more;
    }
    if (r.bad) return hd_caffe_bad(m, HD_INVALID, "blob %zu: %s", i, r.bad);
    if (got != n)
        return hd_caffe_bad(m, HD_INVALID, "blob %zu has %lld values, its shape wants %lld", i,
                            (long long)got, (long long)n);
    return HD_OK;
}

/* Uniform, so that sums of products keep the size of what they sum. */
static void make_up(const struct hd_caffe *m, size_t blob, int64_t n, int64_t fan_in, float *out) {
    uint64_t s = hd_hash(HD_HASH_INIT, m->name, strlen(m->name)) + blob;
    float range = sqrtf(3.0f / (float)(fan_in > 0 ? fan_in : 1));
    for (int64_t i = 0; i < n; i++) {
        s = s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        out[i] = range * ((float)(s >> 40) / 8388608.0f - 1);
    }
}

hd_status hd_caffe_weight(struct hd_caffe *m, size_t i, int rank, const int64_t *dim, int *out) {
    /* Small texts may ask for large networks; from memory they have less. */
    const uint64_t limit = m->from->path ? UINT64_C(4) << 30 : UINT64_C(1) << 24;
    const char *name = hd_sprintf(m->arena, "%s.%zu", m->name, i);
    TRY(hd_shape_check(m->ctx, name, HD_F32, rank, dim));
    int64_t n = 1, fan_in = 1;
    for (int d = 0; d < rank; d++) n *= dim[d];
    for (int d = 1; d < rank; d++) fan_in *= dim[d];
    m->made_bytes += (uint64_t)n * 4;
    if (m->made_bytes > limit)
        return hd_caffe_bad(m, HD_UNSUPPORTED, "more than %llu MiB of weights",
                            (unsigned long long)(limit >> 20));
    float *v = hd_new_array(m->g->arena, float, (size_t)n + 1);
    if (m->trained)
        TRY(read_blob(m, i, n, v));
    else
        make_up(m, i, n, rank > 1 ? fan_in : 1 << 20, v);
    *out = hd_graph_tensor(m->g, name, HD_F32, rank, dim);
    m->g->tensors[*out].data = v;
    return HD_OK;
}
