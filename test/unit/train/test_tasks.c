/* Tasks reach their results: the quick ones, or with argument `all` every one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/train/task.h"

static bool all;

static void results(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    struct hd_task_options o = {.train = {.device = "cpu", .threads = 1}, .seed = 1};
    const struct hd_task_row *task = NULL;
    for (int i = 0; (task = hd_task(i)); i++) {
        double score = 0;
        if (!task->quick && !all) continue;
        if (hd_task_run(ctx, task, &o, &score) != HD_OK) fail_msg("%s", hd_message(ctx));
        printf("%s: %.4g %s, bar %g\n", task->name, score, task->result, task->want);
        if (!hd_task_reached(task, score))
            fail_msg("%s: %g, want %g", task->name, score, task->want);
    }
    hd_ctx_destroy(ctx);
}

/* The same data for the same step, other data for another. */
static void data(void **state) {
    (void)state;
    struct hd_dice a = {.key = 1}, b = {.key = 1}, c = {.key = 2};
    int same = 0, sum = 0;
    for (int i = 0; i < 1000; i++) {
        uint32_t v = hd_dice_below(&a, 10);
        assert_true(v < 10 && v == hd_dice_below(&b, 10));
        same += v == hd_dice_below(&c, 10), sum += (int)v;
    }
    assert_true(same < 150 && sum > 4200 && sum < 4800);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(data), cmocka_unit_test(results)};
    all = argc > 1 && !strcmp(argv[1], "all");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
