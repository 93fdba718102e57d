/* Banks that MX and VX read, and what VX waits for them: see banks.h. As in sim/iss_bank.c an
 * operation is cut into runs of iterations in one bank, but not into short ones: of these only the
 * banks are known, not their order, and VX waits in its share of the cycles. */
#include "compiler/cost/banks.h"

#include "runtime/base/num.h"

enum { LOOPS = 6 };

struct nest { /* loop 0 innermost, in words; lo, hi: reach of the loops below */
    int loops;
    int64_t n[LOOPS], step[LOOPS], lo[LOOPS + 1], hi[LOOPS + 1];
    int64_t bank;  /* words of one, a power of two */
    int shift;     /* its logarithm */
    int first_bit; /* of bank 0 */
    double brief;  /* iterations that are not worth a run of their own */
};

static void add_run(struct hd_bank_runs *r, double n, uint64_t banks) {
    struct hd_bank_run *last = r->n_runs ? &r->run[r->n_runs - 1] : NULL;
    if (last && (last->banks == banks || r->n_runs == HD_BANK_RUNS))
        last->n += n, last->banks |= banks;
    else
        r->run[r->n_runs++] = (struct hd_bank_run){n, banks};
}

static void add(struct hd_bank_runs *r, const struct nest *x, int loops, int64_t at) {
    int64_t lo = (at + x->lo[loops]) >> x->shift, hi = (at + x->hi[loops]) >> x->shift;
    double n = 1;
    for (int i = 0; i < loops; i++) n *= (double)x->n[i];
    if (lo == hi || n <= x->brief) {
        add_run(r, n, ((UINT64_C(2) << hi) - (UINT64_C(1) << lo)) << x->first_bit);
        return;
    }
    for (int64_t i = 0; i < x->n[loops - 1]; i++) add(r, x, loops - 1, at + i * x->step[loops - 1]);
}

static void runs_of(struct nest *x, int64_t at, struct hd_bank_runs *out) {
    double n = 1;
    for (int l = 0; l < x->loops; l++) {
        int64_t d = (x->n[l] - 1) * x->step[l];
        x->lo[l + 1] = x->lo[l] + hd_min(d, 0), x->hi[l + 1] = x->hi[l] + hd_max(d, 0);
        n *= (double)x->n[l];
    }
    x->brief = n / HD_BANK_RUNS;
    x->shift = __builtin_ctzll((uint64_t)x->bank);
    out->n_runs = 0;
    add(out, x, x->loops, at);
}

static uint64_t am_banks(const struct hd_slot_op *op) {
    return op->writes_banks >> HD_BANK_AM << HD_BANK_AM;
}

/* MX writes AM in this part of its cycles. */
static double mx_write_part(const struct hd_slot_op *op) {
    int64_t inner = 1;
    for (int l = 0; l < hd_op_field(op, HD_F_mx_nred); l++)
        inner *= hd_op_field(op, HD_F_mx_n0 + 4 * l);
    return 1 / (double)inner;
}

void hd_bank_user_of_mx(const struct hd_machine *m, const struct hd_slot_op *op, double start,
                        double end, struct hd_bank_user *out) {
    struct nest x = {.loops = LOOPS, .bank = m->xm_bytes / m->xm_banks / m->k};
    for (int l = 0; l < LOOPS; l++) {
        x.n[l] = hd_op_field(op, HD_F_mx_n0 + 4 * l);
        x.step[l] = hd_op_field(op, HD_F_mx_xs0 + 4 * l);
    }
    runs_of(&x, hd_op_field(op, HD_F_mx_x), &out->xm);
    out->any = true, out->start = start, out->end = end, out->part = 1;
    out->am = hd_op_field(op, HD_F_mx_accumulate) ? am_banks(op) : 0;
    out->am_part = mx_write_part(op);
}

double hd_am_writers_add(struct hd_am_writers *w, const struct hd_slot_op *op, double start,
                         double end) {
    int i = w->next++ % HD_N_ops_in_flight;
    w->op[i].from = start + HD_T_mx_write, w->op[i].to = end + HD_T_mx_write;
    w->op[i].banks = am_banks(op), w->op[i].part = mx_write_part(op);
    return (end - start) * w->op[i].part;
}

/* Operand A (0) or B (1) as a nest; false: it lies elsewhere, or is none. */
static bool operand(const struct hd_machine *m, const struct hd_slot_op *op, int which,
                    struct nest *out) {
    int64_t kind = hd_op_field(op, which ? HD_F_vx_b_kind : HD_F_vx_a_kind);
    int step = which ? HD_F_vx_bs0 : HD_F_vx_as0;
    bool dw = op->code == hd_isa_ops[HD_OP_vx_dw].code;
    if (kind > HD_V_vx_kind_xm_uint8) return false;
    *out = (struct nest){.bank = m->xm_bytes / m->xm_banks / m->n};
    if (kind <= HD_V_vx_kind_am_f32)
        out->bank = hd_am_words(m) / HD_AM_BANKS, out->first_bit = HD_BANK_AM;
    if (!dw) {
        out->loops = 4;
        for (int l = 0; l < 4; l++) {
            out->n[l] = hd_op_field(op, HD_F_vx_n0 + l);
            out->step[l] =
                which && l < hd_op_field(op, HD_F_vx_nred) ? 0 : hd_op_field(op, step + l);
        }
        return true;
    }
    static const int loop[] = {2, 0, 3}; /* rows of the window, columns, vectors of channels */
    int64_t n0 = hd_op_field(op, HD_F_vx_n0), n1 = hd_op_field(op, HD_F_vx_n1);
    bool pairs = hd_op_field(op, HD_F_vx_b_kind) == hd_op_field(op, HD_F_vx_a_kind);
    out->loops = 3;
    out->n[0] = hd_op_field(op, HD_F_vx_n2), out->n[2] = hd_op_field(op, HD_F_vx_n3);
    out->n[1] = pairs ? n1 + n0 - 2 : (n1 - 1) * hd_op_field(op, HD_F_vx_sx) + n0;
    for (int l = 0; l < 3; l++) out->step[l] = hd_op_field(op, step + loop[l]);
    if (which && !pairs) { /* a sum for each window */
        out->step[0] = 0;
        out->step[1] = hd_op_field(op, HD_F_vx_bs1) / hd_op_field(op, HD_F_vx_sx);
    }
    return true;
}

double hd_vx_least_cycles(const struct hd_machine *m, const struct hd_slot_op *op,
                          int64_t iterations) {
    if (op->code != hd_isa_ops[HD_OP_vx_dw].code) return m->vx_cycles;
    const int64_t rows = hd_op_field(op, HD_F_vx_n2), lanes = m->vx_cycles;
    bool pairs = hd_op_field(op, HD_F_vx_b_kind) == hd_op_field(op, HD_F_vx_a_kind);
    int64_t window = rows * (hd_op_field(op, HD_F_vx_n0) - pairs);
    int64_t step = rows * (pairs ? 1 : hd_op_field(op, HD_F_vx_sx));
    int64_t row = hd_max(window, lanes) + (hd_op_field(op, HD_F_vx_n1) - 1) * hd_max(step, lanes);
    return (double)(hd_op_field(op, HD_F_vx_n3) * row) / (double)iterations;
}

void hd_vx_reads_of(const struct hd_machine *m, const struct hd_slot_op *op, int64_t iterations,
                    struct hd_vx_reads *out) {
    struct nest x;
    bool map = op->code != hd_isa_ops[HD_OP_vx_dw].code;
    out->banks = 0, out->b_part = 1;
    out->each = hd_vx_least_cycles(m, op, iterations);
    out->writes = map ? am_banks(op) : 0;
    out->room = m->n > 32 ? 128 : 64;
    for (int which = 0; which < 2; which++) {
        struct hd_bank_runs *r = &out->operand[which];
        bool reads = (!which || !map || hd_op_field(op, HD_F_vx_alu)) && operand(m, op, which, &x);
        if (reads)
            runs_of(&x, hd_op_field(op, which ? HD_F_vx_b : HD_F_vx_a), r);
        else
            r->n_runs = 1, r->run[0] = (struct hd_bank_run){(double)iterations, 0};
        for (int i = 0; i < r->n_runs; i++) out->banks |= r->run[i].banks;
    }
    for (int l = 0; map && l < hd_op_field(op, HD_F_vx_nred); l++)
        out->b_part /= (double)hd_op_field(op, HD_F_vx_n0 + l);
    out->results = map ? out->b_part
                       : (double)(hd_op_field(op, HD_F_vx_n1) * hd_op_field(op, HD_F_vx_n3)) /
                             (double)iterations;
    if (!map && hd_op_field(op, HD_F_vx_b_kind) <= HD_V_vx_kind_am_f32)
        out->b_part = 1 / (double)(hd_op_field(op, HD_F_vx_n2) * hd_op_field(op, HD_F_vx_sx));
}

/* The share of cycles in which words of `a` and of `b` are in one bank. */
static double in_one_bank(uint64_t a, uint64_t b) {
    if (!(a & b)) return 0;
    if (a == b && !(a & (a - 1))) return 1;
    return (double)__builtin_popcountll(a & b) / __builtin_popcountll(a) / __builtin_popcountll(b);
}

/* MX's banks at `at`, and until when it reads these; before it begins it reads none. */
static uint64_t mx_banks(const struct hd_bank_user *mx, double at, double *out_until) {
    double end = mx->start;
    if (at < end) {
        *out_until = end;
        return 0;
    }
    for (int i = 0; i < mx->xm.n_runs; i++) {
        end += mx->xm.run[i].n;
        if (end <= at) continue;
        *out_until = end;
        return mx->xm.run[i].banks;
    }
    return 0;
}

/* The share of cycles in which VX waits for MX, which reads `mx`. Where that is one bank it stays
 * there, and VX, whose iterations are in order, comes to a word of that bank soon. */
static double behind_mx(uint64_t mx, uint64_t vx) {
    return mx & vx && !(mx & (mx - 1)) ? 1 : in_one_bank(mx, vx);
}

/* n iterations are done. */
static void move(const struct hd_vx_reads *v, struct hd_vx_place *p, double n) {
    static const double NONE = 1e-6;
    p->left -= n;
    if (p->left < NONE) p->left = 0;
    for (int w = 0; w < 2; w++) {
        const struct hd_bank_runs *r = &v->operand[w];
        p->done[w] += n;
        if (p->done[w] > r->run[p->run[w]].n - NONE && p->run[w] + 1 < r->n_runs)
            p->run[w]++, p->done[w] = 0;
    }
}

/* The share of a cycle that MX leaves to results of VX in AM, and until when. */
static double room_in_am(const struct hd_am_writers *w, uint64_t banks, double at,
                         double *out_until) {
    double share = 0;
    *out_until = 1e18;
    for (int i = 0; i < HD_N_ops_in_flight; i++) {
        const double from = w->op[i].from, to = w->op[i].to, next = at < from ? from : to;
        if (at < to && next < *out_until) *out_until = next;
        if (next == to && at < to) share += w->op[i].part * in_one_bank(w->op[i].banks, banks);
    }
    return share < 1 ? 1 - share : 0;
}

/* A cycle in which so many iterations begin. */
static void cycle(const struct hd_vx_reads *v, struct hd_vx_place *p, const struct hd_am_writers *w,
                  double n) {
    const int64_t now = (int64_t)p->at;
    double until, room = room_in_am(w, v->writes, p->at, &until);
    double *ready = &p->ready[now % HD_VX_LATEST];
    p->waiting += *ready, *ready = 0;
    double written = p->waiting < room ? p->waiting : room;
    p->ready[(now + v->late) % HD_VX_LATEST] += n * v->results;
    p->waiting -= written;
    p->on_their_way += n * v->results - written;
    p->at++;
}

/* Results come as they go, so many in each cycle, and none waits: so it goes on while iterations
 * do and there is the same room. Passes over such cycles before `stop`, n of `left` iterations
 * in each, to the bit as they would come out one by one; returns what is left then. */
static double pass_over(const struct hd_vx_reads *v, struct hd_vx_place *p,
                        const struct hd_am_writers *w, double n, double left, double stop) {
    const int64_t now = (int64_t)p->at;
    double end, cycles = 0, done = left, each = n * v->results;
    if (p->waiting != 0 || p->ready[now % HD_VX_LATEST] != each ||
        p->on_their_way + each > v->room || each > room_in_am(w, v->writes, p->at, &end))
        return left;
    for (int i = HD_VX_LATEST; i-- > 0;)
        if (p->ready[(now + i) % HD_VX_LATEST] != (i < v->late ? each : 0)) return left;
    end = stop < end ? stop : end;
    if (n == 1 && left < end - p->at) cycles = (double)(int64_t)left, done -= cycles;
    for (; done >= n && p->at + cycles < end; cycles++) done -= n;
    if (p->at + cycles - cycles != p->at) return left; /* not what adding one at a time gives */
    for (int i = 0; i < HD_VX_LATEST; i++)
        p->ready[(now + (int64_t)cycles + i) % HD_VX_LATEST] = i < v->late ? each : 0;
    p->at += cycles;
    return done;
}

void hd_vx_drain(const struct hd_vx_reads *v, struct hd_vx_place *p, const struct hd_am_writers *w,
                 double until) {
    static const double NONE = 1e-6;
    while (p->on_their_way > NONE && p->at < until) cycle(v, p, w, 0);
}

/* Iterations, at most n and up to `stop`, of `each` cycles; returns how many. */
static double iterate(const struct hd_vx_reads *v, struct hd_vx_place *p,
                      const struct hd_am_writers *w, double n, double each, double stop) {
    double left = n;
    if (!v->writes) {
        if (p->at + n * each > stop) n = (stop - p->at) / each;
        p->at = p->at + n * each;
        return n;
    }
    while (left > 0 && p->at < stop) {
        double begin = left < 1 / each ? left : 1 / each;
        if (p->on_their_way + begin * v->results > v->room) begin = 0;
        cycle(v, p, w, begin);
        left -= begin;
        if (left > begin && begin > 0) left = pass_over(v, p, w, begin, left, stop);
    }
    return n - left;
}

void hd_vx_go_on(const struct hd_vx_reads *v, struct hd_vx_place *p, const struct hd_bank_user *mx,
                 const struct hd_am_writers *w, double until) {
    static const double ALWAYS = 0.99;
    while (p->left > 0 && p->at < until) {
        const struct hd_bank_run *a = &v->operand[0].run[p->run[0]],
                                 *b = &v->operand[1].run[p->run[1]];
        double n = p->left, stop = until, waits = 0;
        if (a->n - p->done[0] < n) n = a->n - p->done[0];
        if (b->n - p->done[1] < n) n = b->n - p->done[1];
        if (mx->any && p->at < mx->end) {
            double changes = mx->end;
            uint64_t xm = mx_banks(mx, p->at, &changes);
            if (changes < stop) stop = changes;
            waits = behind_mx(xm, a->banks) + v->b_part * behind_mx(xm, b->banks);
            if (mx->am)
                waits += mx->am_part * (in_one_bank(mx->am, a->banks) +
                                        v->b_part * in_one_bank(mx->am, b->banks));
            waits *= mx->part;
        }
        if (waits > ALWAYS) {
            while (v->writes && p->at + 1 <= stop) cycle(v, p, w, 0);
            p->at = stop;
            continue;
        }
        double each = (1 + v->b_part * in_one_bank(a->banks, b->banks)) / (1 - waits) + v->each - 1;
        move(v, p, iterate(v, p, w, n, each, stop));
    }
}
