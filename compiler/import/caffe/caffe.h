/* Private to compiler/import/caffe: the state of one import. */
#ifndef HD_IMPORT_CAFFE_H
#define HD_IMPORT_CAFFE_H

#include "compiler/import/caffe/prototxt.h"
#include "compiler/import/import.h"

struct hd_caffe_blob { /* a blob of the network, or of a layer's weights */
    const char *name;
    int tensor;
    bool read;
};

struct hd_caffe_weights { /* of a layer, as they lie in the file */
    const char *layer;
    const uint8_t **blob;
    size_t *bytes, n;
};

struct hd_caffe {
    hd_ctx *ctx;
    hd_graph *g;
    hd_arena *arena;
    const struct hd_source *from;
    struct hd_txt net;
    const struct hd_txt *layer; /* in work */
    const char *name, *type;    /* of it */
    struct hd_caffe_blob *blobs;
    size_t n_blobs, cap_blobs;
    struct hd_caffe_weights *weights;
    size_t n_weights, cap_weights;
    bool trained;        /* weights come from a file; else they are made up */
    uint64_t made_bytes; /* of weights that are made up */
};

/* ---- caffe_weights.c ---- */
/* Layers of a caffemodel (NetParameter), V1 and V2. */
hd_status hd_caffe_read_weights(struct hd_caffe *m, const void *data, size_t bytes);
/* Blob i of the layer in work as a constant of this shape; made up when there is no file. */
hd_status hd_caffe_weight(struct hd_caffe *m, size_t i, int rank, const int64_t *dim, int *out);
bool hd_caffe_has_weight(const struct hd_caffe *m, size_t i);

/* ---- caffe_layers.c, caffe_shape_layers.c ---- */
/* The nodes of the layer in work. */
hd_status hd_caffe_layer(struct hd_caffe *m);

/* ---- caffe_build.c ---- */
hd_status hd_caffe_bad(struct hd_caffe *m, hd_status code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The tensor of bottom i, and its shape. */
hd_status hd_caffe_bottom(struct hd_caffe *m, int i, int *out);
int hd_caffe_bottoms(const struct hd_caffe *m);
int hd_caffe_tops(const struct hd_caffe *m);
/* Top i is this tensor. */
hd_status hd_caffe_top(struct hd_caffe *m, int i, int tensor);
int hd_caffe_node(struct hd_caffe *m, enum hd_ir_op op, int n_in, const int *in, int *out);
hd_status hd_caffe_done(struct hd_caffe *m, int node);
hd_status hd_caffe_emit(struct hd_caffe *m, enum hd_ir_op op, int n_in, const int *in, int *out);
int hd_caffe_ints(struct hd_caffe *m, int n, const int64_t *v);
int hd_caffe_float(struct hd_caffe *m, float v);
hd_status hd_caffe_reshape(struct hd_caffe *m, int x, int rank, const int64_t *dim, int *out);
hd_status hd_caffe_axis(struct hd_caffe *m, int64_t axis, int rank, int64_t *out);

#define LAYER(v2, v1, function) hd_status hd_caffe_##function(struct hd_caffe *m);
#include "compiler/import/caffe/layers.def"

#endif
