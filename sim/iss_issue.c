/* The front of the machine in time: program fetch, issue word by word, and each unit's queue,
 * unpacking and semaphores, as hd_fetch, hd_issue and hd_front do it. */
#include <string.h>

#include "sim/iss_int.h"

/* ---- fetch ---------------------------------------------------------------------------------- */

/* Asks for the next burst if its buffer has room. */
void hd_iss_fetch_step(hd_iss *iss) {
    struct fetch *f = &iss->fetch;
    uint32_t axi = hd_axi_bytes(&iss->m), room = 4 * HD_FETCH_CHUNK / axi;
    f->next = f->known;
    if (iss->now < f->known) return; /* the header is still on its way */
    f->next = HD_NEVER;
    if (f->at >= f->limit || f->n == sizeof f->b / sizeof f->b[0]) return;
    uint64_t bytes = HD_FETCH_CHUNK - f->at % HD_FETCH_CHUNK;
    if (bytes > f->limit - f->at) bytes = f->limit - f->at;
    uint32_t beats = (uint32_t)((bytes + axi - 1) / axi);
    if (f->reserved + beats > room) return;

    struct hd_axi_times t;
    hd_axi_time_read(iss->mem, iss->now + HD_T_ARB, beats, &t);
    iss->read_bytes += (uint64_t)beats * axi;
    iss->code_bytes += (uint64_t)beats * axi;
    hd_iss_tell_dram(iss, t.first, false, beats * axi);
    struct fetch_burst *b = &f->b[(f->head + f->n++) % (sizeof f->b / sizeof f->b[0])];
    uint32_t delay = HD_T_DATA + HD_T_WORD;
    *b = (struct fetch_burst){(uint32_t)((f->at - iss->code_offset) / 4), beats * axi / 4,
                              t.first + delay, t.last + delay};
    f->reserved += beats;
    f->at += bytes;
    f->next = (t.addr > iss->now + HD_T_ARB ? t.addr - HD_T_ARB : iss->now) + 1;
    hd_iss_set_next(&iss->issue.next, iss->now + 1);
}

/* First cycle in which word `pc` of the program can issue; HD_NEVER when it is not asked for. */
static uint64_t word_ready(const hd_iss *iss, uint32_t pc) {
    const struct fetch *f = &iss->fetch;
    uint32_t cap = sizeof f->b / sizeof f->b[0], per_beat = hd_axi_bytes(&iss->m) / 4;
    for (uint32_t i = 0; i < f->n; i++) {
        const struct fetch_burst *b = &f->b[(f->head + i) % cap];
        if (pc < b->first_word || pc >= b->first_word + b->n_words) continue;
        uint32_t beats = b->n_words / per_beat, beat = (pc - b->first_word) / per_beat;
        return beats < 2 ? b->last : b->first + (b->last - b->first) * beat / (beats - 1);
    }
    return HD_NEVER;
}

/* Word pc leaves the buffer in cycle t. */
static void word_gone(hd_iss *iss, uint32_t pc, uint64_t t) {
    struct fetch *f = &iss->fetch;
    if ((pc + 1) % (hd_axi_bytes(&iss->m) / 4)) return;
    f->reserved--;
    hd_iss_set_next(&f->next, t + 1);
    const struct fetch_burst *b = &f->b[f->head];
    if (pc + 1 >= b->first_word + b->n_words) {
        f->head = (f->head + 1) % (sizeof f->b / sizeof f->b[0]);
        f->n--;
    }
}

/* ---- issue ---------------------------------------------------------------------------------- */

/* Moves the words up to `end` out of the buffer, one per cycle; false when one is not asked for
 * yet. */
static bool take_words(hd_iss *iss, uint32_t end) {
    struct issue *s = &iss->issue;
    for (; s->pc < end; s->pc++) {
        uint64_t ready = word_ready(iss, s->pc);
        if (ready == HD_NEVER) return false;
        s->t = s->t > ready ? s->t : ready;
        word_gone(iss, s->pc, s->t);
        s->t++;
    }
    return true;
}

static unsigned header_error(const hd_iss *iss) {
    const uint32_t *h = iss->code;
    uint64_t room = (iss->image_bytes - iss->code_offset) / 4;
    if (h[0] != HD_PROG_MAGIC) return HD_ERR_magic;
    if (h[1] != hd_isa_hash()) return HD_ERR_isa;
    if (h[2] != hd_machine_hash(&iss->m)) return HD_ERR_machine;
    if (h[3] > room) return HD_ERR_window;
    if (h[3] < HD_PROG_HEADER_WORDS) return HD_ERR_encoding;
    return HD_ERR_none;
}

/* The header, then the program's length is known. */
static void take_header(hd_iss *iss) {
    struct issue *s = &iss->issue;
    if (!take_words(iss, HD_PROG_HEADER_WORDS)) return;
    unsigned err = header_error(iss);
    if (err) {
        hd_iss_error(iss, err, HD_UNIT_seq, 0);
        return;
    }
    iss->code_words = iss->code[3];
    iss->fetch.limit = iss->code_offset + 4 * (uint64_t)iss->code_words;
    iss->fetch.known = s->t;
    hd_iss_set_next(&iss->fetch.next, s->t);
    s->next = s->t;
}

/* The bundle at s->pc does not decode: the operation that is wrong, else the bundle itself. */
static void encoding_error(hd_iss *iss) {
    uint32_t pc = iss->issue.pc, left = iss->code_words - pc, at = 1;
    const uint32_t *b = iss->code + pc;
    uint32_t slots = left ? b[0] & 255 : 0, words = left ? b[0] >> 8 & 255 : 0;
    bool header_ok = left && b[0] >> 16 == (uint32_t)HD_BUNDLE_MARK << 8 && !(slots >> HD_UNITS) &&
                     words >= 1 && words <= left;
    int unit = HD_UNIT_seq;
    uint32_t wrong = pc;
    for (int u = 0; header_ok && u < HD_UNITS; u++) {
        struct hd_op_word op;
        const char *why;
        if (!(slots >> u & 1)) continue;
        unit = u;
        wrong = pc + at;
        int n = hd_op_decode((enum hd_unit)u, b + at, words - at, &op, &why);
        if (!n) break;
        at += (uint32_t)n;
    }
    hd_iss_error(iss, HD_ERR_encoding, (enum hd_unit)unit, wrong);
}

static void decode(hd_iss *iss) {
    struct issue *s = &iss->issue;
    const char *why;
    s->words = 0;
    if (s->pc < iss->code_words)
        s->words = hd_bundle_decode(iss->code + s->pc, iss->code_words - s->pc, s->ops, s->offset,
                                    &s->n, &why);
    if (!s->words) {
        encoding_error(iss);
        return;
    }
    s->bundle = s->pc;
    s->decoded = true;
    s->at = 0;
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

void hd_iss_signal(hd_iss *iss, uint32_t mask, enum hd_unit u, uint32_t pc) {
    for (int i = 0; i < HD_SEMAPHORES; i++) {
        if (!(mask >> i & 1)) continue;
        if (iss->sem[i] == HD_SEM_MAX) {
            hd_iss_error(iss, HD_ERR_semaphore, u, pc);
            return;
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
    tell_op(iss, &(struct hd_op_record){HD_UNIT_seq, op->tag, pc, s->seq_start, s->seq_start,
                                        s->seq_start, s->t, s->seq_granted - s->seq_start, 0, 0});
    hd_iss_signal(iss, op->signal, HD_UNIT_seq, pc);
    if (op->code == hd_isa_ops[HD_OP_seq_halt].code && iss->running) {
        iss->running = false;
        iss->now += HD_T_HALT;
    }
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
        if (op->unit != HD_UNIT_seq && f->q_n == iss->m.queue_ops) return false;
        if (!take_words(iss, end)) return false;
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

void hd_iss_issue_step(hd_iss *iss) {
    struct issue *s = &iss->issue;
    s->next = HD_NEVER;
    if (s->t < iss->now) s->t = iss->now;
    if (s->t > iss->now) { /* woken while words still move */
        s->next = s->t;
        return;
    }
    if (!iss->code_words) {
        take_header(iss);
        return;
    }
    if (!s->decoded) {
        decode(iss);
        if (!iss->running) return;
    }
    if (s->at == 0 && s->pc == s->bundle && !take_words(iss, s->bundle + 1)) return;
    while (s->at < s->n) {
        if (!issue_op(iss) || !iss->running) return;
        s->at++;
        if (s->t > iss->now) break; /* others come first */
    }
    if (s->at == s->n) s->decoded = false;
    s->next = s->t > iss->now ? s->t : iss->now + 1;
}

/* ---- units, up to the engine ---------------------------------------------------------------- */

/* The operation taken goes to the engine. False: it waits, or it failed. */
static bool hand_over(hd_iss *iss, enum hd_unit u) {
    struct front *f = &iss->front[u];
    bool nop = f->cur.op.code == 0;
    if (f->f_n == HD_IN_FLIGHT || (nop && f->f_n)) return false; /* hd_front: why nops wait */
    if (!nop && f->engine_free > iss->now) {
        if (f->engine_free != HD_NEVER) f->next = f->engine_free;
        return false;
    }
    uint32_t slot = (f->f_head + f->f_n) % HD_IN_FLIGHT;
    f->fly[slot] = (struct flying_op){f->cur.op.signal,
                                      f->cur.pc,
                                      f->cur.op.tag,
                                      nop,
                                      iss->now + 1,
                                      f->take,
                                      iss->now,
                                      iss->count[u].stall_sem - f->stall_sem,
                                      0};
    if (!nop && !hd_iss_engine_start(iss, u, slot)) return false;
    if (f->f_n) { /* completions come in order */
        uint64_t before = f->fly[(slot + HD_IN_FLIGHT - 1) % HD_IN_FLIGHT].done;
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
        hd_op_apply(&f->cur.op, f->words);
        f->state = FRONT_SEM;
        f->take = iss->now;
        f->stall_sem = iss->count[u].stall_sem;
        f->ready = iss->now + f->cur.n_words;
        f->next = f->ready;
        hd_iss_set_next(&iss->issue.next, iss->now + 1);
        return;
    }
    if (f->ready > iss->now) {
        f->next = f->ready;
        return;
    }
    if (f->state == FRONT_SEM) {
        if (f->f_n == HD_IN_FLIGHT || !hd_iss_take_semaphores(iss, f->cur.op.wait)) return;
        f->state = FRONT_OFFER;
        f->ready = iss->now;
    }
    if (hand_over(iss, u)) f->ready = iss->now + 1;
}

/* The oldest operation in flight ended in the cycle before. */
void hd_iss_complete(hd_iss *iss, enum hd_unit u) {
    struct front *f = &iss->front[u];
    struct flying_op done = f->fly[f->f_head];
    f->f_head = (f->f_head + 1) % HD_IN_FLIGHT;
    f->f_n--;
    uint64_t oldest = done.start > f->last_end ? done.start : f->last_end;
    tell_op(iss, &(struct hd_op_record){(uint8_t)u, done.tag, done.pc, done.take, done.start,
                                        done.nop ? iss->now : oldest, iss->now, done.stall_sem,
                                        done.stall_mem, iss->count[u].stall_bank - f->stall_bank});
    f->stall_bank = iss->count[u].stall_bank; /* between two ends: of the one that ended */
    f->last_end = iss->now;
    hd_iss_signal(iss, done.signal, u, done.pc);
    hd_iss_wake(iss);
}
