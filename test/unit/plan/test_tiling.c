/* Tiles of one layer: requests are followed, two tiles fit in each part of the ring, and a layer
 * that does not fit is refused by a value, whose text tells the numbers. */
#include "test/unit/plan/layers.h"

enum { IN = 4096, OUT = 4096 };

static struct hd_tiling *streams(struct row *r, uint32_t in, uint32_t out) {
    make_row(r);
    struct hd_tiling *lt = &r->lo.plan->tilings[0];
    lt->ring_bytes = in + out, lt->ring_in = in;
    return lt;
}

static void requests_are_followed(void **state) {
    (void)state;
    struct row r;
    struct hd_tiling *lt = streams(&r, IN, OUT);
    for (int bands = 1; bands <= SIDE; bands *= 2) {
        lt->ask_tiles = bands;
        assert_int_equal(hd_choose_tiles(&r.lo, lt).why, HD_FITS);
        assert_int_equal(hd_layer_bands(lt), bands);
        assert_int_equal(lt->tw, SIDE);
    }
    drop_row(&r);
}

/* Where nothing is asked, knobs say how many tiles a layer is cut into. */
static void knobs_are_followed(void **state) {
    (void)state;
    struct row r;
    struct hd_tiling *lt = streams(&r, IN, OUT);
    struct hd_knobs knobs = hd_knobs;
    r.opt.knobs = &knobs;
    knobs.short_tile = 1;
    for (int bands = 1; bands <= 4; bands *= 2) {
        knobs.bands = bands;
        assert_int_equal(hd_choose_tiles(&r.lo, lt).why, HD_FITS);
        assert_int_equal(hd_layer_bands(lt), bands);
    }
    drop_row(&r);
}

/* The part of the ring that is short decides. */
static void two_tiles_fit(void **state) {
    (void)state;
    struct row r;
    for (uint32_t part = 128; part <= IN; part *= 2)
        for (int way = 0; way < 2; way++) {
            struct hd_tiling *lt = streams(&r, way ? IN : part, way ? part : OUT);
            lt->ask_tiles = 1; /* as large as the ring lets it */
            assert_int_equal(hd_choose_tiles(&r.lo, lt).why, HD_FITS);
            struct hd_tile_bytes b = hd_layer_tile_bytes(&r.lo, lt);
            assert_true(b.in > 0 && b.out > 0);
            assert_true(2 * (way ? b.out : b.in) <= part);
            drop_row(&r);
        }
}

static void refusals_are_values(void **state) {
    (void)state;
    struct row r;
    struct hd_tiling *lt = streams(&r, 32, 32);
    const struct hd_refusal why = hd_choose_tiles(&r.lo, lt), fits = {.why = HD_FITS};
    assert_int_equal(why.why, HD_REFUSAL_pixel_bytes);
    assert_int_equal(why.n[1], 64);
    assert_string_equal(hd_message(r.ctx), "");
    assert_int_equal(r.too_big[0].why, HD_FITS); /* the caller's to note */
    assert_string_equal(hd_refusal_text(&why, r.lo.arena),
                        "one output pixel needs 128 bytes of activation memory twice, 64 are there "
                        "for streaming");
    assert_null(hd_refusal_text(&fits, r.lo.arena));
    const struct hd_refusal said = {.why = HD_REFUSAL_said, .said = "because"};
    assert_string_equal(hd_refusal_text(&said, r.lo.arena), "because");
    drop_row(&r);
}

/* Where only one direction streams, it has all of the ring. */
static void rings_have_parts(void **state) {
    (void)state;
    struct row r;
    make_row(&r);
    r.lo.plan->xm_ring_bytes = r.m.xm_bytes / 2;
    hd_choose_rings(&r.lo);
    for (int i = 0; i < ROW; i++) {
        const struct hd_tiling *lt = &r.lo.plan->tilings[i];
        assert_int_equal(lt->ring_bytes, r.m.xm_bytes / 2);
        assert_true(lt->ring_in > 0 && lt->ring_in < lt->ring_bytes);
    }
    r.lo.plan->places[1].resident = true;
    hd_part_rings(&r.lo);
    const struct hd_tiling *lt = r.lo.plan->tilings;
    assert_int_equal(lt[0].ring_in, lt[0].ring_bytes); /* only its operand streams */
    assert_int_equal(lt[1].ring_in, 0);                /* only its result does */
    assert_true(lt[2].ring_in > 0 && lt[2].ring_in < lt[2].ring_bytes);
    drop_row(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_followed), cmocka_unit_test(knobs_are_followed),
        cmocka_unit_test(two_tiles_fit), cmocka_unit_test(refusals_are_values),
        cmocka_unit_test(rings_have_parts)};
    return cmocka_run_group_tests_name("tiling", tests, NULL, NULL);
}
