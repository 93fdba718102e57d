/* The program on its way to issue: fetch, its header, and when each word comes, as hd_fetch does
 * it. What the words are is read where they lie in DRAM, a bundle ahead (iss_issue.c). */
#include "sim/iss_int.h"

/* ---- fetch ---------------------------------------------------------------------------------- */

/* How far fetch asks in cycle t: to the end of the program, when it knows its length. */
static uint64_t limit(const struct fetch *f, uint64_t t) {
    return t < f->known ? f->first : f->end;
}

/* Bytes of the next burst. */
static uint64_t chunk(const hd_iss *iss, uint64_t t) {
    const struct fetch *f = &iss->fetch;
    uint64_t bytes = HD_N_fetch_chunk - (iss->reg.image_ptr + f->at) % HD_N_fetch_chunk;
    return bytes < limit(f, t) - f->at ? bytes : limit(f, t) - f->at;
}

static uint32_t burst_beats(const hd_iss *iss, uint64_t t) {
    return (uint32_t)((chunk(iss, t) + (uint64_t)iss->axi - 1) / (uint64_t)iss->axi);
}

static bool has_room(const hd_iss *iss, uint32_t beats) {
    return iss->fetch.reserved + beats <= HD_N_fetch_chunks * HD_N_fetch_chunk / (uint32_t)iss->axi;
}

bool hd_iss_fetch_asks(hd_iss *iss, uint32_t *out_beats) {
    struct fetch *f = &iss->fetch;
    for (; f->n_freed != f->n_gone && f->gone[f->n_freed % HD_FETCH_BEATS] < iss->now; f->n_freed++)
        f->reserved--;
    if (iss->free_issue || iss->now < HD_T_fetch_request || iss->now >= f->stop ||
        f->at >= limit(f, iss->now))
        return false;
    *out_beats = burst_beats(iss, iss->now);
    return has_room(iss, *out_beats);
}

void hd_iss_fetch_granted(hd_iss *iss, uint32_t beats) {
    iss->fetch.reserved += beats;
    iss->fetch.open++;
    iss->fetch.at += chunk(iss, iss->now);
}

void hd_iss_fetch_beat(hd_iss *iss, bool last) {
    struct fetch *f = &iss->fetch;
    f->open -= last;
    f->came[f->n_came++ % HD_FETCH_BEATS] = iss->now + HD_T_fetch_word;
    hd_iss_set_next(&iss->issue.next, iss->now + HD_T_fetch_word);
}

uint64_t hd_iss_fetch_next(const hd_iss *iss) {
    const struct fetch *f = &iss->fetch;
    uint64_t t = iss->now + 1 > HD_T_fetch_request ? iss->now + 1 : HD_T_fetch_request;
    if (t < f->known && f->at >= f->first) t = f->known;
    if (iss->free_issue || t >= f->stop || f->at >= limit(f, t)) return HD_NEVER;
    if (has_room(iss, burst_beats(iss, t))) return t;
    if (f->n_freed == f->n_gone) return HD_NEVER;
    uint64_t gone = f->gone[f->n_freed % HD_FETCH_BEATS] + 1; /* then there may be */
    return gone > t ? gone : t;
}

/* First cycle in which word `pc` of the program is there; HD_NEVER when it has not come yet. */
static uint64_t word_ready(const hd_iss *iss, uint32_t pc) {
    uint32_t beat = pc / ((uint32_t)iss->axi / 4);
    return beat < iss->fetch.n_came ? iss->fetch.came[beat % HD_FETCH_BEATS] : HD_NEVER;
}

/* Word pc leaves the buffer in cycle t. */
static void word_gone(hd_iss *iss, uint32_t pc, uint64_t t) {
    struct fetch *f = &iss->fetch;
    if ((pc + 1) % ((uint32_t)iss->axi / 4)) return;
    f->gone[f->n_gone++ % HD_FETCH_BEATS] = t;
    hd_iss_set_next(&iss->tick, (t > iss->now ? t : iss->now) + 1);
}

/* ---- header --------------------------------------------------------------------------------- */

static unsigned header_error(const hd_iss *iss) {
    const uint32_t *h = iss->code;
    uint64_t room = (iss->reg.image_bytes - iss->reg.code_offset) / 4;
    if (h[0] != HD_PROG_MAGIC) return HD_ERR_magic;
    if (h[1] != hd_isa_hash()) return HD_ERR_isa;
    if (h[2] != hd_machine_hash(&iss->m)) return HD_ERR_machine;
    if (h[3] > room) return HD_ERR_window;
    if (h[3] < HD_PROG_HEADER_WORDS) return HD_ERR_encoding;
    return HD_ERR_none;
}

/* As many words of the header as a beat has are looked at at once. */
void hd_iss_take_header(hd_iss *iss) {
    struct issue *s = &iss->issue;
    struct words *w = &iss->words;
    uint32_t step = (uint32_t)iss->axi / 4;
    if (step > HD_PROG_HEADER_WORDS) step = HD_PROG_HEADER_WORDS;
    for (; w->in < HD_PROG_HEADER_WORDS; w->in += step) {
        if (iss->free_issue) continue;
        uint64_t ready = word_ready(iss, w->in);
        if (ready == HD_NEVER) return;
        if (ready > s->t) s->t = ready;
        for (uint32_t i = 0; i < step; i++) word_gone(iss, w->in + i, s->t);
        s->t++;
    }
    unsigned err = header_error(iss);
    if (err) {
        hd_iss_error(iss, err, HD_UNIT_seq, 0);
        return;
    }
    if (!iss->free_issue) {
        iss->fetch.end = iss->reg.code_offset + 4 * (uint64_t)iss->code[3];
        iss->fetch.known = s->t;
        hd_iss_set_next(&iss->tick, s->t);
    }
    iss->code_words = iss->code[3];
    s->pc = HD_PROG_HEADER_WORDS;
    s->next = s->t;
    w->entered = s->t - 1;
}

/* ---- words ---------------------------------------------------------------------------------- */

void hd_iss_send_words(hd_iss *iss) {
    struct words *w = &iss->words;
    if (iss->free_issue) return;
    while (w->in < iss->code_words && w->in - iss->issue.pc < HD_N_issue_words) {
        uint64_t t = word_ready(iss, w->in), room = w->taken[w->in % HD_N_issue_words] + 1;
        if (t == HD_NEVER) return;
        if (t <= w->entered) t = w->entered + 1;
        if (t < room) t = room;
        w->entered = w->sent[w->in % HD_N_issue_words] = t;
        word_gone(iss, w->in++, t);
    }
}

bool hd_iss_take_words(hd_iss *iss, uint32_t end) {
    struct issue *s = &iss->issue;
    struct words *w = &iss->words;
    if (iss->free_issue) s->pc = end;
    for (; s->pc < end; s->pc++) {
        hd_iss_send_words(iss);
        if (w->in == s->pc) return false;
        uint64_t out = w->sent[s->pc % HD_N_issue_words] + 1;
        if (s->t < out) s->t = out;
        w->taken[s->pc % HD_N_issue_words] = s->t++;
    }
    hd_iss_send_words(iss);
    return true;
}
