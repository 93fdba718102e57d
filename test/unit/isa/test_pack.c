/* Packed programs: what is packed issues the same words, loops cost one word, and a stream that
 * breaks the rules is refused with its place. */
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

/* 300 new words are two loop words and the words; each 16383 words that repeat are one more. */
static void loops_cost_one_word(void **state) {
    (void)state;
    static const struct {
        size_t body, rounds, packed;
    } cases[] = {{300, 1, HEAD + 1 + 2 + 300},   {100, 2, HEAD + 1 + 1 + 100},
                 {100, 50, HEAD + 1 + 1 + 100},  {2, 8000, HEAD + 1 + 1 + 2},
                 {1, 8000, HEAD + 1 + 1 + 2},    {1023, 10, HEAD + 1 + 5 + 1023},
                 {100, 400, HEAD + 1 + 3 + 100}, {1024, 2, HEAD + 1 + 9 + 2048}};
    hd_ctx *ctx = hd_ctx_create();
    uint32_t *w = malloc(50000 * sizeof *w);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t seed = i;
        size_t body = cases[i].body, n = HEAD + body * cases[i].rounds;
        for (size_t k = HEAD; k < n; k++) w[k] = k < HEAD + body ? next(&seed) : w[k - body];
        assert_int_equal(there_and_back(ctx, w, n), cases[i].packed);
    }
    free(w);
    hd_ctx_destroy(ctx);
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
            for (int k = part == 0 ? 20 : part == 3 ? 25 : 30; k > 0; k--) w[n++] = next(&seed);
        }
    assert_int_equal(there_and_back(ctx, w, n), HEAD + 1 + 2 + 20 + 30 + 25);
    hd_ctx_destroy(ctx);
}

/* By hand: a loop word, 3 new words, 7 words again from 2 back; then 1 new word. */
static void by_hand(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    uint32_t stream[] = {0x324c4448, 0, 0, 11, 15, 0x001c0203, 10, 11, 12, 0x00000001, 13}, *out;
    static const uint32_t want[] = {10, 11, 12, 11, 12, 11, 12, 11, 12, 11, 13};
    size_t n;
    assert_int_equal(hd_prog_unpack(ctx, stream, 11, &out, &n), HD_OK);
    assert_int_equal(n, 15);
    assert_int_equal(out[0], HD_PROG_MAGIC);
    assert_int_equal(out[3], 15);
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
        {3, 12, "packed program: header says 12 words, there are 11"},
        {4, 3, "packed program: it issues 3 words, want 4 to 16777216"},
        {4, 16777217, "packed program: it issues 16777217 words, want 4 to 16777216"},
        {4, 14, "packed program: 2 words stand behind its end"},
        {4, 16, "packed program: word 11: it ends too early"},
        {5, 0, "packed program: word 5: loop word that says nothing"},
        {5, 0x001c0103, "packed program: word 5: loop over fewer than 2 words"},
        {5, 0x001c0403, "packed program: word 5: loop over words before the first of the program"},
        {5, 0x00140203, "packed program: word 11: it ends too early"},
        {9, 0x00000002, "packed program: word 9: it ends too early"},
        {4, 14 - 1, "packed program: word 5: it is longer than its header says"},
    };
    hd_ctx *ctx = hd_ctx_create();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t stream[] = {0x324c4448, 0, 0, 11, 15, 0x001c0203, 10, 11, 12, 0x00000001, 13};
        uint32_t *out;
        size_t n;
        stream[cases[i].at] = cases[i].value;
        assert_int_not_equal(hd_prog_unpack(ctx, stream, 11, &out, &n), HD_OK);
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
        cmocka_unit_test(loops_cost_one_word),
        cmocka_unit_test(loops_nest),
        cmocka_unit_test(by_hand),
        cmocka_unit_test(wrong_streams_are_refused),
        cmocka_unit_test(adds_are_read_as_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
