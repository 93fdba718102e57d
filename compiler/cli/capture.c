/* A result is read when the last operation of its layer has ended: then it is complete, and nothing
 * has taken its place yet, since whatever would must wait for its last reader. */
#include "compiler/cli/capture.h"

#include <stdlib.h>
#include <string.h>

static void begin(void *user, int step, const uint32_t *program, size_t n_words,
                  const struct hd_probe_eye *eye) {
    struct cli_capture *x = user;
    (void)step;
    x->eye = eye;
    memset(x->left, 0, ((size_t)x->m->n_layers + 1) * sizeof *x->left);
    for (size_t at = HD_PROG_HEADER_WORDS; at < n_words;) {
        struct hd_op_word ops[HD_UNITS];
        int offset[HD_UNITS], n;
        const char *why;
        int words = hd_bundle_decode(program + at, n_words - at, ops, offset, &n, &why);
        if (!words) return;
        for (int i = 0; i < n; i++)
            if (ops[i].unit != HD_UNIT_seq && ops[i].tag < x->m->n_layers) x->left[ops[i].tag]++;
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

static void op_ended(void *user, const struct hd_op_record *r) {
    struct cli_capture *x = user;
    struct hd_probe_state state;
    bool looked = false;
    if (r->unit == HD_UNIT_seq || r->tag >= x->m->n_layers) return;
    if (!x->left[r->tag] || --x->left[r->tag] || (x->layers && !x->layers[r->tag])) return;
    for (int i = 0; i < x->m->n_places; i++) {
        const struct hd_place *p = &x->m->places[i];
        if (p->layer != r->tag || (!p->on_chip && !p->in_arena)) continue;
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
    x->dense = calloc((size_t)m->n_places + 1, sizeof *x->dense);
    HD_ASSERT(x->left && x->dense);
}

void cli_capture_deinit(struct cli_capture *x) {
    for (int i = 0; x->dense && i < x->m->n_places; i++) free(x->dense[i]);
    free(x->dense);
    free(x->left);
}
