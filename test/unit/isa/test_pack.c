/* Packed programs: what is packed issues the same words, loops cost next to nothing, and a stream
 * that breaks the rules is refused with its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "isa/isa.h"

enum { HEAD = HD_PROG_HEADER_WORDS };

static uint32_t next(uint64_t *s) {
    *s = *s * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(*s >> 33);
}

static void header(uint32_t *words, size_t n) {
    words[0] = HD_PROG_MAGIC;
    words[1] = hd_isa_hash();
    words[2] = hd_machine_hash(&hd_machines[1]);
    words[3] = (uint32_t)n;
}

/* Packs n words, unpacks them, compares; returns the packed size. */
static size_t there_and_back(hd_ctx *ctx, uint32_t *words, size_t n) {
    uint32_t *packed = malloc(hd_prog_packed_max(n) * sizeof *packed), *again = NULL;
    size_t n_again = 0;
    header(words, n);
    size_t n_packed = hd_prog_pack(words, n, packed);
    assert_true(n_packed > HEAD && n_packed <= hd_prog_packed_max(n));
    hd_status s = hd_prog_unpack(ctx, packed, n_packed, &again, &n_again);
    assert_string_equal(hd_message(ctx), "");
    assert_int_equal(s, HD_OK);
    assert_int_equal(n_again, n);
    assert_memory_equal(again, words, n * sizeof *words);
    free(again);
    free(packed);
    return n_packed;
}

static void any_words_come_back(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    uint64_t seed = 5;
    uint32_t *w = malloc(20000 * sizeof *w);
    for (int i = 0; i < 200; i++) {
        size_t n = HEAD + next(&seed) % (i < 190 ? 600 : 19000);
        uint32_t values = 1u << next(&seed) % 16, repeat = next(&seed) % 40;
        for (size_t k = HEAD; k < n; k++) {
            size_t back = 1 + next(&seed) % 1500;
            bool copy = k >= HEAD + back && next(&seed) % 40 < repeat;
            w[k] = copy ? w[k - back] : next(&seed) % values;
        }
        there_and_back(ctx, w, n);
    }
    free(w);
    hd_ctx_destroy(ctx);
}

static size_t words_of(size_t bytes) {
    return HEAD + 1 + (bytes + 3) / 4;
}

/* Bytes of new words of 32 bits: their tokens, 5 for each. */
static size_t new_bytes(size_t n) {
    return n < 3 ? 1 + 5 * n : n <= 258 ? 2 + 5 * n : 2 + 5 * 258 + new_bytes(n - 258);
}

/* What repeats costs a byte beside its new words up to 14 words, 2 up to 270, 3 up to 65535. */
static void loops_cost_no_word(void **state) {
    (void)state;
    static const struct {
        size_t body, rounds, more;
    } cases[] = {{300, 1, 0},  {7, 3, 1},    {7, 4, 2},    {100, 2, 2},          {100, 50, 3},
                 {2, 8000, 3}, {1, 8000, 3}, {767, 10, 3}, {100, 900, 3 + 1 + 2}};
    hd_ctx *ctx = hd_ctx_create();
    uint32_t *w = malloc(100000 * sizeof *w);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t seed = i;
        size_t body = cases[i].body, n = HEAD + body * cases[i].rounds;
        for (size_t k = HEAD; k < n; k++)
            w[k] = k < HEAD + body ? next(&seed) | UINT32_C(0x60000000) : w[k - body];
        size_t fresh = body == 1 ? 2 : body; /* no body has one word */
        assert_int_equal(there_and_back(ctx, w, n), words_of(new_bytes(fresh) + cases[i].more));
    }
    /* nothing repeats within the window */
    uint64_t seed = 1;
    for (size_t k = HEAD; k < HEAD + 2048; k++)
        w[k] = k < HEAD + 768 ? next(&seed) | UINT32_C(0x60000000) : w[k - 768];
    assert_int_equal(there_and_back(ctx, w, HEAD + 2048), words_of(new_bytes(2048)));
    free(w);
    hd_ctx_destroy(ctx);
}

/* At the ends of each size; in more bytes than needed the word is the same. */
static void words_have_the_bytes_they_need(void **state) {
    (void)state;
    static const struct {
        uint32_t word;
        int bytes;
    } cases[] = {{0, 1},
                 {64, 1},
                 {(uint32_t)-63, 1},
                 {65, 2},
                 {8192, 2},
                 {(uint32_t)-64, 2},
                 {(uint32_t)-8191, 2},
                 {8193, 3},
                 {0x3ff00, 3},
                 {(uint32_t)-8192, 3},
                 {(uint32_t)-0x3ff00, 3},
                 {0x40000, 2}, /* from here on the higher number is not 0 */
                 {0x40041, 4},
                 {0x200040, 2},
                 {0x200041, 4},
                 {(uint32_t)-0x1f003f, 2},
                 {(uint32_t)-0x1f0040, 4},
                 {0x210004, 3},
                 {0x210005, 4},
                 {0x40000004, 3},
                 {0x40000005, 5},
                 {(uint32_t)-0x3fff0003, 3},
                 {(uint32_t)-0x3fff0004, 5},
                 {0x7ffff00, 4},
                 {0x8000100, 5},
                 {(uint32_t)-0x7ffff00, 4},
                 {(uint32_t)-0x8000100, 5},
                 {0x7fffffff, 5},
                 {0x80000000, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int form = 0; form < HD_NEW_WORD_FORMS; form++)
            for (size_t at = 0; at < 4; at++) {
                union {
                    uint8_t bytes[12];
                    uint32_t words[3];
                } x = {{0}};
                uint32_t got;
                const char *why;
                int n = hd_new_word_encode(cases[i].word, form, x.bytes + at);
                assert_int_equal(hd_new_word_decode(x.words, 3, at, &got, &why), n);
                assert_int_equal(got, cases[i].word);
                if (!form) assert_int_equal(n, cases[i].bytes);
                assert_int_equal(
                    hd_new_word_decode(x.words, (at + (size_t)n - 1) / 4, at, &got, &why), 0);
            }
}

static void words_of_two_numbers_by_hand(void **state) {
    (void)state;
    static const struct {
        uint32_t word;
        int n;
        uint8_t bytes[5];
    } cases[] = {
        {0x00020001, 2, {0x0b, 0x08}},             /* 2 << 10 | 1 << 3 | 3 */
        {0x0001ffff, 2, {0xfb, 0x0b}},             /* 2 << 16, less 1 */
        {0xfed40002, 3, {0x9f, 0xa8, 0xfd}},       /* -300 << 16, and 2 */
        {0x00000040, 1, {0x80}},                   /* 64 << 1: the most that 7 bits hold */
        {0xffffffc0, 2, {0x01, 0xff}},             /* -64 << 2 | 1 */
        {0x00002000, 2, {0x01, 0x80}},             /* 8192 << 2 | 1 */
        {0x00002001, 3, {0x2f, 0x00, 0x04}},       /* 8193 << 5 | 15 */
        {0x01dbad25, 4, {0x57, 0xd2, 0xba, 0x1d}}, /* itself << 4 | 7 */
        {0x80000000, 5, {0x3f, 0x00, 0x00, 0x00, 0x20}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t got[HD_ITEM_MAX_BYTES];
        assert_int_equal(hd_new_word_encode(cases[i].word, 0, got), cases[i].n);
        assert_memory_equal(got, cases[i].bytes, (size_t)cases[i].n);
    }
}

/* Two rounds of a loop inside three rounds of another: a b b c, a b b c, a b b c. */
static void loops_nest(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    uint32_t w[HEAD + 3 * (20 + 2 * 30 + 25)];
    size_t n = HEAD;
    for (int outer = 0; outer < 3; outer++)
        for (int part = 0; part < 4; part++) {
            uint64_t seed = part == 0 ? 1 : part == 3 ? 3 : 2;
            for (int k = part == 0 ? 20 : part == 3 ? 25 : 30; k > 0; k--)
                w[n++] = next(&seed) | UINT32_C(0x60000000);
        }
    /* a b, half of b again | the rest of it | c, then all of it again, which is more than 30 words
     */
    assert_int_equal(there_and_back(ctx, w, n), words_of(3 + 1 + 5 + 5 * (20 + 30 + 25)));
    hd_ctx_destroy(ctx);
}

/* By hand: 3 new words, 7 words again from 2 back; then 1 new word, and 2 again from as far. Bytes:
 * 5b 02 00 (3 new ones, again 6 + 1, back 2), 14 (10 << 1), ad fe (-85 << 2 | 1), 0f 00 18 (0xc000
 * << 5 | 15), 05 (1 new one, again 1 + 1), 1a (13 << 1), 0. */
#define BY_HAND 0x334c4448, 0, 0, 8, 17, 0x1400025b, 0x000ffead, 0x001a0518

static void by_hand(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    uint32_t stream[] = {BY_HAND}, *out;
    static const uint32_t a = 10, b = (uint32_t)-85, c = 0xc000;
    const uint32_t want[] = {a, b, c, b, c, b, c, b, c, b, 13, b, 13};
    size_t n;
    hd_status s = hd_prog_unpack(ctx, stream, 8, &out, &n);
    assert_string_equal(hd_message(ctx), "");
    assert_int_equal(s, HD_OK);
    assert_int_equal(n, 17);
    assert_int_equal(out[0], HD_PROG_MAGIC);
    assert_int_equal(out[3], 17);
    assert_memory_equal(out + 4, want, sizeof want);
    free(out);
    hd_ctx_destroy(ctx);
}

static void wrong_streams_are_refused(void **state) {
    (void)state;
    static const struct {
        uint32_t at, value;
        const char *message;
    } cases[] = {
        {3, 9, "packed program: header says 9 words, there are 8"},
        {4, 3, "packed program: it issues 3 words, want 4 to 16777216"},
        {4, 16777217, "packed program: it issues 16777217 words, want 4 to 16777216"},
        {4, 14, "packed program: there is more behind its end, byte 29"},
        {4, 18, "packed program: byte 31: loop token that says nothing"},
        {5, 0x14000200, "packed program: byte 20: loop token that says nothing"},
        {5, 0x14000243,
         "packed program: byte 20: loop token with a body that does not issue again"},
        {5, 0x1400015b, "packed program: byte 20: loop over fewer than 2 words"},
        {5, 0x1400021b, "packed program: byte 20: loop over fewer than 2 words"},
        {5, 0x1400045b, "packed program: byte 20: loop over words before the first of the program"},
        {5, 0x1400029b, "packed program: byte 20: loop over words before the first of the program"},
        {7, 0x003f0518, "packed program: byte 30: it ends too early"},
        {7, 0x1a010318, "packed program: byte 29: it is longer than its header says"},
        {7, 0x001a0018, "packed program: byte 29: loop token that says nothing"},
        {4, 14 - 1, "packed program: byte 20: it is longer than its header says"},
    };
    hd_ctx *ctx = hd_ctx_create();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t stream[] = {BY_HAND};
        uint32_t *out;
        size_t n;
        stream[cases[i].at] = cases[i].value;
        assert_int_not_equal(hd_prog_unpack(ctx, stream, 8, &out, &n), HD_OK);
        assert_string_equal(hd_message(ctx), cases[i].message);
        hd_clear(ctx);
    }
    hd_ctx_destroy(ctx);
}

/* What is read is the values, not how far they moved. */
static void adds_are_read_as_values(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    const char *text =
        "loop 3\nmx.gemm w+=5 x+=7\n{ lx.load src+=2 ; st.store dst=9 src+=1 }\nend\n";
    uint32_t *words, *plain;
    char *got;
    size_t n, n_plain;
    assert_int_equal(hd_asm(ctx, &hd_machines[1], text, "t", &words, &n), HD_OK);
    assert_int_equal(words[0], HD_PROG_MAGIC_PACKED);
    assert_int_equal(hd_prog_unpack(ctx, words, n, &plain, &n_plain), HD_OK);
    hd_prog_absolute(plain, n_plain);
    assert_int_equal(hd_disasm(ctx, plain, n_plain, &got), HD_OK);
    assert_string_equal(strchr(got, '\n') + 1,
                        "mx.gemm x=7 w=5\n{ lx.load src=2 ;\n  st.store dst=9 src+=1 }\n"
                        "mx.gemm x=14 w=10\n{ lx.load src=4 ;\n  st.store dst=9 src+=1 }\n"
                        "mx.gemm x=21 w=15\n{ lx.load src=6 ;\n  st.store dst=9 src+=1 }\n");
    free(words);
    free(plain);
    free(got);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_words_come_back),
        cmocka_unit_test(loops_cost_no_word),
        cmocka_unit_test(words_have_the_bytes_they_need),
        cmocka_unit_test(words_of_two_numbers_by_hand),
        cmocka_unit_test(loops_nest),
        cmocka_unit_test(by_hand),
        cmocka_unit_test(wrong_streams_are_refused),
        cmocka_unit_test(adds_are_read_as_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
