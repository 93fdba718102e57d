/* Import, legalise, save and load again. */
#include "test/fuzz/network.h"

#include <stdlib.h>

#include "compiler/compiler.h"
#include "compiler/import/import.h"

static void use(hd_ctx *ctx, hd_graph *g) {
    void *bytes = NULL;
    size_t n;
    hd_graph *again;
    if (hd_legalize(ctx, g) != HD_OK) return;
    HD_ASSERT(hd_graph_save(ctx, g, &bytes, &n) == HD_OK);
    if (hd_graph_load(ctx, bytes, n, &again) != HD_OK) {
        fprintf(stderr, "%s\n", hd_message(ctx));
        abort();
    }
    hd_graph_destroy(again);
    free(bytes);
}

int fuzz_network(const char *extension, const uint8_t *data, size_t size) {
    char name[32];
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g;
    snprintf(name, sizeof name, "input%s", extension);
    if (hd_import_memory(ctx, data, size, name, &g) == HD_OK) {
        use(ctx, g);
        hd_graph_destroy(g);
    } else {
        HD_ASSERT(hd_message(ctx)[0] != 0);
    }
    hd_ctx_destroy(ctx);
    return 0;
}
