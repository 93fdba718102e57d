/* Text format: words -> text -> words is exact, and errors say where and what is allowed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "isa/isa.h"
#include "test/unit/isa/random_op.h"

static size_t header(uint32_t *words, size_t n) {
    words[0] = HD_PROG_MAGIC;
    words[1] = hd_isa_hash();
    words[2] = hd_machine_hash(&hd_machines[1]);
    words[3] = (uint32_t)n;
    return n;
}

static void words_text_words_is_exact(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    uint64_t seed = 4;
    for (int i = 0; i < 500; i++) {
        uint32_t words[HD_PROG_HEADER_WORDS + 8 * 256], *again;
        size_t n = HD_PROG_HEADER_WORDS, n_again;
        char *text;
        for (int b = 0; b < 8; b++) n += (size_t)random_bundle(&seed, words + n);
        assert_int_equal(hd_disasm(ctx, words, header(words, n), &text), HD_OK);
        hd_status s = hd_asm(ctx, &hd_machines[1], text, "random", &again, &n_again);
        assert_string_equal(hd_message(ctx), "");
        assert_int_equal(s, HD_OK);
        assert_int_equal(n_again, n);
        assert_memory_equal(again, words, n * sizeof *words);
        free(again);
        free(text);
    }
    hd_ctx_destroy(ctx);
}

static void op_text_is_cut_at_its_room(void **state) {
    (void)state;
    struct hd_op_word op = {
        .unit = HD_UNIT_mx, .code = 1, .wait = 10, .set = 9, .lit = {9, 0, 0, 256}};
    char text[64], small[8];
    hd_op_text(&op, text, sizeof text);
    assert_string_equal(text, "mx.gemm wait=1,3 tag=9 w=0x100");
    hd_op_text(&op, small, sizeof small);
    assert_string_equal(small, "mx.gemm");
    op.code = 15;
    hd_op_text(&op, text, sizeof text);
    assert_string_equal(text, "unit 3 code 15");
}

struct error_case {
    const char *text, *message;
};

static void errors_say_where_and_what(void **state) {
    (void)state;
    static const struct error_case cases[] = {
        {"mz.gemm", "t:1:1: got 'mz', want a unit: seq, lx, lw, mx, vx, st\n  mz.gemm\n  ^"},
        {"\n  mx.gem x=1",
         "t:2:6: got 'gem', want mx.OP with OP one of nop, gemm\n    mx.gem x=1\n       ^"},
        {"lw.load n2=1",
         "t:1:9: got 'n2', want one of wait, sig, tag, seg, mem, col, cut, src, dst, count, n1, "
         "s1, d1, s2\n  lw.load n2=1\n          ^"},
        {"mx.gemm n0=70000",
         "t:1:12: mx.n0: 70000 is not in 0..65535\n  mx.gemm n0=70000\n             ^"},
        {"mx.gemm n0+=1", "t:1:11: after mx.n0: got '+', want =\n  mx.gemm n0+=1\n            ^"},
        {"mx.gemm x=1 x=2", "t:1:13: mx.x is given twice\n  mx.gemm x=1 x=2\n              ^"},
        {"mx.gemm word5=0 n0=2",
         "t:1:17: mx.n0: word 5 of this operation is already given in another way"
         "\n  mx.gemm word5=0 n0=2\n                  ^"},
        {"mx.gemm wait=32",
         "t:1:14: wait: 32 is not in 0..31\n  mx.gemm wait=32\n               ^"},
        {"vx.map a_scale=nan",
         "t:1:16: vx.a_scale: got 'nan', want a finite number (0.5, 1e-3, 0x1.8p-4) "
         "or its bits (0x3f000000)\n  vx.map a_scale=nan\n                 ^"},
        {"{ mx.nop ; mx.nop }", "t:1:12: unit mx has an operation in this bundle already\n  { "
                                "mx.nop ; mx.nop }\n             ^"},
        {"{ mx.nop\n", "t:1:1: this bundle has no closing }\n  { mx.nop\n  ^"},
        {"mx.nop ; lx.nop",
         "t:1:8: got ';', want the end of the line (a bundle of several is { op ; op })"
         "\n  mx.nop ; lx.nop\n         ^"},
    };
    hd_ctx *ctx = hd_ctx_create();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t *words;
        size_t n;
        assert_int_equal(hd_asm(ctx, &hd_machines[1], cases[i].text, "t", &words, &n), HD_INVALID);
        assert_string_equal(hd_message(ctx), cases[i].message);
        hd_clear(ctx);
    }
    hd_ctx_destroy(ctx);
}

static void bad_programs_are_refused(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    uint32_t words[6];
    char *text;
    header(words, 6);
    words[4] = 0x00000001;
    words[5] = 0x00000001;
    assert_int_equal(hd_disasm(ctx, words, 6, &text), HD_OK);
    free(text);
    assert_int_equal(hd_disasm(ctx, words, 3, &text), HD_INVALID);
    assert_int_equal(hd_disasm(ctx, words, 5, &text), HD_INVALID);
    words[5] = 0x00000007;
    assert_int_equal(hd_disasm(ctx, words, 6, &text), HD_INVALID);
    words[1] ^= 1;
    assert_int_equal(hd_disasm(ctx, words, 6, &text), HD_MISMATCH);
    words[0] ^= 1;
    assert_int_equal(hd_disasm(ctx, words, 6, &text), HD_INVALID);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_text_words_is_exact),
        cmocka_unit_test(op_text_is_cut_at_its_room),
        cmocka_unit_test(errors_say_where_and_what),
        cmocka_unit_test(bad_programs_are_refused),
    };
    return cmocka_run_group_tests_name("asm", tests, NULL, NULL);
}
