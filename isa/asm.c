/* Assembler: text -> program words. The grammar is in docs/isa.md ("Text"), printed by isa/gen.c.
 *
 * One function per rule of the grammar, over a cursor in the text. Every error goes through
 * fail_at, which shows the line and a caret under the first byte that is wrong. */
#include "isa/isa.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    hd_ctx *ctx;
    const char *name, *text, *p;
    bool in_braces; /* then a line's end is a blank */
    uint32_t *words;
    size_t n, cap;
};

/* The operation in work: what was named so far, to refuse saying a thing twice. */
struct op_state {
    struct hd_op_word op;
    uint32_t whole; /* words given as wordN */
    bool seen[HD_FIELDS];
    bool has_wait, has_sig;
};

enum { SHOWN_COLUMNS = 120, NAME_LIST_BYTES = 1024, TOKEN_BYTES = 64 };

/* ---- errors --------------------------------------------------------------------------------- */

static hd_status fail_at(struct parser *ps, const char *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static hd_status fail_at(struct parser *ps, const char *at, const char *fmt, ...) {
    char what[NAME_LIST_BYTES + 256], shown[SHOWN_COLUMNS + 1], caret[SHOWN_COLUMNS + 1];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);

    int line = 1;
    const char *start = ps->text;
    for (const char *s = ps->text; s < at; s++)
        if (*s == '\n') line++, start = s + 1;
    size_t column = (size_t)(at - start), from = column > 80 ? column - 80 : 0, n = 0;
    for (const char *s = start + from; *s && *s != '\n' && n < SHOWN_COLUMNS; s++, n++)
        shown[n] = isprint((unsigned char)*s) ? *s : ' ';
    shown[n] = 0;
    memset(caret, ' ', column - from);
    memcpy(caret + (column - from), "^", 2);
    return hd_fail(ps->ctx, HD_INVALID, "%s:%d:%zu: %s\n  %s\n  %s", ps->name, line, column + 1,
                   what, shown, caret);
}

struct name_list {
    char text[NAME_LIST_BYTES];
    size_t n;
};
static void name_add(struct name_list *l, const char *name) {
    if (l->n + strlen(name) + 3 > sizeof l->text) return;
    l->n += (size_t)snprintf(l->text + l->n, sizeof l->text - l->n, "%s%s", l->n ? ", " : "", name);
}
static const char *unit_names(struct name_list *l) {
    for (int u = 0; u < HD_UNITS; u++) name_add(l, hd_isa_units[u].name);
    return l->text;
}
static const char *op_names(struct name_list *l, int unit) {
    for (int o = 0; o < HD_OPCODES; o++)
        if ((int)hd_isa_ops[o].unit == unit) name_add(l, hd_isa_ops[o].name);
    return l->text;
}
static const char *field_names(struct name_list *l, int unit) {
    name_add(l, "wait");
    name_add(l, "sig");
    for (int f = 0; f < HD_FIELDS; f++)
        if ((int)hd_isa_fields[f].unit == unit) name_add(l, hd_isa_fields[f].name);
    return l->text;
}

/* ---- tokens --------------------------------------------------------------------------------- */

static void skip_blanks(struct parser *ps, bool lines) {
    for (;; ps->p++) {
        if (*ps->p == '#') ps->p += strcspn(ps->p, "\n");
        if (*ps->p == '\n' ? !lines : !*ps->p || !isspace((unsigned char)*ps->p)) return;
    }
}

static size_t name_len(const char *s) {
    size_t n = 0;
    while (isalnum((unsigned char)s[n]) || s[n] == '_') n++;
    return n;
}

/* Length of a value: up to a blank or a character that ends an item. */
static size_t value_len(const char *s) {
    return strcspn(s, " \t\r\v\f\n;{}#,");
}

/* What was got, for messages: a name, one character, or the end. */
static const char *got(const char *s, char out[TOKEN_BYTES]) {
    size_t n = name_len(s);
    if (n == 0) n = *s != 0;
    if (!*s || *s == '\n')
        snprintf(out, TOKEN_BYTES, "the end of the %s", *s ? "line" : "text");
    else if (!isprint((unsigned char)*s))
        snprintf(out, TOKEN_BYTES, "byte 0x%02x", *s & 255);
    else
        snprintf(out, TOKEN_BYTES, "'%.*s'", (int)(n < 40 ? n : 40), s);
    return out;
}

static const char *got_value(const char *s, char out[TOKEN_BYTES]) {
    size_t n = value_len(s);
    for (size_t i = 0; i < n; i++)
        if (!isprint((unsigned char)s[i])) n = 0;
    if (n == 0) return got(s, out);
    snprintf(out, TOKEN_BYTES, "'%.*s'", (int)(n < 40 ? n : 40), s);
    return out;
}

/* A decimal or 0x number with optional sign, at most 34 bits wide; false when it is none. */
static bool to_int(const char *s, size_t len, int64_t *out) {
    size_t i = len && (*s == '-' || *s == '+');
    bool negative = len && *s == '-', hex = len - i > 2 && s[i] == '0' && (s[i + 1] | 32) == 'x';
    int64_t v = 0;
    if (hex) i += 2;
    if (i >= len) return false;
    for (; i < len; i++) {
        int c = (unsigned char)s[i];
        int digit = isdigit(c) ? c - '0' : hex && isxdigit(c) ? (c | 32) - 'a' + 10 : -1;
        if (digit < 0) return false;
        if (v < INT64_C(1) << 34) v = v * (hex ? 16 : 10) + digit;
    }
    *out = negative ? -v : v;
    return true;
}

static bool to_float_bits(const char *s, size_t len, uint32_t *out) {
    char text[TOKEN_BYTES], *end;
    if (len == 0 || len >= sizeof text) return false;
    memcpy(text, s, len);
    text[len] = 0;
    if (strspn(text, "+-.0123456789abcdefABCDEFxXpP") != len) return false;
    float f = strtof(text, &end);
    if (*end || end == text || !isfinite(f)) return false;
    memcpy(out, &f, sizeof f);
    return true;
}

/* ---- values --------------------------------------------------------------------------------- */

static hd_status parse_number(struct parser *ps, const char *what, int64_t min, int64_t max,
                              int64_t *out) {
    size_t len = value_len(ps->p);
    char text[TOKEN_BYTES];
    if (!to_int(ps->p, len, out))
        return fail_at(ps, ps->p, "%s: got %s, want a number in %" PRId64 "..%" PRId64, what,
                       got_value(ps->p, text), min, max);
    if (*out < min || *out > max)
        return fail_at(ps, ps->p, "%s: %.*s is not in %" PRId64 "..%" PRId64, what,
                       (int)(len < 40 ? len : 40), ps->p, min, max);
    ps->p += len;
    return HD_OK;
}

/* Binary32 field: 0x without '.' or 'p' is the bits, everything else a C float. */
static hd_status parse_float(struct parser *ps, const char *what, int64_t *out) {
    size_t len = value_len(ps->p);
    uint32_t bits;
    char text[TOKEN_BYTES];
    bool is_bits = len > 2 && ps->p[0] == '0' && (ps->p[1] | 32) == 'x';
    for (size_t i = 0; i < len; i++)
        if (ps->p[i] == '.' || (ps->p[i] | 32) == 'p') is_bits = false;
    if (is_bits) return parse_number(ps, what, 0, UINT32_MAX, out);
    if (!to_float_bits(ps->p, len, &bits))
        return fail_at(
            ps, ps->p,
            "%s: got %s, want a finite number (0.5, 1e-3, 0x1.8p-4) or its bits (0x3f000000)", what,
            got_value(ps->p, text));
    *out = bits;
    ps->p += len;
    return HD_OK;
}

static hd_status parse_list(struct parser *ps, const char *what, uint32_t *out) {
    for (;;) {
        int64_t v;
        TRY(parse_number(ps, what, 0, HD_SEMAPHORES - 1, &v));
        *out |= UINT32_C(1) << v;
        if (*ps->p != ',') return HD_OK;
        ps->p++;
    }
}

/* ---- items ---------------------------------------------------------------------------------- */

static hd_status parse_assign(struct parser *ps, const char *what) {
    char text[TOKEN_BYTES];
    skip_blanks(ps, ps->in_braces);
    if (*ps->p != '=')
        return fail_at(ps, ps->p, "after %s: got %s, want =", what, got(ps->p, text));
    ps->p++;
    skip_blanks(ps, ps->in_braces);
    return HD_OK;
}

static hd_status parse_field(struct parser *ps, struct op_state *st, int f) {
    const struct hd_field_info *fi = &hd_isa_fields[f];
    const char *at = ps->p;
    uint32_t bit = UINT32_C(1) << fi->word;
    char what[TOKEN_BYTES];
    snprintf(what, sizeof what, "%s.%s", hd_isa_units[fi->unit].name, fi->name);
    int64_t v;
    ps->p += strlen(fi->name);
    TRY(parse_assign(ps, what));
    if (st->seen[f]) return fail_at(ps, at, "%s is given twice", what);
    if (st->whole & bit)
        return fail_at(ps, at, "%s: word %d of this operation is already given in another way",
                       what, fi->word);
    st->seen[f] = true;

    int64_t span = INT64_C(1) << fi->width;
    if (fi->kind == HD_KIND_F)
        TRY(parse_float(ps, what, &v));
    else if (fi->kind == HD_KIND_S)
        TRY(parse_number(ps, what, -span / 2, span / 2 - 1, &v));
    else
        TRY(parse_number(ps, what, 0, span - 1, &v));
    st->op.set |= bit;
    hd_field_set(st->op.lit, (enum hd_field)f, v);
    return HD_OK;
}

/* wordN=value. */
static hd_status parse_whole_word(struct parser *ps, struct op_state *st, size_t len) {
    const char *at = ps->p;
    char what[TOKEN_BYTES];
    int64_t word = -1, v;
    int n_words = hd_isa_units[st->op.unit].n_words;
    snprintf(what, sizeof what, "%.*s", (int)(len < 40 ? len : 40), at);
    if (!to_int(at + 4, len - 4, &word) || word >= n_words)
        return fail_at(ps, at, "%s: unit %s has the words word0..word%d", what,
                       hd_isa_units[st->op.unit].name, n_words - 1);
    uint32_t bit = UINT32_C(1) << word;
    ps->p += len;
    TRY(parse_assign(ps, what));
    if (st->op.set & bit) return fail_at(ps, at, "%s is already given in this operation", what);
    st->whole |= bit;
    TRY(parse_number(ps, what, 0, UINT32_MAX, &v));
    st->op.set |= bit;
    st->op.lit[word] = (uint32_t)v;
    return HD_OK;
}

static hd_status parse_semaphores(struct parser *ps, const char *what, bool *seen, uint32_t *out) {
    const char *at = ps->p;
    ps->p += strlen(what);
    TRY(parse_assign(ps, what));
    if (*seen) return fail_at(ps, at, "%s: want it once, as %s=3 or %s=1,5", what, what, what);
    *seen = true;
    return parse_list(ps, what, out);
}

static hd_status parse_item(struct parser *ps, struct op_state *st) {
    char text[TOKEN_BYTES];
    struct name_list list = {0};
    int unit = st->op.unit;
    size_t len = name_len(ps->p);
    if (len == 4 && !memcmp(ps->p, "wait", 4))
        return parse_semaphores(ps, "wait", &st->has_wait, &st->op.wait);
    if (len == 3 && !memcmp(ps->p, "sig", 3))
        return parse_semaphores(ps, "sig", &st->has_sig, &st->op.signal);
    int f = hd_field_by_name((enum hd_unit)unit, ps->p, len);
    if (f >= 0) return parse_field(ps, st, f);
    if (len > 4 && !memcmp(ps->p, "word", 4) && isdigit((unsigned char)ps->p[4]))
        return parse_whole_word(ps, st, len);
    return fail_at(ps, ps->p, "got %s, want one of %s", got(ps->p, text), field_names(&list, unit));
}

/* ---- operations and bundles ----------------------------------------------------------------- */

static bool op_ends(const struct parser *ps) {
    return !*ps->p || *ps->p == ';' || *ps->p == '}' || *ps->p == '\n';
}

static hd_status parse_op(struct parser *ps, struct hd_op_word ops[HD_UNITS],
                          bool present[HD_UNITS]) {
    char text[TOKEN_BYTES];
    struct name_list list = {0};
    const char *at = ps->p;
    size_t len = name_len(at);
    int unit = hd_unit_by_name(at, len);
    if (unit < 0)
        return fail_at(ps, at, "got %s, want a unit: %s", got(at, text), unit_names(&list));
    if (present[unit])
        return fail_at(ps, at, "unit %s has an operation in this bundle already",
                       hd_isa_units[unit].name);
    ps->p += len;
    int op = -1;
    if (*ps->p == '.') {
        ps->p++;
        op = hd_op_by_name((enum hd_unit)unit, ps->p, name_len(ps->p));
    }
    if (op < 0)
        return fail_at(ps, ps->p, "got %s, want %s.OP with OP one of %s", got(ps->p, text),
                       hd_isa_units[unit].name, op_names(&list, unit));
    ps->p += name_len(ps->p);

    struct op_state st = {.op = {.unit = (uint8_t)unit, .code = (uint8_t)hd_isa_ops[op].code}};
    for (;;) {
        const char *end = ps->p;
        skip_blanks(ps, ps->in_braces);
        if (op_ends(ps)) break;
        if (ps->p == end) return fail_at(ps, ps->p, "got %s, want a blank", got(ps->p, text));
        TRY(parse_item(ps, &st));
    }
    ops[unit] = st.op;
    present[unit] = true;
    return HD_OK;
}

static hd_status parse_braces(struct parser *ps, struct hd_op_word ops[HD_UNITS],
                              bool present[HD_UNITS]) {
    const char *open = ps->p++;
    char text[TOKEN_BYTES];
    ps->in_braces = true;
    for (;;) {
        skip_blanks(ps, true);
        if (*ps->p == '}') break;
        if (!*ps->p) return fail_at(ps, open, "this bundle has no closing }");
        TRY(parse_op(ps, ops, present));
        if (*ps->p == ';')
            ps->p++;
        else if (*ps->p && *ps->p != '}')
            return fail_at(ps, ps->p, "got %s, want ; or }", got(ps->p, text));
    }
    ps->p++;
    ps->in_braces = false;
    return HD_OK;
}

static hd_status reserve(struct parser *ps, size_t more) {
    if (ps->n + more <= ps->cap) return HD_OK;
    size_t cap = ps->cap ? 2 * ps->cap : 1024;
    if (cap < ps->n + more) cap = ps->n + more;
    uint32_t *w = realloc(ps->words, cap * sizeof *w);
    if (!w) return hd_fail(ps->ctx, HD_NOMEM, "%s: no memory for %zu program words", ps->name, cap);
    ps->words = w;
    ps->cap = cap;
    return HD_OK;
}

static hd_status parse_bundle(struct parser *ps) {
    struct hd_op_word ops[HD_UNITS];
    bool present[HD_UNITS] = {0};
    char text[TOKEN_BYTES];
    if (*ps->p == '{') {
        TRY(parse_braces(ps, ops, present));
        skip_blanks(ps, false);
    } else {
        TRY(parse_op(ps, ops, present));
    }
    if (*ps->p && *ps->p != '\n')
        return fail_at(ps, ps->p,
                       "got %s, want the end of the line (a bundle of several is { op ; op })",
                       got(ps->p, text));

    TRY(reserve(ps, 1 + HD_UNITS * HD_OP_MAX_WORDS));
    size_t start = ps->n++;
    uint32_t slots = 0;
    for (int u = 0; u < HD_UNITS; u++) {
        if (!present[u]) continue;
        slots |= UINT32_C(1) << u;
        ps->n += (size_t)hd_op_encode(&ops[u], ps->words + ps->n);
    }
    ps->words[start] = hd_bundle_head(slots);
    return HD_OK;
}

/* ---- programs ------------------------------------------------------------------------------- */

static hd_status parse_program(struct parser *ps, const struct hd_machine *m) {
    TRY(reserve(ps, HD_PROG_HEADER_WORDS));
    ps->n = HD_PROG_HEADER_WORDS;
    for (skip_blanks(ps, true); *ps->p; skip_blanks(ps, true)) TRY(parse_bundle(ps));
    if (ps->n > UINT32_MAX)
        return hd_fail(ps->ctx, HD_INVALID, "%s: %zu words, at most 2^32 - 1", ps->name, ps->n);
    ps->words[0] = HD_PROG_MAGIC;
    ps->words[1] = hd_isa_hash();
    ps->words[2] = hd_machine_hash(m);
    ps->words[3] = (uint32_t)ps->n;
    return HD_OK;
}

hd_status hd_asm(hd_ctx *ctx, const struct hd_machine *m, const char *text, const char *name,
                 uint32_t **out_words, size_t *out_n) {
    struct parser ps = {.ctx = ctx, .name = name, .text = text, .p = text};
    hd_status s = parse_program(&ps, m);
    if (s != HD_OK) {
        free(ps.words);
        return s;
    }
    *out_words = ps.words;
    *out_n = ps.n;
    return HD_OK;
}
