/* Any bytes as a network of format caffe. */
#include "test/fuzz/network.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_network(".prototxt", data, size);
}
