/* Texts of grad.def: nested calls of operations, made into nodes. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/grad/adjoint.h"

struct attr_row { /* of an activation: names and defaults of p and q */
    const char *name[2];
    double value[2];
};

static const struct attr_row attrs[HD_IR_OPS] = {
#define ACTIVATION(op, a, def_a, b, def_b, ...) [HD_IR_##op] = {{a, b}, {def_a, def_b}},
#include "compiler/ir/elem.def"
};

struct reader {
    const struct hd_adjoint *a;
    const char *at;
    int y, g;
    double n;
};

static int number(const struct reader *r, double v) {
    return hd_b_number(r->a->b, hd_b_shape(r->a->b, r->g).dtype, v);
}

/* p or q: the attribute, as the float that it is. */
static int attribute(const struct reader *r, int i) {
    const struct attr_row *row = &attrs[r->a->n.op];
    return number(r, (double)hd_attr_float(&r->a->n, row->name[i], (float)row->value[i]));
}

/* Operands of another type (the exponent of pow) take that of the gradient; conditions stay. */
static int operand(const struct reader *r, int i) {
    int t = hd_a_in(r->a, i);
    HD_ASSERT(t >= 0);
    struct hd_tensor s = hd_b_shape(r->a->b, t);
    if (s.dtype == HD_BOOL) return t;
    return hd_b_cast(r->a->b, t, hd_b_shape(r->a->b, r->g).dtype);
}

static int variable(const struct reader *r, char c) {
    switch (c) {
    case 'a':
    case 'b':
    case 'c':
        return operand(r, c - 'a');
    case 'p':
    case 'q':
        return attribute(r, c - 'p');
    case 'y':
        return r->y;
    case 'g':
        return r->g;
    default:
        HD_ASSERT(c == 'n');
        return number(r, r->n);
    }
}

static void skip(struct reader *r, const char *set) {
    while (*r->at && strchr(set, *r->at)) r->at++;
}

static int value(struct reader *r) { /* recursion: as deep as the texts of the table */
    char name[16] = "";
    int in[3] = {-1, -1, -1}, n_in = 0;
    size_t n = 0;
    skip(r, " ");
    if (*r->at == '-' || isdigit((unsigned char)*r->at)) {
        char *end = NULL;
        double v = strtod(r->at, &end);
        r->at = end;
        return number(r, v);
    }
    while (isalpha((unsigned char)r->at[n]) && n + 1 < sizeof name) n++;
    memcpy(name, r->at, n);
    r->at += n;
    if (*r->at != '(') return variable(r, name[0]);
    while (*r->at != ')') {
        r->at++;
        HD_ASSERT(n_in < 3 && *r->at);
        in[n_in++] = value(r);
        skip(r, " ");
    }
    r->at++;
    int op = hd_ir_op_by_name(name);
    HD_ASSERT(op >= 0);
    return hd_b_op(r->a->b, (enum hd_ir_op)op, n_in, in);
}

int hd_a_text(const struct hd_adjoint *a, const char *text, int y, int g, double n) {
    struct reader r = {.a = a, .at = text, .y = y, .g = g, .n = n};
    if (a->b->status != HD_OK) return -1;
    return value(&r);
}
