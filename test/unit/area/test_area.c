/* Areas of machines, and energy of counted work. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/area/area.h"
#include "compiler/energy/energy.h"

static struct hd_machine base(void) {
    return hd_machines[1];
}

/* Modules add up to the whole, each of whole cells. */
static void test_modules(void **state) {
    (void)state;
    for (int i = 0; i < hd_n_machines; i++) {
        struct hd_area_module parts[HD_AREA_MODULES];
        struct hd_area sum = {0}, all;
        int n;
        all = hd_area_of(&hd_machines[i], parts, &n);
        for (int k = 0; k < n; k++) {
            assert_true(parts[k].of.lut >= 0 && parts[k].of.lut == round(parts[k].of.lut));
            assert_true(parts[k].of.bram * 2 == round(parts[k].of.bram * 2));
            sum.lut += parts[k].of.lut, sum.dsp += parts[k].of.dsp, sum.bram += parts[k].of.bram;
        }
        assert_true(n > 20 && sum.lut == all.lut && sum.dsp == all.dsp && sum.bram == all.bram);
    }
}

/* Cores are copies: three of them are three times the machine, module by module. */
static void test_cores(void **state) {
    (void)state;
    struct hd_area_module one[HD_AREA_MODULES], all[HD_AREA_MODULES];
    struct hd_machine m = base();
    int n, n_all;
    struct hd_area x = hd_area_of(&m, one, &n), y;
    m.cores = 3;
    y = hd_area_of(&m, all, &n_all);
    assert_int_equal(n, n_all);
    for (int k = 0; k < n; k++) assert_true(all[k].of.lut == 3 * one[k].of.lut);
    assert_true(y.lut == 3 * x.lut && y.ff == 3 * x.ff && y.dsp == 3 * x.dsp);
    assert_true(y.bram == 3 * x.bram && y.uram == 3 * x.uram);
}

/* The array has a DSP for two products; each lane of VX has its own. */
static void test_dsp(void **state) {
    (void)state;
    struct hd_machine m = base(), k32 = m, n32 = m;
    k32.k = 32, n32.n = 32;
    double dsp = hd_area_of(&m, NULL, NULL).dsp;
    assert_true(hd_area_of(&k32, NULL, NULL).dsp - dsp == 16 * 16 / 2);
    assert_true(hd_area_of(&n32, NULL, NULL).dsp - dsp > 16 * 16 / 2);
}

/* XM of 8 banks of 16 bytes: 1,024 rows of a bank are 4 BRAM of it, 4,096 are URAM. */
static void test_memories(void **state) {
    (void)state;
    struct hd_machine m = base(), more = m;
    more.xm_bytes = 524288;
    struct hd_area a = hd_area_of(&m, NULL, NULL), b = hd_area_of(&more, NULL, NULL);
    assert_true(a.bram - b.bram == 8 * 4 && b.uram - a.uram == 8 * 2);
    assert_true(hd_area_of(&hd_machines[0], NULL, NULL).lut < a.lut);
}

/* The table is of the RTL as it is: hw/synth/budget.txt has what `make synth` counted, LUT and a
 * tenth. `make area-model` writes the table anew. */
static void test_budgets(void **state) {
    (void)state;
    FILE *f = fopen("hw/synth/budget.txt", "r");
    char line[200], name[32], column[8];
    double is;
    int n = 0;
    hd_ctx *ctx = hd_ctx_create();
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        struct hd_machine m;
        if (sscanf(line, "%31s total %7s %lf", name, column, &is) != 3) continue;
        assert_int_equal(hd_machine_load(ctx, name, &m), HD_OK);
        struct hd_area a = hd_area_of(&m, NULL, NULL);
        if (!strcmp(column, "LUT")) assert_true(fabs(a.lut * 1.1 / is - 1) < 0.05);
        if (!strcmp(column, "DSP")) assert_true(a.dsp == is);
        if (!strcmp(column, "BRAM")) assert_true(a.bram == is);
        if (!strcmp(column, "URAM")) assert_true(a.uram == is);
        n++;
    }
    fclose(f);
    hd_ctx_destroy(ctx);
    assert_true(n > 4);
}

static void test_joules(void **state) {
    (void)state;
    const struct hd_work w = {.macs = 1e12, .dram = 1e12};
    const struct hd_area a = {.lut = 1000};
    const struct hd_energy_table t = {.mac_pj = 2, .port_pj = 5, .dram_pj = 3, .lut_uw = 4};
    double j = hd_joules(&t, &w, &a, 0.5);
    assert_true(fabs(j - (2 + 5 + 3 + 0.5 * 4e-3)) < 1e-9);
    for (int i = 0; i < hd_n_coefficients; i++) {
        double v = *(const double *)(const void *)((const char *)&hd_energy_default +
                                                   hd_coefficients[i].offset);
        assert_true(v > 0 && *hd_coefficients[i].source);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modules), cmocka_unit_test(test_cores),
        cmocka_unit_test(test_dsp),     cmocka_unit_test(test_memories),
        cmocka_unit_test(test_budgets), cmocka_unit_test(test_joules)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
