/* Machine operations -> text -> machine operations. Fields come from isa.def. */
#include "compiler/machine_ops/ops_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/fields.h"
#include "runtime/base/num.h"

/* ---- printing ---- */

static void print_mask(FILE *f, const char *name, uint32_t mask) {
    const char *between = "";
    if (mask) fprintf(f, " %s=", name);
    for (int i = 0; i < HD_SEMAPHORES; i++) {
        if (!(mask >> i & 1)) continue;
        fprintf(f, "%s%d", between, i);
        between = ",";
    }
}

static const char *value_name(enum hd_value_set set, int64_t code) {
    for (int i = 0; set != HD_SET_none && i < hd_n_isa_values; i++)
        if (hd_isa_values[i].set == set && hd_isa_values[i].code == code)
            return hd_isa_values[i].name;
    return NULL;
}

static void print_field(FILE *f, enum hd_field id, int64_t v) {
    const struct hd_field_info *fi = &hd_isa_fields[id];
    const char *name = value_name(fi->set, v);
    uint32_t bits = (uint32_t)v;
    float x;
    memcpy(&x, &bits, sizeof x);
    if (name)
        fprintf(f, " %s=%s", fi->name, name);
    else if (fi->kind == HD_KIND_F && isfinite(x))
        fprintf(f, " %s=%a", fi->name, (double)x);
    else if (fi->kind == HD_KIND_F)
        fprintf(f, " %s=bits:%08" PRIx32, fi->name, bits);
    else
        fprintf(f, " %s=%" PRId64, fi->name, v);
}

static int op_of(int unit, unsigned code) {
    int o = 0;
    while (o < HD_OPCODES && ((int)hd_isa_ops[o].unit != unit || hd_isa_ops[o].code != code)) o++;
    return o;
}

static void print_op(const struct hd_slot_op *op, FILE *f) {
    fprintf(f, "%s.%s @%d", hd_isa_units[op->unit].name, hd_isa_ops[op_of(op->unit, op->code)].name,
            op->tag);
    print_mask(f, "wait", op->wait);
    print_mask(f, "signal", op->signal);
    for (int i = 0; op->number > 0 && i < HD_FIELDS; i++) {
        if (hd_isa_fields[i].word == HD_TAG_WORD) continue; /* behind the @ */
        int64_t v =
            (int)hd_isa_fields[i].unit == op->unit ? hd_field_get(op->words, (enum hd_field)i) : 0;
        if (v) print_field(f, (enum hd_field)i, v);
    }
    fputc('\n', f);
}

void hd_ops_print(const struct hd_ops *s, int step, int64_t estimate, FILE *out) {
    const struct hd_lowering *lo = s->lo;
    const struct hd_name_list *only = &lo->opt->dump_only;
    int tag = -1;
    fprintf(out, "step %d operations=%zu estimate=%" PRId64 "\n", step, s->n_ops, estimate);
    for (size_t i = 0; i < s->n_ops; i++) {
        const struct hd_slot_op *op = &s->ops[i];
        const char *name = lo->g->nodes[lo->layers[op->tag].node].name;
        if (only->n && !hd_name_listed(only, name)) continue;
        if (op->tag != tag) {
            fprintf(out, "# layer %d ", op->tag);
            hd_word_print(out, name);
            fputc('\n', out);
        }
        tag = op->tag;
        print_op(op, out);
    }
}

/* ---- reading ---- */

struct step_head {
    uint64_t operations, estimate;
};
static const struct hd_member step_head[] = {HD_MEMBER(struct step_head, uint64_t, operations),
                                             HD_MEMBER(struct step_head, uint64_t, estimate)};

/* The length of a name, which ends with one of `ends`. */
static size_t until(const char *p, const char *ends) {
    return strcspn(p, ends);
}

static bool is(const char *name, const char *p, size_t n) {
    return strlen(name) == n && !strncmp(name, p, n);
}

static void list(char *want, size_t room, const char *name) {
    size_t n = strlen(want);
    snprintf(want + n, room - n, "%s%s", n ? ", " : "", name);
}

static hd_status parse_mask(struct hd_lines *r, uint32_t *out) {
    for (*out = 0;; r->p++) {
        char *end;
        unsigned long v = strtoul(r->p, &end, 10);
        if (end == r->p || v >= HD_SEMAPHORES || !strchr(", \t\r\n", *end))
            return hd_lines_fail(r, "numbers of semaphores, 0 to 31, with commas");
        *out |= UINT32_C(1) << v;
        r->p = end;
        if (*end != ',') return HD_OK;
    }
}

static hd_status parse_float(struct hd_lines *r, int64_t *out) {
    char *end;
    uint32_t bits;
    if (!strncmp(r->p, "bits:", 5)) {
        bits = (uint32_t)strtoul(r->p + 5, &end, 16);
    } else {
        float x = strtof(r->p, &end);
        memcpy(&bits, &x, sizeof bits);
    }
    if (end == r->p || !strchr(" \t\r\n", *end)) return hd_lines_fail(r, "a number, or bits:HEX");
    r->p = end, *out = bits;
    return HD_OK;
}

static hd_status parse_value(struct hd_lines *r, enum hd_field f, int64_t *out) {
    const struct hd_field_info *fi = &hd_isa_fields[f];
    size_t n = until(r->p, " \t\r\n");
    for (int i = 0; fi->set != HD_SET_none && i < hd_n_isa_values; i++) {
        if (hd_isa_values[i].set != fi->set || !is(hd_isa_values[i].name, r->p, n)) continue;
        r->p += n, *out = hd_isa_values[i].code;
        return HD_OK;
    }
    if (fi->kind == HD_KIND_F) return parse_float(r, out);
    int64_t span = INT64_C(1) << fi->width;
    bool negative = fi->kind == HD_KIND_S;
    return hd_lines_integer(r, negative ? -span / 2 : 0, (negative ? span / 2 : span) - 1, out);
}

/* One NAME=VALUE of an operation. */
static hd_status parse_item(struct hd_lines *r, struct hd_slot_op *op) {
    char want[1024] = "wait, signal";
    size_t n = until(r->p, "= \t\r\n");
    bool wait = is("wait", r->p, n), signal = is("signal", r->p, n);
    if ((wait || signal) && r->p[n] == '=') {
        r->p += n + 1;
        return parse_mask(r, wait ? &op->wait : &op->signal);
    }
    for (int f = 0; f < HD_FIELDS; f++) {
        if ((int)hd_isa_fields[f].unit != op->unit) continue;
        if (!is(hd_isa_fields[f].name, r->p, n) || r->p[n] != '=') {
            list(want, sizeof want, hd_isa_fields[f].name);
            continue;
        }
        int64_t v = 0;
        r->p += n + 1;
        TRY(parse_value(r, (enum hd_field)f, &v));
        hd_field_set(op->words, (enum hd_field)f, v);
        return HD_OK;
    }
    return hd_lines_fail(r, want);
}

/* unit.operation */
static hd_status parse_name(struct hd_lines *r, struct hd_slot_op *op) {
    char want[512] = "";
    size_t n = until(r->p, ". \t\r\n"), m = until(r->p, " \t\r\n");
    for (int o = 0; o < HD_OPCODES; o++) {
        const struct hd_op_info *oi = &hd_isa_ops[o];
        const char *unit = hd_isa_units[oi->unit].name;
        bool this_unit = is(unit, r->p, n) && r->p[n] == '.' && oi->unit != HD_UNIT_seq;
        if (this_unit && is(oi->name, r->p + n + 1, m - n - 1)) {
            op->unit = (uint8_t)oi->unit, op->code = (uint8_t)oi->code;
            r->p += m;
            return HD_OK;
        }
        if (this_unit) list(want, sizeof want, oi->name);
    }
    for (int u = 0; !*want && u < HD_UNITS; u++)
        if (u != HD_UNIT_seq) list(want, sizeof want, hd_isa_units[u].name);
    return hd_lines_fail(r, want);
}

static hd_status parse_op(struct hd_ops *s, struct hd_lines *r) {
    struct hd_slot_op *op = hd_push(s->arena, s->ops, s->n_ops, s->cap_ops);
    int64_t tag = 0;
    *op = (struct hd_slot_op){.number = 1};
    TRY(parse_name(r, op));
    if (op->code == 0) op->number = -1; /* a nop carries no parameters */
    if (hd_lines_end(r) || *r->p != '@') return hd_lines_fail(r, "@ and the number of a layer");
    r->p++;
    TRY(hd_lines_integer(r, 0, (int64_t)s->lo->n_layers - 1, &tag));
    op->tag = (uint16_t)tag;
    if (op->unit != HD_UNIT_seq) op->words[HD_TAG_WORD] = op->tag;
    while (!hd_lines_end(r)) TRY(parse_item(r, op));
    return HD_OK;
}

hd_status hd_ops_parse(struct hd_ops *s, int step, const char *text, const char *file,
                       int64_t *out_estimate) {
    struct hd_lines r = {s->lo->ctx, text, file, 0};
    struct step_head head = {0};
    int64_t now = -1;
    bool found = false;
    while (hd_lines_next(&r)) {
        if (hd_lines_accept(&r, "step")) {
            struct step_head of = {0};
            TRY(hd_lines_integer(&r, 0, s->lo->model->n_steps - 1, &now));
            TRY(hd_lines_members(&r, step_head, 2, &of));
            if (now == step) head = of, found = true;
            continue;
        }
        if (now < 0) return hd_lines_fail(&r, "step and its number, on the first line");
        if (now == step)
            TRY(parse_op(s, &r));
        else
            r.p += strcspn(r.p, "\n");
    }
    if (!found || head.operations != s->n_ops)
        return hd_fail(s->lo->ctx, HD_INVALID,
                       "%s: %zu operations of step %d, want %" PRIu64
                       " as its line says; is the text whole?",
                       file, s->n_ops, step, head.operations);
    *out_estimate = (int64_t)head.estimate;
    return HD_OK;
}
