/* Operation `expression`: the interpreter of tensor expressions. */
#include "compiler/ir/expression.h"
#include "cpu_ref/kernels.h"

hd_status k_expression(const struct hd_kernel *k) {
    struct hd_expr *f;
    TRY(hd_expression_bind(k->ctx, k->arena, k->n, hd_attr_string(k->n, "expression", ""),
                           k->n->n_in, k->in_tensor, &f));
    void **out = hd_new_array(k->arena, void *, f->n_results);
    for (size_t i = 0; i < f->n_results; i++) {
        const struct hd_expr_tensor *t = &f->tensor[f->result[i]];
        out[i] = hd_k_out_data(k, (int)i);
        if (!out[i]) /* nobody wants it */
            out[i] = hd_alloc(k->arena,
                              (size_t)hd_expr_elems(t) * hd_dtype_bytes((hd_dtype)t->type) + 1);
    }
    return hd_expr_run(k->ctx, f, k->in, out, k->arena);
}
