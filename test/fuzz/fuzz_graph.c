/* Any bytes as the text of a graph. What is read prints as text that reads as the same graph, in
 * the binary form too. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/ir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *printed(hd_ctx *ctx, const hd_graph *g) {
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    HD_ASSERT(f && hd_graph_print(ctx, g, true, f) == HD_OK);
    fclose(f);
    return text;
}

static void returns(hd_ctx *ctx, const hd_graph *g) {
    char *text = printed(ctx, g), *again;
    hd_graph *h = NULL;
    void *bytes = NULL;
    size_t n = 0;
    HD_ASSERT(hd_graph_parse(ctx, text, "again", &h) == HD_OK);
    again = printed(ctx, h);
    HD_ASSERT(!strcmp(text, again));
    hd_graph_destroy(h);
    free(again);
    HD_ASSERT(hd_graph_save(ctx, g, &bytes, &n) == HD_OK);
    HD_ASSERT(hd_graph_load(ctx, bytes, n, &h) == HD_OK);
    again = printed(ctx, h);
    HD_ASSERT(!strcmp(text, again));
    hd_graph_destroy(h);
    free(again);
    free(bytes);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = NULL;
    char *text = malloc(size + 1);
    HD_ASSERT(text != NULL);
    memcpy(text, data, size);
    text[size] = 0;
    if (hd_graph_parse(ctx, text, "fuzz", &g) == HD_OK) {
        if (hd_graph_infer(ctx, g) == HD_OK && hd_graph_verify(ctx, g) == HD_OK) returns(ctx, g);
        hd_graph_destroy(g);
    }
    free(text);
    hd_ctx_destroy(ctx);
    return 0;
}
