/* The first operation in which two machines part.
 *
 * Runs both on the same program cut short after n operations and compares every memory: XM, AM, WM,
 * PM and the arena. Bisection finds n such that all agree after n operations and not after n + 1,
 * so operation n did it: same program, same memory before, other memory after. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/compare/first_diff.h"
#include "compiler/session/session.h"
#include "runtime/runtime.h"

enum { AROUND = 3 /* operations shown before and behind */ };

struct place { /* an operation of the program, in order of issue */
    uint32_t bundle_pc, offset;
    int bundle;
    uint8_t unit;
    uint16_t layer;
};

struct snapshot {
    int step; /* whose end is kept */
    bool full;
    uint8_t *memory[HD_PROBE_MEMORIES];
    size_t bytes[HD_PROBE_MEMORIES];
    int now;
};

struct search {
    struct hd_cmd *c;
    hd_arena *a;
    const hd_model *m;
    const char *device[2];
    const void *const *in;
    hd_model cut; /* the model, with a plain program that ends early behind its image */
    int step;
    const uint32_t *words; /* the whole program of the step */
    size_t n_words;
    struct place *ops;
    size_t n_ops, cap_ops;
    struct snapshot at[2];
    int memory; /* where they differ, and the first byte */
    size_t byte, n_bytes;
};

static const char *const memory_name[HD_PROBE_MEMORIES] = {
    [HD_PROBE_XM] = "XM",
    [HD_PROBE_AM] = "AM",
    [HD_PROBE_WM] = "WM",
    [HD_PROBE_PM] = "PM",
    [HD_PROBE_ARENA] = "DRAM, arena",
};

/* ---- one run -------------------------------------------------------------------------------- */

static void begin(void *user, int step, const uint32_t *program, size_t n_words,
                  const struct hd_probe_eye *eye) {
    (void)eye;
    struct snapshot *s = user;
    (void)program;
    (void)n_words;
    s->now = step;
}

static void end(void *user, uint64_t cycles, const struct hd_probe_state *state) {
    struct snapshot *s = user;
    (void)cycles;
    if (s->now != s->step) return;
    s->full = true;
    for (int i = 0; i < HD_PROBE_MEMORIES; i++) {
        if (s->bytes[i] != state->bytes[i]) {
            free(s->memory[i]);
            s->memory[i] = malloc(state->bytes[i] + 1);
        }
        s->bytes[i] = state->memory[i] && s->memory[i] ? state->bytes[i] : 0;
        if (s->bytes[i]) memcpy(s->memory[i], state->memory[i], s->bytes[i]);
    }
}

static hd_status run_one(struct search *x, int which) {
    struct snapshot *s = &x->at[which];
    s->full = false;
    s->step = x->step;
    const struct hd_probe probe = {.user = s, .begin = begin, .end = end, .looks = true};
    struct hd_cmd with = *x->c;
    with.probe = &probe;
    hd_session *session = NULL;
    hd_status r = hd_open_session(&with, &x->cut, x->device[which], &session);
    if (r == HD_OK) r = hd_session_run(x->c->ctx, session, x->in, NULL);
    hd_session_close(session);
    return r != HD_OK || s->full ? r
                                 : hd_fail(x->c->ctx, HD_UNSUPPORTED, "device %s shows no memories",
                                           x->device[which]);
}

/* Where the two snapshots differ; false: nowhere. */
static bool differs(struct search *x) {
    for (int i = 0; i < HD_PROBE_MEMORIES; i++) {
        size_t n = x->at[0].bytes[i], differ = 0, first = 0;
        if (x->at[1].bytes[i] != n) continue; /* one of them does not show it */
        if (!n || !memcmp(x->at[0].memory[i], x->at[1].memory[i], n)) continue;
        for (size_t k = 0; k < n; k++)
            if (x->at[0].memory[i][k] != x->at[1].memory[i][k] && !differ++) first = k;
        x->memory = i;
        x->byte = first;
        x->n_bytes = differ;
        return true;
    }
    return false;
}

/* ---- programs cut short --------------------------------------------------------------------- */

static uint32_t *cut_words(struct search *x) {
    return (uint32_t *)(void *)((char *)x->cut.image + x->cut.steps[x->step].code_offset);
}

static hd_status read_program(struct search *x) {
    const struct hd_step *s = &x->m->steps[x->step];
    x->words = (const void *)((const char *)x->m->image + s->code_offset);
    x->n_words = s->code_bytes / 4;
    size_t place = (x->m->image_bytes + HD_CODE_ALIGN - 1) / HD_CODE_ALIGN * HD_CODE_ALIGN;
    size_t bytes = x->n_words * sizeof *x->words;
    free(x->cut.image);
    x->cut.image = calloc(1, place + bytes);
    if (!x->cut.image || place + bytes > UINT32_MAX)
        return hd_fail(x->c->ctx, HD_NOMEM, "compare: no memory for a copy of the image");
    memcpy(x->cut.image, x->m->image, x->m->image_bytes);
    x->cut.image_bytes = place + bytes;
    x->cut.steps = hd_dup(x->a, x->m->steps, (size_t)x->m->n_steps * sizeof *x->m->steps);
    x->cut.steps[x->step].code_offset = (uint32_t)place;
    x->cut.steps[x->step].code_bytes = (uint32_t)bytes;
    x->n_ops = 0;
    int bundle = 0;
    struct hd_sticky sticky[HD_UNITS] = {{{0}}};
    for (size_t pc = HD_PROG_HEADER_WORDS; pc < x->n_words; bundle++) {
        struct hd_op_word ops[HD_UNITS];
        int offset[HD_UNITS], n;
        const char *why;
        int length = hd_bundle_decode(x->words + pc, x->n_words - pc, ops, offset, &n, &why);
        if (!length) break;
        for (int i = 0; i < n; i++) {
            uint8_t u = ops[i].unit;
            hd_op_apply(&ops[i], &sticky[u]);
            uint16_t layer = (uint16_t)sticky[u].words[HD_TAG_WORD];
            *hd_push(x->a, x->ops, x->n_ops, x->cap_ops) =
                (struct place){(uint32_t)pc, (uint32_t)offset[i], bundle, u, layer};
        }
        pc += (size_t)length;
    }
    return HD_OK;
}

/* The program ends after n operations: the bundle of operation n keeps those before it, a bundle
 * with halt follows. A halt of the program's own stays. */
static void cut_after(struct search *x, size_t n) {
    uint32_t *w = cut_words(x);
    memcpy(w, x->words, x->n_words * sizeof *w);
    if (n >= x->n_ops) return;
    const struct place *p = &x->ops[n];
    if (p->unit == HD_UNIT_seq && n + 1 == x->n_ops) return;
    uint32_t *head = w + p->bundle_pc, slots = 0;
    for (size_t i = n; i > 0 && x->ops[i - 1].bundle == p->bundle; i--)
        slots |= UINT32_C(1) << x->ops[i - 1].unit;
    uint32_t *halt = head;
    if (slots) {
        *head = hd_bundle_head(slots);
        halt = head + p->offset;
    }
    struct hd_op_word op = {.unit = HD_UNIT_seq, .code = (uint8_t)hd_isa_ops[HD_OP_seq_halt].code};
    hd_op_encode(&op, halt + 1);
    *halt = hd_bundle_head(UINT32_C(1) << HD_UNIT_seq);
}

enum outcome { SAME, DIFFERENT, NO_END };

/* Both machines after n operations. NO_END: the operations wait for a signal that was cut off. */
static enum outcome after(struct search *x, size_t n) {
    hd_cmd_progress(x->c, "compare: both after %zu of %zu operations", n, x->n_ops);
    cut_after(x, n);
    if (run_one(x, 0) != HD_OK || run_one(x, 1) != HD_OK) return NO_END;
    return differs(x) ? DIFFERENT : SAME;
}

/* lo: all agree after so many operations, *hi: not any more. Ends with them a step apart, or with
 * cuts between them that do not run. */
static void bisect(struct search *x, size_t *out_lo, size_t *out_hi) {
    size_t lo = 0, hi = x->n_ops;
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2, at = mid;
        enum outcome o = after(x, at);
        while (o == NO_END && at + 1 < hi) o = after(x, ++at);
        if (o == NO_END)
            for (at = mid; o == NO_END && at - 1 > lo;) o = after(x, --at);
        if (o == NO_END) break;
        if (o == SAME)
            lo = at;
        else
            hi = at;
    }
    *out_lo = lo;
    *out_hi = hi;
}

/* ---- the report ----------------------------------------------------------------------------- */

static bool op_at(const struct search *x, size_t i, struct hd_op_word *out) {
    const struct place *p = &x->ops[i];
    const char *why;
    size_t pc = p->bundle_pc + p->offset;
    return hd_op_decode((enum hd_unit)p->unit, x->words + pc, x->n_words - pc, out, &why) > 0;
}

static const char *op_text(const struct search *x, size_t i) {
    char text[1000] = "";
    struct hd_op_word op;
    if (op_at(x, i, &op)) hd_op_text(&op, text, sizeof text);
    return hd_strdup(x->a, text);
}

/* The operation with every parameter, not only those that it changes. */
static const char *full_text(const struct search *x, size_t i) {
    char text[2000] = "";
    struct hd_sticky sticky = {{0}};
    struct hd_op_word op;
    for (size_t k = 0; k <= i; k++)
        if (x->ops[k].unit == x->ops[i].unit && op_at(x, k, &op)) hd_op_apply(&op, &sticky);
    op.set = (UINT32_C(1) << hd_isa_units[op.unit].n_words) - 1;
    memcpy(op.lit, sticky.words, sizeof op.lit);
    hd_op_text(&op, text, sizeof text);
    return hd_strdup(x->a, text);
}

/* Bytes of one element of a memory, as far as the memory tells. */
static size_t element_bytes(int memory) {
    return memory == HD_PROBE_AM || memory == HD_PROBE_PM ? 4 : 1;
}

static int64_t element(const struct search *x, int which) {
    size_t n = element_bytes(x->memory), at = x->byte / n * n;
    const uint8_t *p = x->at[which].memory[x->memory] + at;
    int32_t v;
    if (n == 1) return (int8_t)*p;
    memcpy(&v, p, sizeof v);
    return v;
}

/* The tensor that has its place there while the layer is at work, and the element in it; "" = none
 * (a tile of one that streams). */
static const char *tensor_there(const struct search *x, int layer, size_t address) {
    const hd_model *m = x->m;
    for (int i = 0; i < m->n_places; i++) {
        const struct hd_place *p = &m->places[i];
        bool xm = x->memory == HD_PROBE_XM && p->on_chip;
        if (!xm && !(x->memory == HD_PROBE_ARENA && p->in_arena)) continue;
        uint64_t first = xm ? p->xm_offset : p->arena_offset,
                 bytes = xm ? p->xm_bytes : p->arena_bytes;
        if (address < first || address >= first + bytes || layer < p->first || layer > p->last)
            continue;
        int64_t at = (int64_t)(address - first), rows = p->h + (xm ? p->pt + p->pb : 0),
                pitch = xm ? p->pitch : (int64_t)p->w * p->c_pad;
        bool odd = xm && p->apart && at >= p->apart;
        if (odd) at -= p->apart;
        int64_t c = at % p->c_pad, col = at % pitch / p->c_pad * (xm && p->apart ? 2 : 1) + odd,
                row = at / pitch % rows - (xm ? p->pt : 0), n = at / pitch / rows;
        if (xm) col -= p->pl;
        bool inside = row >= 0 && row < p->h && col >= 0 && col < p->w && c < p->c;
        const char *what =
            p->layer < 0 ? "a tensor from outside"
                         : hd_sprintf(x->a, "the result of layer %s", m->layers[p->layer].name);
        return hd_sprintf(x->a, "%s%s: image %lld, row %lld, column %lld, channel %lld",
                          inside ? "" : "padding of ", what, (long long)n, (long long)row,
                          (long long)col, (long long)c);
    }
    return "";
}

static json_object *report(const struct search *x, size_t lo, size_t hi, FILE *text) {
    const struct place *p = &x->ops[lo];
    struct hd_op_word op = {0};
    bool ok = op_at(x, lo, &op);
    int code = ok ? hd_op_by_code((enum hd_unit)p->unit, op.code) : -1, nth = 0;
    for (size_t i = 0; i < lo; i++) nth += x->ops[i].unit == p->unit;
    const char *unit = hd_isa_units[p->unit].name, *name = code >= 0 ? hd_isa_ops[code].name : "?";
    const char *layer = p->layer < x->m->n_layers ? x->m->layers[p->layer].name : NULL;
    size_t address = x->byte / element_bytes(x->memory) * element_bytes(x->memory);
    if (text) {
        fprintf(text, "\nfirst operation that differs between %s and %s: %s.%s%s%s\n", x->device[0],
                x->device[1], unit, name, layer ? " of layer " : "", layer ? layer : "");
        fprintf(text, "  step %d, operation %zu (%d of unit %s), bundle %d, word %" PRIu32 "\n",
                x->step, lo, nth, unit, p->bundle, p->bundle_pc + p->offset);
        if (hi - lo > 1)
            fprintf(text,
                    "  or one of the %zu operations behind it: cut there, the program does "
                    "not end\n",
                    hi - lo - 1);
        fprintf(text, "  %s byte 0x%zx: %s %" PRId64 ", %s %" PRId64 "; %zu bytes differ there\n",
                memory_name[x->memory], address, x->device[0], element(x, 0), x->device[1],
                element(x, 1), x->n_bytes);
        const char *there = tensor_there(x, p->layer, address);
        if (*there) fprintf(text, "  that is %s\n", there);
        fprintf(text, "  every parameter: %s\n", full_text(x, lo));
        for (size_t i = lo > AROUND ? lo - AROUND : 0; i <= lo + AROUND && i < x->n_ops; i++)
            fprintf(text, "  %s %6zu  %s\n", i == lo ? "->" : "  ", i, op_text(x, i));
    }
    json_object *o = json_object_new_object();
    hd_json_str(o, "unit", unit);
    hd_json_str(o, "op", name);
    hd_json_str(o, "layer", layer);
    hd_json_int(o, "step", x->step);
    hd_json_int(o, "operation", (int64_t)lo);
    hd_json_int(o, "candidates", (int64_t)(hi - lo));
    hd_json_int(o, "bundle", p->bundle);
    hd_json_int(o, "pc", p->bundle_pc + p->offset);
    hd_json_str(o, "text", full_text(x, lo));
    hd_json_str(o, "memory", memory_name[x->memory]);
    hd_json_int(o, "address", (int64_t)address);
    hd_json_str(o, "tensor", tensor_there(x, p->layer, address));
    hd_json_int(o, "expected", element(x, 0));
    hd_json_int(o, "got", element(x, 1));
    hd_json_int(o, "bytes_differ", (int64_t)x->n_bytes);
    return o;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static hd_status search(struct search *x, FILE *text, json_object **out) {
    const hd_model *m = x->m;
    for (x->step = 0; x->step < m->n_steps; x->step++) {
        if (m->steps[x->step].kind != HD_STEP_PROG) continue;
        x->cut.n_steps = x->step + 1;
        TRY(read_program(x));
        cut_after(x, x->n_ops);
        for (int i = 0; i < 2; i++) TRY(run_one(x, i));
        if (!differs(x)) continue;
        size_t lo, hi;
        bisect(x, &lo, &hi);
        cut_after(x, hi); /* the memories as they are after the operation */
        for (int i = 0; i < 2; i++) TRY(run_one(x, i));
        hd_cmd_progress_end(x->c);
        if (differs(x)) *out = report(x, lo, hi, text);
        return HD_OK;
    }
    hd_cmd_progress_end(x->c);
    if (text)
        fprintf(text, "\n%s and %s leave the same in every memory; they do not differ\n",
                x->device[0], x->device[1]);
    return HD_OK;
}

hd_status hd_first_difference(struct hd_cmd *c, hd_arena *a, const hd_model *m,
                              const char *const device[2], const void *const *in, FILE *text,
                              json_object **out) {
    struct search x = {.c = c, .a = a, .m = m, .device = {device[0], device[1]}, .in = in};
    *out = NULL;
    x.cut = *m;
    x.cut.n_outputs = 0;
    x.cut.image = NULL;
    hd_status s = search(&x, text, out);
    free(x.cut.image);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < HD_PROBE_MEMORIES; k++) free(x.at[i].memory[k]);
    return s;
}
