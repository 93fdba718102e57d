/* A result is read when the last operation of its layer has ended: then it is complete, and nothing
 * has taken its place yet, since whatever would must wait for its last reader. */
#include "compiler/cli/capture.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/num.h"

/* An operation that writes rows of a rolling place: their slots. */
struct rolled {
    uint32_t pc;
    int place, slot, rows;
};

static int rolling_place(const hd_model *m, int tag) {
    for (int i = 0; i < m->n_places; i++)
        if (m->places[i].layer == tag && m->places[i].rolling) return i;
    return -1;
}

/* Notes which slots a VX operation writes, from its words. */
static void note_rolled(struct cli_capture *x, const struct hd_op_word *op, uint32_t pc,
                        const uint32_t *words) {
    int place = op->code && op->tag < x->m->n_layers ? rolling_place(x->m, op->tag) : -1;
    if (place < 0 || hd_field_get(words, HD_F_vx_d_kind)) return;
    const struct hd_place *p = &x->m->places[place];
    static const enum hd_field n[] = {HD_F_vx_n0, HD_F_vx_n1, HD_F_vx_n2, HD_F_vx_n3},
                               s[] = {HD_F_vx_ds0, HD_F_vx_ds1, HD_F_vx_ds2, HD_F_vx_ds3};
    int64_t from = hd_field_get(words, HD_F_vx_d) * x->m->machine.n - (int64_t)p->xm_offset,
            to = from;
    for (int i = 0; i < 4; i++)
        to += hd_max(0, (hd_field_get(words, n[i]) - 1) * hd_field_get(words, s[i])) *
              x->m->machine.n;
    if (from < 0 || from / p->pitch >= p->rolling) return; /* a repeated slot */
    if (x->n_rolled == x->cap_rolled) {
        x->cap_rolled = x->cap_rolled ? 2 * x->cap_rolled : 256;
        x->rolled = realloc(x->rolled, x->cap_rolled * sizeof *x->rolled);
        HD_ASSERT(x->rolled);
    }
    x->rolled[x->n_rolled++] = (struct rolled){pc, place, (int)(from / p->pitch),
                                               (int)(to / p->pitch - from / p->pitch + 1)};
}

static void begin(void *user, int step, const uint32_t *program, size_t n_words,
                  const struct hd_probe_eye *eye) {
    struct cli_capture *x = user;
    (void)step;
    uint32_t vx[HD_PARAM_WORDS] = {0};
    x->eye = eye;
    x->n_rolled = 0;
    for (int i = 0; i < x->m->n_places; i++) x->row[i] = 0;
    memset(x->left, 0, ((size_t)x->m->n_layers + 1) * sizeof *x->left);
    for (size_t at = HD_PROG_HEADER_WORDS; at < n_words;) {
        struct hd_op_word ops[HD_UNITS];
        int offset[HD_UNITS], n;
        const char *why;
        int words = hd_bundle_decode(program + at, n_words - at, ops, offset, &n, &why);
        if (!words) return;
        for (int i = 0; i < n; i++) {
            if (ops[i].unit == HD_UNIT_vx) {
                hd_op_apply(&ops[i], vx);
                note_rolled(x, &ops[i], (uint32_t)at + (uint32_t)offset[i], vx);
            }
            if (ops[i].unit != HD_UNIT_seq && ops[i].tag < x->m->n_layers) x->left[ops[i].tag]++;
        }
        at += (size_t)words;
    }
}

static void take(struct cli_capture *x, int place, const struct hd_probe_state *s) {
    const struct hd_place *p = &x->m->places[place];
    size_t bytes = (size_t)p->n * (size_t)p->h * (size_t)p->w * (size_t)p->c;
    if (!x->dense[place]) x->dense[place] = malloc(bytes + 1);
    if (!x->dense[place] ||
        !hd_place_read(p, s->memory[HD_PROBE_XM], s->bytes[HD_PROBE_XM], s->memory[HD_PROBE_ARENA],
                       s->bytes[HD_PROBE_ARENA], x->dense[place]))
        x->failed = true;
}

static int by_pc(const void *a, const void *b) {
    uint32_t x = ((const struct rolled *)a)->pc, y = ((const struct rolled *)b)->pc;
    return (x > y) - (x < y);
}

/* Rows of a rolling place are taken when they are written: they are in order, each slot in turn. */
static void take_rows(struct cli_capture *x, uint32_t pc) {
    struct rolled key = {.pc = pc};
    const struct rolled *r =
        x->n_rolled ? bsearch(&key, x->rolled, x->n_rolled, sizeof key, by_pc) : NULL;
    struct hd_probe_state s;
    if (!r) return;
    const struct hd_place *p = &x->m->places[r->place];
    if (x->layers && !x->layers[p->layer]) return;
    size_t bytes = (size_t)p->h * (size_t)p->w * (size_t)p->c;
    if (!x->dense[r->place]) x->dense[r->place] = calloc(1, bytes + 1);
    if (!x->dense[r->place] || !x->eye->look(x->eye->device, &s) || !s.memory[HD_PROBE_XM]) {
        x->failed = true;
        return;
    }
    int last = x->row[r->place];
    int row = last + (r->slot - last % p->rolling + p->rolling) % p->rolling;
    uint8_t *to = x->dense[r->place];
    x->row[r->place] = row;
    for (int y = row; y < row + r->rows && y < p->h; y++)
        for (int at = 0; at < p->w; at++)
            for (int c = 0; c < p->c; c++)
                to[((size_t)c * (size_t)p->h + (size_t)y) * (size_t)p->w + (size_t)at] =
                    s.memory[HD_PROBE_XM]
                            [p->xm_offset + (uint64_t)(r->slot + y - row) * (uint64_t)p->pitch +
                             (uint64_t)(p->pl + at) * (uint64_t)p->c_pad + (uint64_t)c];
}

static void op_ended(void *user, const struct hd_op_record *r) {
    struct cli_capture *x = user;
    struct hd_probe_state state;
    bool looked = false;
    if (r->unit == HD_UNIT_seq || r->tag >= x->m->n_layers) return;
    if (r->unit == HD_UNIT_vx) take_rows(x, r->pc);
    if (!x->left[r->tag] || --x->left[r->tag] || (x->layers && !x->layers[r->tag])) return;
    for (int i = 0; i < x->m->n_places; i++) {
        const struct hd_place *p = &x->m->places[i];
        if (p->layer != r->tag || p->rolling || (!p->on_chip && !p->in_arena)) continue;
        if (!looked && !x->eye->look(x->eye->device, &state)) {
            x->failed = true;
            return;
        }
        looked = true;
        take(x, i, &state);
    }
}

void cli_capture_init(struct cli_capture *x, const hd_model *m, const bool *layers) {
    *x = (struct cli_capture){.m = m, .layers = layers};
    x->probe = (struct hd_probe){.user = x, .begin = begin, .op = op_ended};
    x->left = calloc((size_t)m->n_layers + 1, sizeof *x->left);
    x->row = calloc((size_t)m->n_places + 1, sizeof *x->row);
    x->dense = calloc((size_t)m->n_places + 1, sizeof *x->dense);
    HD_ASSERT(x->left && x->dense && x->row);
}

void cli_capture_deinit(struct cli_capture *x) {
    for (int i = 0; x->dense && i < x->m->n_places; i++) free(x->dense[i]);
    free(x->dense);
    free(x->left);
    free(x->row);
    free(x->rolled);
}
