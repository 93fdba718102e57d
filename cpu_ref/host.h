/* What devices in host memory share: buffers, and the values that a loaded step exchanges. */
#ifndef HD_CPU_REF_HOST_H
#define HD_CPU_REF_HOST_H

#include "compiler/ir/ir.h"
#include "runtime/device/hal.h"

/* ---- buffers ---- */

struct hd_host_block {
    void *data; /* NULL = freed */
    size_t bytes;
    bool lent; /* the caller's */
};

struct hd_host_mem {
    const char *device; /* for messages */
    struct hd_host_block *blocks;
    size_t n_blocks, cap_blocks;
    size_t free; /* number of the first block that is free, 0 = none; its bytes: the next one */
};

hd_status hd_host_alloc(hd_ctx *ctx, struct hd_host_mem *m, size_t bytes, hd_buffer *out);
/* The same of memory that somebody else frees. */
hd_status hd_host_lend(hd_ctx *ctx, struct hd_host_mem *m, void *data, size_t bytes,
                       hd_buffer *out);
void hd_host_free(struct hd_host_mem *m, hd_buffer b);
void hd_host_free_all(struct hd_host_mem *m);
/* Checks that bytes off .. off + bytes lie in b; *out points at the first. */
hd_status hd_host_find(hd_ctx *ctx, struct hd_host_mem *m, hd_buffer b, size_t off, size_t bytes,
                       unsigned char **out);
hd_status hd_host_write(hd_ctx *ctx, struct hd_host_mem *m, hd_buffer b, size_t off,
                        const void *src, size_t bytes);
hd_status hd_host_read(hd_ctx *ctx, struct hd_host_mem *m, hd_buffer b, size_t off, void *dst,
                       size_t bytes);

/* ---- values ---- */

struct hd_host_io { /* values of the model, in the order of the contract in hal.h */
    int *in, *out;
    int n_in, n_out;
};

/* Values of a host step, or of the whole graph (step < 0). Checks that values name tensors of g of
 * the same size, and that a step's nodes are g's. Memory is a's. */
hd_status hd_host_choose_io(hd_ctx *ctx, hd_arena *a, const hd_model *m, int step,
                            const hd_graph *g, struct hd_host_io *out);

#endif
