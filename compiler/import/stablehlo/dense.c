/* Types of MLIR and the values of dense literals. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/import/stablehlo/stablehlo.h"
#include "runtime/base/half.h"
#include "runtime/base/small.h"

static int element(const char *text, size_t n) {
    static const struct {
        const char *name;
        hd_dtype type;
    } table[] = {{"f32", HD_F32},  {"f64", HD_F64},   {"f16", HD_F16},  {"bf16", HD_BF16},
                 {"i1", HD_BOOL},  {"i8", HD_I8},     {"si8", HD_I8},   {"i16", HD_I16},
                 {"si16", HD_I16}, {"i32", HD_I32},   {"si32", HD_I32}, {"i64", HD_I64},
                 {"si64", HD_I64}, {"ui8", HD_U8},    {"ui16", HD_U16}, {"ui32", HD_U32},
                 {"ui64", HD_U64}, {"index", HD_I64}, {"i4", HD_I8},    {"si4", HD_I8},
                 {"ui4", HD_U8},   {"i2", HD_I8},     {"si2", HD_I8},   {"ui2", HD_U8}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strlen(table[i].name) == n && !strncmp(text, table[i].name, n))
            return (int)table[i].type;
    return -1;
}

/* Floats of 8 bits and less: 1 + enum hd_small, or 0. */
static int small_element(const char *text, size_t n) {
    static const struct {
        const char *name;
        enum hd_small small;
    } table[] = {{"f8E4M3FN", HD_SMALL_E4M3FN},
                 {"f8E4M3FNUZ", HD_SMALL_E4M3FNUZ},
                 {"f8E5M2", HD_SMALL_E5M2},
                 {"f8E5M2FNUZ", HD_SMALL_E5M2FNUZ},
                 {"f4E2M1FN", HD_SMALL_E2M1},
                 {"f8E8M0FNU", HD_SMALL_E8M0},
                 {"f8E4M3", HD_SMALL_E4M3},
                 {"f8E3M4", HD_SMALL_E3M4},
                 {"f8E4M3B11FNUZ", HD_SMALL_E4M3B11FNUZ},
                 {"f6E2M3FN", HD_SMALL_E2M3},
                 {"f6E3M2FN", HD_SMALL_E3M2}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strlen(table[i].name) == n && !strncmp(text, table[i].name, n))
            return 1 + (int)table[i].small;
    return 0;
}

/* "0.1:-3", or "{0.1, 0.2:5}" behind an axis. */
static hd_status scales(struct hd_shlo *m, const char *p, struct hd_shlo_type *t) {
    size_t room = 1, n = 0;
    for (const char *c = p; *c; c++) room += *c == ',';
    float *scale = hd_new_array(m->arena, float, room);
    int32_t *zero = hd_new_array(m->arena, int32_t, room);
    for (; *p && *p != '>' && n < room; n++) {
        char *end;
        p += strspn(p, " {,");
        scale[n] = strtof(p, &end);
        if (end == p || !(scale[n] > 0) || scale[n] > 1e30f) break;
        p = end;
        if (*p == ':') zero[n] = (int32_t)strtol(p + 1, &end, 10), p = end;
        p += strspn(p, " }");
    }
    if (!n || *p != '>')
        return hd_shlo_bad(m, HD_INVALID, "scales of a quantised type: '%.30s'", p);
    t->scale = scale, t->zero = zero, t->n_scales = (int)n;
    t->quantised = true;
    return HD_OK;
}

/* !quant.uniform<i8:f32, 0.1:-3>, !quant.uniform<i8<-127:127>:f32:1, {..}> */
static hd_status quantised(struct hd_shlo *m, const char *text, struct hd_shlo_type *t) {
    const char *from = strchr(text, '<') + 1, *comma = strchr(from, ','), *colon = from;
    size_t n = strcspn(from, "<:,");
    int type = element(from, n);
    if (type < 0 || !comma) return hd_shlo_bad(m, HD_UNSUPPORTED, "type '%.40s'", text);
    t->dtype = (hd_dtype)type;
    for (int depth = 0; colon < comma && (depth || *colon != ':'); colon++)
        depth += (*colon == '<') - (*colon == '>');
    colon = colon < comma ? memchr(colon + 1, ':', (size_t)(comma - colon - 1)) : NULL;
    t->axis = colon ? (int)strtol(colon + 1, NULL, 10) : 0;
    TRY(scales(m, comma + 1, t));
    if (t->n_scales > 1 && (t->axis < 0 || t->axis >= t->rank || t->dim[t->axis] != t->n_scales))
        return hd_shlo_bad(m, HD_INVALID, "%d scales along axis %d", t->n_scales, t->axis);
    return HD_OK;
}

hd_status hd_shlo_type(struct hd_shlo *m, const char *text, struct hd_shlo_type *out) {
    *out = (struct hd_shlo_type){0};
    if (strncmp(text, "tensor<", 7)) {
        int scalar = element(text, strlen(text));
        if (scalar < 0) return hd_shlo_bad(m, HD_UNSUPPORTED, "type '%.60s'", text);
        out->dtype = (hd_dtype)scalar;
        return HD_OK;
    }
    const char *p = text + 7;
    while (*p == '?' || isdigit((unsigned char)*p)) {
        char *end = (char *)p + 1;
        int64_t n = *p == '?' ? -1 : strtoll(p, &end, 10);
        if (*end != 'x') return hd_shlo_bad(m, HD_INVALID, "type '%.60s'", text);
        if (out->rank == HD_MAX_RANK)
            return hd_shlo_bad(m, HD_UNSUPPORTED, "type '%.60s': rank above %d", text, HD_MAX_RANK);
        out->dim[out->rank++] = n;
        p = end + 1;
    }
    if (!strncmp(p, "!quant.uniform<", 15)) return quantised(m, p, out);
    out->complex = !strncmp(p, "complex<", 8);
    if (out->complex) p += 8;
    int type = element(p, strcspn(p, ",>"));
    out->small = small_element(p, strcspn(p, ",>"));
    if (out->small) type = HD_F32;
    if (type < 0) return hd_shlo_bad(m, HD_UNSUPPORTED, "type '%.60s'", text);
    out->dtype = (hd_dtype)type;
    return HD_OK;
}

/* ---- literals ---- */

static void put_bits(char *out, uint64_t bits, size_t bytes) {
    memcpy(out, &bits, bytes); /* little endian */
}

/* One float of 8 bits and less, as f32. */
static bool small_number(const char **p, int small, char *out) {
    bool hex = (*p)[0] == '0' && (*p)[1] == 'x';
    enum hd_small t = (enum hd_small)(small - 1);
    char *end;
    double v = hex ? (double)strtoul(*p, &end, 16) : strtod(*p, &end);
    if (end == *p) return false;
    float f = (float)hd_small_value(t, hex ? (uint8_t)v : hd_small_bits(t, v, false));
    memcpy(out, &f, sizeof f);
    *p = end;
    return true;
}

/* One number; a hexadecimal one of floats is their bits. */
static bool number(const char **p, hd_dtype type, char *out) {
    size_t bytes = hd_dtype_bytes(type);
    bool negative = **p == '-', hex = (*p)[negative] == '0' && (*p)[negative + 1] == 'x';
    char *end;
    if (!strncmp(*p, "true", 4) || !strncmp(*p, "false", 5)) {
        *out = **p == 't';
        *p += **p == 't' ? 4 : 5;
        return true;
    }
    errno = 0;
    if (hex || !hd_shlo_is_float(type)) {
        uint64_t v = strtoull(*p + negative, &end, hex ? 16 : 10);
        if (end == *p + negative) return false;
        put_bits(out, negative ? 0 - v : v, bytes);
    } else {
        double v = strtod(*p, &end);
        if (end == *p) return false;
        float f = type == HD_F32 ? strtof(*p, NULL) : (float)v;
        uint16_t h = type == HD_F16 ? hd_f32_to_f16(f) : hd_f32_to_bf16(f);
        if (type == HD_F64)
            memcpy(out, &v, bytes);
        else if (type == HD_F32)
            memcpy(out, &f, bytes);
        else
            memcpy(out, &h, bytes);
    }
    *p = end;
    return true;
}

static int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

/* "0x...": the bytes; one element of them is a splat. Booleans are bits; elements of complex ones
 * are pairs. */
static hd_status from_hex(struct hd_shlo *m, const char *p, const struct hd_shlo_type *t, int64_t n,
                          char *out) {
    hd_dtype type = t->dtype;
    size_t bytes_of_one = hd_dtype_bytes(type), at = m->part[0] == HD_SHLO_IMAG ? bytes_of_one : 0,
           elem = t->complex ? 2 * bytes_of_one : bytes_of_one, got = 0, want = (size_t)n * elem;
    char *bytes = hd_alloc(m->arena, strlen(p) / 2 + 1);
    for (p += 2; hex_digit(p[0]) >= 0 && hex_digit(p[1]) >= 0; p += 2)
        bytes[got++] = (char)(hex_digit(p[0]) * 16 + hex_digit(p[1]));
    if (type == HD_BOOL && got >= (size_t)(n + 7) / 8 && got != want) {
        for (int64_t i = 0; i < n; i++) out[i] = bytes[i / 8] >> (i % 8) & 1;
        return HD_OK;
    }
    if (got != want && got != elem)
        return hd_shlo_bad(m, HD_INVALID, "a literal of %zu bytes, its type wants %zu", got, want);
    for (int64_t i = 0; i < n; i++)
        memcpy(out + (size_t)i * bytes_of_one, bytes + (got == want ? (size_t)i * elem : 0) + at,
               bytes_of_one);
    return HD_OK;
}

hd_status hd_shlo_dense(struct hd_shlo *m, const char *text, const struct hd_shlo_type *t,
                        void **out) {
    struct hd_tensor like = {.dtype = t->dtype, .rank = t->rank, .known = true};
    memcpy(like.dim, t->dim, sizeof like.dim);
    TRY(hd_shape_check(m->ctx, "a literal", t->dtype, t->rank, t->dim));
    int64_t n = hd_tensor_elems(&like), got = 0;
    size_t elem = hd_dtype_bytes(t->dtype);
    const char *p = strchr(text, '<');
    if (strncmp(text, "dense<", 6) && strncmp(text, "array<", 6))
        return hd_shlo_bad(m, HD_UNSUPPORTED, "a literal '%.30s'", text);
    p++;
    p += strspn(p, " ");
    if (n > 1 && n / 2 > (int64_t)strlen(p) && strchr(p, ','))
        return hd_shlo_bad(m, HD_INVALID, "a literal that is shorter than its type");
    char *v = *out = hd_alloc(m->g->arena, (size_t)n * elem + 8);
    if (t->complex && m->part[0] == HD_SHLO_WHOLE)
        return hd_shlo_bad(m, HD_UNSUPPORTED, "a complex literal");
    if (t->small && *p == '"')
        return hd_shlo_bad(m, HD_UNSUPPORTED, "floats of 8 bits in hexadecimal form");
    if (*p == '"') return from_hex(m, p + 1, t, n, v);
    char one[8] = {0};
    int64_t pair = t->complex ? 2 : 1, mine = m->part[0] == HD_SHLO_IMAG;
    while (*p && *p != '>') {
        if (strchr("[](), \n\t\r", *p)) {
            p++;
            continue;
        }
        memset(one, 0, sizeof one);
        if (t->small ? !small_number(&p, t->small, one) : !number(&p, t->dtype, one))
            return hd_shlo_bad(m, HD_UNSUPPORTED, "a literal with '%.20s'", p);
        if (got / pair < n && (pair == 1 || got % 2 == mine))
            memcpy(v + (size_t)(got / pair) * elem, one, elem);
        got++;
    }
    got = got / pair + got % pair * n; /* an odd count of halves is none */
    for (int64_t i = 1; got == 1 && i < n; i++) memcpy(v + (size_t)i * elem, one, elem);
    if (got != n && got != 1)
        return hd_shlo_bad(m, HD_INVALID, "a literal of %lld values, its type wants %lld",
                           (long long)got, (long long)n);
    return HD_OK;
}
