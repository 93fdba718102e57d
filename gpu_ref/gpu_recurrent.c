/* Step maker for float lstm, gru and rnn. The product of the inputs of all steps, and the
 * transposed recurrent weights (once), are tensor expressions. The recurrence is a kernel written
 * by hand: a block for each sequence of a direction, whose threads share the rows, step after step;
 * states lie in local memory. Results are as golden's, but for sums in f32. */
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/rnn.h"
#include "gpu_ref/gpu_express.h"
#include "runtime/base/num.h"

enum { MOST_THREADS = 256, CPU_THREADS = 32 };

struct made {
    struct hd_gpu_plan *p;
    const struct hd_node *n;
    const struct hd_dialect *d;
    struct hd_rnn s;
    FILE *out;
    const char *store; /* what is done with element j of a step's result */
    int threads;
    int arg[16], n_args;
};

/* ---- activations ---------------------------------------------------------------------------- */

static const struct {
    const char *name, *value;
} acts[] = {
#define X(name, value, ...) {#name, #value},
    HD_RNN_ACT_LIST(X)
#undef X
};

static const char *activations(const struct made *m) {
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    HD_ASSERT(f);
    fprintf(f,
            "%s float hd_fmin(float a, float b) { return a < b ? a : b; }\n"
            "%s float hd_fmax(float a, float b) { return a > b ? a : b; }\n"
            "#define fmin(a, b) hd_fmin(a, b)\n#define fmax(a, b) hd_fmax(a, b)\n",
            m->d->helper, m->d->helper);
    for (int i = 0; i < HD_RNN_ACTS; i++)
        fprintf(f, "%s float act_%s(float x, float alpha, float beta) { return %s; }\n",
                m->d->helper, acts[i].name, acts[i].value);
    fputs("#undef fmin\n#undef fmax\n", f);
    fclose(f);
    const char *kept = hd_strdup(m->p->arena, text);
    free(text);
    return kept;
}

/* F(x), G(x), H(x) for the direction of the block. */
static void define_activations(const struct made *m) {
    int per_direction = m->s.gates == 4 ? 3 : m->s.gates == 3 ? 2 : 1;
    for (int i = 0; i < per_direction; i++) {
        fprintf(m->out, "#undef %c\n#define %c(x) (", "FGH"[i], "FGH"[i]);
        for (int dir = 0; dir < m->s.directions; dir++) {
            const struct hd_rnn_fn *fn = &m->s.fn[dir * 3 + i];
            if (dir + 1 < m->s.directions) fputs("d == 0 ? ", m->out);
            fprintf(m->out, "act_%s(", acts[fn->act].name);
            if (m->s.clip > 0 && i < 2)
                fprintf(m->out, "hd_fmin(hd_fmax(x, -%.9ef), %.9ef)", (double)m->s.clip,
                        (double)m->s.clip);
            else
                fputs("x", m->out);
            fprintf(m->out, ", %.9ef, %.9ef)%s", (double)fn->alpha, (double)fn->beta,
                    dir + 1 < m->s.directions ? " : " : "");
        }
        fputs(")\n", m->out);
    }
}

/* ---- the kernel ----------------------------------------------------------------------------- */

static void argument(struct made *m, const char *type, const char *name, int view) {
    if (view < 0) return;
    fprintf(m->out, "%s%s%s *%s", m->n_args ? ", " : "(", m->d->global, type, name);
    m->arg[m->n_args++] = view;
}

/* a[i] = the recurrent bias + R v, rows from .. to - 1. */
static void product(const struct made *m, int from, int to, const char *v, bool bias) {
    int gh = m->s.gates * (int)m->s.hidden;
    fprintf(m->out, "for (int i = me + %d; i < %d; i += %d) {\n float sum = ", from, to,
            m->threads);
    fprintf(m->out, bias ? "b[d*%d + %d + i];\n" : "0;\n", 2 * gh, gh);
    fprintf(m->out,
            " for (int k = 0; k < %d; k++) sum += rt[(d*%d + k)*%d + i]*%s[k];\n a[i] = sum;\n}\n"
            "%s;\n",
            (int)m->s.hidden, (int)m->s.hidden, gh, v, m->d->barrier);
}

static void each_element(const struct made *m, const char *what) {
    fprintf(m->out, "for (int j = me; j < %d; j += %d) {\n%s}\n%s;\n", (int)m->s.hidden, m->threads,
            what, m->d->barrier);
}

static void lstm(const struct made *m, bool bias, bool peephole) {
    int n = (int)m->s.hidden;
    product(m, 0, 4 * n, "h", bias);
    fprintf(m->out, "#define GATE(g) (z[at + g*%d + j] + a[g*%d + j])\n", n, n);
    fprintf(m->out, "#define HOLE(g, v) %s\n",
            peephole ? hd_sprintf(m->p->arena, "+ p[d*%d + g*%d + j]*(v)", 3 * n, n) : "");
    bool coupled = hd_attr_int(m->n, "input_forget", 0) != 0;
    each_element(m, hd_sprintf(m->p->arena,
                               " const float old = c[j], i = F((GATE(0) HOLE(0, old)));\n"
                               " const float f = %s;\n c[j] = f*old + i*G((GATE(3)));\n"
                               " h[j] = F((GATE(1) HOLE(1, c[j])))*H((c[j]));\n%s",
                               coupled ? "1 - i" : "F((GATE(2) HOLE(2, old)))", m->store));
    fputs("#undef GATE\n#undef HOLE\n", m->out);
}

static void gru(const struct made *m, bool bias) {
    int n = (int)m->s.hidden;
    bool before = hd_attr_int(m->n, "linear_before_reset", 0) != 0;
    product(m, 0, before ? 3 * n : 2 * n, "h", bias);
    fprintf(m->out, "#define GATE(g) F((z[at + g*%d + j] + a[g*%d + j]))\n", n, n);
    if (!before) {
        each_element(m, " c[j] = GATE(1)*h[j];\n");
        product(m, 2 * n, 3 * n, "c", bias);
    }
    each_element(m, hd_sprintf(m->p->arena,
                               " const float u = GATE(0), in = z[at + %d + j] + %sa[%d + j];\n"
                               " h[j] = (1 - u)*G((in)) + u*h[j];\n%s",
                               2 * n, before ? "GATE(1)*" : "", 2 * n, m->store));
    fputs("#undef GATE\n", m->out);
}

static void rnn(const struct made *m, bool bias) {
    product(m, 0, (int)m->s.hidden, "h", bias);
    each_element(m, hd_sprintf(m->p->arena, " h[j] = F((z[at + j] + a[j]));\n%s", m->store));
}

/* Where row j of a state of sequence q and direction d lies. */
static const char *state_at(const struct made *m) {
    const struct hd_rnn *s = &m->s;
    return s->batch_first
               ? hd_sprintf(m->p->arena, "(q*%d + d)*%d + j", s->directions, (int)s->hidden)
               : hd_sprintf(m->p->arena, "(d*%d + q)*%d + j", (int)s->batch, (int)s->hidden);
}

static const char *y_at(const struct made *m) {
    const struct hd_rnn *s = &m->s;
    return s->batch_first ? hd_sprintf(m->p->arena, "((q*%d + t)*%d + d)*%d + j", (int)s->steps,
                                       s->directions, (int)s->hidden)
                          : hd_sprintf(m->p->arena, "((t*%d + d)*%d + q)*%d + j", s->directions,
                                       (int)s->batch, (int)s->hidden);
}

struct operands { /* views; -1 = left out */
    int z, rt, b, lens, h, c, p, y, last_h, last_c;
};

/* How long the sequence is, and the states in front of it. */
static void begin(const struct made *m, const struct operands *o) {
    const struct hd_rnn *s = &m->s;
    int steps = (int)s->steps, n = (int)s->hidden;
    fprintf(m->out, "%sfloat h[%d], c[%d], a[%d];\n", m->d->local, n, n, s->gates * n);
    fprintf(m->out, "const int q = %s, d = %s, me = %s;\nint length = %s;\n", m->d->block[0],
            m->d->block[1], m->d->thread[0],
            o->lens < 0 ? hd_sprintf(m->p->arena, "%d", steps) : "lens[q]");
    if (o->lens >= 0)
        fprintf(m->out, "if (length < 0 || length > %d) { *fault = 1; length = 0; }\n", steps);
    each_element(
        m,
        hd_sprintf(m->p->arena, " h[j] = %s;\n c[j] = %s;\n",
                   o->h < 0 ? "0" : hd_sprintf(m->p->arena, "length ? h0[%s] : 0", state_at(m)),
                   o->c < 0 ? "0" : hd_sprintf(m->p->arena, "length ? c0[%s] : 0", state_at(m))));
}

static void body(const struct made *m, const struct operands *o) {
    const struct hd_rnn *s = &m->s;
    int steps = (int)s->steps;
    begin(m, o);
    fprintf(m->out, "for (int step = 0; step < length; step++) {\n");
    fprintf(m->out, "const int t = %s ? length - 1 - step : step;\n",
            s->directions == 2 ? "d == 1"
            : s->reverse       ? "1"
                               : "0");
    fprintf(m->out, "const int at = ((d*%d + t)*%d + q)*%d;\n", steps, (int)s->batch,
            s->gates * (int)s->hidden);
    if (s->gates == 4)
        lstm(m, o->b >= 0, o->p >= 0);
    else
        (s->gates == 3 ? gru : rnn)(m, o->b >= 0);
    fputs("}\n", m->out);
    if (o->y >= 0) {
        fprintf(m->out, "for (int t = length; t < %d; t++) {\n", steps);
        each_element(m, hd_sprintf(m->p->arena, " y[%s] = 0;\n", y_at(m)));
        fputs("}\n", m->out);
    }
    if (o->last_h >= 0)
        each_element(m, hd_sprintf(m->p->arena, " last_h[%s] = h[j];\n", state_at(m)));
    if (o->last_c >= 0)
        each_element(m, hd_sprintf(m->p->arena, " last_c[%s] = c[j];\n", state_at(m)));
    fputs("}\n", m->out);
}

static int kernel(struct made *m, const struct operands *o) {
    char *text = NULL;
    size_t bytes;
    m->out = open_memstream(&text, &bytes);
    HD_ASSERT(m->out);
    argument(m, "const float", "z", o->z);
    argument(m, "const float", "rt", o->rt);
    argument(m, "const float", "b", o->b);
    argument(m, "const int", "lens", o->lens);
    argument(m, "const float", "h0", o->h);
    argument(m, "const float", "c0", o->c);
    argument(m, "const float", "p", o->p);
    argument(m, "float", "y", o->y);
    argument(m, "float", "last_h", o->last_h);
    argument(m, "float", "last_c", o->last_c);
    if (o->lens >= 0) argument(m, "int", "fault", hd_gpu_fault(m->p));
    fputs(") {\n", m->out);
    m->store = o->y < 0 ? "" : hd_sprintf(m->p->arena, " y[%s] = h[j];\n", y_at(m));
    define_activations(m);
    body(m, o);
    fputs("#undef F\n#undef G\n#undef H\n", m->out);
    fclose(m->out);
    int k = hd_kernels_template(m->p->kernels, activations(m), text);
    free(text);
    return k;
}

/* ---- the step ------------------------------------------------------------------------------- */

/* z = W x + its bias for all steps; R transposed, so that neighbouring threads read neighbours. */
static hd_status before(const struct made *m, struct operands *o) {
    bool bias = o->b >= 0;
    const char *text =
        hd_sprintf(m->p->arena,
                   "(x, w, r%s) -> z, rt\ns[d,t,q,g] += f64(x[%s,i])*f64(w[d,g,i])\n"
                   "z[d,t,q,g] = f32(s[d,t,q,g]%s) where g < %d\nrt[d,k,g] = r[d,g,k]",
                   bias ? ", b" : "", m->s.batch_first ? "q,t" : "t,q",
                   bias ? " + f64(b[d,g])" : "", m->s.gates * (int)m->s.hidden);
    struct hd_gpu_nest made;
    TRY(hd_gpu_nest_make(m->p, m->n, text, bias ? 4 : 3, &made));
    int view[2] = {-1, -1};
    TRY(hd_gpu_nest_call(m->p, &made, 2, view));
    o->z = view[0];
    o->rt = view[1];
    return HD_OK;
}

static bool fits(struct made *m, const struct hd_tensor *const *in) {
    const struct hd_gpu_limits *l = m->p->limits;
    const struct hd_rnn *s = &m->s;
    size_t local = (size_t)(s->gates + 2) * (size_t)s->hidden * sizeof(float);
    int64_t rows = (s->gates * s->hidden + 31) / 32 * 32;
    m->threads = (int)hd_min(hd_min(rows, l->is_cpu ? CPU_THREADS : MOST_THREADS), l->max_threads);
    if (in[0]->dtype != HD_F32)
        m->p->why = "it is not f32";
    else if (local > l->local_bytes)
        m->p->why =
            hd_sprintf(m->p->arena, "its states take %zu bytes of local memory, at most %zu", local,
                       l->local_bytes);
    else if (!s->steps || !s->batch || !s->hidden || !s->input)
        m->p->why = "it has no elements";
    else
        return true;
    return false;
}

static hd_status step(struct made *m, int node) {
    struct operands o;
    TRY(hd_gpu_operand(m->p, m->n, 3, &o.b));
    TRY(hd_gpu_operand(m->p, m->n, 4, &o.lens));
    TRY(hd_gpu_operand(m->p, m->n, 5, &o.h));
    TRY(hd_gpu_operand(m->p, m->n, 6, &o.c));
    TRY(hd_gpu_operand(m->p, m->n, 7, &o.p));
    hd_gpu_step(m->p, HD_GPU_KERNELS, node, m->p->api->scheme, 0, NULL, 0, NULL);
    TRY(before(m, &o));
    o.y = hd_gpu_result(m->p, m->n, 0);
    o.last_h = hd_gpu_result(m->p, m->n, 1);
    o.last_c = hd_gpu_result(m->p, m->n, 2);
    int k = kernel(m, &o);
    struct hd_gpu_call *c = hd_gpu_call(m->p, k, m->n_args, m->arg);
    c->grid[0] = (size_t)m->s.batch;
    c->grid[1] = (size_t)m->s.directions;
    c->block[0] = m->threads;
    return HD_OK;
}

hd_status hd_gpu_recurrent(struct hd_gpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *in[8];
    struct made m = {.p = p, .n = n, .d = p->api->dialect};
    if (n->op != HD_IR_lstm && n->op != HD_IR_gru && n->op != HD_IR_rnn) return HD_OK;
    for (int i = 0; i < 8; i++)
        in[i] = i < n->n_in && n->in[i] >= 0 ? &p->g->tensors[n->in[i]] : NULL;
    TRY(hd_rnn_get(p->ctx, n, in, &m.s));
    if (!fits(&m, in)) return HD_OK;
    *out_taken = true;
    return step(&m, node);
}
