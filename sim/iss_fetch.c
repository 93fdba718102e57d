/* The program on its way to issue: fetch, its header, bytes and loops, as hd_fetch, hd_bytes and
 * hd_unpack do it.
 * What the words are and when they come are two walks over the same stream: the first a bundle
 * ahead. */
#include "sim/iss_int.h"

/* ---- fetch ---------------------------------------------------------------------------------- */

/* How far fetch asks in cycle t: to the end of the program, when it knows its length. */
static uint64_t limit(const struct fetch *f, uint64_t t) {
    return t < f->known ? f->first : f->end;
}

/* Bytes of the next burst. */
static uint64_t chunk(const hd_iss *iss, uint64_t t) {
    const struct fetch *f = &iss->fetch;
    uint64_t bytes = HD_N_fetch_chunk - (iss->image_ptr + f->at) % HD_N_fetch_chunk;
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
    if (iss->free_issue || iss->now < HD_T_fetch_request || f->at >= limit(f, iss->now))
        return false;
    *out_beats = burst_beats(iss, iss->now);
    return has_room(iss, *out_beats);
}

void hd_iss_fetch_granted(hd_iss *iss, uint32_t beats) {
    iss->fetch.reserved += beats;
    iss->fetch.at += chunk(iss, iss->now);
}

void hd_iss_fetch_beat(hd_iss *iss) {
    struct fetch *f = &iss->fetch;
    f->came[f->n_came++ % HD_FETCH_BEATS] = iss->now + HD_T_fetch_word;
    hd_iss_set_next(&iss->issue.next, iss->now + HD_T_fetch_word);
}

uint64_t hd_iss_fetch_next(const hd_iss *iss) {
    const struct fetch *f = &iss->fetch;
    uint64_t t = iss->now + 1 > HD_T_fetch_request ? iss->now + 1 : HD_T_fetch_request;
    if (t < f->known && f->at >= f->first) t = f->known;
    if (iss->free_issue || t == HD_NEVER || f->at >= limit(f, t)) return HD_NEVER;
    if (has_room(iss, burst_beats(iss, t))) return t;
    if (f->n_freed == f->n_gone) return HD_NEVER;
    uint64_t gone = f->gone[f->n_freed % HD_FETCH_BEATS] + 1; /* then there may be */
    return gone > t ? gone : t;
}

/* First cycle in which word `pc` of the stream is there; HD_NEVER when it has not come yet. */
static uint64_t word_ready(const hd_iss *iss, uint32_t pc) {
    uint32_t beat = pc / ((uint32_t)iss->axi / 4);
    return beat < iss->fetch.n_came ? iss->fetch.came[beat % HD_FETCH_BEATS] : HD_NEVER;
}

/* Word pc of the stream leaves the buffer in cycle t. */
static void word_gone(hd_iss *iss, uint32_t pc, uint64_t t) {
    struct fetch *f = &iss->fetch;
    if ((pc + 1) % ((uint32_t)iss->axi / 4)) return;
    f->gone[f->n_gone++ % HD_FETCH_BEATS] = t;
    hd_iss_set_next(&iss->tick, (t > iss->now ? t : iss->now) + 1);
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

/* The header's words from u->at on are looked at, as many at once as a beat has; false: they have
 * not come yet. */
static bool look_at(hd_iss *iss, uint32_t n) {
    struct issue *s = &iss->issue;
    struct unpack *u = &iss->unpack;
    if (!iss->free_issue) {
        uint64_t ready = word_ready(iss, u->at);
        if (ready == HD_NEVER) return false;
        if (ready > s->t) s->t = ready;
        for (uint32_t i = 0; i < n; i++) word_gone(iss, u->at + i, s->t);
        s->t++;
    }
    u->at += n;
    return true;
}

void hd_iss_take_header(hd_iss *iss) {
    struct issue *s = &iss->issue;
    struct unpack *u = &iss->unpack;
    uint32_t step = (uint32_t)iss->axi / 4, words = HD_PROG_HEADER_WORDS;
    if (step > HD_PROG_HEADER_WORDS) step = HD_PROG_HEADER_WORDS;
    while (u->at < HD_PROG_HEADER_WORDS) {
        if (!look_at(iss, step)) return;
        if (u->at < HD_PROG_HEADER_WORDS || iss->free_issue) continue;
        iss->fetch.end = iss->code_offset + 4 * (uint64_t)iss->code[3];
        iss->fetch.known = s->t;
        hd_iss_set_next(&iss->tick, s->t);
    }
    unsigned err = header_error(iss);
    u->packed = iss->code[0] == HD_PROG_MAGIC_PACKED;
    words += u->packed;
    if (!err && u->at < words && !look_at(iss, 1)) return;
    if (err) {
        hd_iss_error(iss, err, HD_UNIT_seq, 0);
        return;
    }
    iss->code_words = iss->code[words - 1];
    u->words = iss->code[3];
    u->to = u->from = 4 * u->at;
    u->n_to = HD_PROG_HEADER_WORDS;
    u->in = u->at;
    u->step = s->t - 1;
    u->entered[(u->in - 1) % HD_N_stream_words] = u->step - u->packed; /* the first one beside it */
    s->pc = HD_PROG_HEADER_WORDS;
    s->next = s->t;
    hd_iss_send_words(iss); /* the word beside it leaves its beat now */
}

/* ---- loops ---------------------------------------------------------------------------------- */

/* A new word, of a plain program, too; its bytes, or 0, as hd_new_word_decode. */
static int new_word(const hd_iss *iss, uint32_t at, uint32_t *out, const char **out_why) {
    const struct unpack *u = &iss->unpack;
    if (u->packed) return hd_new_word_decode(iss->code, u->words, at, out, out_why);
    *out_why = at / 4 < u->words ? NULL : "it ends too early";
    *out = *out_why ? 0 : iss->code[at / 4];
    return *out_why ? 0 : 4;
}

bool hd_iss_word(hd_iss *iss, uint32_t *out) {
    struct unpack *u = &iss->unpack;
    const char *why = NULL;
    while (u->packed && !u->ahead.fresh && !u->ahead.again && !why)
        u->to += (uint32_t)hd_loop_decode(iss->code, u->words, u->to,
                                          u->n_to - HD_PROG_HEADER_WORDS, &u->ahead, &why);
    bool fresh = !u->packed || u->ahead.fresh;
    if (!fresh)
        *out = u->window[(u->n_to - u->ahead.back) % HD_LOOP_WINDOW];
    else if (!why)
        u->to += (uint32_t)new_word(iss, u->to, out, &why);
    if (why) return hd_iss_wrong(iss, HD_UNIT_seq, u->n_to);
    u->window[u->n_to++ % HD_LOOP_WINDOW] = *out;
    if (u->packed) *(fresh ? &u->ahead.fresh : &u->ahead.again) -= 1;
    return true;
}

/* The next word of the stream leaves the buffer and is cut into bytes; false: it is not here yet,
 * or nothing has made room for it. */
static bool enter(hd_iss *iss) {
    struct unpack *u = &iss->unpack;
    if (u->in == u->words || u->in - u->from / 4 == HD_N_stream_words) return false;
    uint64_t t = word_ready(iss, u->in), *before = &u->entered[(u->in - 1) % HD_N_stream_words];
    uint64_t room = u->left[u->in % HD_N_stream_words] + 1;
    if (t == HD_NEVER) return false;
    if (t <= *before) t = *before + 1;
    if (t < room) t = room;
    u->entered[u->in % HD_N_stream_words] = t;
    word_gone(iss, u->in++, t);
    return true;
}

/* The next `bytes` are taken, in *t at the earliest; false: they are not here yet. */
static bool take_item(struct unpack *u, int bytes, uint64_t *t) {
    uint32_t end = u->from + (uint32_t)bytes, last = (end - 1) / 4;
    if (last >= u->in) return false;
    uint64_t ready = u->entered[last % HD_N_stream_words] + 1;
    if (ready > *t) *t = ready;
    for (uint32_t w = u->from / 4; w < end / 4; w++) u->left[w % HD_N_stream_words] = *t;
    u->from = end;
    return true;
}

/* How many words come next, and from where; false: that token is not here yet. */
static bool read_loop(hd_iss *iss) {
    struct unpack *u = &iss->unpack;
    const char *why;
    uint64_t t = u->looped ? u->step : u->step + 1; /* beside the last word of a loop */
    if (u->bad) return false;
    struct hd_loop next = u->now;
    int bytes = hd_loop_decode(iss->code, u->words, u->from, u->n_chosen, &next, &why);
    u->bad = why != NULL; /* hd_iss_word says so in time */
    if (why || !take_item(u, bytes, &t)) return false;
    u->now = next;
    u->step = t;
    u->looped = false;
    return true;
}

static bool take_new_word(hd_iss *iss, uint64_t *t) {
    uint32_t word;
    const char *why;
    int bytes = new_word(iss, iss->unpack.from, &word, &why);
    return bytes && take_item(&iss->unpack, bytes, t);
}

/* The next word goes into the register behind the window. */
static bool choose(hd_iss *iss) {
    struct unpack *u = &iss->unpack;
    bool fresh = !u->packed || u->now.fresh;
    uint64_t t = u->step + 1 > u->out ? u->step + 1 : u->out;
    if (fresh && !take_new_word(iss, &t)) return false;
    if (u->packed) *(fresh ? &u->now.fresh : &u->now.again) -= 1;
    u->step = u->held_since = t;
    u->looped = !fresh;
    u->held = true;
    u->n_chosen++;
    return true;
}

/* From there to the words that issue can take. */
static void push(struct unpack *u) {
    uint64_t room = u->taken[u->n_sent % HD_N_issue_words] + 1;
    u->out = u->held_since + 1 > room ? u->held_since + 1 : room;
    u->sent[u->n_sent++ % HD_N_issue_words] = u->out;
    u->held = false;
}

void hd_iss_send_words(hd_iss *iss) {
    struct unpack *u = &iss->unpack;
    for (bool moved = !iss->free_issue && iss->code_words; moved;) {
        bool more = u->n_chosen < iss->code_words - HD_PROG_HEADER_WORDS;
        moved = enter(iss);
        if (u->held && u->n_sent - u->n_taken < HD_N_issue_words) {
            push(u);
            moved = true;
        }
        if (more && u->packed && !u->now.fresh && !u->now.again)
            moved |= read_loop(iss);
        else if (more && !u->held)
            moved |= choose(iss);
    }
}

bool hd_iss_take_words(hd_iss *iss, uint32_t end) {
    struct issue *s = &iss->issue;
    struct unpack *u = &iss->unpack;
    if (iss->free_issue) s->pc = end;
    for (; s->pc < end; s->pc++) {
        hd_iss_send_words(iss);
        if (u->n_sent == u->n_taken) return false;
        uint64_t out = u->sent[u->n_taken % HD_N_issue_words];
        s->t = s->t > out + 1 ? s->t : out + 1;
        u->taken[u->n_taken++ % HD_N_issue_words] = s->t++;
    }
    hd_iss_send_words(iss);
    return true;
}
