/* What an operation has written is copied when it ends: whatever takes its place must wait for its
 * last reader, which waits for that end. Another operation of VX does not wait for it, so VX tells
 * when it has written. The whole result is no place to look at: its first rows may be read and gone
 * before the last ones are written. */
#include "compiler/compare/capture.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/num.h"

/* An operation and the places of XM and of the arena that it writes. */
struct written {
    uint32_t pc;
    const struct hd_access *access;
};

/* An operation that writes rows of a rolling place: their slots. */
struct rolled {
    uint32_t pc;
    int place, slot, rows;
};

/* Several images roll one behind the other: which of them a slot holds is not known. */
static bool several(const struct hd_place *p) {
    return p->n > 1 && p->h > 1;
}

static int rolling_place(const hd_model *m, int tag) {
    for (int i = 0; i < m->n_places; i++)
        if (m->places[i].layer == tag && m->places[i].rolling && !several(&m->places[i])) return i;
    return -1;
}

/* Notes which slots a VX operation writes, from its words. */
static void note_rolled(struct hd_capture *x, const struct hd_op_word *op, int layer, uint32_t pc,
                        const uint32_t *words) {
    int place = op->code ? rolling_place(x->m, layer) : -1;
    if (place < 0 || hd_field_get(words, HD_F_vx_d_kind)) return;
    const struct hd_place *p = &x->m->places[place];
    static const enum hd_field n[] = {HD_F_vx_n0, HD_F_vx_n1, HD_F_vx_n2, HD_F_vx_n3},
                               s[] = {HD_F_vx_ds0, HD_F_vx_ds1, HD_F_vx_ds2, HD_F_vx_ds3};
    int64_t from = hd_field_get(words, HD_F_vx_d) * x->m->machine.n - (int64_t)p->xm_offset, to;
    if (p->apart && from >= p->apart) from -= p->apart;
    to = from;
    for (int i = 0; i < 4; i++) {
        int64_t step = hd_field_get(words, s[i]) * x->m->machine.n;
        if (step > p->apart / 2) step -= p->apart; /* between even and odd columns */
        if (step < -(p->apart / 2)) step += p->apart;
        to += hd_max(0, (hd_field_get(words, n[i]) - 1) * step);
    }
    if (from < 0 || from / p->pitch >= p->rolling) return; /* a repeated slot */
    if (x->n_rolled == x->cap_rolled) {
        x->cap_rolled = x->cap_rolled ? 2 * x->cap_rolled : 256;
        x->rolled = realloc(x->rolled, x->cap_rolled * sizeof *x->rolled);
        HD_ASSERT(x->rolled);
    }
    x->rolled[x->n_rolled++] = (struct rolled){pc, place, (int)(from / p->pitch),
                                               (int)(to / p->pitch - from / p->pitch + 1)};
}

static void note_written(struct hd_capture *x, const struct hd_op_word *op, uint32_t pc,
                         const uint32_t *words) {
    struct hd_check_op o = {.unit = op->unit, .code = op->code, .word = pc};
    struct hd_access *keep = NULL;
    hd_check_operands(&x->check, &o, words, NULL);
    for (struct hd_access *a = o.access, *next; a; a = next) {
        next = a->next;
        if (!a->write || (a->space != HD_CHECK_XM && a->space != HD_CHECK_ARENA)) continue;
        hd_access_normalise(a);
        a->next = keep;
        keep = a;
    }
    if (!keep) return;
    *hd_push(x->check.arena, x->written, x->n_written, x->cap_written) = (struct written){pc, keep};
}

static void begin(void *user, int step, const uint32_t *program, size_t n_words,
                  const struct hd_probe_eye *eye) {
    struct hd_capture *x = user;
    (void)step;
    struct hd_sticky sticky[HD_UNITS] = {{{0}}};
    x->eye = eye;
    x->n_rolled = 0;
    hd_check_deinit(&x->check);
    hd_check_init(&x->check);
    x->check.m = &x->m->machine;
    x->check.words = program;
    x->check.n_words = n_words;
    x->written = NULL;
    x->n_written = x->cap_written = 0;
    for (int i = 0; i < x->m->n_places; i++) x->row[i] = 0;
    memset(x->left, 0, ((size_t)x->m->n_layers + 1) * sizeof *x->left);
    for (size_t at = HD_PROG_HEADER_WORDS; at < n_words;) {
        struct hd_op_word ops[HD_UNITS];
        int offset[HD_UNITS], n;
        const char *why;
        int words = hd_bundle_decode(program + at, n_words - at, ops, offset, &n, &why);
        if (!words) return;
        for (int i = 0; i < n; i++) {
            uint32_t pc = (uint32_t)at + (uint32_t)offset[i];
            const uint32_t *held = sticky[ops[i].unit].words;
            hd_op_apply(&ops[i], &sticky[ops[i].unit]);
            int layer = (int)(held[HD_TAG_WORD] & UINT16_MAX);
            if (ops[i].unit == HD_UNIT_seq || layer >= x->m->n_layers) continue;
            if (ops[i].unit == HD_UNIT_vx) note_rolled(x, &ops[i], layer, pc, held);
            note_written(x, &ops[i], pc, held);
            x->left[layer]++;
        }
        at += (size_t)words;
    }
}

static int by_pc(const void *a, const void *b) { /* both kinds of records begin with it */
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Rows of a rolling place are taken when they are written. None is left out, so a slot is that of
 * the last row that it may be, up to the one behind those that were written. */
static void take_rows(struct hd_capture *x, uint32_t pc) {
    struct rolled key = {.pc = pc};
    const struct rolled *r =
        x->n_rolled ? bsearch(&key, x->rolled, x->n_rolled, sizeof key, by_pc) : NULL;
    struct hd_probe_state s;
    if (!r) return;
    const struct hd_place *p = &x->m->places[r->place];
    if (x->layers && !x->layers[p->layer]) return;
    const int h = p->h, all = p->n * h; /* of one image; rows of tokens are images of one */
    size_t bytes = (size_t)all * (size_t)p->w * (size_t)p->c;
    if (!x->dense[r->place]) x->dense[r->place] = calloc(1, bytes + 1);
    if (!x->dense[r->place] || !x->eye->look(x->eye->device, &s) || !s.memory[HD_PROBE_XM]) {
        x->failed = true;
        return;
    }
    int end = x->row[r->place], behind = (end - r->slot) % p->rolling;
    int row = end - (behind < 0 ? behind + p->rolling : behind);
    uint8_t *to = x->dense[r->place];
    if (row < 0) row = r->slot;
    x->row[r->place] = (int)hd_max(end, row + r->rows);
    for (int y = row; y < row + r->rows && y < all; y++)
        for (int at = 0; at < p->w; at++)
            for (int c = 0; c < p->c; c++)
                to[(((size_t)(y / h) * (size_t)p->c + (size_t)c) * (size_t)h + (size_t)(y % h)) *
                       (size_t)p->w +
                   (size_t)at] =
                    s.memory[HD_PROBE_XM][p->xm_offset +
                                          (uint64_t)(r->slot + y - row) * (uint64_t)p->pitch +
                                          hd_place_column(p, p->pl + at) + (uint64_t)c];
}

/* Copies the part of an access that lies in the `bytes` places from `lo` on. */
static void copy_written(const struct hd_access *a, int64_t lo, int64_t bytes,
                         const uint8_t *memory, uint8_t *to) {
    int64_t i[HD_CHECK_LOOPS] = {0};
    for (;;) {
        int64_t at = a->at;
        for (int l = 0; l < a->n_loops; l++) at += i[l] * a->step[l];
        int64_t from = hd_max(at, lo), end = hd_min(at + a->run, lo + bytes);
        if (from < end) memcpy(to + (from - lo), memory + from, (size_t)(end - from));
        int l = 0;
        while (l < a->n_loops && ++i[l] == a->n[l]) i[l++] = 0;
        if (l == a->n_loops) return;
    }
}

/* What the operation wrote of one place; false: it could not be seen. */
static bool take_written(struct hd_capture *x, const struct written *w, int place,
                         struct hd_probe_state *s, bool *looked) {
    const struct hd_place *p = &x->m->places[place];
    enum hd_probe_memory kind = p->in_arena ? HD_PROBE_ARENA : HD_PROBE_XM;
    int64_t lo = (int64_t)(p->in_arena ? p->arena_offset : p->xm_offset),
            bytes = (int64_t)(p->in_arena ? p->arena_bytes : p->xm_bytes);
    for (const struct hd_access *a = w->access; a; a = a->next) {
        int64_t end = a->at + a->run; /* normalised: steps are positive */
        for (int l = 0; l < a->n_loops; l++) end += (a->n[l] - 1) * a->step[l];
        if ((a->space == HD_CHECK_ARENA) != p->in_arena || a->at >= lo + bytes || end <= lo)
            continue;
        if (!*looked && !x->eye->look(x->eye->device, s)) return false;
        *looked = true;
        if (!x->shadow[place]) x->shadow[place] = calloc(1, (size_t)bytes + 1);
        if (!x->shadow[place] || !s->memory[kind] || (uint64_t)end > s->bytes[kind]) return false;
        copy_written(a, lo, bytes, s->memory[kind], x->shadow[place]);
    }
    return true;
}

/* A result is complete: from its bytes to the order of the graph's tensor. */
static void finish(struct hd_capture *x, int place) {
    struct hd_place p = x->m->places[place];
    size_t bytes = (size_t)p.n * (size_t)p.h * (size_t)p.w * (size_t)p.c * (p.wide ? 2 : 1);
    p.xm_offset = p.arena_offset = 0;
    if (!x->shadow[place]) return; /* nothing of it was written */
    if (!x->dense[place]) x->dense[place] = malloc(bytes + 1);
    if (!x->dense[place] || !hd_place_read(&p, x->shadow[place], p.xm_bytes, x->shadow[place],
                                           p.arena_bytes, x->dense[place]))
        x->failed = true;
    free(x->shadow[place]);
    x->shadow[place] = NULL;
}

/* What the operation at pc, of layer `tag`, has written. */
static void take(struct hd_capture *x, uint16_t tag, uint32_t pc) {
    struct hd_probe_state state;
    bool looked = false;
    const struct written *w =
        x->n_written ? bsearch(&pc, x->written, x->n_written, sizeof *w, by_pc) : NULL;
    bool last = x->left[tag] && !--x->left[tag];
    for (int i = 0; i < x->m->n_places; i++) {
        const struct hd_place *p = &x->m->places[i];
        if (p->layer < 0 || p->rolling || (!p->on_chip && !p->in_arena)) continue;
        if (x->layers && !x->layers[p->layer]) continue;
        /* parts of it may come from layers before its own */
        if (w && p->first <= tag && tag <= p->layer && !take_written(x, w, i, &state, &looked))
            x->failed = true;
        if (last && p->layer == tag) finish(x, i);
    }
}

static void vx_wrote(void *user, uint16_t tag, uint32_t pc) {
    struct hd_capture *x = user;
    x->early = true;
    if (tag >= x->m->n_layers) return;
    take_rows(x, pc);
    take(x, tag, pc);
}

static void op_ended(void *user, const struct hd_op_record *r) {
    struct hd_capture *x = user;
    bool vx = r->unit == HD_UNIT_vx;
    if (r->unit == HD_UNIT_seq || r->tag >= x->m->n_layers || (vx && x->early)) return;
    if (vx) take_rows(x, r->pc);
    take(x, r->tag, r->pc);
}

void hd_capture_init(struct hd_capture *x, const hd_model *m, const bool *layers) {
    *x = (struct hd_capture){.m = m, .layers = layers};
    x->probe = (struct hd_probe){
        .user = x, .begin = begin, .op = op_ended, .wrote = vx_wrote, .looks = true};
    x->left = calloc((size_t)m->n_layers + 1, sizeof *x->left);
    x->row = calloc((size_t)m->n_places + 1, sizeof *x->row);
    x->dense = calloc((size_t)m->n_places + 1, sizeof *x->dense);
    x->shadow = calloc((size_t)m->n_places + 1, sizeof *x->shadow);
    HD_ASSERT(x->left && x->dense && x->row && x->shadow);
    hd_check_init(&x->check);
}

void hd_capture_deinit(struct hd_capture *x) {
    for (int i = 0; x->dense && i < x->m->n_places; i++) free(x->dense[i]), free(x->shadow[i]);
    hd_check_deinit(&x->check);
    free(x->shadow);
    free(x->dense);
    free(x->left);
    free(x->row);
    free(x->rolled);
}
