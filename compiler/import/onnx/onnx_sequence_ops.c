/* ONNX sequences of tensors. They exist on import only: a name stands for a list of tensors, and
 * what reads the list becomes slices, concats and the tensors themselves. So lengths and positions
 * have to be known on import, as constants or from the inputs of the run. */
#include <string.h>

#include "compiler/import/onnx/onnx_ops.h"
#include "runtime/base/num.h"

enum { MOST = 4096 }; /* tensors of a sequence */

bool hd_onnx_takes_sequences(const struct hd_onnx_node *n) {
    return !strncmp(n->op, "Sequence", 8) || !strcmp(n->op, "ConcatFromSequence") ||
           !strcmp(n->op, "Identity");
}

static hd_status sequence_in(struct hd_importer *m, const struct hd_onnx_node *n,
                             const struct hd_sequence **out) {
    *out = n->n_in ? hd_scope_sequence(m, n->in[0]) : NULL;
    if (*out) return HD_OK;
    return hd_onnx_bad(
        m, n, HD_UNSUPPORTED,
        "input 0 ('%s') is no sequence that this graph makes; sequences from outside "
        "are not supported",
        n->n_in ? n->in[0] : "");
}

static struct hd_sequence *new_sequence(struct hd_importer *m, const struct hd_onnx_node *n,
                                        size_t count) {
    struct hd_sequence *s = hd_new(m->arena, struct hd_sequence);
    s->tensor = hd_new_array(m->arena, int, count + 1);
    s->n = count;
    if (n->out[0][0]) hd_scope_bind_sequence(m, n->out[0], s);
    return s;
}

/* A position that counts from the end when it is negative; input i, which may be left out. */
static hd_status position(struct hd_importer *m, const struct hd_onnx_node *n, size_t i,
                          int64_t end, int64_t left_out, int64_t *out) {
    int t = hd_onnx_in(m, n, i);
    const void *data = NULL;
    *out = left_out;
    if (t < 0) return HD_OK;
    TRY(hd_onnx_value(m, t, &data));
    struct hd_tensor x = m->g->tensors[t];
    if (!data)
        return hd_onnx_bad(m, n, HD_UNSUPPORTED,
                           "position '%s' is known in the run only; give values with --inputs "
                           "(quantize: --calibrate)",
                           x.name);
    if (hd_tensor_elems(&x) != 1 || (x.dtype != HD_I64 && x.dtype != HD_I32))
        return hd_onnx_bad(m, n, HD_INVALID, "position '%s' must be one integer", x.name);
    int64_t at = x.dtype == HD_I64 ? *(const int64_t *)data : *(const int32_t *)data;
    *out = at < 0 ? at + end : at;
    return HD_OK;
}

static hd_status check_position(struct hd_importer *m, const struct hd_onnx_node *n, int64_t at,
                                int64_t end) {
    if (at >= 0 && at < end) return HD_OK;
    return hd_onnx_bad(m, n, HD_INVALID, "position %lld, allowed below %lld", (long long)at,
                       (long long)end);
}

/* Output 0 is the tensor. */
static hd_status is_tensor(struct hd_importer *m, const struct hd_onnx_node *n, int tensor) {
    return hd_onnx_done(m, hd_onnx_emit(m, n, HD_IR_identity, 1, &tensor));
}

hd_status import_Identity(struct hd_importer *m, const struct hd_onnx_node *n) {
    const struct hd_sequence *s = hd_scope_sequence(m, n->in[0]);
    if (!s) return is_tensor(m, n, hd_onnx_in(m, n, 0));
    if (n->out[0][0]) hd_scope_bind_sequence(m, n->out[0], s);
    return HD_OK;
}

hd_status import_SequenceEmpty(struct hd_importer *m, const struct hd_onnx_node *n) {
    new_sequence(m, n, 0);
    return HD_OK;
}

hd_status import_SequenceConstruct(struct hd_importer *m, const struct hd_onnx_node *n) {
    struct hd_sequence *s = new_sequence(m, n, n->n_in);
    for (size_t i = 0; i < n->n_in; i++) {
        s->tensor[i] = hd_onnx_in(m, n, i);
        if (s->tensor[i] < 0 || hd_scope_sequence(m, n->in[i]))
            return hd_onnx_bad(m, n, HD_INVALID, "input %zu is left out, or no tensor", i);
    }
    return HD_OK;
}

hd_status import_SequenceInsert(struct hd_importer *m, const struct hd_onnx_node *n) {
    const struct hd_sequence *s;
    int64_t at;
    TRY(sequence_in(m, n, &s));
    int64_t end = (int64_t)s->n;
    TRY(position(m, n, 2, end, end, &at));
    TRY(check_position(m, n, at, end + 1));
    if (end >= MOST) return hd_onnx_bad(m, n, HD_UNSUPPORTED, "over %d tensors", MOST);
    struct hd_sequence *y = new_sequence(m, n, s->n + 1);
    for (int64_t i = 0; i < end; i++) y->tensor[i + (i >= at)] = s->tensor[i];
    y->tensor[at] = hd_onnx_in(m, n, 1);
    return HD_OK;
}

hd_status import_SequenceErase(struct hd_importer *m, const struct hd_onnx_node *n) {
    const struct hd_sequence *s;
    int64_t at;
    TRY(sequence_in(m, n, &s));
    int64_t end = (int64_t)s->n;
    TRY(position(m, n, 1, end, end - 1, &at));
    TRY(check_position(m, n, at, end));
    struct hd_sequence *y = new_sequence(m, n, s->n - 1);
    for (int64_t i = 0; i + 1 < end; i++) y->tensor[i] = s->tensor[i + (i >= at)];
    return HD_OK;
}

hd_status import_SequenceAt(struct hd_importer *m, const struct hd_onnx_node *n) {
    const struct hd_sequence *s;
    int64_t at;
    TRY(sequence_in(m, n, &s));
    TRY(position(m, n, 1, (int64_t)s->n, 0, &at));
    TRY(check_position(m, n, at, (int64_t)s->n));
    return is_tensor(m, n, s->tensor[at]);
}

hd_status import_SequenceLength(struct hd_importer *m, const struct hd_onnx_node *n) {
    const struct hd_sequence *s;
    TRY(sequence_in(m, n, &s));
    return is_tensor(m, n,
                     hd_onnx_const(m, n, "length", HD_I64, 0, NULL, (int64_t[]){(int64_t)s->n}));
}

hd_status import_ConcatFromSequence(struct hd_importer *m, const struct hd_onnx_node *n) {
    const struct hd_sequence *s;
    int64_t axis = hd_onnx_int(n, "axis", 0), new_axis = hd_onnx_int(n, "new_axis", 0);
    TRY(sequence_in(m, n, &s));
    if (!s->n || s->n > HD_MAX_OPERANDS)
        return hd_onnx_bad(m, n, HD_UNSUPPORTED, "a sequence of %zu tensors, allowed 1..%d", s->n,
                           HD_MAX_OPERANDS);
    int *in = hd_dup(m->arena, s->tensor, s->n * sizeof *in), axes = -1;
    if (new_axis) axes = hd_onnx_const(m, n, "axes", HD_I64, 1, (int64_t[]){1}, &axis);
    for (size_t i = 0; new_axis && i < s->n; i++) {
        int operands[2] = {in[i], axes};
        TRY(hd_onnx_done(m, hd_onnx_emit_inner(m, n, HD_IR_unsqueeze,
                                               hd_sprintf(m->arena, "part%zu", i), 2, operands,
                                               &in[i])));
    }
    int id = hd_onnx_emit(m, n, HD_IR_concat, (int)s->n, in);
    hd_attr_set_int(m->g, id, "axis", axis);
    return hd_onnx_done(m, id);
}

/* ---- SplitToSequence ---- */

/* Where parts end, along an axis of the given length; input 1: a size for all, or one for each. */
static hd_status find_ends(struct hd_importer *m, const struct hd_onnx_node *n, int64_t length,
                           int64_t **out, size_t *out_n) {
    int t = hd_onnx_in(m, n, 1);
    const void *data = NULL;
    struct hd_tensor x = {.rank = 0};
    if (t >= 0) {
        TRY(hd_onnx_value(m, t, &data));
        x = m->g->tensors[t];
        if (!data || (x.dtype != HD_I64 && x.dtype != HD_I32))
            return hd_onnx_bad(m, n, data ? HD_INVALID : HD_UNSUPPORTED,
                               "split '%s' must be integers that are known on import (--inputs)",
                               x.name);
    }
    bool list = t >= 0 && x.rank > 0;
    int64_t count = list ? hd_tensor_elems(&x) : MOST, at = 0;
    *out = hd_new_array(m->arena, int64_t, (size_t)hd_min(count, MOST) + 1);
    *out_n = 0;
    for (int64_t i = 0; i < count && i < MOST && (list || at < length); i++) {
        int64_t k = list ? i : 0, size = 1;
        if (t >= 0)
            size = x.dtype == HD_I64 ? ((const int64_t *)data)[k] : ((const int32_t *)data)[k];
        if (size < (list ? 0 : 1) || size > length)
            return hd_onnx_bad(m, n, HD_INVALID, "split of %lld, the axis has %lld",
                               (long long)size, (long long)length);
        (*out)[(*out_n)++] = at = list ? at + size : hd_min(at + size, length);
    }
    if (at != length)
        return hd_onnx_bad(m, n, HD_INVALID, "parts add up to %lld of %lld, or are more than %d",
                           (long long)at, (long long)length, MOST);
    return HD_OK;
}

hd_status import_SplitToSequence(struct hd_importer *m, const struct hd_onnx_node *n) {
    int x = hd_onnx_in(m, n, 0);
    const struct hd_tensor *t = &m->g->tensors[x];
    int64_t axis, *end = NULL, from = 0;
    size_t count = 0;
    TRY(hd_onnx_axis(m, n, hd_onnx_int(n, "axis", 0), t->rank, &axis));
    TRY(find_ends(m, n, t->dim[axis], &end, &count));
    bool squeeze = hd_onnx_in(m, n, 1) < 0 && !hd_onnx_int(n, "keepdims", 1);
    static const int64_t one[1] = {1};
    struct hd_sequence *s = new_sequence(m, n, count);
    int axes = hd_onnx_const(m, n, "axis", HD_I64, 1, one, &axis);
    for (size_t i = 0; i < count; from = end[i++]) {
        const char *name = hd_sprintf(m->arena, "part%zu", i);
        int in[4] = {x, hd_onnx_const(m, n, "from", HD_I64, 1, one, &from),
                     hd_onnx_const(m, n, "to", HD_I64, 1, one, &end[i]), axes};
        TRY(hd_onnx_done(m, hd_onnx_emit_inner(m, n, HD_IR_slice, name, 4, in, &s->tensor[i])));
        if (!squeeze) continue;
        int operands[2] = {s->tensor[i], axes};
        name = hd_sprintf(m->arena, "%s.squeezed", name);
        TRY(hd_onnx_done(
            m, hd_onnx_emit_inner(m, n, HD_IR_squeeze, name, 2, operands, &s->tensor[i])));
    }
    return HD_OK;
}
