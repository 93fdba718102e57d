/* A compiled model: the container that every device loads, in memory and as a .hdl file.
 *
 * A model is a list of steps that run in order. A HOST step is a set of nodes of the GRAPH section,
 * run by a device that takes graphs (golden, cpu); a PROG step is a program in the image, run by a
 * machine (iss, rtl, xrt). Values are the tensors that steps exchange. A machine sees one image
 * (read only: programs, weights, parameters) and one arena (values, and activations that do not
 * stay on chip).
 *
 * File: 64-byte header (magic "HDL\x1a", format version, isa hash, machine hash, section table
 * offset, bytes, crc32 of the rest), sections MACH, GRPH, IMAG, STEP, VALU, LAYR, HOST, STAT, PLAC;
 * every length is checked on load.
 */
#ifndef HD_DEVICE_MODEL_H
#define HD_DEVICE_MODEL_H

#include "isa/isa.h"
#include "runtime/base/arena.h"
#include "runtime/base/status.h"

/* Of the library's face (runtime/heddle_rt.h), which says more of them. */
typedef struct hd_model hd_model;
HD_API hd_status hd_model_load(hd_ctx *ctx, const char *path, hd_model **out);
HD_API hd_status hd_model_load_memory(hd_ctx *ctx, const void *data, size_t bytes, const char *name,
                                      hd_model **out);
HD_API void hd_model_destroy(hd_model *m);

enum { HD_VALUE_RANK = 8 };

enum hd_layout {
    HD_LAYOUT_DENSE, /* row-major as in ONNX */
    HD_LAYOUT_NHWC,  /* [N][..][c_pad] bytes from [N,C,..], rank 2 and above: channels come last */
    HD_LAYOUT_ROWS   /* [..][c_pad] bytes from [..,C], rank 1 and above: rows with padding */
};

struct hd_value_info {
    const char *name;
    int dtype; /* ONNX TensorProto.DataType */
    int elem_bytes;
    int rank;
    int64_t dim[HD_VALUE_RANK];
    int tensor;            /* id in the graph */
    bool in_arena;         /* a machine reads or writes it in DRAM */
    uint64_t arena_offset; /* of byte 0 */
    enum hd_layout layout; /* in the arena */
    int64_t c_pad;         /* bytes of a pixel or row as stored */
    int layer;             /* that makes it, index in layers, -1 = none */
};

/* Where a machine keeps a tensor: the address map, by which reports draw the memories and compare
 * reads what stays on chip. On chip it is [n][h + pt + pb][w + pl + pr][c_pad] bytes, padding
 * included; in the arena [n][h][w][c_pad]. */
struct hd_place {
    int tensor;                         /* id in the graph */
    int layer;                          /* that makes it, -1 = comes from outside */
    int first, last;                    /* layers between which it keeps its place, both included */
    bool comes_in, goes_out;            /* crosses the border of its step */
    bool on_chip, in_arena;             /* neither: only pieces of it ever exist */
    uint64_t xm_offset, xm_bytes;       /* valid when on_chip */
    uint64_t arena_offset, arena_bytes; /* valid when in_arena */
    int n, h, w, c, c_pad;              /* c_pad: channels as stored */
    int pt, pb, pl, pr;                 /* padding kept around each image on chip */
    int pitch;                          /* bytes between rows on chip */
    /* on chip only that many rows at a time, row y in slot y mod rolling; 0 = all of them. Slots
     * behind those repeat the first ones */
    int rolling;
    /* > 0: of the columns of padded rows the odd ones lie so many bytes behind the even ones */
    int apart;
    bool wide; /* int16: high bytes in the first half of c_pad, low ones in the second */
};

enum hd_step_kind { HD_STEP_HOST, HD_STEP_PROG };

struct hd_step {
    enum hd_step_kind kind;
    int *nodes; /* HOST: graph node ids */
    int n_nodes;
    uint32_t code_offset, code_bytes; /* PROG: in the image */
    int *inputs, *outputs;            /* indexes in values: needed before, made by it */
    int n_inputs, n_outputs;
    const char *device; /* HOST: that it was placed on; NULL = any that runs graphs */
    const char *why;    /* it is on that device, for people; NULL = there was no choice */
    int64_t estimate;   /* PROG: cycles by the compiler's model; not saved */
};

/* What no schedule can beat: cycles of MX, VX and the chain of a recurrence, bytes of the port each
 * way (compiler/roofline). */
struct hd_bounds {
    int64_t mx_cycles, vx_cycles, chain_cycles, read_bytes, write_bytes;
};

struct hd_layer_info { /* index = tag of its operations */
    const char *name, *op;
    int64_t macs;
    int64_t vector_ops;        /* VX vectors it needs at least, on this machine */
    int64_t unavoidable_bytes; /* DRAM bytes it cannot avoid: weights, network inputs and outputs,
                                  what this plan spills */
    struct hd_bounds bounds;   /* of the node, once where it became several layers */
    int step;                  /* whose program it is part of */
    int64_t estimate;          /* cycles by the compiler's model; not saved */
    const char *plan;          /* one line for people: tiles, where operands live */
};

struct hd_host_op {
    const char *node, *op, *reason, *hint;
    int64_t ns; /* that the host takes for it, about (compiler/partition/segment.c) */
};

typedef struct hd_model hd_model;
struct hd_model {
    hd_arena *arena;
    const char *name;
    struct hd_machine machine;
    uint32_t isa_hash, machine_hash;
    const void *graph; /* hd_graph_save form of the legalised graph */
    size_t graph_bytes;
    void *image;
    size_t image_bytes;
    uint64_t arena_bytes;
    struct hd_value_info *values;
    int n_values;
    int *inputs, *outputs; /* of the network, indexes in values */
    int n_inputs, n_outputs;
    /* State: the last n_states outputs are what the last n_states inputs are in the next run. What
     * those are in the first run, dense; and a fingerprint of the network, by which a state that
     * was saved finds its like */
    int n_states;
    const void **initial;
    uint32_t network_hash;
    struct hd_step *steps;
    int n_steps;
    struct hd_layer_info *layers;
    int n_layers;
    struct hd_host_op *host_ops;
    int n_host_ops;
    struct hd_place *places;
    int n_places;
    uint64_t xm_ring; /* XM from here on holds the tiles of tensors that stream */
    int64_t planned_bytes, naive_bytes, lower_bound_bytes; /* activation memory */
    int64_t n_ops, n_bundles;                              /* of all programs, for reports */
    double compile_seconds;                                /* not saved */
    int scales_found; /* tensors whose scale is not from the file (complete.c); not saved */
};

/* All memory of a model is its own arena. */
hd_model *hd_model_create(void);

/* The file as bytes, in place of what is in *out. Same model, same bytes. */
struct hd_buf;
void hd_model_bytes(const hd_model *m, struct hd_buf *out);
hd_status hd_model_save(hd_ctx *ctx, const hd_model *m, const char *path);

size_t hd_value_dense_bytes(const struct hd_value_info *v);
size_t hd_value_arena_bytes(const struct hd_value_info *v); /* bytes it takes in the arena */
/* A value that is not HD_LAYOUT_DENSE: [n][pixels][c_pad] in the arena, from dense [n][c][pixels];
 * of int16 the high bytes are in the first half of c_pad, the low ones in the second. */
struct hd_value_image {
    size_t n, c, pixels, c_pad;
};
struct hd_value_image hd_value_image(const struct hd_value_info *v);
/* Dense <-> arena layout; padding channels are written as 0. Both buffers are the caller's. */
void hd_value_pack(const struct hd_value_info *v, const void *dense, void *arena_form);
void hd_value_unpack(const struct hd_value_info *v, const void *arena_form, void *dense);
/* Bytes from the beginning of a padded row on chip to one of its columns. */
uint64_t hd_place_column(const struct hd_place *p, int column);
/* A place's bytes in the arena, where nothing else takes its place so soon, else in on-chip memory
 * (xm: all of XM), as dense [n][c][h][w], the order of the graph's tensor. False: it is not there
 * as a whole, or outside of the memory. */
bool hd_place_read(const struct hd_place *p, const uint8_t *xm, size_t xm_bytes,
                   const uint8_t *arena, size_t arena_bytes, void *dense);

#endif
