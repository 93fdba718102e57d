/* Words of meaning.def for the movement of data: where each element of a result comes from. */
#include "compiler/ir/meaning_int.h"
#include "compiler/ir/move.h"

/* ---- slice, split, concat ------------------------------------------------------------------- */

static bool get_slice(const struct hd_maker *m, int64_t *start, int64_t *step) {
    const struct hd_tensor *x = m->in[0];
    int64_t from[HD_MAX_RANK], axes[HD_MAX_RANK], by[HD_MAX_RANK];
    int n = hd_mean_ints(m, 1, from, HD_MAX_RANK), n_axes = hd_mean_ints(m, 3, axes, HD_MAX_RANK),
        n_steps = hd_mean_ints(m, 4, by, HD_MAX_RANK);
    for (int d = 0; d < x->rank; d++) start[d] = 0, step[d] = 1;
    if (n < 0 || n_axes < 0 || n_steps < 0 || n > x->rank) return false;
    for (int i = 0; i < n; i++) {
        int64_t d = n_axes ? axes[i] : i;
        if (d < 0) d += x->rank;
        if (d < 0 || d >= x->rank) return false;
        step[d] = n_steps ? by[i] : 1;
        start[d] = hd_slice_start(from[i], step[d], x->dim[d]);
    }
    return true;
}

bool hd_mean_slice_known(const struct hd_maker *m) {
    int64_t start[HD_MAX_RANK], step[HD_MAX_RANK];
    return m->out->known && hd_mean_operand(m, 0) && get_slice(m, start, step);
}

static void sliced(FILE *f, const struct hd_maker *m) {
    int64_t start[HD_MAX_RANK], step[HD_MAX_RANK];
    get_slice(m, start, step);
    for (int d = 0; d < m->in[0]->rank; d++)
        fprintf(f, "%sj%d*%lld + %lld", d ? "," : "", d, (long long)step[d], (long long)start[d]);
}

enum { MOST_PARTS = 24 };

static bool get_parts(const struct hd_maker *m, int64_t *part) {
    const struct hd_tensor *x = hd_mean_operand(m, 0);
    int parts = m->n->n_out;
    if (!x || parts < 1 || parts > MOST_PARTS || x->rank < 1) return false;
    int64_t axis = hd_mean_axis(m, 0, x->rank), sum = 0;
    if (axis < 0 || axis >= x->rank) return false;
    int n = hd_mean_ints(m, 1, part, MOST_PARTS);
    if (n == 0) hd_split_even(x->dim[axis], parts, part);
    for (int i = 0; i < parts; i++) sum += part[i];
    return (n == 0 || n == parts) && sum == x->dim[axis];
}

bool hd_mean_split_known(const struct hd_maker *m) {
    int64_t part[HD_MAX_OPERANDS];
    return get_parts(m, part);
}

static void split_results(FILE *f, const struct hd_maker *m) {
    for (int i = 0; i < m->n->n_out; i++) fprintf(f, "%sy%d", i ? ", " : "", i);
}

/* One statement for each result. */
static void split(FILE *f, const struct hd_maker *m) {
    int64_t part[HD_MAX_OPERANDS], at = 0;
    int rank = m->in[0]->rank;
    int64_t axis = hd_mean_axis(m, 0, rank);
    get_parts(m, part);
    for (int i = 0; i < m->n->n_out; at += part[i++]) {
        fprintf(f, "y%d[", i);
        for (int d = 0; d < rank; d++) fprintf(f, "%si%d", d ? "," : "", d);
        fputs("] = x[", f);
        for (int d = 0; d < rank; d++) {
            fprintf(f, "%si%d", d ? "," : "", d);
            if (d == axis && at) fprintf(f, " + %lld", (long long)at);
        }
        fprintf(f, "] where i%lld < %lld\n", (long long)axis, (long long)part[i]);
    }
}

bool hd_mean_joins(const struct hd_maker *m) {
    if (m->n_in < 1 || m->n_in > MOST_PARTS || !m->out->known || m->out->rank < 1) return false;
    for (int i = 0; i < m->n_in; i++)
        if (!m->in[i] || m->in[i]->rank != m->out->rank) return false;
    int64_t axis = hd_mean_axis(m, 0, m->out->rank);
    return axis >= 0 && axis < m->out->rank;
}

static void join_operands(FILE *f, const struct hd_maker *m) {
    for (int i = 0; i < m->n_in; i++) fprintf(f, "%sx%d", i ? ", " : "", i);
}

/* The element of the operand that the place along the axis falls in. */
static void joined(FILE *f, const struct hd_maker *m) {
    int64_t axis = hd_mean_axis(m, 0, m->out->rank), at = 0;
    int open = 0;
    for (int i = 0; i < m->n_in; at += m->in[i++]->dim[axis]) {
        if (i + 1 < m->n_in) {
            fprintf(f, "select(j%lld < %lld, ", (long long)axis,
                    (long long)(at + m->in[i]->dim[axis]));
            open++;
        }
        fprintf(f, "pad(x%d[", i);
        for (int d = 0; d < m->out->rank; d++) {
            fprintf(f, "%sj%d", d ? "," : "", d);
            if (d == axis && at) fprintf(f, " - %lld", (long long)at);
        }
        fprintf(f, "], 0)%s", i + 1 < m->n_in ? ", " : "");
    }
    for (int i = 0; i < open; i++) fputc(')', f);
}

/* ---- pad ------------------------------------------------------------------------------------ */

/* How many places of the result lie in front of operand 0; less than 0 where it is cropped. */
static bool get_before(const struct hd_maker *m, int64_t *before) {
    const struct hd_tensor *x = hd_mean_operand(m, 0);
    int64_t list[2 * HD_MAX_RANK], axes[HD_MAX_RANK], pads[2 * HD_MAX_RANK];
    if (!x || !m->out->known || m->out->rank != x->rank) return false;
    if (m->n->op == HD_IR_centercroppad) {
        for (int d = 0; d < x->rank; d++) {
            int64_t grow = m->out->dim[d] - x->dim[d];
            before[d] = grow < 0 ? -(-grow / 2) : grow / 2;
        }
        return true;
    }
    int n = hd_mean_ints(m, 1, list, 2 * HD_MAX_RANK), n_axes = hd_mean_ints(m, 3, axes, x->rank);
    if (n < 0 || n_axes < 0 || n != 2 * (n_axes ? n_axes : x->rank)) return false;
    hd_pads_spread(x->rank, list, n_axes, axes, pads);
    memcpy(before, pads, (size_t)x->rank * sizeof *before);
    return true;
}

bool hd_mean_pad_known(const struct hd_maker *m) {
    int64_t before[HD_MAX_RANK];
    if (!get_before(m, before)) return false;
    if (!strcmp(hd_attr_string(m->n, "mode", "constant"), "constant")) return true;
    for (int d = 0; d < m->out->rank; d++) { /* the other modes take what is left of operand 0 */
        int64_t after = m->out->dim[d] - m->in[0]->dim[d] - before[d];
        if (m->in[0]->dim[d] + hd_min(0, after) + hd_min(0, before[d]) < 1) return false;
    }
    return true;
}

static void padded_from(FILE *f, const struct hd_maker *m) {
    int64_t before[HD_MAX_RANK];
    char mode = hd_attr_string(m->n, "mode", "constant")[0];
    get_before(m, before);
    for (int d = 0; d < m->out->rank; d++) {
        int64_t after = m->out->dim[d] - m->in[0]->dim[d] - before[d];
        int64_t first = hd_max(0, -before[d]), size = m->in[0]->dim[d] + hd_min(0, after) - first;
        long long off = before[d] + first, n = size, period = hd_max(1, 2 * (size - 1)),
                  from = first;
        if (d) fputc(',', f);
        if (mode == 'c' || (before[d] == 0 && after == 0))
            fprintf(f, "j%d - %lld", d, (long long)before[d]);
        else if (mode == 'e')
            fprintf(f, "clamp(j%d - %lld, 0, %lld) + %lld", d, off, n - 1, from);
        else if (mode == 'w')
            fprintf(f, "((j%d - %lld)%%%lld + %lld)%%%lld + %lld", d, off, n, n, n, from);
        else
            fprintf(f,
                    "clamp(min(((j%d - %lld)%%%lld + %lld)%%%lld, %lld - ((j%d - %lld)%%%lld + "
                    "%lld)%%%lld), 0, %lld) + %lld",
                    d, off, period, period, period, period, d, off, period, period, period, n - 1,
                    from);
    }
}

/* ---- gather --------------------------------------------------------------------------------- */

/* An index that counts from the end when it is negative. */
static void wrapped(FILE *f, const char *index, int64_t size) {
    fprintf(f, "select(%s < 0, %s + %lld, %s)", index, index, (long long)size, index);
}

/* t[from first on, n of {j}] or t[.., last] */
static void index_text(char *out, size_t bytes, int first, int n, int64_t last) {
    size_t at = (size_t)snprintf(out, bytes, "i64(t[");
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(out + at, bytes - at, "%sj%d", i ? "," : "", first + i);
    if (last >= 0)
        at += (size_t)snprintf(out + at, bytes - at, "%s%lld", n ? "," : "", (long long)last);
    snprintf(out + at, bytes - at, "])");
}

/* Indexes of operand 0 of the three gathers, by {j}. */
static void gathered(FILE *f, const struct hd_maker *m) {
    const struct hd_tensor *x = m->in[0], *t = m->in[1];
    char index[160];
    int64_t axis = hd_mean_axis(m, 0, x->rank), batch = hd_attr_int(m->n, "batch_dims", 0),
            width = m->n->op == HD_IR_gathernd ? t->dim[t->rank - 1] : 0;
    for (int d = 0, j = 0; d < x->rank; d++) {
        if (d) fputc(',', f);
        bool by_index = m->n->op == HD_IR_gathernd ? d >= batch && d < batch + width : d == axis;
        if (!by_index) {
            fprintf(f, "j%d", j++);
            continue;
        }
        if (m->n->op == HD_IR_gather)
            index_text(index, sizeof index, d, t->rank, -1);
        else if (m->n->op == HD_IR_gatherelements)
            index_text(index, sizeof index, 0, t->rank, -1);
        else
            index_text(index, sizeof index, 0, t->rank - 1, d - batch);
        wrapped(f, index, x->dim[d]);
        if (m->n->op == HD_IR_gather) j += t->rank;
        if (m->n->op == HD_IR_gatherelements) j++;
        if (m->n->op == HD_IR_gathernd) j = t->rank - 1;
    }
}

/* {j} without the axis. */
static void without(FILE *f, const struct hd_maker *m) {
    int64_t axis = hd_mean_axis(m, -1, m->out->rank);
    for (int d = 0, n = 0; d < m->out->rank; d++)
        if (d != axis) fprintf(f, "%sj%d", n++ ? "," : "", d);
}

/* {i}, one of them turned round: the time of a sequence, or the place in an update. */
static void reversed(FILE *f, const struct hd_maker *m) {
    int rank = m->in[0]->rank;
    int64_t time = hd_attr_int(m->n, "time_axis", 0), batch = hd_attr_int(m->n, "batch_axis", 1);
    for (int d = 0; d < rank; d++)
        if (d != time)
            fprintf(f, "%si%d", d ? "," : "", d);
        else
            fprintf(f, "%sselect(i%d < l[i%lld], l[i%lld] - 1 - i%d, i%d)", d ? "," : "", d,
                    (long long)batch, (long long)batch, d, d);
}

static void updated(FILE *f, const struct hd_maker *m) {
    int rank = m->in[0]->rank;
    int64_t axis = hd_mean_axis(m, -2, rank);
    long long size = m->in[0]->dim[axis];
    bool circular = !strcmp(hd_attr_string(m->n, "mode", "linear"), "circular");
    for (int d = 0; d < rank; d++)
        if (d != axis)
            fprintf(f, "%si%d", d ? "," : "", d);
        else if (circular)
            fprintf(f, "%s(i%d - from[i0] + %lld)%%%lld", d ? "," : "", d, size, size);
        else
            fprintf(f, "%si%d - from[i0]", d ? "," : "", d);
}

/* The place is in the update. */
static void is_updated(FILE *f, const struct hd_maker *m) {
    int64_t axis = hd_mean_axis(m, -2, m->in[0]->rank);
    long long size = m->in[0]->dim[axis], n = m->in[1]->dim[axis];
    bool circular = !strcmp(hd_attr_string(m->n, "mode", "linear"), "circular");
    if (circular)
        fprintf(f, "(i%lld - from[i0] + %lld)%%%lld < %lld", (long long)axis, size, size, n);
    else
        fprintf(f, "i%lld >= from[i0] & i%lld - from[i0] < %lld", (long long)axis, (long long)axis,
                n);
}

/* ---- scatter -------------------------------------------------------------------------------- */

struct box {                   /* the places of a scatter, when they are an evenly spaced box */
    int n, width;              /* dimensions of the tuples; indexes of a tuple */
    int by[HD_MAX_RANK];       /* of each index: the dimension of the tuples that moves it, or -1 */
    int64_t base[HD_MAX_RANK]; /* of each index */
    int64_t step[HD_MAX_RANK]; /* of each index, by that dimension */
    const struct hd_tensor *at; /* the tuples */
};

static int64_t tuple(const struct hd_maker *m, const struct box *b, int64_t i, int d) {
    const struct hd_tensor *t = b->at;
    int64_t e = i * b->width + d;
    int64_t v = t->dtype == HD_I64 ? ((const int64_t *)t->data)[e] : ((const int32_t *)t->data)[e];
    return v < 0 ? v + m->in[0]->dim[d] : v;
}

/* Each dimension of the tuples moves one index of its own; base and step are right at its first two
 * places. */
static bool first_places(const struct hd_maker *m, struct box *b) {
    int64_t stride = 1;
    for (int d = 0; d < b->width; d++) {
        b->by[d] = -1;
        b->base[d] = tuple(m, b, 0, d);
    }
    for (int v = b->n - 1; v >= 0; stride *= b->at->dim[v--]) {
        int moved = 0;
        for (int d = 0; d < b->width && b->at->dim[v] > 1; d++) {
            int64_t step = tuple(m, b, stride, d) - b->base[d];
            if (!step) continue;
            if (b->by[d] >= 0) return false;
            b->by[d] = v;
            b->step[d] = step;
            moved++;
        }
        if (b->at->dim[v] > 1 && moved != 1) return false;
    }
    return true;
}

static bool get_box(const struct hd_maker *m, struct box *b) {
    const struct hd_tensor *x = hd_mean_operand(m, 0), *t = b->at = hd_mean_operand(m, 1);
    if (!x || !t || !t->data || t->rank < 1 || !hd_tensor_elems(t)) return false;
    if (t->dtype != HD_I64 && t->dtype != HD_I32) return false;
    b->n = t->rank - 1;
    b->width = (int)t->dim[b->n];
    if (!first_places(m, b)) return false;
    for (int64_t i = 0; i < hd_tensor_elems(t) / b->width; i++)
        for (int d = 0; d < b->width; d++) {
            int64_t k = i, want = b->base[d], at = tuple(m, b, i, d);
            for (int v = b->n - 1; v > b->by[d]; v--) k /= t->dim[v];
            if (b->by[d] >= 0) want += k % t->dim[b->by[d]] * b->step[d];
            if (at != want || at < 0 || at >= x->dim[d]) return false;
        }
    return true;
}

bool hd_mean_box_known(const struct hd_maker *m) {
    struct box b;
    return get_box(m, &b);
}

/* Prints how far index d is from the box's first; returns the distance of two of the box. */
static long long from_base(FILE *f, const struct box *b, int d) {
    long long base = b->base[d];
    if (b->step[d] > 0)
        fprintf(f, "(i%d - %lld)", d, base);
    else
        fprintf(f, "(%lld - i%d)", base, d);
    return b->step[d] > 0 ? b->step[d] : -b->step[d];
}

static void in_box(FILE *f, const struct hd_maker *m) {
    struct box b;
    if (!get_box(m, &b)) return;
    for (int d = 0; d < b.width; d++) {
        if (d) fputs(" & ", f);
        if (b.by[d] < 0) {
            fprintf(f, "i%d == %lld", d, (long long)b.base[d]);
            continue;
        }
        long long far = from_base(f, &b, d);
        fputs(" >= 0 & ", f);
        from_base(f, &b, d);
        fprintf(f, "%%%lld == 0 & ", far);
        from_base(f, &b, d);
        fprintf(f, "/%lld < %lld", far, (long long)b.at->dim[b.by[d]]);
    }
}

/* Indexes of the updates by {i}. */
static void box_place(FILE *f, const struct hd_maker *m) {
    struct box b;
    if (!get_box(m, &b)) return;
    for (int v = 0; v < b.n; v++) {
        int d = 0;
        while (d < b.width && b.by[d] != v) d++;
        if (v) fputc(',', f);
        if (d == b.width)
            fputc('0', f);
        else
            fprintf(f, "/%lld", from_base(f, &b, d));
    }
    for (int d = b.width; d < m->in[0]->rank; d++)
        fprintf(f, "%si%d", d > b.width || b.n ? "," : "", d);
}

/* ---- col2im --------------------------------------------------------------------------------- */

struct columns {
    int r;
    int64_t block[HD_MAX_RANK], stride[HD_MAX_RANK], dilation[HD_MAX_RANK], pads[2 * HD_MAX_RANK],
        steps[HD_MAX_RANK];
};

static bool get_columns(const struct hd_maker *m, struct columns *c) {
    if (!m->out->known || m->out->rank < 3) return false;
    c->r = m->out->rank - 2;
    if (hd_mean_ints(m, 2, c->block, HD_MAX_RANK) != c->r) return false;
    hd_attr_ints(m->n, "strides", c->stride, c->r, 1);
    hd_attr_ints(m->n, "dilations", c->dilation, c->r, 1);
    hd_attr_ints(m->n, "pads", c->pads, 2 * c->r, 0);
    for (int d = 0; d < c->r; d++)
        c->steps[d] = hd_col2im_steps(m->out->dim[d + 2], c->block[d], c->stride[d], c->dilation[d],
                                      c->pads[d], c->pads[d + c->r]);
    return true;
}

bool hd_mean_col2im_known(const struct hd_maker *m) {
    struct columns c;
    return get_columns(m, &c);
}

/* Of dimension d: the place in the columns times the stride. */
static void column_place(FILE *f, const struct columns *c, int d) {
    fprintf(f, "(j%d + %lld - k%d*%lld)", d + 2, (long long)c->pads[d], d,
            (long long)c->dilation[d]);
}

static bool columns_word(FILE *f, const struct hd_maker *m, const char *word) {
    struct columns c;
    bool fits = !strcmp(word, "fits"), row = !strcmp(word, "row"), limits = !strcmp(word, "blocks");
    if ((!fits && !row && !limits && strcmp(word, "column")) || !get_columns(m, &c)) return false;
    for (int d = 0; d < c.r && row; d++) fputc('(', f);
    if (row) fputs("j1", f);
    int64_t step = 1;
    for (int d = 1; d < c.r; d++) step *= c.steps[d];
    for (int d = 0; d < c.r; step /= d + 1 < c.r ? c.steps[d + 1] : 1, d++) {
        if (row) fprintf(f, "*%lld + k%d)", (long long)c.block[d], d);
        if (limits) fprintf(f, ", k%d < %lld", d, (long long)c.block[d]);
        if (row || limits) continue;
        if (d) fputs(fits ? " & " : " + ", f);
        column_place(f, &c, d);
        if (!fits) {
            fprintf(f, "/%lld*%lld", (long long)c.stride[d], (long long)step);
            continue;
        }
        fprintf(f, "%%%lld == 0 & ", (long long)c.stride[d]);
        column_place(f, &c, d);
        fputs(" >= 0 & ", f);
        column_place(f, &c, d);
        fprintf(f, " < %lld", (long long)(c.steps[d] * c.stride[d]));
    }
    return true;
}

bool hd_mean_move_word(FILE *f, const struct hd_maker *m, const char *word) {
    static const struct {
        const char *word;
        void (*make)(FILE *f, const struct hd_maker *m);
    } words[] = {{"sliced", sliced},          {"results", split_results}, {"parts", split},
                 {"operands", join_operands}, {"joined", joined},         {"from", padded_from},
                 {"gathered", gathered},      {"without", without},       {"reversed", reversed},
                 {"updated", updated},        {"is_updated", is_updated}, {"in_box", in_box},
                 {"box_place", box_place}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!strcmp(words[i].word, word)) {
            words[i].make(f, m);
            return true;
        }
    return columns_word(f, m, word);
}
