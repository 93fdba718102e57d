/* Energy of a run, an estimate: work counted from the programs, times a table of coefficients
 * (coefficients.def) that users replace. */
#ifndef HD_ENERGY_ENERGY_H
#define HD_ENERGY_ENERGY_H

#include "compiler/area/area.h"
#include "runtime/device/model.h"

/* What the programs of a model do when they run once: multipliers that were clocked, those of
 * padding too; sums of K products that were added to an accumulator; iterations of lanes of VX;
 * bytes read and written of each memory. */
#define HD_WORK_FIELDS(F) F(macs) F(sums) F(lanes) F(xm) F(wm) F(am) F(pm) F(dram)
struct hd_work {
#define FIELD(name) double name;
    HD_WORK_FIELDS(FIELD)
#undef FIELD
};
struct hd_energy_table {
#define COEFFICIENT(name, ...) double name;
#include "compiler/energy/coefficients.def"
};
struct hd_coefficient_info {
    const char *name, *unit, *doc, *source;
    size_t offset; /* in struct hd_energy_table */
};
extern const struct hd_coefficient_info hd_coefficients[];
extern const int hd_n_coefficients;
extern const struct hd_energy_table hd_energy_default;

struct hd_work hd_work_of(const hd_model *m);
/* Joules of so much work on a machine of that area, which takes that long: where it has several
 * cores at work, the time from one end of a run to the next. */
double hd_joules(const struct hd_energy_table *t, const struct hd_work *w, const struct hd_area *a,
                 double seconds);

#endif
