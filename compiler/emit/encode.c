/* Encoding: slot operations -> bundles -> program words.
 *
 * needs: operations in issue order with wait and signal masks
 * gives: the program, appended to the image
 * destroys: nothing
 *
 * A bundle takes operations as long as their units come in slot order. An operation carries only
 * the parameter words that differ from what its unit already holds.
 */
#include <string.h>

#include "compiler/emit/emit.h"

struct words {
    uint32_t *w;
    size_t n, cap;
    int64_t bundles;
};

static void put(hd_arena *a, struct words *p, const uint32_t *w, int n) {
    p->w = hd_grow(a, p->w, &p->cap, p->n + (size_t)n, sizeof *p->w);
    memcpy(p->w + p->n, w, (size_t)n * sizeof *w);
    p->n += (size_t)n;
}

/* The operation with only the words that change; updates what the unit holds. */
static int encode_op(const struct hd_slot_op *op, struct hd_sticky *unit, uint32_t *out) {
    struct hd_op_word e = {
        .unit = op->unit, .code = op->code, .wait = op->wait, .signal = op->signal};
    for (int i = 0; op->number > 0 && i < hd_isa_units[op->unit].n_words; i++) {
        if (op->words[i] == unit->words[i]) continue;
        e.set |= UINT32_C(1) << i;
        e.lit[i] = unit->words[i] = op->words[i];
    }
    return hd_op_encode(&e, out);
}

static void put_bundle(hd_arena *a, struct words *p, uint32_t mask, const uint32_t *ops, int n) {
    uint32_t head = hd_bundle_head(mask);
    put(a, p, &head, 1);
    put(a, p, ops, n);
    p->bundles++;
}

static struct words encode(struct hd_ops *s) {
    struct words p = {0};
    struct hd_sticky held[HD_UNITS] = {{{0}}};
    uint32_t header[HD_PROG_HEADER_WORDS] = {HD_PROG_MAGIC, hd_isa_hash(),
                                             hd_machine_hash(s->lo->m), 0};
    uint32_t buffer[HD_UNITS * HD_OP_MAX_WORDS];
    put(s->arena, &p, header, HD_PROG_HEADER_WORDS);
    for (size_t i = 0; i < s->n_ops;) {
        uint32_t mask = 0;
        int n = 0;
        do {
            const struct hd_slot_op *op = &s->ops[i++];
            n += encode_op(op, &held[op->unit], buffer + n);
            mask |= UINT32_C(1) << op->unit;
        } while (i < s->n_ops && !(mask >> s->ops[i].unit));
        put_bundle(s->arena, &p, mask, buffer, n);
    }
    struct hd_op_word halt = {.unit = HD_UNIT_seq,
                              .code = (uint8_t)hd_isa_ops[HD_OP_seq_halt].code};
    put_bundle(s->arena, &p, UINT32_C(1) << HD_UNIT_seq, buffer, hd_op_encode(&halt, buffer));
    p.w[3] = (uint32_t)p.n;
    return p;
}

/* The first burst of fetch ends at a multiple of HD_N_fetch_chunk: a program that begins there has
 * as many words as can be when its first loads are asked for. */
hd_status hd_ops_encode(struct hd_ops *s, size_t *out_offset, size_t *out_bytes,
                        int64_t *out_bundles) {
    struct words p = encode(s);
    *out_bytes = p.n * sizeof *p.w;
    size_t over = hd_image_reserve(s->lo, 0) % HD_N_fetch_chunk;
    if (over) hd_image_reserve(s->lo, HD_N_fetch_chunk - over);
    *out_offset = hd_image_reserve(s->lo, *out_bytes);
    memcpy(s->lo->image + *out_offset, p.w, *out_bytes);
    *out_bundles = p.bundles;
    return HD_OK;
}
