/* Instruction set and machine tables: encode, decode, fingerprints. See isa.def, machine.def,
 * timing.def, regs.def.
 *
 * Stream format, 32-bit little-endian words:
 *
 *   program     header, bundle, bundle, ...; starts at image + code_offset
 *   header      [0] HD_PROG_MAGIC [1] isa hash [2] machine hash [3] words, header included
 *   bundle      slot mask (bit u = unit u; BUNDLE in isa.def); then one operation per set bit,
 *               lowest unit first
 *   operation   header (HEAD): code, what follows, mask of the parameter words that change; then,
 *               where present and in this order: wait mask, signal mask, and one word for each bit
 *               of the set mask, lowest parameter word first
 *
 * Bits that have no name are zero.
 *
 * Issue: bundles in order; an operation enters its unit's queue (machine.queue_ops deep; a full
 * queue holds issue). Each unit takes its operations in order: replaces the sticky words that the
 * operation carries, waits until every semaphore of the wait mask is above zero, then decrements
 * those, runs, and when all its effects are visible increments every semaphore of the signal mask
 * (255 at most).
 */
#ifndef HD_ISA_ISA_H
#define HD_ISA_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/status.h"

#define HD_ISA_MAJOR        2
#define HD_ISA_MINOR        1
#define HD_TEXT_OF(x)       #x
#define HD_TEXT(x)          HD_TEXT_OF(x)
#define HD_ISA_VERSION_TEXT HD_TEXT(HD_ISA_MAJOR) "." HD_TEXT(HD_ISA_MINOR)

enum {
    HD_ISA_VERSION = HD_ISA_MAJOR << 16 | HD_ISA_MINOR,
    HD_PROG_MAGIC = 0x344c4448, /* "HDL4" */
    HD_PROG_HEADER_WORDS = 4,
    HD_PARAM_WORDS = 24, /* sticky words of a unit, at most */
    HD_TAG_WORD = 0,     /* where `tag` is, of every unit but SEQ */
    HD_OP_MAX_WORDS = 3 + HD_PARAM_WORDS,
    HD_SEMAPHORES = 32,
    HD_SEM_MAX = 255,
    HD_SEGMENTS = 2,  /* image, arena */
    HD_TM_TABLES = 4, /* words of TM */
    HD_TM_WORD_BYTES = 256,
    HD_CODE_ALIGN = 64
};

enum hd_unit {
#define UNIT(unit, code, doc) HD_UNIT_##unit = code,
#include "isa/isa.def"
    HD_UNITS = 6
};

enum hd_opcode { /* index into hd_isa_ops, not the encoded value */
#define OP(unit, op, code, doc) HD_OP_##unit##_##op,
#include "isa/isa.def"
                 HD_OPCODES
};

enum hd_field {
#define FIELD(unit, field, ...) HD_F_##unit##_##field,
#include "isa/isa.def"
    HD_FIELDS
};

enum hd_field_kind { HD_KIND_U, HD_KIND_S, HD_KIND_F, HD_KIND_E };

/* Values of fields: HD_V_vx_kind_zero is one of HD_SET_vx_kind. */
enum hd_value_set {
    HD_SET_none, /* of fields that have any value */
#define VALUES(set, doc) HD_SET_##set,
#include "isa/isa.def"
    HD_VALUE_SETS
};
enum {
#define VALUE(set, name, code, doc) HD_V_##set##_##name = code,
#include "isa/isa.def"
};

struct hd_unit_info {
    const char *name, *doc;
    int n_words; /* sticky words in use */
};
struct hd_op_info {
    const char *name, *doc;
    enum hd_unit unit;
    unsigned code;
};
struct hd_field_info {
    const char *name, *doc;
    enum hd_unit unit;
    int word, lsb, width;
    enum hd_field_kind kind;
    enum hd_value_set set;
};
struct hd_field_value {
    enum hd_value_set set;
    const char *name, *doc;
    int code;
};

/* A part of the encoding that has no meaning yet, and what it is kept for (isa.def, ROOM). */
enum hd_isa_room_of { HD_ROOM_bundle, HD_ROOM_head, HD_ROOM_codes, HD_ROOM_bits, HD_ROOM_words };
struct hd_isa_room {
    enum hd_isa_room_of of;
    enum hd_unit unit;
    int at, lsb, width;
    const char *doc;
};

enum { /* places in the headers */
#define BUNDLE(field, lsb, width, doc)                                                             \
    HD_BUNDLE_##field##_LSB = lsb, HD_BUNDLE_##field##_BITS = width,
#define HEAD(field, lsb, width, doc) HD_HEAD_##field##_LSB = lsb, HD_HEAD_##field##_BITS = width,
#include "isa/isa.def"
};

extern const struct hd_unit_info hd_isa_units[HD_UNITS];
extern const struct hd_op_info hd_isa_ops[HD_OPCODES];
extern const struct hd_field_info hd_isa_fields[HD_FIELDS];
extern const struct hd_field_value hd_isa_values[]; /* set by set, by code */
extern const int hd_n_isa_values;
extern const struct hd_isa_room hd_isa_rooms[];
extern const int hd_n_isa_rooms;

/* One operation, decoded: header, semaphores and the words it changes. */
struct hd_op_word {
    uint8_t unit, code;           /* encoded op code */
    uint32_t wait, signal, set;   /* masks */
    uint32_t lit[HD_PARAM_WORDS]; /* value of word i, valid where bit i of set */
};

/* Where a field lies, known when a caller that names one is compiled. */
static const struct hd_field_place {
    uint8_t word, lsb, width, is_signed;
} hd_field_places[HD_FIELDS] = {
#define FIELD(unit, field, word, lsb, width, kind, doc)                                            \
    {word, lsb, width, HD_KIND_##kind == HD_KIND_S},
#define CHOICE(unit, field, word, lsb, width, set, doc) {word, lsb, width, 0},
#include "isa/isa.def"
};

/* Value of a field in a unit's parameter words (sign-extended for S); whether one fits; its
 * replacement in place, which asserts that it fits. Here, because scheduling is made of them. */
static inline uint32_t hd_field_mask(struct hd_field_place at) {
    return at.width == 32 ? UINT32_MAX : (UINT32_C(1) << at.width) - 1;
}

static inline int64_t hd_field_get(const uint32_t words[HD_PARAM_WORDS], enum hd_field f) {
    const struct hd_field_place at = hd_field_places[f];
    uint32_t v = words[at.word] >> at.lsb & hd_field_mask(at);
    if (at.is_signed && v >> (at.width - 1)) return (int64_t)v - (INT64_C(1) << at.width);
    return v;
}

static inline bool hd_field_fits(enum hd_field f, int64_t v) {
    const struct hd_field_place at = hd_field_places[f];
    int64_t span = INT64_C(1) << at.width;
    if (at.is_signed) return v >= -span / 2 && v < span / 2;
    return v >= 0 && v < span;
}

/* false: it does not fit, and nothing is set. */
static inline bool hd_field_try_set(uint32_t words[HD_PARAM_WORDS], enum hd_field f, int64_t v) {
    const struct hd_field_place at = hd_field_places[f];
    if (!hd_field_fits(f, v)) return false;
    uint32_t mask = hd_field_mask(at) << at.lsb;
    words[at.word] = (words[at.word] & ~mask) | ((uint32_t)v << at.lsb & mask);
    return true;
}

static inline void hd_field_set(uint32_t words[HD_PARAM_WORDS], enum hd_field f, int64_t v) {
    bool fits = hd_field_try_set(words, f, v);
    HD_ASSERT(fits);
}

/* What a unit keeps from one operation to the next; all zero at program start. */
struct hd_sticky {
    uint32_t words[HD_PARAM_WORDS];
};

/* Replaces the words that the operation carries. */
void hd_op_apply(const struct hd_op_word *op, struct hd_sticky *sticky);

/* Encodes one operation: returns words written, at most HD_OP_MAX_WORDS. */
int hd_op_encode(const struct hd_op_word *op, uint32_t *out);
/* Decodes one operation of `unit` from at most n words: returns words read, or 0 if it is illegal
 * (unknown code, reserved bits, a mask that names absent words, too short); *out_why then says why.
 */
int hd_op_decode(enum hd_unit unit, const uint32_t *in, size_t n, struct hd_op_word *out,
                 const char **out_why);

/* Words of the operation of `unit` that begins at in, as far as the n that are there tell: above n
 * while some are missing; 0 if it is illegal, which a word tells that is there. */
int hd_op_words(enum hd_unit unit, const uint32_t *in, size_t n);

/* First word of a bundle. */
static inline uint32_t hd_bundle_head(uint32_t slots) {
    return slots << HD_BUNDLE_slots_LSB;
}
static inline uint32_t hd_bundle_slots(uint32_t head) {
    return head >> HD_BUNDLE_slots_LSB & ((1u << HD_BUNDLE_slots_BITS) - 1);
}
/* Decodes the bundle at in[0]: fills ops[0..*out_n) in slot order and their word offsets relative
 * to in; returns its length in words, or 0 if illegal. */
int hd_bundle_decode(const uint32_t *in, size_t n, struct hd_op_word ops[HD_UNITS],
                     int out_offset[HD_UNITS], int *out_n, const char **out_why);

/* Bits of a parameter word that a field has. The others are zero in every legal program; what those
 * bits are kept for. The machine does not look at them: hd_check_program does. */
uint32_t hd_word_named(enum hd_unit unit, int word);
const char *hd_room_for(enum hd_unit unit, int word, uint32_t those);
/* Part of hd_isa_check. */
bool hd_rooms_are_free(void);

/* The highest legal value of a field that has a set of values. */
int hd_value_max(enum hd_field f);

/* -1 when there is none of that name. */
int hd_unit_by_name(const char *name, size_t len);
int hd_op_by_name(enum hd_unit unit, const char *name, size_t len);
int hd_op_by_code(enum hd_unit unit, unsigned code);
int hd_field_by_name(enum hd_unit unit, const char *name, size_t len);

/* Checks the tables themselves. NULL, or a static message that names the first bad row. */
const char *hd_isa_check(void);
uint32_t hd_isa_hash(void);
/* "2.0" of the hash of an instruction set that was released, "unknown" of another. */
const char *hd_isa_version(uint32_t hash);

/* ---- machines ------------------------------------------------------------------------------- */

struct hd_machine {
    char name[32];
#define PARAM(name, ...) uint32_t name;
#include "isa/machine.def"
};

enum { /* HD_MOST_cores: what a machine may have */
#define PARAM(name, tiny, base, big, nano, lean, k26, min, max, ...) HD_MOST_##name = max,
#include "isa/machine.def"
};

struct hd_param_info {
    const char *name, *doc;
    size_t offset; /* in struct hd_machine */
    uint32_t min, max;
    bool fingerprint;
};
extern const struct hd_param_info hd_machine_params[];
extern const int hd_n_machine_params;
extern const struct hd_machine hd_machines[]; /* tiny, base, big, .. */
extern const int hd_n_machines;

/* A named machine, or a file of `key = value` lines (`base = NAME` starts from a named one).
 * Errors: HD_INVALID names the key, the value and what is allowed. */
hd_status hd_machine_load(hd_ctx *ctx, const char *name_or_file, struct hd_machine *out);
/* Applies one "key=value"; the name becomes NAME+key=value. Call hd_machine_check afterwards. */
hd_status hd_machine_set(hd_ctx *ctx, struct hd_machine *m, const char *key_value);
hd_status hd_machine_check(hd_ctx *ctx, const struct hd_machine *m);
uint32_t hd_machine_hash(const struct hd_machine *m);
/* The clocks that timing supports, in MHz, by the most, the likely and the least delays (clock.def,
 * written by `make synth`). NULL: nobody has timed a machine of this fingerprint. */
struct hd_clock {
    uint32_t least, likely, most;
};
const struct hd_clock *hd_machine_clock(const struct hd_machine *m);
/* What follows "168 MHz" in a report: nothing, or that the clock is not what timing says. */
const char *hd_machine_clock_note(const struct hd_machine *m);

/* ---- time: timing.def ----------------------------------------------------------------------- */

enum { /* HD_T_: cycles, HD_N_: how many, HD_DEFAULT_: of tools */
#define CYCLES(name, cycles, doc) HD_T_##name = cycles,
#define COUNT(name, n, doc)       HD_N_##name = n,
#define DEFAULT(name, value, doc) HD_DEFAULT_##name = value,
#include "isa/timing.def"
};

/* Derived sizes: the formulas every user of the table shares. */
/* Beats of the longest burst that the machine sends: enough to hide latency with HD_N_open_bursts
 * of them, and short enough that LX and LW share the bus evenly whatever the runs of the other. */
static inline uint32_t hd_burst_beats(const struct hd_machine *m) {
    return m->axi_bits >= 256 ? 16 : 4096 / m->axi_bits;
}
static inline uint32_t hd_axi_bytes(const struct hd_machine *m) {
    return m->axi_bits / 8;
}
static inline uint32_t hd_wm_word_bytes(const struct hd_machine *m) {
    return m->n * m->k;
}
static inline uint32_t hd_am_word_bytes(const struct hd_machine *m) {
    return m->n * 4;
}
static inline uint32_t hd_pm_word_bytes(const struct hd_machine *m) {
    return m->n * 8;
}
static inline uint32_t hd_wm_words(const struct hd_machine *m) {
    return m->wm_bytes / (m->n * m->k);
}
static inline uint32_t hd_am_words(const struct hd_machine *m) {
    return m->am_bytes / (m->n * 4);
}
static inline uint32_t hd_pm_words(const struct hd_machine *m) {
    return m->pm_bytes / (m->n * 8);
}
/* The memory that lw.mem names: bytes of a word, and words; 0 where it names none. */
static inline uint32_t hd_lw_word_bytes(const struct hd_machine *m, int64_t mem) {
    return mem == HD_V_lw_mem_wm   ? hd_wm_word_bytes(m)
           : mem == HD_V_lw_mem_pm ? hd_pm_word_bytes(m)
           : mem == HD_V_lw_mem_tm ? (uint32_t)HD_TM_WORD_BYTES
                                   : 0;
}
static inline uint32_t hd_lw_words(const struct hd_machine *m, int64_t mem) {
    return mem == HD_V_lw_mem_wm   ? hd_wm_words(m)
           : mem == HD_V_lw_mem_pm ? hd_pm_words(m)
           : mem == HD_V_lw_mem_tm ? (uint32_t)HD_TM_TABLES
                                   : 0;
}

/* ---- registers ------------------------------------------------------------------------------ */

enum hd_reg {
#define REG(name, offset, ...)        HD_REG_##name = offset,
#define UNIT_REG(name, offset, doc)   HD_REG_##name = offset,
#define UNIT_STATE(name, offset, doc) HD_REG_##name = offset,
#include "isa/regs.def"
};

enum hd_error {
#define ERR(name, code, doc) HD_ERR_##name = code,
#include "isa/regs.def"
};
const char *hd_error_text(unsigned code); /* "unknown error" outside the table */

/* Arguments of the kernel as XRT sees them: the writable registers from image_ptr to
 * cycle_limit, in order. Index = argument number; 64 bits = a buffer, reached through m_axi_gmem.
 */
struct hd_kernel_arg {
    const char *name, *doc;
    uint32_t offset, bits;
};
enum { HD_KERNEL_ARGS_MAX = 16 };
int hd_kernel_args(struct hd_kernel_arg out[HD_KERNEL_ARGS_MAX]); /* returns how many */
#define HD_KERNEL_NAME   "hd_kernel"                              /* hw/xrt/hd_kernel.v */
#define HD_KERNEL_MASTER "m_axi_gmem"                             /* its ports */
#define HD_KERNEL_SLAVE  "s_axi_control"
#define HD_KERNEL_RANGE  0x1000 /* bytes of registers */

/* ---- text ----------------------------------------------------------------------------------- */

/* Assembles text to program words (header included) for machine m; grammar in docs/isa.md.
 * *out_words is malloc'd, the caller frees it. HD_INVALID: line, column, the line and a caret. */
hd_status hd_asm(hd_ctx *ctx, const struct hd_machine *m, const char *text, const char *name,
                 uint32_t **out_words, size_t *out_n);
/* Text of a program; assembling it gives the same words. *out_text is malloc'd. */
hd_status hd_disasm(hd_ctx *ctx, const uint32_t *words, size_t n, char **out_text);
/* One operation as text without newline, for reports: "mx.gemm wait=3 sig=5 x=0x100 ...". */
void hd_op_text(const struct hd_op_word *op, char *out, size_t out_bytes);

#endif
