/* Runs a fuzz target over files, so that corpora are regression tests without libFuzzer. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        if (!f) return perror(argv[i]), 1;
        fseek(f, 0, SEEK_END);
        long size = ftell(f);
        rewind(f);
        uint8_t *buf = malloc(size > 0 ? (size_t)size : 1); /* exact size, for asan */
        if (!buf || fread(buf, 1, (size_t)size, f) != (size_t)size) return perror(argv[i]), 1;
        fclose(f);
        LLVMFuzzerTestOneInput(buf, (size_t)size);
        free(buf);
    }
    return 0;
}
