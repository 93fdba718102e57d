/* Step maker for qlstm, qgru and qrnn: bit-equal to golden (cpu_ref/k_qrnn.c, docs/numerics.md).
 * The sums of the inputs of all steps, and the transposed recurrent weights (once), are tensor
 * expressions. The recurrence is a kernel written by hand: a block for each sequence of a
 * direction, whose threads share the rows; bytes of the step before and states lie in local memory.
 */
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
    struct hd_qrnn s;
    FILE *out;
    int threads;
    int arg[12], n_args;
};

struct operands { /* views; -1 = left out */
    int z, rt, bias, scale, h, c, y, last;
};

/* ---- the kernel ----------------------------------------------------------------------------- */

/* The functions of the vector unit, a rounding without subnormal numbers, requantisation. */
static const char *helpers(const struct made *m) {
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    HD_ASSERT(f);
    hd_dialect_print_fn(m->d, f);
    fprintf(f,
            "%s float hd_q_flush(float v) {\n"
            "    return v < 1.17549435e-38f && v > -1.17549435e-38f ? v * 0.0f : v;\n}\n"
            "%s int hd_q_round(float v) {\n    if (!(v == v)) return 0;\n"
            "    if (v >= 1073741824.0f) return 1 << 30;\n"
            "    return v <= -1073741824.0f ? -(1 << 30) : (int)rint(v);\n}\n",
            m->d->helper, m->d->helper);
    fclose(f);
    const char *kept = hd_strdup(m->p->arena, text);
    free(text);
    return kept;
}

static void argument(struct made *m, const char *type, const char *name, int view) {
    if (view < 0) return;
    fprintf(m->out, "%s%s%s *%s", m->n_args ? ", " : "(", m->d->global, type, name);
    m->arg[m->n_args++] = view;
}

static void each(const struct made *m, const char *what) {
    fprintf(m->out, "for (int j = me; j < %d; j += %d) {\n%s}\n%s;\n", (int)m->s.hidden, m->threads,
            what, m->d->barrier);
}

/* a[i] of the bytes v, rows from .. to - 1. */
static void product(const struct made *m, int from, int to, const char *v) {
    int n = (int)m->s.hidden, gh = m->s.gates * n;
    fprintf(m->out,
            "for (int i = me + %d; i < %d; i += %d) {\n"
            " const int at = (d*2 + 1)*%d + i;\n unsigned int sum = (unsigned int)bias[at];\n"
            " for (int k = 0; k < %d; k++)\n"
            "  sum += (unsigned int)((%s[k] - (%d))*rt[(d*%d + k)*%d + i]);\n"
            " a[i] = hd_q_flush((float)(int)sum*hd_q_flush(scale[at]));\n}\n%s;\n",
            from, to, m->threads, gh, n, v, m->s.y_zp, n, gh, m->d->barrier);
}

static void lstm(const struct made *m) {
    int n = (int)m->s.hidden;
    product(m, 0, 4 * n, "h");
    each(m, hd_sprintf(m->p->arena,
                       " const float i = S(IN(0, j) + a[j]), o = S(IN(1, j) + a[%d + j]);\n"
                       " const float f = S(IN(2, j) + a[%d + j]), g = T(IN(3, j) + a[%d + j]);\n"
                       " state[j] = FLUSH(FLUSH(f*state[j]) + FLUSH(g*i));\n"
                       " const float out = o*STEP;\n h[j] = REQUANT(T(state[j])*out);\n"
                       " STORE;\n",
                       n, 2 * n, 3 * n));
}

static void gru(const struct made *m) {
    int n = (int)m->s.hidden;
    bool before = m->s.linear_before_reset;
    product(m, 0, before ? 3 * n : 2 * n, "h");
    each(m, hd_sprintf(m->p->arena, " a[%d + j] = S(IN(1, j) + a[%d + j]);\n%s", n, n,
                       before ? ""
                              : hd_sprintf(m->p->arena,
                                           " const float s = state[j]*STEP;\n"
                                           " r[j] = REQUANT(a[%d + j]*s);\n",
                                           n)));
    if (!before) product(m, 2 * n, 3 * n, "r");
    const char *part = before ? hd_sprintf(m->p->arena, "FLUSH(a[%d + j]*a[%d + j])", 2 * n, n)
                              : hd_sprintf(m->p->arena, "a[%d + j]", 2 * n);
    each(m, hd_sprintf(m->p->arena,
                       " const float g = T(%s + IN(2, j));\n"
                       " const float kept = FLUSH(FLUSH(state[j] - g)*S(IN(0, j) + a[j]));\n"
                       " state[j] = FLUSH(kept + g);\n h[j] = REQUANT(state[j]*STEP);\n STORE;\n",
                       part));
}

static void rnn(const struct made *m) {
    product(m, 0, (int)m->s.hidden, "h");
    each(m, hd_sprintf(m->p->arena, " h[j] = REQUANT(%s*STEP);\n STORE;\n",
                       m->s.no_tanh ? "FLUSH(IN(0, j) + a[j])" : "T(IN(0, j) + a[j])"));
}

/* Names for what the steps above are made of. */
static void define(const struct made *m, const struct operands *o) {
    const struct hd_qrnn *s = &m->s;
    int n = (int)s->hidden, gh = s->gates * n;
    fprintf(m->out,
            "#define FLUSH(v) hd_q_flush(v)\n#define S(v) hd_fn(HD_FN_SIGMOID, FLUSH(v))\n"
            "#define T(v) hd_fn(HD_FN_TANH, FLUSH(v))\n#define STEP %.9ef\n"
            "#define REQUANT(v) min(max(hd_q_round(v) + (%d), %d), %d)\n"
            "#define IN(g, j) FLUSH((float)(int)((unsigned int)z[at + (g)*%d + (j)] + (unsigned "
            "int)bias[d*%d + (g)*%d + (j)])"
            "*FLUSH(scale[d*%d + (g)*%d + (j)]))\n",
            (double)s->scale, s->y_zp, s->lo, s->hi, n, 2 * gh, n, 2 * gh, n);
    fprintf(m->out, "#define STORE %s\n",
            o->y < 0
                ? ""
                : hd_sprintf(m->p->arena, "y[((t*%d + d)*%d + q)*%d + j] = (%s)h[j]", s->directions,
                             (int)s->batch, n, s->y_signed ? "signed char" : "unsigned char"));
}

/* Bytes and states in front of the first step. */
static void begin(const struct made *m, const struct operands *o) {
    const struct hd_qrnn *s = &m->s;
    int n = (int)s->hidden;
    const char *at = hd_sprintf(m->p->arena, "(d*%d + q)*%d + j", (int)s->batch, n), *first;
    fprintf(m->out, "%sfloat state[%d], a[%d];\n%sint h[%d], r[%d];\n", m->d->local, n,
            s->gates * n, m->d->local, n, n);
    fprintf(m->out, "const int q = %s, d = %s, me = %s;\n", m->d->block[0], m->d->block[1],
            m->d->thread[0]);
    if (s->gates == 3)
        first = o->h < 0 ? hd_sprintf(m->p->arena, "%d", s->y_zp) : "REQUANT(state[j]*STEP)";
    else
        first = o->h < 0 ? hd_sprintf(m->p->arena, "%d", s->y_zp)
                         : hd_sprintf(m->p->arena, "h0[%s]", at);
    const char *state = s->gates == 4 && o->c >= 0   ? "c0"
                        : s->gates == 3 && o->h >= 0 ? "h0"
                                                     : NULL;
    each(m, hd_sprintf(m->p->arena, " state[j] = %s;\n h[j] = %s;\n r[j] = 0;\n",
                       state ? hd_sprintf(m->p->arena, "FLUSH(%s[%s])", state, at) : "0", first));
}

static int kernel(struct made *m, const struct operands *o) {
    const struct hd_qrnn *s = &m->s;
    const char *byte = s->y_signed ? "signed char" : "unsigned char";
    const char *first = s->gates == 3 ? "const float" : hd_sprintf(m->p->arena, "const %s", byte);
    int steps = (int)s->steps, gh = s->gates * (int)s->hidden;
    char *text = NULL;
    size_t bytes;
    m->out = open_memstream(&text, &bytes);
    HD_ASSERT(m->out);
    argument(m, "const int", "z", o->z);
    argument(m, "const signed char", "rt", o->rt);
    argument(m, "const int", "bias", o->bias);
    argument(m, "const float", "scale", o->scale);
    argument(m, first, "h0", o->h);
    argument(m, "const float", "c0", o->c);
    argument(m, byte, "y", o->y);
    argument(m, "float", "last", o->last);
    fputs(") {\n", m->out);
    define(m, o);
    begin(m, o);
    fprintf(m->out,
            "for (int step = 0; step < %d; step++) {\nconst int t = %s ? %d - step : step;\n",
            steps,
            s->directions == 2 ? "d == 1"
            : s->reverse       ? "1"
                               : "0",
            steps - 1);
    fprintf(m->out, "const int at = ((d*%d + t)*%d + q)*%d;\n", steps, (int)s->batch, gh);
    (s->gates == 4 ? lstm : s->gates == 3 ? gru : rnn)(m);
    fputs("}\n", m->out);
    if (o->last >= 0)
        each(m, hd_sprintf(m->p->arena, " last[(d*%d + q)*%d + j] = state[j];\n", (int)s->batch,
                           (int)s->hidden));
    fputs("}\n#undef FLUSH\n#undef S\n#undef T\n#undef STEP\n#undef REQUANT\n#undef IN\n"
          "#undef STORE\n",
          m->out);
    fclose(m->out);
    int k = hd_kernels_template(m->p->kernels, helpers(m), text);
    free(text);
    return k;
}

/* ---- the step ------------------------------------------------------------------------------- */

/* z = W (x - its zero point) for all steps; R transposed, so that threads read neighbours. */
static hd_status before(const struct made *m, struct operands *o) {
    const char *text = hd_sprintf(m->p->arena,
                                  "(x, w, r) -> z, rt\nz[d,t,q,g] += (i32(x[t,q,i]) - %d)"
                                  "*i32(w[d,g,i])\nrt[d,k,g] = r[d,g,k]",
                                  m->s.x_zp);
    struct hd_gpu_nest made;
    int view[2] = {-1, -1};
    TRY(hd_gpu_nest_make(m->p, m->n, text, 3, &made));
    TRY(hd_gpu_nest_call(m->p, &made, 2, view));
    o->z = view[0], o->rt = view[1];
    return HD_OK;
}

static bool fits(struct made *m) {
    const struct hd_gpu_limits *l = m->p->limits;
    const struct hd_qrnn *s = &m->s;
    size_t local = (size_t)(s->gates + 3) * (size_t)s->hidden * sizeof(float);
    int64_t rows = hd_round_up(s->gates * s->hidden, 32);
    m->threads = (int)hd_min(hd_min(rows, l->is_cpu ? CPU_THREADS : MOST_THREADS), l->max_threads);
    if (local > l->local_bytes)
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
    struct operands o = {.c = -1};
    TRY(hd_gpu_operand(m->p, m->n, 3, &o.bias));
    TRY(hd_gpu_operand(m->p, m->n, 4, &o.scale));
    TRY(hd_gpu_operand(m->p, m->n, 5, &o.h));
    if (m->s.gates == 4) TRY(hd_gpu_operand(m->p, m->n, 6, &o.c));
    hd_gpu_step(m->p, HD_GPU_KERNELS, node, m->p->api->scheme, 0, NULL, 0, NULL);
    TRY(before(m, &o));
    o.y = hd_gpu_result(m->p, m->n, 0);
    o.last = hd_gpu_result(m->p, m->n, 1);
    int k = kernel(m, &o);
    struct hd_gpu_call *c = hd_gpu_call(m->p, k, m->n_args, m->arg);
    c->grid[0] = (size_t)m->s.batch;
    c->grid[1] = (size_t)m->s.directions;
    c->block[0] = m->threads;
    return HD_OK;
}

hd_status hd_gpu_qrecurrent(struct hd_gpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *in[7];
    struct made m = {.p = p, .n = n, .d = p->api->dialect};
    if (n->op != HD_IR_qlstm && n->op != HD_IR_qgru && n->op != HD_IR_qrnn) return HD_OK;
    for (int i = 0; i < 7; i++)
        in[i] = i < n->n_in && n->in[i] >= 0 ? &p->g->tensors[n->in[i]] : NULL;
    TRY(hd_qrnn_get(p->ctx, n, in, &m.s));
    if (!fits(&m)) return HD_OK;
    *out_taken = true;
    return step(&m, node);
}
