/* Types and shapes of elementwise operations: the rows of elem.def, and those that need more. */
#include <string.h>

#include "compiler/ir/infer_int.h"

static hd_status unary(struct infer *c, unsigned types) {
    TRY(hd_infer_want_types(c, 0, types));
    hd_infer_like(c, 0, in(c, 0));
    return HD_OK;
}

/* Two operands that broadcast; the result has the type of the first, or is bool. */
static hd_status broadcast2(struct infer *c, bool truth) {
    const struct hd_tensor *a = in(c, 0), *b = in(c, 1);
    c->out->dtype = truth ? HD_BOOL : a->dtype;
    return hd_infer_broadcast(c, a->dim, a->rank, b->dim, b->rank);
}

static hd_status binary(struct infer *c, unsigned types, bool truth) {
    TRY(hd_infer_want_types(c, 0, types));
    TRY(hd_infer_want_type(c, 1, in(c, 0)->dtype));
    return broadcast2(c, truth);
}

enum { SAME, TRUTH };
#define ACTIVATION(name, ...)                                                                      \
    hd_status hd_infer_##name(struct infer *c) {                                                   \
        return unary(c, HD_T_FLOAT);                                                               \
    }
#define NUMBER(name, ...)                                                                          \
    hd_status hd_infer_##name(struct infer *c) {                                                   \
        return unary(c, HD_T_NUMBER);                                                              \
    }
#define INTEGER(name, types, ...)                                                                  \
    hd_status hd_infer_##name(struct infer *c) {                                                   \
        return unary(c, types);                                                                    \
    }
#define BINARY(name, types, result, ...)                                                           \
    hd_status hd_infer_##name(struct infer *c) {                                                   \
        return binary(c, types, result == TRUTH);                                                  \
    }
#define BINARY_INTEGER(name, types, ...)                                                           \
    hd_status hd_infer_##name(struct infer *c) {                                                   \
        return binary(c, types, false);                                                            \
    }
#include "compiler/ir/elem.def"

static hd_status one_of(struct infer *c, const char *attr, const char *def, const char *a,
                        const char *b) {
    const char *s = hd_attr_string(c->n, attr, def);
    if (!strcmp(s, a) || !strcmp(s, b)) return HD_OK;
    return BAD(c, "%s is '%s', allowed '%s' and '%s'", attr, s, a, b);
}

hd_status hd_infer_gelu(struct infer *c) {
    TRY(one_of(c, "approximate", "none", "none", "tanh"));
    return unary(c, HD_T_FLOAT);
}

static hd_status float_to_bool(struct infer *c) {
    TRY(unary(c, HD_T_FLOAT));
    c->out->dtype = HD_BOOL;
    return HD_OK;
}
hd_status hd_infer_isnan(struct infer *c) {
    return float_to_bool(c);
}
hd_status hd_infer_isinf(struct infer *c) {
    return float_to_bool(c);
}

hd_status hd_infer_pow(struct infer *c) {
    TRY(hd_infer_want_types(c, 0, HD_T_NUMBER));
    TRY(hd_infer_want_types(c, 1, HD_T_NUMBER));
    return broadcast2(c, false);
}

hd_status hd_infer_mod(struct infer *c) {
    if (!hd_attr_int(c->n, "fmod", 0)) {
        const struct hd_tensor *a = in(c, 0);
        if (1u << a->dtype & HD_T_FLOAT)
            return BAD(c, "operand '%s' is %s, which needs fmod=1", a->name,
                       hd_dtype_name(a->dtype));
    }
    return binary(c, HD_T_NUMBER, false);
}

hd_status hd_infer_bitshift(struct infer *c) {
    TRY(one_of(c, "direction", "", "LEFT", "RIGHT"));
    return binary(c, HD_T_UNSIGNED, false);
}

hd_status hd_infer_clip(struct infer *c) {
    for (int i = 1; i < 3; i++) {
        const struct hd_tensor *t = in(c, i);
        TRY(hd_infer_want_type(c, i, in(c, 0)->dtype));
        if (t && hd_tensor_elems(t) != 1)
            return BAD(c, "bound '%s' has %lld values, want 1", t->name,
                       (long long)hd_tensor_elems(t));
    }
    return unary(c, HD_T_NUMBER);
}

hd_status hd_infer_where(struct infer *c) {
    const struct hd_tensor *cond = in(c, 0), *x = in(c, 1), *y = in(c, 2);
    TRY(hd_infer_want_type(c, 0, HD_BOOL));
    TRY(hd_infer_want_type(c, 2, x->dtype));
    TRY(hd_infer_broadcast(c, x->dim, x->rank, y->dim, y->rank));
    struct hd_tensor both = *c->out;
    c->out->dtype = x->dtype;
    return hd_infer_broadcast(c, cond->dim, cond->rank, both.dim, both.rank);
}
