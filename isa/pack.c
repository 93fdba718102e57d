/* Hardware loops: plain programs to packed ones and back. The format is in isa.h, "packed".
 *
 * hd_prog_pack finds, for every word, the longest run of words that issued before and can issue
 * again, counted from the end for every distance at once, and then the cheapest way to cut the
 * program into new words and such runs, by bytes, once for each number of bytes that tokens may
 * have on average.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"

/* ---- items of the stream -------------------------------------------------------------------- */

static const struct form {
    uint32_t code_bits, code;
    int bytes, low, high;
} forms[] = {
#define NEW_WORD(form, code_bits, code, bytes, low, high)                                          \
    [form] = {code_bits, code, bytes, low, high},
#include "isa/isa.def"
};
/* The bytes from `at` on, zero behind the end of n words; *out_left: how many there are. */
static uint64_t look(const uint32_t *stream, size_t n, size_t at, size_t *out_left) {
    uint64_t v = 0;
    *out_left = 4 * n > at ? 4 * n - at : 0;
    for (size_t i = 0; i < HD_ITEM_MAX_BYTES && i < *out_left; i++)
        v |= (uint64_t)(stream[(at + i) / 4] >> 8 * ((at + i) % 4) & 0xff) << 8 * i;
    return v;
}

static const char *wrong_loop(const struct hd_loop *l, uint32_t far, uint64_t before) {
    return !l->fresh && !l->again              ? "loop token that says nothing"
           : !l->again && far                  ? "loop token with a body that does not issue again"
           : l->again && l->back < HD_LOOP_MIN ? "loop over fewer than 2 words"
           : l->again && l->back > before + l->fresh
               ? "loop over words before the first of the program"
               : NULL;
}

int hd_loop_decode(const uint32_t *stream, size_t n, size_t at, uint64_t before,
                   struct hd_loop *loop, const char **out_why) {
    size_t left;
    uint64_t v = look(stream, n, at, &left);
#define LOOP(field, lsb, width, doc)                                                               \
    uint32_t field = (uint32_t)(v >> (lsb)) & ((1u << (width)) - 1);
#include "isa/isa.def"
    int bytes = 1;
    uint32_t back = far ? ((uint32_t)(v >> 8 * bytes++) & 0xff) + 256 * (far - 1) : loop->back;
    if (fresh == HD_LOOP_FRESH_MORE) fresh += (uint32_t)(v >> 8 * bytes++) & 0xff;
    if (again == HD_LOOP_AGAIN_MORE) {
        again = (uint32_t)(v >> 8 * bytes) & 0xffff;
        bytes += 2;
    } else if (again) {
        again += 1 + (again == HD_LOOP_AGAIN_BYTE ? (uint32_t)(v >> 8 * bytes++) & 0xff : 0);
    }
    struct hd_loop l = {fresh, again, back};
    *out_why = left < (size_t)bytes ? "it ends too early" : wrong_loop(&l, far, before);
    if (*out_why) return 0;
    *loop = l;
    return bytes;
}

int hd_loop_encode(const struct hd_loop *loop, uint32_t back_before,
                   uint8_t out[HD_ITEM_MAX_BYTES]) {
    bool fresh_more = loop->fresh >= HD_LOOP_FRESH_MORE;
    bool again_more = loop->again == 1 || loop->again > HD_LOOP_AGAIN_BYTE_MAX;
    bool again_byte = !again_more && loop->again > HD_LOOP_AGAIN_BYTE;
    uint32_t fresh = fresh_more ? HD_LOOP_FRESH_MORE : loop->fresh;
    uint32_t again = again_more    ? HD_LOOP_AGAIN_MORE
                     : again_byte  ? HD_LOOP_AGAIN_BYTE
                     : loop->again ? loop->again - 1
                                   : 0;
    uint32_t far = loop->again && loop->back != back_before ? loop->back / 256 + 1 : 0;
    int n = 1;
    out[0] = 0;
#define LOOP(field, lsb, width, doc) out[0] |= (uint8_t)(field << (lsb));
#include "isa/isa.def"
    if (far) out[n++] = (uint8_t)loop->back;
    if (fresh_more) out[n++] = (uint8_t)(loop->fresh - HD_LOOP_FRESH_MORE);
    if (again_byte) out[n++] = (uint8_t)(loop->again - HD_LOOP_AGAIN_BYTE - 1);
    if (again_more) {
        out[n++] = (uint8_t)loop->again;
        out[n++] = (uint8_t)(loop->again >> 8);
    }
    return n;
}

/* The lowest `width` bits as a number from -(2^(width - 1) - 1) to 2^(width - 1). */
static uint32_t extended(uint64_t v, int width) {
    if (width == 0) return 0;
    uint64_t most = UINT64_C(1) << (width - 1), low = v & (2 * most - 1);
    return (uint32_t)(low > most ? low - 2 * most : low);
}

int hd_new_word_form(uint8_t first_byte) {
    int i = 0;
    while ((first_byte & ((1u << forms[i].code_bits) - 1)) != forms[i].code) i++;
    return i;
}

int hd_new_word_decode(const uint32_t *stream, size_t n, size_t at, uint32_t *out,
                       const char **out_why) {
    size_t left;
    uint64_t v = look(stream, n, at, &left);
    const struct form *f = &forms[hd_new_word_form((uint8_t)v)];
    v >>= f->code_bits;
    *out = extended(v, f->low) + (extended(v >> f->low, f->high) << 16);
    int used = f->low + f->high, spare = 8 * f->bytes - (int)f->code_bits - used;
    *out_why = left < (size_t)f->bytes                    ? "it ends too early"
               : v >> used & ((UINT64_C(1) << spare) - 1) ? "bits above a new word of 32"
                                                          : NULL;
    return *out_why ? 0 : f->bytes;
}

/* The two numbers whose sum the word is, of which the higher counts 2^16 if there is one. */
static void numbers(uint32_t word, const struct form *f, uint32_t *low, uint32_t *high) {
    *low = f->high ? extended(word, 16) : word;
    *high = f->high ? extended((word - *low) >> 16, 16) : 0;
}

/* Whether `width` bits, the highest of them the sign, hold the number. */
static bool fits(uint32_t number, int width) {
    return extended(number, width) == number;
}

/* The form with the fewest bytes. */
static int form_of(uint32_t word, int from) {
    int best = HD_NEW_WORD_FORMS - 1;
    for (int i = from; i < HD_NEW_WORD_FORMS; i++) {
        uint32_t low, high;
        numbers(word, &forms[i], &low, &high);
        if (fits(low, forms[i].low) && fits(high, forms[i].high) &&
            forms[i].bytes < forms[best].bytes)
            best = i;
    }
    return best;
}

int hd_new_word_encode(uint32_t word, int form, uint8_t out[HD_ITEM_MAX_BYTES]) {
    const struct form *f = &forms[form_of(word, form)];
    uint32_t low, high;
    numbers(word, f, &low, &high);
    uint64_t of_low = low & ((UINT64_C(1) << f->low) - 1);
    uint64_t of_high = high & ((UINT64_C(1) << f->high) - 1);
    uint64_t v = (of_high << f->low | of_low) << f->code_bits | f->code;
    for (int i = 0; i < f->bytes && i < HD_ITEM_MAX_BYTES; i++) out[i] = (uint8_t)(v >> 8 * i);
    return f->bytes;
}

/* ---- packing -------------------------------------------------------------------------------- */

/* How many new words the token at hand has, as far as its bytes depend on it. */
enum { STATES = HD_LOOP_FRESH_MORE + 1 };
/* Bytes of a token are tried from 1 to: its body may have as many words as that of the one before,
 * or not, which the cut decides. */
enum { TOKEN_BYTES = 3, SHORTER = 8 };
enum choice { NEW, AGAIN };

struct plan {                   /* one per word, and one behind the last */
    uint16_t run, back;         /* the longest run from here on; 0: none */
    uint16_t take;              /* words of it that issue again, if that is what to do here */
    uint32_t cost;              /* bytes from here to the end, behind a token without new words */
    unsigned char best[STATES]; /* what to do here */
};

/* In w the words stand last first, so that a distance is an offset to the right. */
static void longest_runs(const uint32_t *w, size_t n, struct plan *p) {
    uint32_t run[HD_LOOP_WINDOW] = {0};
    for (size_t i = n; i-- > 0;) {
        const uint32_t *at = w + (n - 1 - i);
        size_t most = i < HD_LOOP_BACK_MAX ? i : HD_LOOP_BACK_MAX;
        uint32_t best = 0;
        for (size_t b = HD_LOOP_MIN; b <= most; b++) {
            uint32_t r = at[b] == at[0] ? run[b] + (run[b] < HD_LOOP_AGAIN_MAX) : 0;
            uint32_t key = r * HD_LOOP_WINDOW + (HD_LOOP_WINDOW - 1 - (uint32_t)b); /* nearest */
            run[b] = r;
            best = key > best ? key : best;
        }
        p[i].run = (uint16_t)(best / HD_LOOP_WINDOW);
        p[i].back = (uint16_t)(HD_LOOP_WINDOW - 1 - best % HD_LOOP_WINDOW);
    }
}

/* Bytes from `at` on when the token at hand ends with a run of that length and the one behind it
 * has `token` bytes. */
static uint32_t run_cost(const struct plan *p, size_t n, size_t at, uint32_t run, uint32_t token) {
    if (run < HD_LOOP_MIN) return UINT32_MAX;
    uint32_t more = run > HD_LOOP_AGAIN_BYTE_MAX ? 2 : run > HD_LOOP_AGAIN_BYTE;
    return more + (at + run < n ? token : 0) + p[at + run].cost;
}

static void choose(const uint32_t *w, struct plan *p, size_t n, uint32_t token) {
    uint32_t next[STATES] = {0}; /* bytes from the next word on */
    p[n].cost = 0;
    for (size_t i = n; i-- > 0;) {
        const uint32_t length = p[i].run, cuts[] = {HD_LOOP_AGAIN_BYTE, HD_LOOP_AGAIN_BYTE_MAX};
        uint32_t again = UINT32_MAX, here[STATES];
        for (uint32_t k = 0; k < SHORTER + 2;
             k++) { /* the next run may begin before this one ends */
            uint32_t r = k < SHORTER ? length - k : cuts[k - SHORTER];
            uint32_t cost = r <= length ? run_cost(p, n, i, r, token) : UINT32_MAX;
            if (cost < again) again = cost, p[i].take = (uint16_t)r;
        }
        uint32_t bytes = (uint32_t)forms[form_of(w[i], 0)].bytes;
        for (int s = 0; s < STATES; s++) {
            int to = s < STATES - 1 ? s + 1 : s;
            uint32_t fresh = bytes + (to > s && to == STATES - 1) + next[to];
            p[i].best[s] = again > fresh ? NEW : AGAIN;
            here[s] = again > fresh ? fresh : again;
        }
        p[i].cost = here[0];
        memcpy(next, here, sizeof next);
    }
}

static bool issues_again(const uint32_t *w, size_t at, uint32_t run, uint32_t back) {
    if (back < HD_LOOP_MIN || back > at) return false;
    for (uint32_t i = 0; i < run; i++)
        if (w[at + i] != w[at + i - back]) return false;
    return true;
}

static size_t emit(const uint32_t *w, const struct plan *p, size_t n, uint8_t *out) {
    size_t at = 0, to = 0;
    uint32_t back = 0; /* of the token before */
    while (at < n) {
        struct hd_loop l = {.back = back};
        enum choice what = NEW;
        while (at + l.fresh < n && l.fresh < HD_LOOP_FRESH_MAX && what == NEW) {
            uint32_t s = l.fresh < STATES - 1 ? l.fresh : STATES - 1;
            what = (enum choice)p[at + l.fresh].best[s];
            l.fresh += what == NEW;
        }
        const struct plan *from = &p[at + l.fresh];
        if (what != NEW) l.again = from->take;
        if (!issues_again(w, at + l.fresh, l.again, back)) l.back = from->back;
        to += (size_t)hd_loop_encode(&l, back, out + to);
        if (l.again) back = l.back;
        for (uint32_t i = 0; i < l.fresh; i++)
            to += (size_t)hd_new_word_encode(w[at + i], 0, out + to);
        at += l.fresh + l.again;
    }
    return to;
}

size_t hd_prog_packed_max(size_t n) {
    return n + n / 4 + n / HD_LOOP_FRESH_MAX + 8; /* 5 bytes a word, 3 a token of new words */
}

size_t hd_prog_packed_header(const uint32_t *plain, size_t n, size_t bytes, uint32_t *out) {
    size_t words = (bytes + 3) / 4;
    memset((uint8_t *)out + bytes, 0, 4 * words - bytes);
    memcpy(out, plain, HD_PROG_HEADER_WORDS * sizeof *out);
    out[0] = HD_PROG_MAGIC_PACKED;
    out[3] = (uint32_t)words;
    out[HD_PROG_HEADER_WORDS] = (uint32_t)n;
    return words;
}

size_t hd_prog_pack(const uint32_t *words, size_t n, uint32_t *out) {
    size_t body = n - HD_PROG_HEADER_WORDS, packed = 0;
    const uint32_t *from = words + HD_PROG_HEADER_WORDS;
    uint32_t *reversed = calloc(body + HD_LOOP_WINDOW, sizeof *reversed);
    struct plan *p = malloc((body + 1) * sizeof *p);
    if (reversed && p) {
        for (size_t i = 0; i < body; i++) reversed[i] = from[body - 1 - i];
        longest_runs(reversed, body, p);
        const size_t at = 4 * (HD_PROG_HEADER_WORDS + 1);
        size_t best = SIZE_MAX, last = 0;
        uint32_t token = 0;
        for (uint32_t i = 1; i <= TOKEN_BYTES + 1; i++) {
            if (i > TOKEN_BYTES && last == best) break;
            choose(from, p, body, i > TOKEN_BYTES ? token : i);
            last = emit(from, p, body, (uint8_t *)out + at);
            if (last < best) best = last, token = i;
        }
        packed = hd_prog_packed_header(words, n, at + best, out);
    }
    free(reversed);
    free(p);
    return packed;
}

/* ---- for reading ---------------------------------------------------------------------------- */

void hd_prog_absolute(uint32_t *words, size_t n) {
    struct hd_sticky held[HD_UNITS] = {{.tag = 0}};
    struct hd_op_word ops[HD_UNITS];
    int offset[HD_UNITS], n_ops, length;
    const char *why;
    for (size_t at = HD_PROG_HEADER_WORDS; at < n; at += (size_t)length) {
        length = hd_bundle_decode(words + at, n - at, ops, offset, &n_ops, &why);
        if (!length) return;
        for (int i = 0; i < n_ops; i++) {
            struct hd_op_word *op = &ops[i];
            const uint32_t *now = hd_op_apply(op, &held[op->unit]);
            op->tag = held[op->unit].tag;
            if (op->add && !op->set) {
                op->set = op->add;
                op->add = 0;
                memcpy(op->lit, now, sizeof op->lit);
            }
            hd_op_encode(op, words + at + (size_t)offset[i]);
        }
    }
}

/* ---- unpacking ------------------------------------------------------------------------------ */

static hd_status unpack(hd_ctx *ctx, const uint32_t *in, size_t n, uint32_t *out, size_t n_out) {
    size_t from = 4 * (HD_PROG_HEADER_WORDS + 1), to = HD_PROG_HEADER_WORDS, item = from;
    struct hd_loop l = {0};
    while (to < n_out) {
        const char *why;
        int bytes = hd_loop_decode(in, n, item = from, to - HD_PROG_HEADER_WORDS, &l, &why);
        if (bytes && l.fresh + l.again > n_out - to) why = "it is longer than its header says";
        from += (size_t)bytes;
        for (uint32_t i = 0; i < l.fresh && !why; i++, from += (size_t)bytes)
            bytes = hd_new_word_decode(in, n, item = from, out + to++, &why);
        if (why) return hd_fail(ctx, HD_INVALID, "packed program: byte %zu: %s", item, why);
        for (uint32_t i = 0; i < l.again; i++, to++) out[to] = out[to - l.back];
    }
    bool more = 4 * n - from > 3; /* than what fills the last word */
    for (size_t i = from; i < 4 * n && !more; i++) more = in[i / 4] >> 8 * (i % 4) & 0xff;
    if (more)
        return hd_fail(ctx, HD_INVALID, "packed program: there is more behind its end, byte %zu",
                       from);
    return HD_OK;
}

hd_status hd_prog_unpack(hd_ctx *ctx, const uint32_t *words, size_t n, uint32_t **out_words,
                         size_t *out_n) {
    bool packed = n > HD_PROG_HEADER_WORDS && words[0] == HD_PROG_MAGIC_PACKED;
    size_t n_out = packed ? words[HD_PROG_HEADER_WORDS] : n;
    if (packed && words[3] != n)
        return hd_fail(ctx, HD_INVALID,
                       "packed program: header says %" PRIu32 " words, there are %zu", words[3], n);
    if (packed && (n_out < HD_PROG_HEADER_WORDS || n_out > HD_PROG_WORDS_MAX))
        return hd_fail(ctx, HD_UNSUPPORTED, "packed program: it issues %zu words, want %d to %d",
                       n_out, HD_PROG_HEADER_WORDS, HD_PROG_WORDS_MAX);
    uint32_t *out = malloc((n_out + 1) * sizeof *out);
    if (!out) return hd_fail(ctx, HD_NOMEM, "program: no memory for its %zu words", n_out);
    if (!packed) {
        memcpy(out, words, n * sizeof *out);
    } else {
        memcpy(out, words, HD_PROG_HEADER_WORDS * sizeof *out);
        out[0] = HD_PROG_MAGIC;
        out[3] = (uint32_t)n_out;
        hd_status s = unpack(ctx, words, n, out, n_out);
        if (s != HD_OK) {
            free(out);
            return s;
        }
    }
    *out_words = out;
    *out_n = n_out;
    return HD_OK;
}
