/* Places by liveness; rings. */
#include "test/unit/plan/layers.h"

static bool overlap(const struct hd_placement *a, const struct hd_placement *b) {
    return a->xm < b->xm + hd_mtensor_xm_bytes(b) && b->xm < a->xm + hd_mtensor_xm_bytes(a);
}

/* Of a row of tensors only neighbours live at one time: room for two is enough. */
static void neighbours_lie_apart(void **state) {
    (void)state;
    struct row r;
    make_row(&r);
    for (int i = 0; i < ROW; i++) r.lo.plan->tilings[i].ring_bytes = r.m.xm_bytes - 2 * TENSOR;
    place(&r);
    const struct hd_placement *p = r.lo.plan->places;
    for (int i = 0; i <= ROW; i++) {
        assert_true(p[i].resident);
        assert_int_equal(hd_mtensor_xm_bytes(&p[i]), TENSOR);
        assert_true(p[i].xm + TENSOR <= 2 * TENSOR);
        if (i) assert_false(overlap(&p[i - 1], &p[i]));
    }
    assert_int_equal(hd_plan_verify(&r.lo), HD_OK);
    drop_row(&r);
}

/* Where there is room, what lives at one time lies in banks of its own; so do all that are stored
 * and what lives with them. */
static void residents_have_banks(void **state) {
    (void)state;
    for (int stored = 0; stored < 2; stored++) {
        struct row r;
        make_row(&r);
        for (int i = 0; i <= ROW; i++) r.tensors[i].read_from_dram = stored;
        place(&r);
        const struct hd_placement *p = r.lo.plan->places;
        const uint32_t bank = r.m.xm_bytes / r.m.xm_banks;
        for (int i = 1; i <= ROW; i++) {
            assert_true(p[i - 1].resident && p[i].resident);
            assert_true(p[i - 1].xm / bank != p[i].xm / bank);
        }
        assert_int_equal(hd_plan_verify(&r.lo), HD_OK);
        drop_row(&r);
    }
}

/* Layers of one chain keep the places of all their tensors to its end. */
static void a_chain_keeps_its_places(void **state) {
    (void)state;
    struct row r;
    make_row(&r);
    for (int i = 0; i < ROW; i++)
        r.lo.plan->tilings[i].chain_first = 0, r.lo.plan->tilings[i].chain_last = ROW - 1;
    place(&r);
    for (int i = 0; i <= ROW; i++)
        for (int k = 0; k < i; k++)
            assert_false(overlap(&r.lo.plan->places[i], &r.lo.plan->places[k]));
    assert_int_equal(hd_plan_verify(&r.lo), HD_OK);
    drop_row(&r);
}

/* What has no room on chip lies in the arena, and so does what comes in or goes out. */
static void what_has_no_room_streams(void **state) {
    (void)state;
    struct row r;
    make_row(&r);
    for (int i = 0; i < ROW; i++)
        r.lo.plan->tilings[i].ring_bytes = r.m.xm_bytes - TENSOR / 2 * 3; /* room for one */
    place(&r);
    int resident = 0;
    for (int i = 0; i <= ROW; i++) {
        const struct hd_placement *p = &r.lo.plan->places[i];
        assert_int_equal(p->in_arena, !p->resident || i == 0 || i == ROW);
        resident += p->resident;
    }
    assert_true(resident > 0 && resident < ROW + 1);
    assert_int_equal(hd_plan_verify(&r.lo), HD_OK);
    assert_true(r.lo.plan->arena_bytes >= 2 * TENSOR);
    drop_row(&r);
}

/* Bytes of XM that a place takes: padding, slots that are written twice, rows of granules. */
static void bytes_of_a_place(void **state) {
    (void)state;
    struct row r;
    make_row(&r);
    struct hd_mtensor *t = &r.tensors[1];
    struct hd_placement *p = &r.lo.plan->places[1];
    t->pt = t->pb = t->pl = t->pr = 1;
    assert_int_equal(hd_mtensor_pitch(p), (SIDE + 2) * CHANNELS);
    assert_int_equal(hd_mtensor_xm_bytes(p), hd_round_up((SIDE + 2) * (SIDE + 2) * CHANNELS, 64));
    p->roll = 4, p->mirror = 2, p->slot_of_0 = 1;
    assert_int_equal(hd_mtensor_pitch(p), 192); /* 160 bytes in granules of 64 */
    assert_int_equal(hd_mtensor_xm_bytes(p), 6 * 192);
    assert_int_equal(hd_mtensor_slot(p, -1), 0);
    assert_int_equal(hd_mtensor_slot(p, 2), 3);
    assert_int_equal(hd_mtensor_slot(p, 3), 0);
    drop_row(&r);
}

/* A ring has a half for each direction; all of it where only one streams. */
static void rings_have_two_parts(void **state) {
    (void)state;
    struct row r;
    make_row(&r);
    const uint32_t ring = r.m.xm_bytes / 2;
    r.lo.plan->xm_ring_bytes = ring;
    hd_choose_rings(&r.lo);
    for (int i = 0; i < ROW; i++) {
        assert_int_equal(r.lo.plan->tilings[i].ring_bytes, ring);
        assert_int_equal(r.lo.plan->tilings[i].ring_in, ring / 2);
    }
    r.lo.plan->places[1].resident = r.lo.plan->places[2].resident = true;
    hd_part_rings(&r.lo);
    assert_int_equal(r.lo.plan->tilings[0].ring_in, ring);     /* reads 0 from DRAM, makes 1 */
    assert_int_equal(r.lo.plan->tilings[2].ring_in, 0);        /* reads 2, stores 3 */
    assert_int_equal(r.lo.plan->tilings[3].ring_in, ring / 2); /* reads 3, stores 4 */
    assert_int_equal(hd_below_rings(&r.lo, 0, ROW - 1), r.m.xm_bytes - ring);
    drop_row(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_lie_apart),     cmocka_unit_test(residents_have_banks),
        cmocka_unit_test(a_chain_keeps_its_places), cmocka_unit_test(what_has_no_room_streams),
        cmocka_unit_test(bytes_of_a_place),         cmocka_unit_test(rings_have_two_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
