/* What only users of the library call: facts of a model. */
#include "runtime/heddle_rt.h"

#include "runtime/base/version.h"
#include "runtime/device/model.h"

_Static_assert((int)HD_IO_RANK == (int)HD_VALUE_RANK,
               "every value of a model fits the public face");

const char *hd_rt_version(void) {
    return hd_version();
}

int hd_model_n_inputs(const hd_model *m) {
    return m->n_inputs;
}
int hd_model_n_outputs(const hd_model *m) {
    return m->n_outputs;
}
int hd_model_n_states(const hd_model *m) {
    return m->n_states;
}

static void describe(const hd_model *m, const int *list, int n, int i, struct hd_io_info *out) {
    *out = (struct hd_io_info){.name = ""};
    if (i < 0 || i >= n) return;
    const struct hd_value_info *v = &m->values[list[i]];
    *out = (struct hd_io_info){v->name, v->dtype, v->rank, {0}, hd_value_dense_bytes(v)};
    for (int k = 0; k < v->rank; k++) out->dim[k] = v->dim[k];
}

void hd_model_input(const hd_model *m, int i, struct hd_io_info *out) {
    describe(m, m->inputs, m->n_inputs, i, out);
}
void hd_model_output(const hd_model *m, int i, struct hd_io_info *out) {
    describe(m, m->outputs, m->n_outputs, i, out);
}
