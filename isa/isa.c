/* The instruction tables, field access, and the encoder and decoder of operations and bundles. */
#include "isa/isa.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/fn.h"

/* union words_UNIT is one byte longer than the unit's highest word plus one: FIELD rows follow
 * their UNIT row, so the number of words in use is a constant. hd_isa_check confirms it. */
union words_none {
    char none;
#define UNIT(unit, code, doc)                                                                      \
    }                                                                                              \
    ;                                                                                              \
    union words_##unit {                                                                           \
        char none;
#define FIELD(unit, field, word, lsb, width, kind, doc) char w_##unit##_##field[(word) + 2];
#include "isa/isa.def"
};

const struct hd_unit_info hd_isa_units[HD_UNITS] = {
#define UNIT(unit, code, doc) [code] = {#unit, doc, (int)sizeof(union words_##unit) - 1},
#include "isa/isa.def"
};
const struct hd_op_info hd_isa_ops[HD_OPCODES] = {
#define OP(unit, op, code, doc) [HD_OP_##unit##_##op] = {#op, doc, HD_UNIT_##unit, code},
#include "isa/isa.def"
};
const struct hd_field_info hd_isa_fields[HD_FIELDS] = {
#define FIELD(unit, field, word, lsb, width, kind, doc)                                            \
    [HD_F_##unit##_##                                                                              \
        field] = {#field, doc, HD_UNIT_##unit, word, lsb, width, HD_KIND_##kind, HD_SET_none},
#define CHOICE(unit, field, word, lsb, width, set, doc)                                            \
    [HD_F_##unit##_##                                                                              \
        field] = {#field, doc, HD_UNIT_##unit, word, lsb, width, HD_KIND_E, HD_SET_##set},
#include "isa/isa.def"
};
const struct hd_field_value hd_isa_values[] = {
#define VALUE(set, name, code, doc) {HD_SET_##set, #name, doc, code},
#include "isa/isa.def"
};
const int hd_n_isa_values = sizeof hd_isa_values / sizeof hd_isa_values[0];

#define UNIT(unit, code, doc)                                                                      \
    _Static_assert((code) < HD_UNITS, "unit " #unit ": code past HD_UNITS");
#define OP(unit, op, code, doc)                                                                    \
    _Static_assert((code) < 1 << HD_HEAD_code_BITS, "op " #unit "." #op ": code past its bits");
#define FIELD(unit, field, word, lsb, width, kind, doc)                                            \
    _Static_assert((word) < HD_PARAM_WORDS && (width) > 0 && (lsb) + (width) <= 32,                \
                   "field " #unit "." #field " leaves its word");
#include "isa/isa.def"

/* ---- fields --------------------------------------------------------------------------------- */

void hd_op_apply(const struct hd_op_word *op, struct hd_sticky *sticky) {
    for (int i = 0; i < HD_PARAM_WORDS; i++)
        if (op->set >> i & 1) sticky->words[i] = op->lit[i];
}

/* ---- operations ----------------------------------------------------------------------------- */

enum { /* bits of an operation's header */
       HAS_WAIT = 1 << HD_HEAD_wait_LSB,
       HAS_SIGNAL = 1 << HD_HEAD_signal_LSB,
       CODE_MAX = (1 << HD_HEAD_code_BITS) - 1
};
static const uint32_t NAMED = /* every other bit is zero */
#define HEAD(field, lsb, width, doc) ((UINT32_C(1) << (width)) - 1) << (lsb) |
#include "isa/isa.def"
    0;
_Static_assert(HD_HEAD_set_BITS == (int)HD_PARAM_WORDS, "a bit of the mask for every word");

int hd_op_encode(const struct hd_op_word *op, uint32_t *out) {
    int n = 1;
    out[0] = (uint32_t)op->code << HD_HEAD_code_LSB | op->set << HD_HEAD_set_LSB;
    if (op->wait) out[0] |= HAS_WAIT, out[n++] = op->wait;
    if (op->signal) out[0] |= HAS_SIGNAL, out[n++] = op->signal;
    for (int i = 0; i < HD_PARAM_WORDS; i++)
        if (op->set >> i & 1) out[n++] = op->lit[i];
    return n;
}

static int illegal(const char **out_why, const char *why) {
    *out_why = why;
    return 0;
}

/* As hd_op_words; fills all of op but its words. */
static int read_head(enum hd_unit unit, const uint32_t *in, size_t n, struct hd_op_word *op,
                     const char **out_why) {
    if (n < 1) return 1;
    uint32_t head = in[0], code = head >> HD_HEAD_code_LSB & CODE_MAX;
    if (head & ~NAMED)
        return illegal(out_why, "reserved bits of an operation's header are not zero");
    if (hd_op_by_code(unit, code) < 0) return illegal(out_why, "unknown operation code");
    *op = (struct hd_op_word){
        .unit = (uint8_t)unit, .code = (uint8_t)code, .set = head >> HD_HEAD_set_LSB};
    if (op->set >> hd_isa_units[unit].n_words)
        return illegal(out_why, "set mask names a parameter word that the unit does not have");
    const struct {
        uint32_t bit, *mask;
    } masks[] = {{HAS_WAIT, &op->wait}, {HAS_SIGNAL, &op->signal}};
    int at = 1;
    for (int i = 0; i < 2; i++) {
        if (!(head & masks[i].bit)) continue;
        if ((size_t)at < n) *masks[i].mask = in[at];
        at++;
    }
    for (int i = 0; i < HD_PARAM_WORDS; i++) at += op->set >> i & 1;
    return at;
}

int hd_op_words(enum hd_unit unit, const uint32_t *in, size_t n) {
    struct hd_op_word op;
    const char *why;
    return read_head(unit, in, n, &op, &why);
}

int hd_op_decode(enum hd_unit unit, const uint32_t *in, size_t n, struct hd_op_word *out,
                 const char **out_why) {
    struct hd_op_word op;
    int words = read_head(unit, in, n, &op, out_why), at = words;
    if (words && (size_t)words > n) return illegal(out_why, "operation is cut off");
    if (!words) return 0;
    for (int i = HD_PARAM_WORDS; i-- > 0;)
        if (op.set >> i & 1) op.lit[i] = in[--at];
    *out = op;
    return words;
}

int hd_bundle_decode(const uint32_t *in, size_t n, struct hd_op_word ops[HD_UNITS],
                     int out_offset[HD_UNITS], int *out_n, const char **out_why) {
    if (n < 1) return illegal(out_why, "bundle header is cut off");
    uint32_t slots = hd_bundle_slots(in[0]);
    if (in[0] != hd_bundle_head(slots))
        return illegal(out_why, "reserved bits of a bundle header are not zero");
    size_t at = 1;
    int n_ops = 0;
    for (int u = 0; u < HD_UNITS; u++) {
        if (!(slots >> u & 1)) continue;
        int len = hd_op_decode((enum hd_unit)u, in + at, n - at, &ops[n_ops], out_why);
        if (!len) return 0;
        out_offset[n_ops++] = (int)at;
        at += (size_t)len;
    }
    *out_n = n_ops;
    return (int)at;
}

/* ---- names ---------------------------------------------------------------------------------- */

static bool same(const char *name, const char *s, size_t len) {
    return strlen(name) == len && memcmp(name, s, len) == 0;
}

int hd_unit_by_name(const char *name, size_t len) {
    for (int u = 0; u < HD_UNITS; u++)
        if (same(hd_isa_units[u].name, name, len)) return u;
    return -1;
}

int hd_op_by_name(enum hd_unit unit, const char *name, size_t len) {
    for (int o = 0; o < HD_OPCODES; o++)
        if (hd_isa_ops[o].unit == unit && same(hd_isa_ops[o].name, name, len)) return o;
    return -1;
}

int hd_op_by_code(enum hd_unit unit, unsigned code) {
    for (int o = 0; o < HD_OPCODES; o++)
        if (hd_isa_ops[o].unit == unit && hd_isa_ops[o].code == code) return o;
    return -1;
}

int hd_field_by_name(enum hd_unit unit, const char *name, size_t len) {
    for (int f = 0; f < HD_FIELDS; f++)
        if (hd_isa_fields[f].unit == unit && same(hd_isa_fields[f].name, name, len)) return f;
    return -1;
}

int hd_value_max(enum hd_field f) {
    int max = -1;
    for (int v = 0; v < hd_n_isa_values; v++)
        if (hd_isa_values[v].set == hd_isa_fields[f].set) max = hd_isa_values[v].code;
    return max;
}

/* ---- the tables themselves ------------------------------------------------------------------ */

/* Every row a string literal, so that a complaint about row i needs no buffer. */
static const char *const op_complaint[HD_OPCODES] = {
#define OP(unit, op, code, doc) "op " #unit "." #op ": name or code is used by another row",
#include "isa/isa.def"
};
static const char *const field_complaint[HD_FIELDS] = {
#define FIELD(unit, field, ...)                                                                    \
    "field " #unit "." #field                                                                      \
    ": overlaps another field, its name is taken, or a value of its set does not fit",
#include "isa/isa.def"
};
static const char *const value_complaint[] = {
#define VALUE(set, name, code, doc)                                                                \
    "value " #set "." #name ": codes of a set count from 0, and each name stands once",
#include "isa/isa.def"
};
static const char *const unit_complaint[HD_UNITS] = {
#define UNIT(unit, code, doc) [code] = "unit " #unit ": no nop, no tag, or a gap in its words",
#include "isa/isa.def"
};

static bool field_row_ok(int i) {
    const struct hd_field_info *a = &hd_isa_fields[i];
    if (a->word >= hd_isa_units[a->unit].n_words) return false;
    if (a->set && hd_value_max((enum hd_field)i) >> a->width) return false;
    if (!strcmp(a->name, "wait") || !strcmp(a->name, "sig") || !strncmp(a->name, "word", 4))
        return false; /* names of the text format */
    for (int j = 0; j < i; j++) {
        const struct hd_field_info *b = &hd_isa_fields[j];
        if (a->unit != b->unit) continue;
        if (strcmp(a->name, b->name) == 0) return false;
        if (a->word == b->word && a->lsb < b->lsb + b->width && b->lsb < a->lsb + a->width)
            return false;
    }
    return true;
}

/* Rows of a set stand together, so the one before tells the code. */
static bool value_row_ok(int i) {
    const struct hd_field_value *v = &hd_isa_values[i], *before = i ? v - 1 : NULL;
    for (int j = 0; j < i; j++)
        if (hd_isa_values[j].set == v->set && !strcmp(hd_isa_values[j].name, v->name)) return false;
    return v->code == (before && before->set == v->set ? before->code + 1 : 0);
}

/* Every unit with words has its tag in the same one. */
static bool has_tag(int u) {
    int f = hd_field_by_name((enum hd_unit)u, "tag", 3);
    return !hd_isa_units[u].n_words || (f >= 0 && hd_isa_fields[f].word == HD_TAG_WORD &&
                                        hd_isa_fields[f].lsb == 0 && hd_isa_fields[f].width == 16);
}

static bool unit_row_ok(int u) {
    uint32_t used = 0;
    for (int f = 0; f < HD_FIELDS; f++)
        if ((int)hd_isa_fields[f].unit == u) used |= UINT32_C(1) << hd_isa_fields[f].word;
    int n = hd_isa_units[u].n_words;
    return used == (UINT32_C(1) << n) - 1 && has_tag(u) && hd_op_by_code((enum hd_unit)u, 0) >= 0;
}

const char *hd_isa_check(void) {
    for (int u = 0; u < HD_UNITS; u++) {
        if (!hd_isa_units[u].name) return "units: codes are not 0..HD_UNITS-1 without a gap";
        if (!unit_row_ok(u)) return unit_complaint[u];
    }
    for (int i = 0; i < HD_OPCODES; i++)
        for (int j = 0; j < i; j++) {
            const struct hd_op_info *a = &hd_isa_ops[i], *b = &hd_isa_ops[j];
            if (a->unit == b->unit && (a->code == b->code || strcmp(a->name, b->name) == 0))
                return op_complaint[i];
        }
    for (int i = 0; i < hd_n_isa_values; i++)
        if (!value_row_ok(i)) return value_complaint[i];
    for (int i = 0; i < HD_FIELDS; i++)
        if (!field_row_ok(i)) return field_complaint[i];
    if (!hd_rooms_are_free()) return "room: a row names what a field, an operation or a row has";
    return NULL;
}

static uint32_t fnv_u32(uint32_t h, uint32_t v) {
    for (int i = 0; i < 4; i++) h = (h ^ (v >> 8 * i & 255)) * UINT32_C(16777619);
    return h;
}
static uint32_t fnv_text(uint32_t h, const char *s) { /* the final NUL is hashed too */
    do h = (h ^ (unsigned char)*s) * UINT32_C(16777619);
    while (*s++);
    return h;
}

uint32_t hd_isa_hash(void) {
    uint32_t h = fnv_u32(UINT32_C(2166136261), HD_ISA_VERSION);
    for (int u = 0; u < HD_UNITS; u++) h = fnv_text(fnv_u32(h, (uint32_t)u), hd_isa_units[u].name);
    for (int o = 0; o < HD_OPCODES; o++) {
        const struct hd_op_info *op = &hd_isa_ops[o];
        h = fnv_text(fnv_u32(fnv_u32(h, op->unit), op->code), op->name);
    }
    for (int i = 0; i < HD_FIELDS; i++) {
        const struct hd_field_info *f = &hd_isa_fields[i];
        h = fnv_text(fnv_u32(h, f->unit), f->name);
        h = fnv_u32(fnv_u32(h, (uint32_t)f->word), (uint32_t)f->lsb);
        h = fnv_u32(fnv_u32(h, (uint32_t)f->width), f->kind);
    }
    for (int i = 0; i < hd_n_isa_values; i++)
        h = fnv_text(fnv_u32(h, (uint32_t)hd_isa_values[i].code), hd_isa_values[i].name);
#define BUNDLE(field, lsb, width, doc) h = fnv_u32(fnv_u32(fnv_text(h, #field), lsb), width);
#define HEAD(field, lsb, width, doc)   h = fnv_u32(fnv_u32(fnv_text(h, #field), lsb), width);
#include "isa/isa.def"
    return h;
}

const char *hd_isa_version(uint32_t hash) {
#define VERSION(major, minor, old)                                                                 \
    if (hash == (old)) return #major "." #minor;
#include "isa/versions.def"
    return hash == hd_isa_hash() ? HD_ISA_VERSION_TEXT : "unknown";
}

/* ---- registers ------------------------------------------------------------------------------ */

int hd_kernel_args(struct hd_kernel_arg out[HD_KERNEL_ARGS_MAX]) {
    static const struct hd_kernel_arg all[] = {
#define REG(name, offset, bits, access, doc) {#name, doc, offset, bits},
#include "isa/regs.def"
    };
    int n = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all && n < HD_KERNEL_ARGS_MAX; i++)
        if (all[i].offset >= HD_REG_image_ptr && all[i].offset <= HD_REG_cycle_limit)
            out[n++] = all[i];
    return n;
}

const char *hd_error_text(unsigned code) {
    static const char *const text[] = {
#define ERR(name, code, doc) [code] = doc,
#include "isa/regs.def"
    };
    const char *t = code < sizeof text / sizeof text[0] ? text[code] : NULL;
    return t ? t : "unknown error";
}
