/* Machines: named ones are legal, changes and files are checked, the fingerprint covers what it
 * must. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "isa/isa.h"

static void named_machines_are_legal(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    for (int i = 0; i < hd_n_machines; i++) {
        struct hd_machine m;
        assert_int_equal(hd_machine_load(ctx, hd_machines[i].name, &m), HD_OK);
        assert_int_equal(hd_machine_check(ctx, &m), HD_OK);
        for (int j = 0; j < i; j++)
            assert_int_not_equal(hd_machine_hash(&m), hd_machine_hash(&hd_machines[j]));
    }
    assert_int_equal(hd_machines[1].k, 16);
    assert_int_equal(hd_wm_words(&hd_machines[1]), 1024);
    assert_int_equal(hd_am_words(&hd_machines[1]), 2048);
    assert_int_equal(hd_pm_words(&hd_machines[1]), 256);
    hd_ctx_destroy(ctx);
}

static void hash_covers_what_hardware_depends_on(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    struct hd_machine m = hd_machines[1];
    uint32_t base = hd_machine_hash(&m);
    assert_int_equal(hd_machine_set(ctx, &m, "clock_mhz=300"), HD_OK);
    assert_int_equal(hd_machine_hash(&m), base);
    assert_string_equal(m.name, "base+clock_mhz=300");
    assert_int_equal(hd_machine_set(ctx, &m, " queue_ops = 0x8 "), HD_OK);
    assert_int_equal(m.queue_ops, 8);
    assert_int_not_equal(hd_machine_hash(&m), base);
    assert_int_equal(hd_machine_check(ctx, &m), HD_OK);
    hd_ctx_destroy(ctx);
}

static void clocks_are_those_of_timing(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    for (int i = 0; i < hd_n_machines; i++) {
        const struct hd_machine *m = &hd_machines[i];
        const struct hd_clock *c = hd_machine_clock(m);
        assert_int_equal(m->clock_mhz, c ? c->likely : hd_machine_clock(&hd_machines[1])->likely);
        assert_string_equal(hd_machine_clock_note(m), c ? "" : " (assumed)");
    }
    struct hd_machine m = hd_machines[1];
    assert_int_equal(hd_machine_set(ctx, &m, "clock_mhz=300"), HD_OK); /* timed, and not so fast */
    assert_ptr_equal(hd_machine_clock(&m), hd_machine_clock(&hd_machines[1]));
    assert_string_equal(hd_machine_clock_note(&m), " (assumed)");
    m = hd_machines[1];
    assert_int_equal(hd_machine_set(ctx, &m, "k=8"), HD_OK);
    assert_null(hd_machine_clock(&m));
    assert_string_equal(hd_machine_clock_note(&m), " (assumed)");
    hd_ctx_destroy(ctx);
}

static void bad_changes_are_refused(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    static const char *const bad[] = {
        "",    "k",    "k=",    "=8",     "q=8",           "k=-8",
        "k=x", "k=8x", "k=128", "k=0x1p", "k=99999999999", "k=18446744073709551616"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct hd_machine m = hd_machines[0];
        assert_int_equal(hd_machine_set(ctx, &m, bad[i]), HD_INVALID);
        assert_memory_equal(&m, &hd_machines[0], sizeof m);
        assert_string_not_equal(hd_message(ctx), "");
    }
    static const char *const illegal[] = {"k=9", "wm_bytes=100000", "xm_bytes=8192",
                                          "am_bytes=8192"};
    for (size_t i = 0; i < 4; i++) { /* fit their range, but not the machine */
        struct hd_machine m = hd_machines[2];
        m.n = 64, m.k = 64, m.xm_banks = 32;
        assert_int_equal(hd_machine_set(ctx, &m, illegal[i]), HD_OK);
        hd_status s = hd_machine_check(ctx, &m);
        assert_int_equal(s, i < 3 ? HD_INVALID : HD_OK);
    }
    hd_ctx_destroy(ctx);
}

/* Loads a machine file with this text. */
static hd_status load_text(hd_ctx *ctx, const char *text, struct hd_machine *out) {
    char path[] = "/tmp/hd_machine_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    hd_status s = hd_machine_load(ctx, path, out);
    unlink(path);
    return s;
}

static void machine_files(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    struct hd_machine m = hd_machines[0], before = m;
    assert_int_equal(load_text(ctx, "# mine\nbase = big\n\n  k=64 # wide\nn = 64\n", &m), HD_OK);
    assert_int_equal(m.k, 64);
    assert_int_equal(m.axi_bits, 512);
    assert_memory_equal(m.name, "hd_machine_", 11);
    m = before;
    assert_int_equal(load_text(ctx, "base = huge\n", &m), HD_INVALID);
    assert_int_equal(load_text(ctx, "k\n", &m), HD_INVALID);
    assert_int_equal(load_text(ctx, "base = tiny\nk = 7\n", &m), HD_INVALID);
    assert_non_null(strstr(hd_message(ctx), ":2: k = '7'"));
    assert_int_equal(hd_machine_load(ctx, "/nonexistent/machine", &m), HD_INVALID);
    assert_memory_equal(&m, &before, sizeof m);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(named_machines_are_legal),
        cmocka_unit_test(hash_covers_what_hardware_depends_on),
        cmocka_unit_test(clocks_are_those_of_timing),
        cmocka_unit_test(bad_changes_are_refused),
        cmocka_unit_test(machine_files),
    };
    return cmocka_run_group_tests_name("machine", tests, NULL, NULL);
}
