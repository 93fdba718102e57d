/* Any bytes as a compiled model, with the size, checksum, format and instruction set that they
 * should have, so that the sections are read: they are refused with a message, or the graph in them
 * loads or is refused likewise. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "compiler/ir/ir.h"
#include "runtime/base/io.h"
#include "runtime/device/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADER_BYTES = 64, FORMAT_AT = 4, ISA_AT = 8, TOTAL_AT = 32, CRC_AT = 40 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < HEADER_BYTES) return 0;
    uint8_t *file = malloc(size);
    if (!file) return 0;
    memcpy(file, data, size);
    uint32_t crc = (uint32_t)crc32_z(0, file + HEADER_BYTES, size - HEADER_BYTES);
    uint32_t isa = hd_isa_hash();
    uint64_t total = size;
    hd_model *none = hd_model_create();
    struct hd_buf good = {0};
    hd_model_bytes(none, &good);
    memcpy(file + FORMAT_AT, good.data + FORMAT_AT, ISA_AT - FORMAT_AT);
    hd_buf_free(&good);
    hd_model_destroy(none);
    memcpy(file + ISA_AT, &isa, sizeof isa);
    memcpy(file + CRC_AT, &crc, sizeof crc);
    memcpy(file + TOTAL_AT, &total, sizeof total);
    hd_ctx *ctx = hd_ctx_create();
    hd_model *m = NULL;
    hd_graph *g = NULL;
    if (hd_model_load_memory(ctx, file, size, "fuzz", &m) == HD_OK) {
        if (hd_graph_load(ctx, m->graph, m->graph_bytes, &g) == HD_OK) hd_graph_destroy(g);
        hd_model_destroy(m);
    }
    hd_ctx_destroy(ctx);
    free(file);
    return 0;
}
