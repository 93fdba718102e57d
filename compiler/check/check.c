/* Program check: header and encoding; hands each operation to operands.c, all of them to tokens.c,
 * and those of a program that ends to races.c. */
#include "compiler/check/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hd_check_init(struct hd_check *k) {
    *k = (struct hd_check){.arena = hd_arena_create()};
    k->findings = hd_new_array(k->arena, struct hd_finding, HD_FINDINGS_MAX);
}

void hd_check_deinit(struct hd_check *k) {
    hd_arena_destroy(k->arena);
    *k = (struct hd_check){0};
}

static const char *text_of(struct hd_check *k, const struct hd_check_op *op) {
    struct hd_op_word w;
    const char *why;
    char text[512];
    if (!hd_op_decode((enum hd_unit)op->unit, k->words + op->word, k->n_words - op->word, &w, &why))
        return "";
    hd_op_text(&w, text, sizeof text);
    return hd_strdup(k->arena, text);
}

void hd_check_add(struct hd_check *k, bool error, const struct hd_check_op *op, const char *fmt,
                  ...) {
    if (error)
        k->n_errors++;
    else
        k->n_warnings++;
    if (k->n_findings == HD_FINDINGS_MAX) return;
    char text[2048];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    k->findings[k->n_findings++] = (struct hd_finding){.error = error,
                                                       .bundle = op ? op->bundle : -1,
                                                       .word = op ? op->word : 0,
                                                       .op = op ? text_of(k, op) : "",
                                                       .text = hd_strdup(k->arena, text)};
}

static bool check_header(struct hd_check *k) {
    const uint32_t *w = k->words;
    int errors = k->n_errors;
    if (k->n_words < HD_PROG_HEADER_WORDS) {
        hd_check_add(k, true, NULL, "%zu words, the header alone has %d", k->n_words,
                     HD_PROG_HEADER_WORDS);
        return false;
    }
    if (w[0] != HD_PROG_MAGIC)
        hd_check_add(k, true, NULL, "begins with 0x%08x, want 0x%08x", w[0], HD_PROG_MAGIC);
    if (w[1] != hd_isa_hash())
        hd_check_add(k, true, NULL, "made for instruction set %s (0x%08x), this one is %s (0x%08x)",
                     hd_isa_version(w[1]), w[1], HD_ISA_VERSION_TEXT, hd_isa_hash());
    if (w[2] != hd_machine_hash(k->m))
        hd_check_add(k, true, NULL, "made for machine 0x%08x, %s is 0x%08x", w[2], k->m->name,
                     hd_machine_hash(k->m));
    if (w[3] != k->n_words)
        hd_check_add(k, true, NULL, "the header says %u words, there are %zu", w[3], k->n_words);
    return k->n_errors == errors;
}

/* Bits that no field has are zero: a later instruction set may give them a meaning. */
static void check_room(struct hd_check *k, const struct hd_check_op *op,
                       const struct hd_op_word *w) {
    for (int i = 0; i < HD_PARAM_WORDS; i++) {
        uint32_t extra =
            w->set >> i & 1 ? w->lit[i] & ~hd_word_named((enum hd_unit)op->unit, i) : 0;
        if (extra)
            hd_check_add(k, true, op,
                         "word %d has bits 0x%x, want 0: no field has them (kept for: %s)", i,
                         extra, hd_room_for((enum hd_unit)op->unit, i, extra));
    }
}

/* Fills k->ops; false when a bundle does not decode. */
static bool decode(struct hd_check *k, const struct hd_check_windows *windows) {
    struct hd_sticky sticky[HD_UNITS] = {{{0}}};
    size_t at = HD_PROG_HEADER_WORDS;
    bool halted = false;
    for (int bundle = 0; at < k->n_words; bundle++, k->n_bundles++) {
        struct hd_op_word ops[HD_UNITS];
        int offset[HD_UNITS], n;
        const char *why = "";
        int length = hd_bundle_decode(k->words + at, k->n_words - at, ops, offset, &n, &why);
        if (!length) {
            hd_check_add(k, true, NULL, "bundle %d at word %zu does not decode: %s", bundle, at,
                         why);
            return false;
        }
        for (int i = 0; i < n; i++) {
            struct hd_check_op *op = hd_push(k->arena, k->ops, k->n_ops, k->cap_ops);
            *op = (struct hd_check_op){ops[i].unit, ops[i].code,   bundle, at + (size_t)offset[i],
                                       ops[i].wait, ops[i].signal, NULL};
            if (halted) hd_check_add(k, false, op, "stands after halt and never runs");
            check_room(k, op, &ops[i]);
            hd_op_apply(&ops[i], &sticky[op->unit]);
            hd_check_operands(k, op, sticky[op->unit].words, windows);
            int code = hd_op_by_code((enum hd_unit)op->unit, op->code);
            if (code == HD_OP_seq_halt) halted = true;
        }
        at += (size_t)length;
    }
    if (!halted) hd_check_add(k, true, NULL, "ends without seq.halt");
    return halted;
}

void hd_check_program(struct hd_check *k, const uint32_t *words, size_t n,
                      const struct hd_machine *m, const struct hd_check_windows *windows) {
    k->words = words;
    k->n_words = n;
    k->m = m;
    k->n_ops = 0;
    memset(k->semaphore_max, 0, sizeof k->semaphore_max);
    int errors = k->n_errors;
    if (!check_header(k) || !decode(k, windows)) return;
    bool legal = k->n_errors == errors; /* else what it touches is not known */
    size_t *order = hd_new_array(k->arena, size_t, k->n_ops + 1);
    if (hd_check_tokens(k, order) && legal) hd_check_races(k, order);
}
