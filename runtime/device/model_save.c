/* Writes the model container. */
#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "runtime/base/io.h"
#include "runtime/device/model.h"
#include "runtime/device/model_file.h"
#include "runtime/device/states.h"

static void put_list(struct hd_buf *b, const int *list, int n) {
    hd_buf_u32(b, (uint32_t)n);
    for (int i = 0; i < n; i++) hd_buf_u32(b, (uint32_t)list[i]);
}

static void put_machine(struct hd_buf *b, const hd_model *m) {
    hd_buf_str(b, m->name);
    hd_buf_str(b, m->machine.name);
    hd_buf_u32(b, (uint32_t)hd_n_machine_params);
    for (int i = 0; i < hd_n_machine_params; i++) {
        uint32_t v;
        memcpy(&v, (const char *)&m->machine + hd_machine_params[i].offset, sizeof v);
        hd_buf_str(b, hd_machine_params[i].name);
        hd_buf_u32(b, v);
    }
}

static void put_steps(struct hd_buf *b, const hd_model *m) {
    hd_buf_u32(b, (uint32_t)m->n_steps);
    for (int i = 0; i < m->n_steps; i++) {
        const struct hd_step *s = &m->steps[i];
        hd_buf_u32(b, s->kind);
        hd_buf_u32(b, s->code_offset);
        hd_buf_u32(b, s->code_bytes);
        put_list(b, s->nodes, s->n_nodes);
        put_list(b, s->inputs, s->n_inputs);
        put_list(b, s->outputs, s->n_outputs);
        hd_buf_str(b, s->device ? s->device : "");
        hd_buf_str(b, s->why ? s->why : "");
    }
}

static void put_values(struct hd_buf *b, const hd_model *m) {
    hd_buf_u64(b, m->arena_bytes);
    hd_buf_u32(b, (uint32_t)m->n_values);
    for (int i = 0; i < m->n_values; i++) {
        const struct hd_value_info *v = &m->values[i];
        hd_buf_str(b, v->name);
        hd_buf_u32(b, (uint32_t)v->dtype);
        hd_buf_u32(b, (uint32_t)v->elem_bytes);
        hd_buf_u32(b, (uint32_t)v->rank);
        for (int k = 0; k < v->rank; k++) hd_buf_u64(b, (uint64_t)v->dim[k]);
        hd_buf_u32(b, (uint32_t)v->tensor);
        hd_buf_u32(b, v->in_arena);
        hd_buf_u64(b, v->arena_offset);
        hd_buf_u32(b, v->layout);
        hd_buf_u64(b, (uint64_t)v->c_pad);
        hd_buf_u32(b, (uint32_t)v->layer);
    }
    put_list(b, m->inputs, m->n_inputs);
    put_list(b, m->outputs, m->n_outputs);
    hd_states_put(b, m);
}

static void put_layers(struct hd_buf *b, const hd_model *m) {
    hd_buf_u32(b, (uint32_t)m->n_layers);
    for (int i = 0; i < m->n_layers; i++) {
        const struct hd_layer_info *l = &m->layers[i];
        hd_buf_str(b, l->name);
        hd_buf_str(b, l->op);
        hd_buf_u64(b, (uint64_t)l->macs);
        hd_buf_u64(b, (uint64_t)l->vector_ops);
        hd_buf_u64(b, (uint64_t)l->unavoidable_bytes);
        hd_buf_u64(b, (uint64_t)l->bounds.mx_cycles);
        hd_buf_u64(b, (uint64_t)l->bounds.vx_cycles);
        hd_buf_u64(b, (uint64_t)l->bounds.chain_cycles);
        hd_buf_u64(b, (uint64_t)l->bounds.read_bytes);
        hd_buf_u64(b, (uint64_t)l->bounds.write_bytes);
        hd_buf_u32(b, (uint32_t)l->step);
        hd_buf_str(b, l->plan);
    }
}

static void put_host_ops(struct hd_buf *b, const hd_model *m) {
    hd_buf_u32(b, (uint32_t)m->n_host_ops);
    for (int i = 0; i < m->n_host_ops; i++) {
        const struct hd_host_op *h = &m->host_ops[i];
        hd_buf_str(b, h->node);
        hd_buf_str(b, h->op);
        hd_buf_str(b, h->reason);
        hd_buf_str(b, h->hint);
        hd_buf_u64(b, (uint64_t)h->ns);
    }
}

static void put_stats(struct hd_buf *b, const hd_model *m) {
    hd_buf_u64(b, (uint64_t)m->planned_bytes);
    hd_buf_u64(b, (uint64_t)m->naive_bytes);
    hd_buf_u64(b, (uint64_t)m->lower_bound_bytes);
    hd_buf_u64(b, (uint64_t)m->n_ops);
    hd_buf_u64(b, (uint64_t)m->n_bundles);
}

static void put_places(struct hd_buf *b, const hd_model *m) {
    hd_buf_u64(b, m->xm_ring);
    hd_buf_u32(b, (uint32_t)m->n_places);
    for (int i = 0; i < m->n_places; i++) {
        const struct hd_place *p = &m->places[i];
        const int ints[PLACE_INTS] = {
            p->tensor,   p->layer, p->first, p->last,  p->comes_in, p->goes_out, p->on_chip,
            p->in_arena, p->n,     p->h,     p->w,     p->c,        p->c_pad,    p->pt,
            p->pb,       p->pl,    p->pr,    p->pitch, p->rolling,  p->apart,    p->wide};
        for (int k = 0; k < PLACE_INTS; k++) hd_buf_u32(b, (uint32_t)ints[k]);
        hd_buf_u64(b, p->xm_offset);
        hd_buf_u64(b, p->xm_bytes);
        hd_buf_u64(b, p->arena_offset);
        hd_buf_u64(b, p->arena_bytes);
    }
}

/* ---- the file -----------------------------------------------------------------------------------
 */

/* Graph and image are hundreds of megabytes of a large network: they are not copied. */
struct piece {
    struct hd_buf own;
    const void *data;
    size_t bytes;
};

static const unsigned char zeros[SECTION_ALIGN];

static size_t padding(size_t at) {
    return (SECTION_ALIGN - at % SECTION_ALIGN) % SECTION_ALIGN;
}

static void make_pieces(const hd_model *m, struct piece p[SECTIONS]) {
    static void (*const put[SECTIONS])(struct hd_buf *, const hd_model *) = {
        [MACH] = put_machine,  [STEP] = put_steps, [VALU] = put_values, [LAYR] = put_layers,
        [HOST] = put_host_ops, [STAT] = put_stats, [PLAC] = put_places};
    for (int s = 0; s < SECTIONS; s++) {
        p[s] = (struct piece){.data = NULL};
        if (put[s]) put[s](&p[s].own, m), p[s].data = p[s].own.data, p[s].bytes = p[s].own.n;
    }
    p[GRPH].data = m->graph, p[GRPH].bytes = m->graph_bytes;
    p[IMAG].data = m->image, p[IMAG].bytes = m->image_bytes;
}

static uint32_t crc_of(const void *table, size_t bytes, const struct piece p[SECTIONS]) {
    uLong crc = crc32_z(0, table, bytes);
    size_t at = HEADER_BYTES + bytes;
    for (int s = 0; s < SECTIONS; s++) {
        crc = crc32_z(crc, zeros, padding(at));
        if (p[s].bytes) crc = crc32_z(crc, p[s].data, p[s].bytes);
        at += padding(at) + p[s].bytes;
    }
    return (uint32_t)crc;
}

/* Header and table of sections. */
static void put_front(struct hd_buf *b, const hd_model *m, const struct piece p[SECTIONS]) {
    struct hd_buf table = {0};
    size_t at = HEADER_BYTES + SECTIONS * ENTRY_BYTES;
    for (int s = 0; s < SECTIONS; s++) {
        at += padding(at);
        hd_buf_put(&table, section_name[s], 4);
        hd_buf_u32(&table, 0);
        hd_buf_u64(&table, at);
        hd_buf_u64(&table, p[s].bytes);
        at += p[s].bytes;
    }
    b->n = 0;
    hd_buf_u32(b, MAGIC);
    hd_buf_u32(b, FORMAT);
    hd_buf_u32(b, m->isa_hash);
    hd_buf_u32(b, m->machine_hash);
    hd_buf_u64(b, HEADER_BYTES); /* where the table is */
    hd_buf_u32(b, SECTIONS);
    hd_buf_u32(b, 0);
    hd_buf_u64(b, at);
    HD_ASSERT(b->n == CRC_AT);
    hd_buf_u32(b, crc_of(table.data, table.n, p));
    hd_buf_put(b, zeros, HEADER_BYTES - b->n);
    hd_buf_put(b, table.data, table.n);
    hd_buf_free(&table);
}

static void free_pieces(struct piece p[SECTIONS]) {
    for (int s = 0; s < SECTIONS; s++) hd_buf_free(&p[s].own);
}

void hd_model_bytes(const hd_model *m, struct hd_buf *b) {
    struct piece p[SECTIONS];
    make_pieces(m, p);
    put_front(b, m, p);
    for (int s = 0; s < SECTIONS; s++) {
        hd_buf_put(b, zeros, padding(b->n));
        hd_buf_put(b, p[s].data, p[s].bytes);
    }
    free_pieces(p);
}

static void put_out(struct hd_out *out, const void *data, size_t bytes) {
    if (bytes && !out->why && fwrite(data, 1, bytes, out->f) != bytes) out->why = errno;
}

hd_status hd_model_save(hd_ctx *ctx, const hd_model *m, const char *path) {
    struct piece p[SECTIONS];
    struct hd_buf front = {0};
    struct hd_out out;
    TRY(hd_out_open(ctx, path, &out));
    make_pieces(m, p);
    put_front(&front, m, p);
    put_out(&out, front.data, front.n);
    size_t at = front.n;
    for (int s = 0; s < SECTIONS; s++) {
        put_out(&out, zeros, padding(at));
        put_out(&out, p[s].data, p[s].bytes);
        at += padding(at) + p[s].bytes;
    }
    hd_buf_free(&front);
    free_pieces(p);
    return hd_out_close(ctx, &out, HD_OK);
}
