/* Options, counters, steps and operations as bytes. What is read is checked: it is the word of
 * another computer. */
#include "driver/remote/messages.h"

#include <stdlib.h>
#include <string.h>

enum { TIMED = 1, FREE_ISSUE = 2, FUNCTIONAL = 4, JITTER = 8 };
#define CYCLES_MAX (UINT64_C(1) << 40) /* of one run; devices stop before */

/* ---- options -------------------------------------------------------------------------------- */

static uint32_t wants(const struct hd_probe *p) {
    if (!p) return 0;
    return (p->op ? HD_WANTS_OP : 0) | (p->dram ? HD_WANTS_DRAM : 0) | (p->end ? HD_WANTS_END : 0) |
           (p->looks ? HD_WANTS_MEMORY : 0);
}

void hd_put_options(struct hd_buf *b, const char *scheme, const struct hd_device_options *o) {
    hd_buf_str(b, scheme);
    hd_buf_str(b, o->machine.name);
    hd_buf_u32(b, (uint32_t)hd_n_machine_params);
    for (int i = 0; i < hd_n_machine_params; i++) {
        uint32_t v;
        memcpy(&v, (const char *)&o->machine + hd_machine_params[i].offset, sizeof v);
        hd_buf_u32(b, v);
    }
    hd_buf_u32(b, o->mem.latency);
    hd_buf_u32(b, o->mem.bytes_per_cycle);
    hd_buf_u32(b, o->mem.outstanding);
    hd_buf_u64(b, o->mem.jitter_seed);
    hd_buf_u64(b, o->watchdog_cycles);
    hd_buf_u64(b, o->max_cycles);
    hd_buf_u32(b, (uint32_t)o->threads);
    hd_buf_u32(b, (o->timed ? TIMED : 0) | (o->free_issue ? FREE_ISSUE : 0) |
                      (o->functional ? FUNCTIONAL : 0) | (o->mem.jitter ? JITTER : 0));
    hd_buf_u32(b, wants(o->probe));
}

bool hd_get_options(struct hd_cursor *c, hd_arena *a, const char **out_scheme,
                    struct hd_device_options *out, uint32_t *out_wants) {
    *out = (struct hd_device_options){0};
    *out_scheme = hd_cursor_str(c, a);
    const char *name = hd_cursor_str(c, a);
    int n = hd_cursor_count(c, 4);
    if (c->bad || n != hd_n_machine_params || strlen(name) >= sizeof out->machine.name)
        return false;
    memcpy(out->machine.name, name, strlen(name) + 1);
    for (int i = 0; i < n; i++) {
        uint32_t v = hd_cursor_u32(c);
        memcpy((char *)&out->machine + hd_machine_params[i].offset, &v, sizeof v);
    }
    out->mem.latency = hd_cursor_u32(c);
    out->mem.bytes_per_cycle = hd_cursor_u32(c);
    out->mem.outstanding = hd_cursor_u32(c);
    out->mem.jitter_seed = hd_cursor_u64(c);
    out->watchdog_cycles = hd_cursor_u64(c);
    out->max_cycles = hd_cursor_u64(c);
    uint32_t threads = hd_cursor_u32(c), flags = hd_cursor_u32(c);
    *out_wants = hd_cursor_u32(c);
    out->threads = threads > 1024 ? 1024 : (int)threads;
    out->timed = flags & TIMED;
    out->free_issue = flags & FREE_ISSUE;
    out->functional = flags & FUNCTIONAL;
    out->mem.jitter = flags & JITTER;
    return !c->bad;
}

/* ---- counters ------------------------------------------------------------------------------- */

void hd_put_counters(struct hd_buf *b, const struct hd_counters *k) {
    const uint64_t all[] = {k->cycles, k->read_bytes, k->write_bytes, k->code_bytes};
    for (int i = 0; i < 4; i++) hd_buf_u64(b, all[i]);
    for (int u = 0; u < HD_UNITS; u++) {
        hd_buf_u64(b, k->unit[u].busy);
        hd_buf_u64(b, k->unit[u].stall_sem);
        hd_buf_u64(b, k->unit[u].stall_mem);
        hd_buf_u64(b, k->unit[u].stall_bank);
    }
    int n = k->layers ? k->n_layers : 0;
    if (n * 40 > (1 << 17)) n = (1 << 17) / 40; /* a frame holds them */
    hd_buf_u32(b, k->layers != NULL);
    hd_buf_u32(b, (uint32_t)n);
    for (int i = 0; i < n; i++) {
        hd_buf_u64(b, k->layers[i].cycles);
        hd_buf_u64(b, k->layers[i].mx_busy);
        hd_buf_u64(b, k->layers[i].vx_busy);
        hd_buf_u64(b, k->layers[i].read_bytes);
        hd_buf_u64(b, k->layers[i].write_bytes);
    }
}

bool hd_get_counters(struct hd_cursor *c, struct hd_counters *out,
                     struct hd_layer_counters **layers) {
    *out = (struct hd_counters){0};
    out->cycles = hd_cursor_u64(c);
    out->read_bytes = hd_cursor_u64(c);
    out->write_bytes = hd_cursor_u64(c);
    out->code_bytes = hd_cursor_u64(c);
    for (int u = 0; u < HD_UNITS; u++) {
        out->unit[u].busy = hd_cursor_u64(c);
        out->unit[u].stall_sem = hd_cursor_u64(c);
        out->unit[u].stall_mem = hd_cursor_u64(c);
        out->unit[u].stall_bank = hd_cursor_u64(c);
    }
    bool any = hd_cursor_u32(c) != 0;
    int n = hd_cursor_count(c, 40);
    if (c->bad) return false;
    struct hd_layer_counters *l = realloc(*layers, ((size_t)n + 1) * sizeof *l);
    if (!l) return false;
    *layers = l;
    for (int i = 0; i < n; i++) {
        l[i].cycles = hd_cursor_u64(c);
        l[i].mx_busy = hd_cursor_u64(c);
        l[i].vx_busy = hd_cursor_u64(c);
        l[i].read_bytes = hd_cursor_u64(c);
        l[i].write_bytes = hd_cursor_u64(c);
    }
    out->layers = any ? l : NULL;
    out->n_layers = any ? n : 0;
    return !c->bad;
}

/* ---- steps ---------------------------------------------------------------------------------- */

void hd_put_steps(struct hd_buf *b, const struct hd_exec_step *s, int n) {
    size_t at = b->n, most = b->n + (1 << 16);
    int k = 0;
    hd_buf_u32(b, 0);
    for (; k < n && b->n < most; k++) {
        uint64_t bits;
        memcpy(&bits, &s[k].seconds, sizeof bits);
        hd_buf_u32(b, s[k].node != NULL);
        hd_buf_str(b, s[k].node);
        hd_buf_str(b, s[k].op);
        hd_buf_str(b, s[k].how);
        hd_buf_u32(b, (uint32_t)s[k].n_nodes);
        hd_buf_u64(b, bits);
    }
    for (int i = 0; i < 4; i++) b->data[at + (size_t)i] = (unsigned char)((uint32_t)k >> 8 * i);
}

bool hd_get_steps(struct hd_cursor *c, hd_arena *a, struct hd_exec_step **out, int *out_n) {
    int n = hd_cursor_count(c, 28);
    struct hd_exec_step *s = hd_new_array(a, struct hd_exec_step, (size_t)n + 1);
    for (int i = 0; i < n && !c->bad; i++) {
        bool named = hd_cursor_u32(c) != 0;
        const char *node = hd_cursor_str(c, a), *op = hd_cursor_str(c, a);
        s[i].how = hd_cursor_str(c, a);
        s[i].node = named ? node : NULL;
        s[i].op = named ? op : NULL;
        s[i].n_nodes = (int)(hd_cursor_u32(c) & INT32_MAX);
        uint64_t bits = hd_cursor_u64(c);
        memcpy(&s[i].seconds, &bits, sizeof bits);
    }
    *out = s;
    *out_n = c->bad ? 0 : n;
    return !c->bad;
}

static bool in_list(const int *list, int n, int v) {
    for (int i = 0; i < n; i++)
        if (list[i] == v) return true;
    return false;
}

uint32_t hd_remote_io_count(const hd_model *m, int step) {
    if (step >= 0) {
        const struct hd_step *s = &m->steps[step];
        return s->kind == HD_STEP_PROG ? 1 : (uint32_t)(s->n_inputs + s->n_outputs);
    }
    uint32_t n = (uint32_t)(m->n_inputs + m->n_outputs);
    for (int i = 0; i < m->n_values; i++)
        n += !in_list(m->inputs, m->n_inputs, i) && !in_list(m->outputs, m->n_outputs, i);
    return n;
}

/* ---- operations ----------------------------------------------------------------------------- */

static unsigned char *put(unsigned char *p, uint64_t v, int bytes) {
    for (int i = 0; i < bytes; i++) p[i] = (unsigned char)(v >> 8 * i);
    return p + bytes;
}

void hd_put_op(unsigned char out[HD_OP_BYTES], const struct hd_op_record *r) {
    const uint64_t all[] = {r->take,      r->start,     r->oldest,    r->end,
                            r->stall_sem, r->stall_mem, r->stall_bank};
    unsigned char *p = put(put(put(out, r->unit, 4), r->tag, 4), r->pc, 4);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) p = put(p, all[i], 8);
}

bool hd_get_op(struct hd_cursor *c, size_t n_words, struct hd_op_record *out) {
    uint32_t unit = hd_cursor_u32(c), tag = hd_cursor_u32(c), pc = hd_cursor_u32(c);
    uint64_t v[7];
    for (int i = 0; i < 7; i++) v[i] = hd_cursor_u64(c);
    *out = (struct hd_op_record){(uint8_t)unit, (uint16_t)tag, pc,   v[0], v[1],
                                 v[2],          v[3],          v[4], v[5], v[6]};
    return !c->bad && unit < HD_UNITS && tag <= UINT16_MAX && pc < n_words &&
           out->end < CYCLES_MAX && out->take <= out->start && out->start <= out->end &&
           out->oldest <= out->end && out->stall_sem < CYCLES_MAX && out->stall_mem < CYCLES_MAX &&
           out->stall_bank < CYCLES_MAX;
}
