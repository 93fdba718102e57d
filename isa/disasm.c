/* Disassembler: program words -> text that assembles to the same words. */
#include "isa/isa.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Text that grows (own = true) or is cut at the caller's size. */
struct text {
    char *s;
    size_t n, cap;
    bool own, failed;
};

static void put(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(struct text *t, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    char item[128];
    int len = vsnprintf(item, sizeof item, fmt, ap);
    va_end(ap);
    HD_ASSERT(len >= 0 && (size_t)len < sizeof item);
    if (t->own && t->n + (size_t)len + 1 > t->cap) {
        size_t cap = 2 * t->cap + 1024;
        char *s = realloc(t->s, cap);
        if (!s)
            t->failed = true;
        else
            t->s = s, t->cap = cap;
    }
    if (t->n + 1 >= t->cap) return;
    size_t room = t->cap - t->n - 1, copy = (size_t)len < room ? (size_t)len : room;
    memcpy(t->s + t->n, item, copy);
    t->n += copy;
    t->s[t->n] = 0;
}

static void put_list(struct text *t, const char *what, uint32_t mask) {
    if (!mask) return;
    put(t, " %s=", what);
    const char *sep = "";
    for (int i = 0; i < HD_SEMAPHORES; i++)
        if (mask >> i & 1) {
            put(t, "%s%d", sep, i);
            sep = ",";
        }
}

/* 9 significant digits give a binary32 back exactly; what is not finite is written as its bits. */
static void put_value(struct text *t, int f, int64_t v) {
    const struct hd_field_info *fi = &hd_isa_fields[f];
    if (fi->kind == HD_KIND_F) {
        uint32_t bits = (uint32_t)v;
        float x;
        memcpy(&x, &bits, sizeof x);
        if (isfinite(x))
            put(t, " %s=%.9g", fi->name, (double)x);
        else
            put(t, " %s=0x%08" PRIx32, fi->name, bits);
    } else if (fi->kind == HD_KIND_U && fi->width >= 24 && v >= 256) {
        put(t, " %s=0x%" PRIx64, fi->name, (uint64_t)v);
    } else {
        put(t, " %s=%" PRId64, fi->name, v);
    }
}

static void put_set(struct text *t, int unit, int word, const uint32_t words[HD_PARAM_WORDS]) {
    uint32_t rest = words[word];
    int first = -1, n_put = 0;
    for (int f = 0; f < HD_FIELDS; f++) {
        const struct hd_field_info *fi = &hd_isa_fields[f];
        if ((int)fi->unit != unit || fi->word != word) continue;
        if (first < 0) first = f;
        uint32_t mask = fi->width == 32 ? UINT32_MAX : (UINT32_C(1) << fi->width) - 1;
        rest &= ~(mask << fi->lsb);
    }
    if (rest || first < 0) { /* bits that no field names */
        put(t, " word%d=0x%08" PRIx32, word, words[word]);
        return;
    }
    for (int f = first; f < HD_FIELDS; f++) {
        const struct hd_field_info *fi = &hd_isa_fields[f];
        if ((int)fi->unit != unit || fi->word != word) continue;
        int64_t v = hd_field_get(words, (enum hd_field)f);
        if (v) put_value(t, f, v), n_put++;
    }
    if (!n_put) put_value(t, first, 0);
}

/* Fields come as isa.def lists them, whatever their words are. */
static void put_op(struct text *t, const struct hd_op_word *op) {
    int o = op->unit < HD_UNITS ? hd_op_by_code((enum hd_unit)op->unit, op->code) : -1;
    if (o < 0) {
        put(t, "unit %d code %d", op->unit, op->code);
        return;
    }
    put(t, "%s.%s", hd_isa_units[op->unit].name, hd_isa_ops[o].name);
    put_list(t, "wait", op->wait);
    put_list(t, "sig", op->signal);
    uint32_t done = 0;
    for (int f = 0; f < HD_FIELDS; f++) {
        int word = hd_isa_fields[f].word;
        if (hd_isa_fields[f].unit != op->unit || done >> word & 1) continue;
        if (op->set >> word & 1) put_set(t, op->unit, word, op->lit);
        done |= UINT32_C(1) << word;
    }
    for (int i = 0; i < HD_PARAM_WORDS; i++) /* words without a field */
        if (op->set & ~done & UINT32_C(1) << i) put_set(t, op->unit, i, op->lit);
}

void hd_op_text(const struct hd_op_word *op, char *out, size_t out_bytes) {
    if (out_bytes == 0) return;
    out[0] = 0;
    struct text t = {.s = out, .cap = out_bytes};
    put_op(&t, op);
}

/* ---- programs ------------------------------------------------------------------------------- */

static hd_status check_header(hd_ctx *ctx, const uint32_t *words, size_t n) {
    if (n < HD_PROG_HEADER_WORDS)
        return hd_fail(ctx, HD_INVALID, "program: %zu words, its header alone has %d", n,
                       (int)HD_PROG_HEADER_WORDS);
    if (words[0] != HD_PROG_MAGIC)
        return hd_fail(ctx, HD_INVALID,
                       "program: starts with 0x%08" PRIx32 ", want 0x%08x (\"HDL4\")", words[0],
                       (unsigned)HD_PROG_MAGIC);
    if (words[1] != hd_isa_hash())
        return hd_fail(ctx, HD_MISMATCH,
                       "program: made for instruction set %s (0x%08" PRIx32
                       "), this program has " HD_ISA_VERSION_TEXT " (0x%08" PRIx32
                       "); assemble or compile it again",
                       hd_isa_version(words[1]), words[1], hd_isa_hash());
    if (words[3] != n)
        return hd_fail(ctx, HD_INVALID, "program: header says %" PRIu32 " words, there are %zu",
                       words[3], n);
    return HD_OK;
}

/* An operation with a mask that is present but empty is legal and cannot be written as text. */
static hd_status check_canonical(hd_ctx *ctx, const struct hd_op_word *op, size_t at, size_t len) {
    uint32_t again[HD_OP_MAX_WORDS];
    if ((size_t)hd_op_encode(op, again) == len) return HD_OK;
    return hd_fail(ctx, HD_INVALID,
                   "program: operation at word %zu has an empty mask; leave the mask out", at);
}

static hd_status put_bundle(hd_ctx *ctx, struct text *t, const uint32_t *words, size_t n,
                            size_t *at) {
    struct hd_op_word ops[HD_UNITS];
    int offset[HD_UNITS], n_ops;
    const char *why;
    int len = hd_bundle_decode(words + *at, n - *at, ops, offset, &n_ops, &why);
    if (!len) return hd_fail(ctx, HD_INVALID, "program: bundle at word %zu: %s", *at, why);
    if (n_ops == 0) put(t, "{ }\n");
    for (int i = 0; i < n_ops; i++) {
        int end = i + 1 < n_ops ? offset[i + 1] : len;
        TRY(check_canonical(ctx, &ops[i], *at + (size_t)offset[i], (size_t)(end - offset[i])));
        if (n_ops > 1) put(t, i ? "  " : "{ ");
        put_op(t, &ops[i]);
        put(t, n_ops == 1 ? "\n" : i + 1 < n_ops ? " ;\n" : " }\n");
    }
    *at += (size_t)len;
    return HD_OK;
}

static hd_status put_program(hd_ctx *ctx, struct text *t, const uint32_t *words, size_t n) {
    TRY(check_header(ctx, words, n));
    put(t, "# machine 0x%08" PRIx32 ", %zu words\n", words[2], n);
    for (size_t at = HD_PROG_HEADER_WORDS; at < n;) TRY(put_bundle(ctx, t, words, n, &at));
    if (t->failed) return hd_fail(ctx, HD_NOMEM, "program: no memory for the text of %zu words", n);
    return HD_OK;
}

hd_status hd_disasm(hd_ctx *ctx, const uint32_t *words, size_t n, char **out_text) {
    struct text t = {.own = true};
    hd_status s = put_program(ctx, &t, words, n);
    if (s != HD_OK) {
        free(t.s);
        return s;
    }
    *out_text = t.s;
    return HD_OK;
}
