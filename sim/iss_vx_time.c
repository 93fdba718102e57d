/* VX in time, as hd_vx does it: an iteration in vx_cycles cycles if its operands get their banks,
 * results in order some cycles later, each written when it gets its bank. */
#include <string.h>

#include "sim/iss_int.h"

/* Cycles by which the last group of a vector is behind its first. */
static uint64_t more(const hd_iss *iss) {
    return iss->m.vx_cycles - 1;
}

/* lanes: cycles of a reduction across lanes. */
static void set_late(struct vx_time *v, uint64_t lanes, bool fn, bool lut, int alu) {
    v->fn_before = fn && alu == HD_V_vx_alu_mul;
    v->fn_behind = fn && !v->fn_before;
    v->late[0] = v->dw ? HD_T_vx_dw : lanes;
    v->late[1] = v->late[0] + (v->fn_before ? HD_T_vx_fn : 0);
    v->late[2] = v->late[0] + (fn ? HD_T_vx_fn : 0);
    v->late[3] = v->late[2] + (lut ? HD_T_vx_lut : 0);
    v->late[4] = v->dw ? HD_T_vx_dw : 0; /* before the reduction */
}

/* dw as a nest: rows innermost, then the columns of a row of outputs, then vectors of channels. */
static void start_dw(struct vx_time *v, const uint32_t *words) {
#define GET(f) hd_field_get(words, HD_F_vx_##f)
    int64_t sx = GET(sx), back = v->pairs ? 2 : 1;
    v->loops = 3;
    v->inner = 1; /* rows are summed */
    v->single = GET(n0) == back && GET(n2) == 1;
    v->first_pm = v->single;
    v->head = v->skip = (uint32_t)(GET(n0) - back);
    v->gap = (uint32_t)(sx - back);
    v->n[0] = GET(n2), v->n[2] = GET(n3);
    v->n[1] = v->pairs ? GET(n1) + GET(n0) - 2 : (GET(n1) - 1) * sx + GET(n0);
    int64_t(*step)[4] = v->step;
    step[HD_VX_A][0] = GET(as2), step[HD_VX_A][1] = GET(as0), step[HD_VX_A][2] = GET(as3);
    step[HD_VX_B][0] = v->pairs ? GET(bs2) : 0;
    step[HD_VX_B][1] = v->pairs ? GET(bs0) : GET(bs1), step[HD_VX_B][2] = GET(bs3);
    step[HD_VX_D][0] = 0, step[HD_VX_D][1] = GET(ds1), step[HD_VX_D][2] = GET(ds3);
    step[HD_VX_P][0] = step[HD_VX_P][1] = 0, step[HD_VX_P][2] = GET(ps3);
    v->taps = GET(n0) == 3 && GET(n2) >= 3 ? 2 : 1;
#undef GET
}

static void start_map(struct vx_time *v, const uint32_t *words) {
    v->loops = 4;
    v->inner = (int)hd_field_get(words, HD_F_vx_nred);
    v->single = v->first_pm = false;
    v->skip = 0;
    for (int l = 0; l < 4; l++) {
        v->n[l] = hd_field_get(words, (enum hd_field)(HD_F_vx_n0 + l));
        bool in = l < v->inner;
        v->step[HD_VX_A][l] = hd_field_get(words, (enum hd_field)(HD_F_vx_as0 + l));
        v->step[HD_VX_B][l] = in ? 0 : hd_field_get(words, (enum hd_field)(HD_F_vx_bs0 + l));
        v->step[HD_VX_D][l] = in ? 0 : hd_field_get(words, (enum hd_field)(HD_F_vx_ds0 + l));
        v->step[HD_VX_P][l] = in ? 0 : hd_field_get(words, (enum hd_field)(HD_F_vx_ps0 + l));
    }
}

void hd_iss_vx_start(hd_iss *iss, unsigned code, const uint32_t *words, unsigned err) {
#define GET(f) hd_field_get(words, HD_F_vx_##f)
    struct vx_time *v = &iss->vx;
    int64_t a = GET(a_kind), b = GET(b_kind), d = GET(d_kind);
    int alu = (int)GET(alu);
    v->run = true;
    v->dw = code == hd_isa_ops[HD_OP_vx_dw].code;
    v->pairs = v->dw && (b == HD_V_vx_kind_xm_int8 || b == HD_V_vx_kind_xm_uint8);
    v->sums = v->dw && b == HD_V_vx_kind_am_int32;
    v->two = alu != HD_V_vx_alu_a || v->pairs || v->sums;
    v->to_am = d == HD_V_vx_dest_am_f32 || d == HD_V_vx_dest_am_int32;
    v->turns = d == HD_V_vx_dest_xm_transposed;
    v->a_am = a <= HD_V_vx_kind_am_f32, v->a_xm = !v->a_am && a <= HD_V_vx_kind_xm_uint8;
    v->b_am = b <= HD_V_vx_kind_am_f32, v->b_xm = !v->b_am && b <= HD_V_vx_kind_xm_uint8;
    v->got_a = v->got_b = false;
    v->fails = err != HD_ERR_none;
    v->bad = err == HD_ERR_operand ? HD_ERR_operand : HD_ERR_none;
    v->reads_pm = GET(use_bias) || GET(scale_pm) || a > HD_V_vx_kind_zero ||
                  (alu != HD_V_vx_alu_a && b > HD_V_vx_kind_zero);
    for (int l = 0; l < 4; l++)
        v->at[HD_VX_A][l] = GET(a), v->at[HD_VX_B][l] = GET(b), v->at[HD_VX_D][l] = GET(d),
        v->at[HD_VX_P][l] = GET(p);
    memset(v->i, 0, sizeof v->i);
    if (v->dw)
        start_dw(v, words);
    else
        start_map(v, words);
    set_late(v, GET(lanes) ? HD_T_vx_lanes + more(iss) : 0, GET(fn) != 0, GET(lut) != 0, alu);
    ++*(v->to_am ? &v->n_am : &v->n_xm);
    v->n_turn += v->turns;
#undef GET
}

/* Nothing of this operation may overtake what came before, nor read what an operation in flight
 * writes. slack: of an iteration of dw without a result, which holds no place for its groups. */
static bool may_issue(const struct vx_time *v, uint64_t t, uint64_t slack) {
    for (int i = 0; i < HD_VX_PLACES; i++)
        if (v->from[i] > t + v->late[i] + slack) return false;
    if (t < v->from[HD_VX_HELD]) return false;
    if (v->fn_before && v->fn_end && t <= v->fn_end + HD_T_vx_fn_switch) return false;
    if ((v->a_xm || (v->two && v->b_xm)) && v->n_xm != !v->to_am) return false;
    if ((v->a_am || (v->two && v->b_am)) && v->n_am != v->to_am) return false;
    return v->turns || !v->n_turn;
}

/* True when the bank of word `at` of a memory is free in `taken`; takes it. */
static bool take_xm(const hd_iss *iss, uint64_t *taken, int64_t at) {
    uint64_t bit = UINT64_C(1) << (at * (int64_t)iss->m.n >> iss->xm_shift);
    bool free = !(*taken & bit);
    *taken |= bit;
    return free;
}
static bool take_am(const hd_iss *iss, uint32_t *taken, int64_t at) {
    uint32_t bit = UINT32_C(1) << (at * 4 * (int64_t)iss->m.n >> iss->am_shift);
    bool free = !(*taken & bit);
    *taken |= bit;
    return free;
}

static void push(hd_iss *iss, bool end) {
    struct vx_time *v = &iss->vx;
    uint32_t mask = HD_VX_RESULTS - 1;
    uint64_t ready = iss->now + HD_T_vx_write + more(iss) + v->late[3];
    v->result[(v->first + v->n_results++) & mask] = (struct vx_result){
        v->turns ? HD_NEVER : ready, v->at[HD_VX_D][0], v->to_am, v->turns, end, HD_ERR_none};
    if (!v->turns || ++v->block < iss->m.n) return;
    for (uint32_t j = 0; j < v->block; j++) /* columns leave when the last vector is in */
        v->result[(v->first + v->n_results - v->block + j) & mask].ready =
            ready + HD_T_vx_transpose + j;
    v->block = 0;
}

/* The iteration issued; on to the next. Returns true after the last. window: of dw, a column that
 * ends one; D moves behind such, B with it. */
static bool next_iteration(struct vx_time *v, bool window) {
    if (v->dw && v->i[0] + 1 == v->n[0]) { /* a column ends */
        bool row_ends = v->i[1] + 1 == v->n[1];
        v->skip = row_ends ? v->head : !v->skip ? v->gap : v->skip - 1;
        v->first_pm = row_ends && v->single;
    }
    int level = 0;
    for (; level < v->loops && v->i[level] + 1 == v->n[level]; level++) v->i[level] = 0;
    if (level == v->loops) return true;
    v->i[level]++;
    for (int s = 0; s < (v->fails ? HD_VX_STREAMS : HD_VX_P); s++) {
        bool stay = !window && (s == HD_VX_D || s == HD_VX_B);
        int64_t at = v->at[s][level] + (stay ? 0 : v->step[s][level]);
        for (int l = 0; l <= level; l++) v->at[s][l] = at;
    }
    return false;
}

static bool beyond(int64_t at, uint64_t words) {
    return (uint64_t)at >= words;
}

/* What is wrong with the iteration at hand. */
static uint8_t iteration_error(const hd_iss *iss, bool want_b, bool sum_last) {
    const struct vx_time *v = &iss->vx;
    uint64_t xm = iss->m.xm_bytes / iss->m.n, am = hd_am_words(&iss->m), pm = hd_pm_words(&iss->m);
    int64_t a = v->at[HD_VX_A][0], b = v->at[HD_VX_B][0], p = v->at[HD_VX_P][0];
    if (v->bad) return v->bad;
    bool bad = (v->a_xm && beyond(a, xm)) || (v->a_am && beyond(a, am)) ||
               (want_b && v->b_xm && beyond(b, xm)) || (want_b && v->b_am && beyond(b, am)) ||
               (sum_last && beyond(v->at[HD_VX_D][0], v->to_am ? am : xm)) ||
               (sum_last && v->reads_pm && beyond(p, pm)) || (v->dw && beyond(p, pm - v->taps));
    return bad ? HD_ERR_range : HD_ERR_none;
}

/* The operation ends with an error, behind the results before it. */
static void push_error(hd_iss *iss, uint8_t err) {
    struct vx_time *v = &iss->vx;
    v->result[(v->first + v->n_results++) & (HD_VX_RESULTS - 1)] =
        (struct vx_result){.ready = iss->now + 1, .err = err};
    v->run = false;
}

/* Results on their way, at most. */
static uint32_t room(const hd_iss *iss) {
    uint32_t results = 16;
    while (results < iss->m.n + 32 / iss->m.vx_cycles) results *= 2;
    return results;
}

/* Places behind what the iteration issued now holds. */
static void hold(hd_iss *iss, bool result) {
    struct vx_time *v = &iss->vx;
    uint64_t end = iss->now + 1 + more(iss);
    if (!v->dw) v->from[HD_VX_HELD] = end;
    if (!v->dw || result)
        for (int i = 0; i < HD_VX_PLACES; i++) v->from[i] = end + v->late[i];
    if (v->fn_behind) v->fn_end = end - 1;
}

/* Counts a cycle in which the iteration at hand, or a result, waits for its bank. */
static void issue(hd_iss *iss, struct hd_iss_banks *taken, bool *stall) {
    struct vx_time *v = &iss->vx;
    bool window = !v->dw || !v->skip, sum_last = window;
    for (int l = 0; l < v->inner; l++) sum_last = sum_last && v->i[l] + 1 == v->n[l];
    bool want_b = v->two && (v->pairs ? window : v->sums ? window && !v->i[0] : sum_last);
    uint8_t err = v->fails ? iteration_error(iss, want_b, sum_last) : HD_ERR_none;
    if (err) {
        if (v->n_results < room(iss)) push_error(iss, err);
        return;
    }
    if (v->first_pm) { /* taps are read before the first iteration */
        v->first_pm = iss->now < v->from[HD_VX_HELD];
        return;
    }
    if ((sum_last && v->n_results >= room(iss)) ||
        !may_issue(v, iss->now, v->dw && !sum_last ? more(iss) : 0))
        return;
    int64_t a = v->at[HD_VX_A][0], b = v->at[HD_VX_B][0];
    bool a_ok = v->got_a || !(v->a_xm || v->a_am),
         b_ok = v->got_b || !want_b || !(v->b_xm || v->b_am);
    if (!a_ok) a_ok = v->a_xm ? take_xm(iss, &taken->xm_read, a) : take_am(iss, &taken->am_read, a);
    if (!b_ok) b_ok = v->b_xm ? take_xm(iss, &taken->xm_read, b) : take_am(iss, &taken->am_read, b);
    bool commit = a_ok && b_ok;
    v->got_a = !commit && a_ok;
    v->got_b = !commit && b_ok && want_b;
    *stall = !commit;
    if (!commit) return;
    hold(iss, sum_last);
    bool last = v->i[v->loops - 1] + 1 == v->n[v->loops - 1];
    for (int l = 0; l < v->loops; l++) last = last && v->i[l] + 1 == v->n[l];
    if (sum_last) push(iss, last);
    if (!next_iteration(v, window)) return;
    v->run = false;
    hd_iss_engine_free(iss, HD_UNIT_vx, iss->now);
}

/* The oldest result is written if its bank is free. */
static void write(hd_iss *iss, struct hd_iss_banks *taken, bool *stall) {
    struct vx_time *v = &iss->vx;
    const struct vx_result r = v->result[v->first & (HD_VX_RESULTS - 1)];
    if (!v->n_results || r.ready > iss->now) return;
    if (r.err) {
        hd_iss_unit_fails(iss, iss->now + 1, r.err, HD_UNIT_vx);
        return;
    }
    if (!r.to_am) {
        take_xm(iss, &taken->xm_write, r.at);
    } else if (!take_am(iss, &taken->am_write, r.at)) {
        *stall = true;
        return;
    }
    v->first++;
    v->n_results--;
    if (!r.end) return;
    --*(r.to_am ? &v->n_am : &v->n_xm);
    v->n_turn -= r.turned;
    hd_iss_engine_done(iss, HD_UNIT_vx, iss->now + 1);
}

void hd_iss_vx_tick(hd_iss *iss, struct hd_iss_banks *taken) {
    bool stalls[2] = {false, false};
    uint32_t n = iss->vx.n_results;
    if (iss->vx.run) issue(iss, taken, &stalls[0]);
    if (n) write(iss, taken, &stalls[1]);
    iss->total.count[HD_UNIT_vx].stall_bank += stalls[0] || stalls[1];
}

uint64_t hd_iss_vx_next(const hd_iss *iss) {
    const struct vx_time *v = &iss->vx;
    if (v->run) return iss->now + 1;
    if (!v->n_results) return HD_NEVER;
    uint64_t ready = v->result[v->first & (HD_VX_RESULTS - 1)].ready;
    return ready > iss->now ? ready : iss->now + 1;
}
