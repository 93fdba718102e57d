/* Any bytes as a network of format StableHLO. */
#include "test/fuzz/network.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_network(".mlir", data, size);
}
