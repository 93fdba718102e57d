/* Cuts of a run: what is in flight counts as done, what waits becomes a program. */
#include "sim/iss_cut.h"

#include <stdlib.h>
#include <string.h>

#include "sim/iss_int.h"

/* ---- words ---------------------------------------------------------------------------------- */

enum { MAX_WAITING = HD_UNITS * (HD_QUEUE_MAX + 1) };

struct waiting {
    struct hd_op_word op;
    uint32_t pc;
};

struct list {
    struct waiting op[MAX_WAITING];
    int n;
};

static int by_pc(const void *a, const void *b) {
    uint32_t x = ((const struct waiting *)a)->pc, y = ((const struct waiting *)b)->pc;
    return (x > y) - (x < y);
}

/* What the fronts hold, in the order in which it was issued. */
static void find_waiting(const hd_iss *iss, struct list *l) {
    l->n = 0;
    for (int u = HD_UNIT_lx; u < HD_UNITS; u++) {
        const struct front *f = &iss->front[u];
        if (f->state != FRONT_IDLE) {
            struct waiting *w = &l->op[l->n++];
            *w = (struct waiting){f->cur.op, f->cur.pc};
            w->op.set = 0; /* the nop has set them */
            if (f->state == FRONT_OFFER) w->op.wait = 0;
        }
        for (uint32_t i = 0; i < f->q_n; i++) {
            const struct queued_op *q = &f->queue[(f->q_head + i) % HD_QUEUE_MAX];
            l->op[l->n++] = (struct waiting){q->op, q->pc};
        }
    }
    qsort(l->op, (size_t)l->n, sizeof *l->op, by_pc);
}

static void put_op(struct hd_iss_cut *c, const struct hd_op_word *op) {
    c->n_words += (size_t)hd_op_encode(op, c->words + c->n_words);
}

static void put_head(struct hd_iss_cut *c, uint32_t slots) {
    c->words[c->n_words++] = hd_bundle_head(slots);
}

/* A nop of each unit, with all of its parameter words that are not zero. */
static void put_parameters(const hd_iss *iss, struct hd_iss_cut *c) {
    uint32_t slots = 0;
    for (int u = HD_UNIT_lx; u < HD_UNITS; u++) slots |= 1u << u;
    put_head(c, slots);
    for (int u = HD_UNIT_lx; u < HD_UNITS; u++) {
        struct hd_op_word nop = {.unit = (uint8_t)u};
        memcpy(nop.lit, iss->front[u].sticky.words, sizeof nop.lit);
        for (int i = 0; i < HD_PARAM_WORDS; i++) nop.set |= (uint32_t)(nop.lit[i] != 0) << i;
        put_op(c, &nop);
    }
}

/* The operations of the bundle in work that have not been issued. */
static void put_bundle(const hd_iss *iss, struct hd_iss_cut *c) {
    const struct issue *s = &iss->issue;
    uint32_t slots = 0;
    for (int i = s->at; i < s->n; i++) slots |= 1u << s->ops[i].unit;
    put_head(c, slots);
    for (int i = s->at; i < s->n; i++) {
        struct hd_op_word op = s->ops[i];
        bool granted = op.unit == HD_UNIT_seq && (s->seq == SEQ_BARRIER || s->seq == SEQ_END);
        if (granted) op.wait = 0;
        if (granted && s->seq == SEQ_END) op.code = 0; /* it has only to signal */
        put_op(c, &op);
    }
}

/* Empty bundles before word `at`, so many that the end stands in bursts of fetch as word `as` of
 * the program does: what is ahead of issue is then the same. */
static void put_empty(const hd_iss *iss, struct hd_iss_cut *c, size_t at, uint32_t as) {
    size_t burst = HD_N_fetch_chunk / 4, place = iss->reg.code_offset / 4 + as;
    size_t n = (place + burst - c->n_words % burst) % burst;
    memmove(c->words + at + n, c->words + at, (c->n_words - at) * sizeof *c->words);
    for (size_t i = 0; i < n; i++) c->words[at + i] = hd_bundle_head(0);
    c->n_words += n;
}

/* ---- the cut -------------------------------------------------------------------------------- */

static void take_semaphores(const hd_iss *iss, struct hd_iss_cut *c) {
    memcpy(c->sem, iss->sem, sizeof c->sem);
    for (int u = HD_UNIT_lx; u < HD_UNITS; u++) {
        const struct front *f = &iss->front[u];
        c->in_flight[u] = f->f_n;
        for (uint32_t i = 0; i < f->f_n; i++)
            for (int s = 0; s < HD_SEMAPHORES; s++)
                c->sem[s] =
                    (uint8_t)(c->sem[s] +
                              (f->fly[(f->f_head + i) % HD_N_ops_in_flight].signal >> s & 1));
    }
}

bool hd_iss_cut_take(const hd_iss *iss, uint64_t cycle, struct hd_iss_cut *out) {
    const struct issue *s = &iss->issue;
    *out = (struct hd_iss_cut){.cycle = cycle};
    bool halts = s->decoded && s->n && s->ops[0].unit == HD_UNIT_seq &&
                 s->ops[0].code == hd_isa_ops[HD_OP_seq_halt].code;
    if (!iss->running || !iss->code_words || s->wrong || iss->failure.is || halts) return false;
    out->rest_of = s->decoded ? s->bundle + (uint32_t)s->words : s->pc;
    struct list *l = malloc(sizeof *l);
    size_t most = iss->code_words - out->rest_of + HD_N_fetch_chunk +
                  (size_t)(MAX_WAITING + 2 * HD_UNITS + 2) * (HD_OP_MAX_WORDS + 1);
    out->words = malloc(most * sizeof *out->words);
    if (!l || !out->words) {
        free(l);
        hd_iss_cut_free(out);
        return false;
    }
    take_semaphores(iss, out);
    find_waiting(iss, l);
    memcpy(out->words, iss->code, HD_PROG_HEADER_WORDS * sizeof *out->words);
    out->n_words = HD_PROG_HEADER_WORDS;
    put_parameters(iss, out);
    size_t waiting = out->n_words;
    for (int i = 0; i < l->n; i++) {
        put_head(out, 1u << l->op[i].op.unit);
        put_op(out, &l->op[i].op);
    }
    if (s->decoded) put_bundle(iss, out);
    put_empty(iss, out, waiting, out->rest_of);
    out->rest = (uint32_t)out->n_words;
    memcpy(out->words + out->rest, iss->code + out->rest_of,
           (iss->code_words - out->rest_of) * sizeof *out->words);
    out->n_words += iss->code_words - out->rest_of;
    out->words[3] = (uint32_t)out->n_words;
    free(l);
    return true;
}

void hd_iss_cut_free(struct hd_iss_cut *cut) {
    free(cut->words);
    cut->words = NULL;
}

bool hd_iss_cut_is_quiet(const hd_iss *iss) {
    return !iss->front[HD_UNIT_lx].f_n && !iss->front[HD_UNIT_lw].f_n;
}

bool hd_iss_cut_is_past(const hd_iss *iss, uint64_t cycle) {
    for (int u = HD_UNIT_lx; u < HD_UNITS; u++) {
        uint64_t start = hd_iss_flying(iss, (enum hd_unit)u, 0);
        if (start && start <= cycle + 1) return false;
    }
    return true;
}

uint64_t hd_iss_flying(const hd_iss *iss, enum hd_unit u, uint32_t i) {
    const struct front *f = &iss->front[u];
    return i < f->f_n ? f->fly[(f->f_head + i) % HD_N_ops_in_flight].start : 0;
}

int hd_iss_free_semaphore(const hd_iss *iss) {
    uint32_t used = 0;
    for (uint32_t pc = HD_PROG_HEADER_WORDS; pc < iss->code_words;) {
        struct hd_op_word ops[HD_UNITS];
        int offset[HD_UNITS], n = 0;
        const char *why;
        int words = hd_bundle_decode(iss->code + pc, iss->code_words - pc, ops, offset, &n, &why);
        if (!words) break;
        for (int i = 0; i < n; i++) used |= ops[i].wait | ops[i].signal;
        pc += (uint32_t)words;
    }
    for (int i = HD_SEMAPHORES - 1; i >= 0; i--)
        if (!(used >> i & 1)) return i;
    return -1;
}
