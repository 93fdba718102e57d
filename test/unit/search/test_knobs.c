/* Knobs are set by name, each alone, within their ranges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/options/knobs.h"

static void each_alone(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    for (int i = 0; i < hd_n_knobs; i++) {
        const struct hd_knob_row *row = &hd_knob_rows[i];
        const int ends[] = {row->least, row->most};
        for (int e = 0; e < 2; e++) {
            struct hd_knobs knobs = hd_knobs;
            int after[sizeof knobs / sizeof(int)];
            char text[64];
            snprintf(text, sizeof text, "%s=%d", row->name, ends[e]);
            assert_int_equal(hd_knobs_set(ctx, &knobs, text), HD_OK);
            memcpy(after, &knobs, sizeof knobs);
            for (int k = 0; k < hd_n_knobs; k++)
                assert_int_equal(after[k], k == i ? ends[e] : hd_knob_rows[k].value);
            snprintf(text, sizeof text, "%s=%lld", row->name,
                     e ? row->most + 1LL : row->least - 1LL);
            assert_int_equal(hd_knobs_set(ctx, &knobs, text), HD_INVALID);
            hd_clear(ctx);
        }
    }
    hd_ctx_destroy(ctx);
}

static void others_are_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "", "=", "bands", "band=1", "bands=", "bands=1x", "Bands=1", "bands=99999999999999999999"};
    hd_ctx *ctx = hd_ctx_create();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct hd_knobs knobs = hd_knobs;
        assert_int_equal(hd_knobs_set(ctx, &knobs, wrong[i]), HD_INVALID);
        assert_memory_equal(&knobs, &hd_knobs, sizeof knobs);
        hd_clear(ctx);
    }
    hd_ctx_destroy(ctx);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_alone),
        cmocka_unit_test(others_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
