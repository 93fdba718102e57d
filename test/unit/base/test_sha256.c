/* SHA-256 against the examples of FIPS 180-4 and NIST's byte vectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/base/sha256.h"

static void is(const void *data, size_t bytes, const char *want) {
    unsigned char out[HD_SHA256_BYTES];
    char text[2 * HD_SHA256_BYTES + 1];
    hd_sha256(data, bytes, out);
    for (int i = 0; i < HD_SHA256_BYTES; i++) snprintf(text + 2 * i, 3, "%02x", out[i]);
    assert_string_equal(text, want);
}

static void vectors(void **state) {
    (void)state;
    char *million = malloc(1000000);
    memset(million, 'a', 1000000);
    is("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    is("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    is("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    is(million, 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(million);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(vectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
