/* Any text: assembles or is refused. Any words: disassemble or are refused. What is accepted must
 * come back from a trip through the other form unchanged. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int ok) {
    if (!ok) abort();
}

/* words -> text -> words */
static void round_trip(hd_ctx *ctx, const uint32_t *words, size_t n, int must_have_text) {
    char *text;
    uint32_t *again;
    size_t n_again;
    hd_status s = hd_disasm(ctx, words, n, &text);
    must(s == HD_OK || !must_have_text);
    if (s != HD_OK) return;
    must(hd_asm(ctx, &hd_machines[1], text, "text", &again, &n_again) == HD_OK);
    must(n_again == n && memcmp(again, words, 4 * n) == 0);
    free(again);
    free(text);
}

static void as_text(hd_ctx *ctx, const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    must(text != NULL);
    memcpy(text, data, size);
    text[size] = 0;
    uint32_t *words;
    size_t n;
    if (hd_asm(ctx, &hd_machines[1], text, "fuzz", &words, &n) == HD_OK) {
        round_trip(ctx, words, n, 1);
        free(words);
    }
    free(text);
}

static void as_words(hd_ctx *ctx, const uint8_t *data, size_t size) {
    size_t n = HD_PROG_HEADER_WORDS + size / 4;
    uint32_t *words = malloc(4 * n);
    must(words != NULL);
    words[0] = HD_PROG_MAGIC;
    words[1] = hd_isa_hash();
    words[2] = hd_machine_hash(&hd_machines[1]);
    words[3] = (uint32_t)n;
    if (n > HD_PROG_HEADER_WORDS) memcpy(words + HD_PROG_HEADER_WORDS, data, size / 4 * 4);
    round_trip(ctx, words, n, 0);
    free(words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hd_ctx *ctx = hd_ctx_create();
    as_text(ctx, data, size);
    as_words(ctx, data, size);
    hd_ctx_destroy(ctx);
    return 0;
}
