/* Counts what operations and field values random programs had. */
#include "test/cosim/cover.h"

#include <stdio.h>
#include <string.h>

enum bin {
    BIN_zero, /* 0..7: the values of a field of up to 3 bits */
    BIN_one,
    BIN_more,
    BIN_minus_one,
    BIN_less,
    BIN_negative,
    BIN_infinite,
    BIN_nan,
    BINS
};
enum { BIN_subnormal = BIN_one, BIN_normal = BIN_more, SMALL_BITS = 3 };

static const char *const bin_names[BINS] = {"0", "1", "above 1", "-1", "below -1", "", "", ""};
static const char *const float_names[BINS] = {"zero", "subnormal", "normal",   "",
                                              "",     "negative",  "infinite", "NaN"};

static struct {
    long used, waits, signals;
    long field[HD_FIELDS][BINS];
} seen[HD_OPCODES];

static bool is_small(const struct hd_field_info *f) {
    return f->width <= SMALL_BITS && f->kind != HD_KIND_S;
}

static bool has_bin(const struct hd_field_info *f, int bin) {
    if (is_small(f)) return bin < 1 << f->width;
    if (f->kind == HD_KIND_F) return *float_names[bin] != 0;
    return bin <= BIN_more || (f->kind == HD_KIND_S && bin <= BIN_less);
}

static void count(long *bins, const struct hd_field_info *f, int64_t v) {
    uint32_t u = (uint32_t)v, size = u & 0x7fffffff;
    if (is_small(f)) {
        bins[v]++;
    } else if (f->kind == HD_KIND_F) {
        if (u >> 31) bins[BIN_negative]++;
        bins[size > 0x7f800000    ? BIN_nan
             : size == 0x7f800000 ? BIN_infinite
             : size >= 0x00800000 ? BIN_normal
             : size               ? BIN_subnormal
                                  : BIN_zero]++;
    } else {
        bins[v == 0    ? BIN_zero
             : v == 1  ? BIN_one
             : v > 1   ? BIN_more
             : v == -1 ? BIN_minus_one
                       : BIN_less]++;
    }
}

void cover_program(const uint32_t *words, size_t n) {
    struct hd_sticky sticky[HD_UNITS] = {{{0}}};
    struct hd_op_word op[HD_UNITS];
    int offset[HD_UNITS], ops;
    const char *why;
    for (size_t at = HD_PROG_HEADER_WORDS; at < n;) {
        int length = hd_bundle_decode(words + at, n - at, op, offset, &ops, &why);
        if (!length) return;
        at += (size_t)length;
        for (int i = 0; i < ops; i++) {
            int u = op[i].unit, o = hd_op_by_code((enum hd_unit)u, op[i].code);
            hd_op_apply(&op[i], &sticky[u]);
            seen[o].used++;
            seen[o].waits += op[i].wait != 0;
            seen[o].signals += op[i].signal != 0;
            for (int f = 0; op[i].code && f < HD_FIELDS; f++)
                if (hd_isa_fields[f].unit == (enum hd_unit)u)
                    count(seen[o].field[f], &hd_isa_fields[f],
                          hd_field_get(sticky[u].words, (enum hd_field)f));
        }
    }
}

static int bin_by_name(const char *name) {
    static const struct {
        const char *name;
        int bin;
    } names[] = {{"zero", BIN_zero},         {"one", BIN_one},
                 {"more", BIN_more},         {"minus_one", BIN_minus_one},
                 {"less", BIN_less},         {"subnormal", BIN_subnormal},
                 {"normal", BIN_normal},     {"negative", BIN_negative},
                 {"infinite", BIN_infinite}, {"nan", BIN_nan}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(names[i].name, name)) return names[i].bin;
    return name[0] - '0';
}

/* Why this bin is not asked for; NULL: it is. */
static const char *excuse(int op, int field, int bin, bool functions) {
#define SAME(o, f) (op == HD_OP_##o && !strcmp(hd_isa_fields[field].name, #f))
#define UNUSED(o, f, reason)                                                                       \
    if (SAME(o, f)) return reason;
#define NEVER(o, f, b, reason)                                                                     \
    if (SAME(o, f) && bin == bin_by_name(#b)) return reason;
#define FUNCTIONS(o, f, b)                                                                         \
    if (!functions && SAME(o, f) && bin == bin_by_name(#b)) return "the machine has no functions";
#include "test/cosim/cover.def"
    return NULL;
}

int cover_print(const struct hd_machine *m) {
    int all_bins = 0, all_hit = 0, all_excused = 0, missed = 0;
    printf("%-12s %8s %8s %8s %6s %6s %8s\n", "operation", "used", "waits", "signals", "bins",
           "hit", "excused");
    for (int o = 0; o < HD_OPCODES; o++) {
        const struct hd_op_info *op = &hd_isa_ops[o];
        int bins = 1, hit = seen[o].used > 0, excused = 0;
        char name[32], text[4096] = "";
        size_t len = 0;
        for (int f = 0; op->code && op->unit && f < HD_FIELDS; f++) {
            const struct hd_field_info *field = &hd_isa_fields[f];
            for (int b = 0; field->unit == op->unit && b < BINS; b++) {
                if (!has_bin(field, b)) continue;
                bins++;
                if (seen[o].field[f][b]) {
                    hit++;
                } else if (excuse(o, f, b, m->functions)) {
                    excused++;
                } else if (len < sizeof text - 64) {
                    char value[16];
                    snprintf(value, sizeof value, "%d", b);
                    len += (size_t)snprintf(text + len, sizeof text - len, " %s=%s", field->name,
                                            is_small(field)            ? value
                                            : field->kind == HD_KIND_F ? float_names[b]
                                                                       : bin_names[b]);
                }
            }
        }
        snprintf(name, sizeof name, "%s.%s", hd_isa_units[op->unit].name, op->name);
        printf("%-12s %8ld %8ld %8ld %6d %6d %8d\n", name, seen[o].used, seen[o].waits,
               seen[o].signals, bins, hit, excused);
        if (!seen[o].used)
            printf("    never used\n");
        else if (len)
            printf("    missed:%s\n", text);
        all_bins += bins;
        all_hit += hit;
        all_excused += excused;
        missed += bins - hit - excused;
    }
    printf("coverage: %d of %d bins hit (%.1f %%), %d excused (test/cosim/cover.def), %d missed\n",
           all_hit, all_bins, 100.0 * all_hit / all_bins, all_excused, missed);
    return missed;
}
