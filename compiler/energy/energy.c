/* Counts the words that operations move and the products that they make. */
#include "compiler/energy/energy.h"

const struct hd_coefficient_info hd_coefficients[] = {
#define COEFFICIENT(name, value, unit, doc, source)                                                \
    {#name, unit, doc, source, offsetof(struct hd_energy_table, name)},
#include "compiler/energy/coefficients.def"
};
const int hd_n_coefficients = sizeof hd_coefficients / sizeof *hd_coefficients;
const struct hd_energy_table hd_energy_default = {
#define COEFFICIENT(name, value, ...) .name = (value),
#include "compiler/energy/coefficients.def"
};

static double field(const struct hd_sticky *s, enum hd_field f) {
    return (double)hd_field_get(s->words, f);
}

/* Every iteration reads a word of XM and one of WM; sums go to AM once for each that is made. */
static void add_mx(struct hd_work *w, const struct hd_machine *m, const struct hd_sticky *s) {
    static const enum hd_field n[] = {HD_F_mx_n0, HD_F_mx_n1, HD_F_mx_n2,
                                      HD_F_mx_n3, HD_F_mx_n4, HD_F_mx_n5};
    double all = 1, sums = 1, nred = field(s, HD_F_mx_nred);
    for (int i = 0; i < 6; i++) {
        all *= field(s, n[i]);
        if (i >= nred) sums *= field(s, n[i]);
    }
    w->macs += all * m->k * m->n;
    w->sums += all * m->n;
    w->xm += all * m->k;
    w->wm += all * m->k * m->n;
    w->am += sums * hd_am_word_bytes(m) * (1 + field(s, HD_F_mx_accumulate));
}

/* Bytes of an operand of VX, to the memory that it is in. */
static void add_operand(struct hd_work *w, const struct hd_machine *m, double kind, double times) {
    if (kind == HD_V_vx_kind_xm_int8 || kind == HD_V_vx_kind_xm_uint8)
        w->xm += times * m->n;
    else if (kind == HD_V_vx_kind_am_int32 || kind == HD_V_vx_kind_am_f32)
        w->am += times * hd_am_word_bytes(m);
}

static void add_vx(struct hd_work *w, const struct hd_machine *m, const struct hd_sticky *s,
                   bool window) {
    double n0 = field(s, HD_F_vx_n0), n1 = field(s, HD_F_vx_n1),
           outer = field(s, HD_F_vx_n2) * field(s, HD_F_vx_n3), nred = field(s, HD_F_vx_nred);
    double all = n0 * n1 * outer, results = all;
    if (window) { /* n0 columns of a window slide along n1 results; n2 rows reduce */
        results = n1 * field(s, HD_F_vx_n3);
        all = outer * (n1 + n0 - 1);
    } else {
        results = nred > 0 ? results / n0 : results;
        results = nred > 1 ? results / n1 : results;
        results = nred > 2 ? results / field(s, HD_F_vx_n2) : results;
        results = nred > 3 ? results / field(s, HD_F_vx_n3) : results;
    }
    w->lanes += all * m->n;
    add_operand(w, m, field(s, HD_F_vx_a_kind), all);
    add_operand(w, m, field(s, HD_F_vx_b_kind), window ? 0 : results);
    w->pm += results * hd_pm_word_bytes(m);
    bool to_am = field(s, HD_F_vx_d_kind) == HD_V_vx_dest_am_f32 ||
                 field(s, HD_F_vx_d_kind) == HD_V_vx_dest_am_int32;
    w->xm += to_am ? 0 : results * m->n;
    w->am += to_am ? results * hd_am_word_bytes(m) : 0;
}

/* Padding comes from no DRAM, and is counted as if it did. */
static void add_move(struct hd_work *w, const struct hd_machine *m, const struct hd_op_word *op,
                     const struct hd_sticky *s) {
    if (op->unit == HD_UNIT_lx) {
        double bytes = field(s, HD_F_lx_run) * field(s, HD_F_lx_n1) * field(s, HD_F_lx_n2) *
                       field(s, HD_F_lx_n3);
        bool pad = field(s, HD_F_lx_edge) > 0 && field(s, HD_F_lx_rows) == 0;
        w->dram += pad ? 0 : bytes;
        w->xm += bytes;
    } else if (op->unit == HD_UNIT_st) {
        double bytes = field(s, HD_F_st_run) * field(s, HD_F_st_n1) * field(s, HD_F_st_n2) *
                       field(s, HD_F_st_n3);
        w->dram += bytes;
        w->xm += bytes;
    } else {
        int64_t mem = (int64_t)field(s, HD_F_lw_mem);
        double bytes = field(s, HD_F_lw_count) * field(s, HD_F_lw_n1) * hd_lw_word_bytes(m, mem);
        w->dram += bytes;
        w->wm += mem == HD_V_lw_mem_wm ? bytes : 0;
        w->pm += mem == HD_V_lw_mem_pm ? bytes : 0;
    }
}

static void add_op(struct hd_work *w, const struct hd_machine *m, const struct hd_op_word *op,
                   const struct hd_sticky *s) {
    if (op->unit == HD_UNIT_mx && op->code == hd_isa_ops[HD_OP_mx_gemm].code)
        add_mx(w, m, s);
    else if (op->unit == HD_UNIT_vx && op->code != hd_isa_ops[HD_OP_vx_nop].code)
        add_vx(w, m, s, op->code == hd_isa_ops[HD_OP_vx_dw].code);
    else if ((op->unit == HD_UNIT_lx && op->code == hd_isa_ops[HD_OP_lx_load].code) ||
             (op->unit == HD_UNIT_lw && op->code == hd_isa_ops[HD_OP_lw_load].code) ||
             (op->unit == HD_UNIT_st && op->code == hd_isa_ops[HD_OP_st_store].code))
        add_move(w, m, op, s);
}

static void add_program(struct hd_work *w, const hd_model *m, const struct hd_step *step) {
    const uint32_t *words = (const void *)((const char *)m->image + step->code_offset);
    size_t n_words = step->code_bytes / 4;
    struct hd_sticky sticky[HD_UNITS] = {{{0}}};
    w->dram += step->code_bytes;
    for (size_t pc = HD_PROG_HEADER_WORDS; pc < n_words;) {
        struct hd_op_word ops[HD_UNITS];
        int offset[HD_UNITS], n;
        const char *why;
        int len = hd_bundle_decode(words + pc, n_words - pc, ops, offset, &n, &why);
        if (!len) return;
        for (int i = 0; i < n; i++) {
            hd_op_apply(&ops[i], &sticky[ops[i].unit]);
            add_op(w, &m->machine, &ops[i], &sticky[ops[i].unit]);
        }
        pc += (size_t)len;
    }
}

struct hd_work hd_work_of(const hd_model *m) {
    struct hd_work w = {0};
    for (int i = 0; i < m->n_steps; i++)
        if (m->steps[i].kind == HD_STEP_PROG) add_program(&w, m, &m->steps[i]);
    return w;
}

double hd_joules(const struct hd_energy_table *t, const struct hd_work *w, const struct hd_area *a,
                 double seconds) {
    double pj = w->macs * t->mac_pj + w->sums * t->sum_pj + w->lanes * t->lane_pj +
                w->xm * t->xm_pj + w->wm * t->wm_pj + w->am * t->am_pj + w->pm * t->pm_pj +
                w->dram * (t->port_pj + t->dram_pj);
    double uw = a->lut * t->lut_uw + a->bram * t->bram_uw;
    return pj * 1e-12 + uw * 1e-6 * seconds;
}
