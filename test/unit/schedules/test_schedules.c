/* The database of schedules: kept, replaced, the best of a work; files that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "compiler/schedules/schedules.h"

static const char path[] = "build/test_schedules.db";

static void rows_are_kept(void **state) {
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    struct hd_schedules *d = NULL, *reader = NULL;
    struct hd_schedule_row row = {"cpu", "w", "fast", 1.5}, best;
    bool found;
    (void)state;
    remove(path);
    assert_int_equal(hd_schedules_open(ctx, path, false, &d), HD_IO);
    assert_non_null(strstr(hd_message(ctx), "heddle tune"));
    assert_int_equal(hd_schedules_open(ctx, path, true, &d), HD_OK);
    assert_int_equal(hd_schedules_best(ctx, a, d, "cpu", "w", &best), HD_OK);
    assert_null(best.schedule);
    assert_int_equal(hd_schedules_put(ctx, d, &row), HD_OK);
    row.seconds = 0.5; /* in place of the one before */
    assert_int_equal(hd_schedules_put(ctx, d, &row), HD_OK);
    const struct hd_schedule_row more[] = {
        {"cpu", "w", "", 0.75}, {"cpu", "w", "wrong", 0}, {"gpu", "w", "other", 0.1}};
    for (int i = 0; i < 3; i++) assert_int_equal(hd_schedules_put(ctx, d, &more[i]), HD_OK);
    assert_int_equal(hd_schedules_open(ctx, path, false, &reader), HD_OK); /* beside the writer */
    assert_int_equal(hd_schedules_best(ctx, a, reader, "cpu", "w", &best), HD_OK);
    assert_string_equal(best.schedule, "fast");
    assert_true(best.seconds == 0.5);
    row = (struct hd_schedule_row){"cpu", "w", "wrong", 7};
    assert_int_equal(hd_schedules_get(ctx, reader, &row, &found), HD_OK);
    assert_true(found && row.seconds == 0);
    row.schedule = "unknown";
    assert_int_equal(hd_schedules_get(ctx, reader, &row, &found), HD_OK);
    assert_false(found);
    assert_int_equal(hd_schedules_put(ctx, reader, &row), HD_IO); /* it only reads */
    hd_schedules_close(reader);
    hd_schedules_close(d);
    remove(path);
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
}

static void runs_keep_the_least(void **state) {
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    struct hd_schedules *d = NULL;
    struct hd_run_row row = {"here", "net", "cpu float", "batch=1", "1 2", 1, 0.5}, *rows;
    size_t n;
    (void)state;
    remove(path);
    assert_int_equal(hd_schedules_open(ctx, path, true, &d), HD_OK);
    assert_int_equal(hd_runs_put(ctx, d, &row), HD_OK);
    row.seconds = 0.75; /* disturbed */
    assert_int_equal(hd_runs_put(ctx, d, &row), HD_OK);
    row.variant = "batch=4";
    row.samples = 4;
    assert_int_equal(hd_runs_put(ctx, d, &row), HD_OK);
    row.facts = "1 3"; /* other work */
    row.seconds = 2;
    assert_int_equal(hd_runs_put(ctx, d, &row), HD_OK);
    row.computer = "there";
    assert_int_equal(hd_runs_put(ctx, d, &row), HD_OK);
    assert_int_equal(hd_runs_of(ctx, a, d, "here", &rows, &n), HD_OK);
    assert_int_equal(n, 2);
    assert_string_equal(rows[0].variant, "batch=1");
    assert_true(rows[0].seconds == 0.5 && rows[1].seconds == 2 && rows[1].samples == 4);
    assert_string_equal(rows[1].facts, "1 3");
    hd_schedules_close(d);
    remove(path);
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
}

static void other_files_are_refused(void **state) {
    hd_ctx *ctx = hd_ctx_create();
    struct hd_schedules *d = NULL;
    (void)state;
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("this is no database, and longer than a header of one: 0123456789 0123456789", f);
    fclose(f);
    for (int write = 0; write < 2; write++) {
        assert_int_equal(hd_schedules_open(ctx, path, write, &d), HD_MISMATCH);
        assert_non_null(strstr(hd_message(ctx), path));
    }
    remove(path);
    assert_int_equal(hd_schedules_open(ctx, "build/no/such/folder.db", true, &d), HD_IO);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_kept),
                                       cmocka_unit_test(runs_keep_the_least),
                                       cmocka_unit_test(other_files_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
