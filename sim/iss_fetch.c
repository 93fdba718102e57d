/* The program on its way to issue: fetch, its header, and loops, as hd_fetch and hd_unpack do it.
 * What the words are and when they come are two walks over the same stream: the first a bundle
 * ahead. */
#include "sim/iss_int.h"

/* ---- fetch ---------------------------------------------------------------------------------- */

/* Asks for the next burst if its buffer has room. */
void hd_iss_fetch_step(hd_iss *iss) {
    struct fetch *f = &iss->fetch;
    uint32_t axi = hd_axi_bytes(&iss->m), room = 4 * HD_FETCH_CHUNK / axi;
    f->next = f->known;
    if (iss->now < f->known) return; /* the header is still on its way */
    f->next = HD_NEVER;
    if (iss->free_issue) return;
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

/* First cycle in which word `pc` of the stream is there; HD_NEVER when it is not asked for. */
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

/* Word pc of the stream leaves the buffer in cycle t. */
static void word_gone(hd_iss *iss, uint32_t pc, uint64_t t) {
    struct fetch *f = &iss->fetch;
    if ((pc + 1) % (hd_axi_bytes(&iss->m) / 4)) return;
    f->reserved--;
    hd_iss_set_next(&f->next, (t > iss->now ? t : iss->now) + 1);
    const struct fetch_burst *b = &f->b[f->head];
    if (pc + 1 >= b->first_word + b->n_words) {
        f->head = (f->head + 1) % (sizeof f->b / sizeof f->b[0]);
        f->n--;
    }
}

/* ---- header --------------------------------------------------------------------------------- */

static unsigned header_error(const hd_iss *iss) {
    const uint32_t *h = iss->code;
    uint64_t room = (iss->image_bytes - iss->code_offset) / 4;
    bool packed = h[0] == HD_PROG_MAGIC_PACKED;
    if (h[0] != HD_PROG_MAGIC && !packed) return HD_ERR_magic;
    if (h[1] != hd_isa_hash()) return HD_ERR_isa;
    if (h[2] != hd_machine_hash(&iss->m)) return HD_ERR_machine;
    if (h[3] > room) return HD_ERR_window;
    if (h[3] < HD_PROG_HEADER_WORDS + (uint32_t)packed) return HD_ERR_encoding;
    if (packed && h[HD_PROG_HEADER_WORDS] < HD_PROG_HEADER_WORDS) return HD_ERR_encoding;
    return HD_ERR_none;
}

void hd_iss_take_header(hd_iss *iss) {
    struct issue *s = &iss->issue;
    struct unpack *u = &iss->unpack;
    unsigned err = HD_ERR_none;
    uint32_t words = HD_PROG_HEADER_WORDS + (iss->code[0] == HD_PROG_MAGIC_PACKED);
    for (; u->at < words && !err; u->at++) {
        if (u->at == HD_PROG_HEADER_WORDS && (err = header_error(iss)) != HD_ERR_none) break;
        if (iss->free_issue) continue;
        uint64_t ready = word_ready(iss, u->at);
        if (ready == HD_NEVER) return;
        s->t = s->t > ready ? s->t : ready;
        word_gone(iss, u->at, s->t++);
    }
    if (!err) err = header_error(iss);
    if (err) {
        hd_iss_error(iss, err, HD_UNIT_seq, 0);
        return;
    }
    u->packed = words > HD_PROG_HEADER_WORDS;
    iss->code_words = iss->code[words - 1];
    u->words = iss->code[3];
    u->to = u->from = u->at;
    u->n_to = HD_PROG_HEADER_WORDS;
    u->step = s->t - 1;
    s->pc = HD_PROG_HEADER_WORDS;
    iss->fetch.limit = iss->code_offset + 4 * (uint64_t)u->words;
    iss->fetch.known = s->t;
    hd_iss_set_next(&iss->fetch.next, s->t);
    s->next = s->t;
}

/* ---- loops ---------------------------------------------------------------------------------- */

bool hd_iss_word(hd_iss *iss, uint32_t *out) {
    struct unpack *u = &iss->unpack;
    const char *why;
    bool bad = false;
    while (u->packed && !u->ahead.fresh && !u->ahead.again && !bad)
        bad = u->to == u->words ||
              !hd_loop_decode(iss->code[u->to++], u->n_to - HD_PROG_HEADER_WORDS, &u->ahead, &why);
    bool fresh = !u->packed || u->ahead.fresh;
    if (bad || (fresh && u->to == u->words)) {
        hd_iss_error(iss, HD_ERR_encoding, HD_UNIT_seq, u->n_to);
        return false;
    }
    *out = fresh ? iss->code[u->to++] : u->window[(u->n_to - u->ahead.back) % HD_LOOP_WINDOW];
    u->window[u->n_to++ % HD_LOOP_WINDOW] = *out;
    if (u->packed) *(fresh ? &u->ahead.fresh : &u->ahead.again) -= 1;
    return true;
}

/* The next word of the stream leaves the buffer, in *t at the earliest; false: not asked for. */
static bool take_raw(hd_iss *iss, uint64_t *t) {
    uint64_t ready = word_ready(iss, iss->unpack.from);
    if (ready == HD_NEVER) return false;
    if (ready > *t) *t = ready;
    word_gone(iss, iss->unpack.from++, *t);
    return true;
}

/* The next word that issues goes on its way; false: what it needs is not asked for yet. */
static bool send_word(hd_iss *iss) {
    struct unpack *u = &iss->unpack;
    const char *why;
    if (u->packed && !u->now.fresh && !u->now.again) {
        uint64_t t = u->looped ? u->step : u->step + 1; /* beside the last word of a loop */
        uint32_t word = iss->code[u->from];
        if (!take_raw(iss, &t)) return false;
        hd_loop_decode(word, iss->code_words, &u->now, &why); /* hd_iss_word has looked at it */
        u->step = t;
        u->looped = false;
    }
    bool fresh = !u->packed || u->now.fresh;
    uint64_t t = u->step + 1 > u->out ? u->step + 1 : u->out;
    if (fresh && !take_raw(iss, &t)) return false;
    if (u->packed) *(fresh ? &u->now.fresh : &u->now.again) -= 1;
    u->step = t;
    u->looped = !fresh;
    uint64_t room = u->taken[u->n_taken % HD_UNPACK_WORDS] + 1;
    u->out = t + 1 > room ? t + 1 : room;
    return true;
}

bool hd_iss_take_words(hd_iss *iss, uint32_t end) {
    struct issue *s = &iss->issue;
    struct unpack *u = &iss->unpack;
    if (iss->free_issue) s->pc = end;
    for (; s->pc < end; s->pc++) {
        if (!send_word(iss)) return false;
        s->t = s->t > u->out + 1 ? s->t : u->out + 1;
        u->taken[u->n_taken++ % HD_UNPACK_WORDS] = s->t++;
    }
    return true;
}
