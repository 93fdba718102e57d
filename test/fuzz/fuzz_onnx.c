/* Any bytes as a network of format onnx. */
#include "test/fuzz/network.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_network(".onnx", data, size);
}
