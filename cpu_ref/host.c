/* Buffers in host memory, and the values of a step: see host.h. */
#include "cpu_ref/host.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64 };

static hd_status add_block(hd_ctx *ctx, struct hd_host_mem *m, struct hd_host_block b,
                           hd_buffer *out) {
    if (m->free) {
        out->id = m->free;
        m->free = m->blocks[out->id - 1].bytes;
        m->blocks[out->id - 1] = b;
        return HD_OK;
    }
    if (m->n_blocks == m->cap_blocks) {
        size_t cap = m->cap_blocks ? 2 * m->cap_blocks : 16;
        struct hd_host_block *blocks = realloc(m->blocks, cap * sizeof *blocks);
        if (!blocks)
            return hd_fail(ctx, HD_NOMEM, "%s: no memory for buffer %zu", m->device,
                           m->n_blocks + 1);
        m->blocks = blocks;
        m->cap_blocks = cap;
    }
    m->blocks[m->n_blocks++] = b;
    out->id = m->n_blocks;
    return HD_OK;
}

hd_status hd_host_lend(hd_ctx *ctx, struct hd_host_mem *m, void *data, size_t bytes,
                       hd_buffer *out) {
    return add_block(ctx, m, (struct hd_host_block){data, bytes, true}, out);
}

hd_status hd_host_alloc(hd_ctx *ctx, struct hd_host_mem *m, size_t bytes, hd_buffer *out) {
    size_t room = bytes <= SIZE_MAX - ALIGN ? (bytes + ALIGN) / ALIGN * ALIGN : bytes;
    struct hd_host_block b = {aligned_alloc(ALIGN, room), bytes, false};
    if (!b.data)
        return hd_fail(ctx, HD_NOMEM, "%s: no memory for a buffer of %zu bytes", m->device, bytes);
    memset(b.data, 0, room);
    hd_status s = add_block(ctx, m, b, out);
    if (s != HD_OK) free(b.data);
    return s;
}

void hd_host_free(struct hd_host_mem *m, hd_buffer b) {
    if (b.id == 0 || b.id > m->n_blocks || !m->blocks[b.id - 1].data) return;
    if (!m->blocks[b.id - 1].lent) free(m->blocks[b.id - 1].data);
    m->blocks[b.id - 1] = (struct hd_host_block){.bytes = m->free};
    m->free = b.id;
}

void hd_host_free_all(struct hd_host_mem *m) {
    for (size_t i = 0; i < m->n_blocks; i++)
        if (!m->blocks[i].lent) free(m->blocks[i].data);
    free(m->blocks);
    m->blocks = NULL;
    m->n_blocks = m->cap_blocks = m->free = 0;
}

hd_status hd_host_find(hd_ctx *ctx, struct hd_host_mem *m, hd_buffer b, size_t off, size_t bytes,
                       unsigned char **out) {
    if (b.id == 0 || b.id > m->n_blocks || !m->blocks[b.id - 1].data)
        return hd_fail(ctx, HD_INVALID, "%s: there is no buffer %llu", m->device,
                       (unsigned long long)b.id);
    const struct hd_host_block *k = &m->blocks[b.id - 1];
    if (off > k->bytes || bytes > k->bytes - off)
        return hd_fail(ctx, HD_INVALID, "%s: %zu bytes at %zu of buffer %llu, which has %zu",
                       m->device, bytes, off, (unsigned long long)b.id, k->bytes);
    *out = (unsigned char *)k->data + off;
    return HD_OK;
}

hd_status hd_host_write(hd_ctx *ctx, struct hd_host_mem *m, hd_buffer b, size_t off,
                        const void *src, size_t bytes) {
    unsigned char *p = NULL;
    TRY(hd_host_find(ctx, m, b, off, bytes, &p));
    if (bytes) memcpy(p, src, bytes);
    return HD_OK;
}

hd_status hd_host_read(hd_ctx *ctx, struct hd_host_mem *m, hd_buffer b, size_t off, void *dst,
                       size_t bytes) {
    unsigned char *p = NULL;
    TRY(hd_host_find(ctx, m, b, off, bytes, &p));
    if (bytes) memcpy(dst, p, bytes);
    return HD_OK;
}

static bool in_list(const int *list, int n, int v) {
    for (int i = 0; i < n; i++)
        if (list[i] == v) return true;
    return false;
}

hd_status hd_host_choose_io(hd_ctx *ctx, hd_arena *a, const hd_model *m, int step,
                            const hd_graph *g, struct hd_host_io *out) {
    const int *in = step < 0 ? m->inputs : m->steps[step].inputs;
    const int *made = step < 0 ? m->outputs : m->steps[step].outputs;
    struct hd_host_io io = {.n_in = step < 0 ? m->n_inputs : m->steps[step].n_inputs,
                            .n_out = step < 0 ? m->n_outputs : m->steps[step].n_outputs};
    size_t most = (size_t)m->n_values + (size_t)io.n_in + (size_t)io.n_out + 1;
    io.in = hd_new_array(a, int, most);
    io.out = hd_new_array(a, int, most);
    memcpy(io.in, in, (size_t)io.n_in * sizeof *in);
    memcpy(io.out, made, (size_t)io.n_out * sizeof *made);
    int n_outputs = io.n_out;
    for (int i = 0; step < 0 && i < m->n_values; i++)
        if (!in_list(in, io.n_in, i) && !in_list(made, n_outputs, i)) io.out[io.n_out++] = i;
    for (int i = 0; i < io.n_in + io.n_out; i++) {
        const struct hd_value_info *v = &m->values[i < io.n_in ? io.in[i] : io.out[i - io.n_in]];
        if (v->tensor < 0 || (size_t)v->tensor >= g->n_tensors ||
            hd_tensor_bytes(&g->tensors[v->tensor]) != hd_value_dense_bytes(v))
            return hd_fail(ctx, HD_INVALID,
                           "%s: value %s is not a tensor of its graph; compile the model again",
                           m->name, v->name);
    }
    for (int i = 0; step >= 0 && i < m->steps[step].n_nodes; i++)
        if ((size_t)m->steps[step].nodes[i] >= g->n_nodes)
            return hd_fail(ctx, HD_INVALID,
                           "%s: a host step names node %d, the graph has %zu; compile again",
                           m->name, m->steps[step].nodes[i], g->n_nodes);
    *out = io;
    return HD_OK;
}
