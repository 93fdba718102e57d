/* A plan as text: what is printed comes back equal; what cannot be is refused. */
#include <stdio.h>
#include <stdlib.h>

#include "test/unit/plan/layers.h"

static char *text_of(const struct row *r) {
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    hd_plan_print(&r->lo, f);
    fclose(f);
    return text;
}

/* Something in every kind of member. */
static void choose(struct row *r) {
    for (int i = 0; i < ROW; i++) {
        struct hd_tiling *lt = &r->lo.plan->tilings[i];
        lt->th = 2 + i, lt->tw = SIDE, lt->nb = 1, lt->ask_order = HD_ORDER_WAVE;
        lt->ring_bytes = 1024, lt->ring_in = 512, lt->wave = i % 2, lt->rnn.wm_ring = i;
    }
    r->lo.plan->xm_ring_bytes = 1024;
    place(r);
}

static void comes_back_equal(void **state) {
    (void)state;
    struct row a, b;
    make_row(&a), make_row(&b);
    choose(&a);
    char *text = text_of(&a);
    assert_false(hd_plans_equal(a.lo.plan, b.lo.plan));
    if (hd_plan_parse(&b.lo, text, "plan") != HD_OK) fail_msg("%s", hd_message(b.ctx));
    assert_true(hd_plans_equal(a.lo.plan, b.lo.plan));
    assert_int_equal(hd_plan_hash(a.lo.plan), hd_plan_hash(b.lo.plan));
    char *again = text_of(&b);
    assert_string_equal(text, again);
    b.lo.plan->tilings[1].th++;
    assert_false(hd_plans_equal(a.lo.plan, b.lo.plan));
    assert_int_not_equal(hd_plan_hash(a.lo.plan), hd_plan_hash(b.lo.plan));
    free(text);
    free(again);
    drop_row(&a), drop_row(&b);
}

static void refused(struct row *r, const char *message) {
    char *text = text_of(r);
    struct row b;
    make_row(&b);
    assert_int_not_equal(hd_plan_parse(&b.lo, text, "plan"), HD_OK);
    if (!strstr(hd_message(b.ctx), message)) fail_msg("%s, want %s", hd_message(b.ctx), message);
    free(text);
    drop_row(&b);
}

/* One thing at a time that cannot be. */
static void wrong_plans_are_refused(void **state) {
    (void)state;
    struct row r;
    make_row(&r);
    choose(&r);
    const struct hd_plan good = hd_plan_copy(r.lo.plan, r.lo.arena);
    struct hd_plan *p = r.lo.plan;
#define WRONG(change, message)                                                                     \
    hd_plan_assign(p, &good);                                                                      \
    change;                                                                                        \
    refused(&r, message)
    WRONG(p->tilings[1].th = SIDE + 1, "layer 1: th is 9, allowed 1 to 8");
    WRONG(p->tilings[2].nb = -1, "layer 2: nb is -1, allowed 0 to 2");
    WRONG(p->tilings[3].ring_in = 1025, "layer 3: ring_in is 1025, allowed 0 to 1024");
    WRONG(p->tilings[0].chain_last = 1, "want one chain");
    WRONG(p->tilings[0].chain_last = ROW, "layer 0: chain_last is 4, allowed 0 to 3");
    WRONG(p->places[2].xm = p->places[1].xm, "tensors 1 and 2 overlap in XM");
    WRONG(p->places[2].xm = r.m.xm_bytes - 64, "where rings of its layers begin");
    WRONG(p->places[4].arena = p->places[0].arena, "tensors 0 and 4 overlap in the arena");
    WRONG(p->arena_bytes -= 256, "of the arena, allowed");
    WRONG(p->places[0].in_arena = false, "tensor 0: has no place, want in_arena=1");
    WRONG(p->places[1].mirror = 1, "tensor 1: mirror is 1, allowed 0 to 0");
#undef WRONG
    drop_row(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(comes_back_equal),
                                       cmocka_unit_test(wrong_plans_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
