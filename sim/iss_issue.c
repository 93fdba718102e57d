/* The front of the machine in time: issue word by word, and each unit's queue, unpacking and
 * semaphores, as hd_issue and hd_front do it. */
#include <string.h>

#include "sim/iss_int.h"

/* ---- issue ---------------------------------------------------------------------------------- */

/* What comes next does not decode: an error once everything before it has issued. */
static void is_wrong(struct issue *s, enum hd_unit unit, uint32_t pc, bool ends) {
    s->wrong = true, s->wrong_unit = unit, s->wrong_pc = pc, s->ends = ends;
}

/* The operation of unit u at word `at` of the bundle. */
static void decode_op(hd_iss *iss, enum hd_unit u, uint32_t at) {
    struct issue *s = &iss->issue;
    const uint32_t *words = iss->code + s->bundle + at;
    size_t left = iss->code_words - s->bundle - at;
    const char *why;
    int length = hd_op_words(u, words, left);
    if (!length) {
        is_wrong(s, u, s->bundle + at, false);
    } else if ((size_t)length > left) {
        is_wrong(s, u, iss->code_words, true);
    } else {
        hd_op_decode(u, words, left, &s->ops[s->n], &why);
        s->offset[s->n++] = (int)at;
        s->words = (int)at + length;
    }
}

/* A bundle ends where the last of its operations does, so what is read says how much there is. */
static void decode(hd_iss *iss) {
    struct issue *s = &iss->issue;
    s->n = s->words = s->at = 0;
    s->bundle = s->pc;
    s->decoded = true;
    if (s->pc == iss->code_words) {
        is_wrong(s, HD_UNIT_seq, iss->code_words, true);
        return;
    }
    uint32_t head = iss->code[s->pc], slots = hd_bundle_slots(head);
    if (head != hd_bundle_head(slots)) is_wrong(s, HD_UNIT_seq, s->pc, false);
    s->words = 1;
    for (int u = 0; u < HD_UNITS && !s->wrong; u++)
        if (slots >> u & 1) decode_op(iss, (enum hd_unit)u, (uint32_t)s->words);
}

static bool units_idle(const hd_iss *iss) {
    for (int u = HD_UNIT_lx; u < HD_UNITS; u++) {
        const struct front *f = &iss->front[u];
        if (f->q_n || f->f_n || f->state != FRONT_IDLE) return false;
    }
    return true;
}

bool hd_iss_take_semaphores(hd_iss *iss, uint32_t mask) {
    for (int i = 0; i < HD_SEMAPHORES; i++)
        if (mask >> i & 1 && !iss->sem[i]) return false;
    for (int i = 0; i < HD_SEMAPHORES; i++)
        if (mask >> i & 1) iss->sem[i]--;
    return true;
}

void hd_iss_signal(hd_iss *iss, uint32_t mask, enum hd_unit u, uint32_t pc, uint64_t t) {
    for (int i = 0; i < HD_SEMAPHORES; i++) {
        if (!(mask >> i & 1)) continue;
        if (iss->sem[i] == HD_SEM_MAX) {
            hd_iss_overflows(iss, t, u, pc);
            continue;
        }
        iss->sem[i]++;
    }
    if (mask) hd_iss_wake(iss);
}

static void tell_op(const hd_iss *iss, const struct hd_op_record *r) {
    if (iss->probe && iss->probe->op) iss->probe->op(iss->probe->user, r);
}

/* The SEQ operation in work; true when it has ended. */
static bool seq_step(hd_iss *iss, const struct hd_op_word *op, uint32_t pc) {
    struct issue *s = &iss->issue;
    if (s->seq == SEQ_SEM) {
        if (!hd_iss_take_semaphores(iss, op->wait)) return false;
        s->seq = op->code == 0 ? SEQ_END : SEQ_BARRIER;
        s->seq_granted = iss->now;
        s->t = iss->now + 1;
        s->next = s->t;
        return false;
    }
    if (s->seq == SEQ_BARRIER) {
        if (!units_idle(iss)) return false;
        s->seq = SEQ_END;
        s->t = iss->now + 1;
        s->next = s->t;
        return false;
    }
    s->seq = SEQ_NONE;
    s->t = iss->now + 1;
    tell_op(iss, &(struct hd_op_record){HD_UNIT_seq, 0, pc, s->seq_start, s->seq_start,
                                        s->seq_start, s->t, s->seq_granted - s->seq_start, 0, 0});
    hd_iss_signal(iss, op->signal, HD_UNIT_seq, pc, iss->now + 1);
    if (op->code == hd_isa_ops[HD_OP_seq_halt].code && iss->running) {
        iss->running = false;
        iss->now += HD_T_halt;
    }
    return true;
}

/* The queue of a unit has no room for another operation in this cycle. */
static bool no_room(hd_iss *iss, enum hd_unit u) {
    const struct front *f = &iss->front[u];
    uint32_t left = f->take == iss->now; /* its queue has that place from the next cycle on */
    if (u == HD_UNIT_seq || f->q_n + left < iss->m.queue_ops) return false;
    if (left) iss->issue.next = iss->now + 1;
    return true;
}

/* One operation of the bundle: its words to its unit's queue, or to the sequencer. False: blocked.
 */
static bool issue_op(hd_iss *iss) {
    struct issue *s = &iss->issue;
    const struct hd_op_word *op = &s->ops[s->at];
    uint32_t pc = s->bundle + (uint32_t)s->offset[s->at];
    uint32_t end = s->bundle + (uint32_t)(s->at + 1 < s->n ? s->offset[s->at + 1] : s->words);
    struct front *f = &iss->front[op->unit];
    if (s->seq == SEQ_NONE) {
        if (no_room(iss, op->unit)) return false;
        if (!hd_iss_take_words(iss, end)) return false;
        if (op->unit != HD_UNIT_seq) {
            f->queue[(f->q_head + f->q_n++) % HD_QUEUE_MAX] =
                (struct queued_op){*op, pc, end - pc, s->t};
            hd_iss_set_next(&f->next, s->t);
            return true;
        }
        s->seq = SEQ_SEM;
        s->next = s->seq_start = s->t;
        if (s->t > iss->now) return false;
    }
    return seq_step(iss, op, pc);
}

/* The words that do not decode come, or none comes any more. */
static void take_wrong(hd_iss *iss) {
    struct issue *s = &iss->issue;
    if (s->failed || (s->words && no_room(iss, s->wrong_unit))) return;
    bool bundle = s->wrong_unit == HD_UNIT_seq && s->wrong_pc == s->bundle; /* has come */
    if (!hd_iss_take_words(iss, s->ends || bundle ? s->wrong_pc : s->wrong_pc + 1)) return;
    s->failed = true;
    hd_iss_issue_fails(iss, s->t + s->ends, s->ends ? HD_UNIT_seq : s->wrong_unit, s->wrong_pc);
}

void hd_iss_issue_step(hd_iss *iss) {
    struct issue *s = &iss->issue;
    s->next = HD_NEVER;
    hd_iss_send_words(iss);
    if (s->t < iss->now) s->t = iss->now;
    if (s->t > iss->now) { /* woken while words still move */
        s->next = s->t;
        return;
    }
    if (!iss->code_words) {
        hd_iss_take_header(iss);
        return;
    }
    if (!s->decoded) decode(iss);
    if (s->words && s->at == 0 && s->pc == s->bundle && !hd_iss_take_words(iss, s->bundle + 1))
        return;
    if (s->wrong && s->at == s->n) {
        take_wrong(iss);
        return;
    }
    while (s->at < s->n) {
        if (!issue_op(iss) || !iss->running) return;
        s->at++;
        if (s->t > iss->now) break; /* others come first */
    }
    if (s->at == s->n && !s->wrong) s->decoded = false;
    s->next = s->t > iss->now ? s->t : iss->now + 1;
}

/* ---- units, up to the engine ---------------------------------------------------------------- */

/* The operation taken goes to the engine. False: it waits, or it failed. */
static bool hand_over(hd_iss *iss, enum hd_unit u) {
    struct front *f = &iss->front[u];
    bool nop = f->cur.op.code == 0;
    if (f->f_n == HD_N_ops_in_flight || (nop && f->f_n)) return false; /* hd_front: why nops wait */
    if (!nop && f->engine_free > iss->now) {
        if (f->engine_free != HD_NEVER) f->next = f->engine_free;
        return false;
    }
    uint32_t slot = (f->f_head + f->f_n) % HD_N_ops_in_flight;
    f->fly[slot] = (struct flying_op){f->cur.op.signal,
                                      f->cur.pc,
                                      (uint16_t)f->sticky.words[HD_TAG_WORD],
                                      nop,
                                      iss->now + 1,
                                      f->take,
                                      iss->now + 1,
                                      iss->total.count[u].stall_sem - f->stall_sem};
    if (!nop && !hd_iss_engine_start(iss, u, slot)) return false;
    if (!nop && u == HD_UNIT_vx && iss->probe && iss->probe->wrote)
        iss->probe->wrote(iss->probe->user, f->fly[slot].tag, f->fly[slot].pc);
    if (f->f_n) { /* completions come in order */
        uint64_t before = f->fly[(slot + HD_N_ops_in_flight - 1) % HD_N_ops_in_flight].done;
        if (before != HD_NEVER && f->fly[slot].done <= before) f->fly[slot].done = before + 1;
    }
    f->f_n++;
    f->state = FRONT_IDLE;
    f->next = iss->now + 1;
    return true;
}

void hd_iss_front_step(hd_iss *iss, enum hd_unit u) {
    struct front *f = &iss->front[u];
    f->next = HD_NEVER;
    if (f->state == FRONT_IDLE) {
        if (!f->q_n) return;
        struct queued_op *q = &f->queue[f->q_head];
        if (q->ready > iss->now || f->ready > iss->now) {
            f->next = q->ready > f->ready ? q->ready : f->ready;
            return;
        }
        f->cur = *q;
        f->q_head = (f->q_head + 1) % HD_QUEUE_MAX;
        f->q_n--;
        hd_op_apply(&f->cur.op, &f->sticky);
        f->state = FRONT_SEM;
        f->take = iss->now;
        f->stall_sem = iss->total.count[u].stall_sem;
        /* its words one by one, from when the front was free for them; the last as it comes */
        uint64_t last = f->ready + f->cur.n_words, came = q->ready + 1;
        f->ready = iss->free_issue ? iss->now + 1 : last > came ? last : came;
        f->next = f->ready;
        hd_iss_set_next(&iss->issue.next, iss->now + 1);
        return;
    }
    if (f->ready > iss->now) {
        f->next = f->ready;
        return;
    }
    if (f->state == FRONT_SEM) {
        if (f->f_n == HD_N_ops_in_flight || !hd_iss_take_semaphores(iss, f->cur.op.wait)) return;
        f->state = FRONT_OFFER;
        f->ready = iss->now;
    }
    if (hand_over(iss, u)) f->ready = iss->now + 1;
}

/* The oldest operation in flight ended in the cycle before. */
void hd_iss_complete(hd_iss *iss, enum hd_unit u) {
    struct front *f = &iss->front[u];
    struct flying_op done = f->fly[f->f_head];
    f->f_head = (f->f_head + 1) % HD_N_ops_in_flight;
    f->f_n--;
    uint64_t oldest = done.start > f->last_end ? done.start : f->last_end;
    bool alone = !f->f_n || f->fly[f->f_head].start == iss->now; /* see vx_is_done */
    uint64_t end = iss->now - (u == HD_UNIT_vx && !done.nop && alone);
    tell_op(iss, &(struct hd_op_record){(uint8_t)u, done.tag, done.pc, done.take, done.start,
                                        done.nop ? iss->now : oldest, end, done.stall_sem,
                                        iss->total.count[u].stall_mem - f->stall_mem,
                                        iss->total.count[u].stall_bank - f->stall_bank});
    f->stall_mem = iss->total.count[u].stall_mem; /* between two ends: of the one that ended */
    f->stall_bank = iss->total.count[u].stall_bank;
    f->last_end = iss->now;
    hd_iss_signal(iss, done.signal, u, done.pc, iss->now);
    hd_iss_wake(iss);
}
