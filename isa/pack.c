/* Hardware loops: plain programs to packed ones and back. The format is in isa.h, "packed".
 *
 * hd_prog_pack finds, for every word, the longest run of words that issued before and can issue
 * again, and then the cheapest way to cut the program into new words and such runs. Both are exact:
 * runs are counted from the end for every distance at once, and a run that is cut short is never
 * cheaper.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"

bool hd_loop_decode(uint32_t word, uint64_t before, struct hd_loop *out, const char **out_why) {
    const struct hd_loop l = {
#define LOOP(field, lsb, width, doc) .field = word >> (lsb) & ((UINT32_C(1) << (width)) - 1),
#include "isa/isa.def"
    };
    *out = l;
    *out_why = !l.fresh && !l.again              ? "loop word that says nothing"
               : l.again && l.back < HD_LOOP_MIN ? "loop over fewer than 2 words"
               : l.again && l.back > before + l.fresh
                   ? "loop over words before the first of the program"
                   : NULL;
    return !*out_why;
}

static uint32_t loop_word(struct hd_loop l) {
    uint32_t w = 0;
#define LOOP(field, lsb, width, doc) w |= l.field << (lsb);
#include "isa/isa.def"
    return w;
}

/* ---- packing -------------------------------------------------------------------------------- */

struct plan {           /* one per word, and one behind the last */
    uint16_t run, back; /* the longest run from here on; 0: none */
    uint32_t cost;      /* words from here to the end, in the middle of new words */
    bool again;         /* the run begins here, else the word is new */
};

/* In w the words stand last first, so that a distance is an offset to the right. */
static void longest_runs(const uint32_t *w, size_t n, struct plan *p) {
    uint32_t run[HD_LOOP_WINDOW] = {0};
    for (size_t i = n; i-- > 0;) {
        const uint32_t *at = w + (n - 1 - i);
        size_t most = i < HD_LOOP_WINDOW - 1 ? i : HD_LOOP_WINDOW - 1;
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

static void choose(struct plan *p, size_t n) {
    p[n].cost = 0;
    for (size_t i = n; i-- > 0;) {
        size_t to = i + p[i].run;
        uint32_t fresh = 1 + p[i + 1].cost;
        uint32_t again = p[i].run < HD_LOOP_MIN ? UINT32_MAX
                         : to == n              ? 0
                                                : 1 + p[to].cost; /* another loop word */
        p[i].again = again <= fresh;
        p[i].cost = p[i].again ? again : fresh;
    }
}

static size_t emit(const uint32_t *w, const struct plan *p, size_t n, uint32_t *out) {
    size_t at = 0, n_out = 0;
    while (at < n) {
        struct hd_loop l = {0};
        while (at + l.fresh < n && l.fresh < HD_LOOP_FRESH_MAX && !p[at + l.fresh].again) l.fresh++;
        size_t head = n_out++;
        memcpy(out + n_out, w + at, l.fresh * sizeof *w);
        n_out += l.fresh;
        at += l.fresh;
        if (at < n && p[at].again) l.back = p[at].back, l.again = p[at].run;
        at += l.again;
        out[head] = loop_word(l);
    }
    return n_out;
}

size_t hd_prog_packed_max(size_t n) {
    return n + n / HD_LOOP_FRESH_MAX + 3;
}

size_t hd_prog_pack(const uint32_t *words, size_t n, uint32_t *out) {
    size_t body = n - HD_PROG_HEADER_WORDS, packed = 0;
    const uint32_t *from = words + HD_PROG_HEADER_WORDS;
    uint32_t *reversed = calloc(body + HD_LOOP_WINDOW, sizeof *reversed);
    struct plan *p = malloc((body + 1) * sizeof *p);
    if (reversed && p) {
        for (size_t i = 0; i < body; i++) reversed[i] = from[body - 1 - i];
        longest_runs(reversed, body, p);
        choose(p, body);
        memcpy(out, words, HD_PROG_HEADER_WORDS * sizeof *out);
        packed = HD_PROG_HEADER_WORDS + 1;
        packed += emit(from, p, body, out + packed);
        out[0] = HD_PROG_MAGIC_PACKED;
        out[3] = (uint32_t)packed;
        out[HD_PROG_HEADER_WORDS] = (uint32_t)n;
    }
    free(reversed);
    free(p);
    return packed;
}

/* ---- for reading ---------------------------------------------------------------------------- */

void hd_prog_absolute(uint32_t *words, size_t n) {
    uint32_t held[HD_UNITS][HD_PARAM_WORDS] = {{0}};
    struct hd_op_word ops[HD_UNITS];
    int offset[HD_UNITS], n_ops, length;
    const char *why;
    for (size_t at = HD_PROG_HEADER_WORDS; at < n; at += (size_t)length) {
        length = hd_bundle_decode(words + at, n - at, ops, offset, &n_ops, &why);
        if (!length) return;
        for (int i = 0; i < n_ops; i++) {
            struct hd_op_word *op = &ops[i];
            hd_op_apply(op, held[op->unit]);
            if (!op->add || op->set) continue;
            op->set = op->add;
            op->add = 0;
            memcpy(op->lit, held[op->unit], sizeof op->lit);
            hd_op_encode(op, words + at + (size_t)offset[i]);
        }
    }
}

/* ---- unpacking ------------------------------------------------------------------------------ */

static hd_status unpack(hd_ctx *ctx, const uint32_t *in, size_t n, uint32_t *out, size_t n_out) {
    size_t from = HD_PROG_HEADER_WORDS + 1, to = HD_PROG_HEADER_WORDS;
    while (to < n_out) {
        struct hd_loop l;
        const char *why = "it ends too early";
        size_t at = from;
        if (from == n || !hd_loop_decode(in[from++], to - HD_PROG_HEADER_WORDS, &l, &why) ||
            (why = "it ends too early", l.fresh > n - from) ||
            (why = "it is longer than its header says", l.fresh + l.again > n_out - to))
            return hd_fail(ctx, HD_INVALID, "packed program: word %zu: %s", at, why);
        memcpy(out + to, in + from, l.fresh * sizeof *out);
        from += l.fresh;
        to += l.fresh;
        for (uint32_t i = 0; i < l.again; i++, to++) out[to] = out[to - l.back];
    }
    if (from != n)
        return hd_fail(ctx, HD_INVALID, "packed program: %zu words stand behind its end", n - from);
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
