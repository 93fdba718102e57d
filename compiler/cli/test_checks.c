/* heddle test of files whose functions hold their expected values (StableHLO). */
#include <math.h>
#include <string.h>

#include "compiler/cli/test_cases.h"
#include "compiler/session/session.h"
#include "compiler/tensors/tensors.h"
#include "runtime/session.h"

/* What one comparison allows: relative, and absolute. */
static double allowed(const char *name, int dtype, double want) {
    int t = hd_dtype_from_onnx(dtype);
    double relative = t == HD_BF16 ? 0x1p-7 : t == HD_F16 ? 0x1p-9 : 1e-4;
    return strstr(name, ".eq.") ? 0 : 1e-4 + relative * fabs(want);
}

static const char *compare(hd_arena *a, const struct hd_value_info *v, const void *got,
                           const struct hd_value_info *w, const void *want) {
    size_t n = hd_value_dense_bytes(v) / (size_t)v->elem_bytes;
    bool same = v->dtype == w->dtype && hd_value_dense_bytes(v) == hd_value_dense_bytes(w);
    if (!same)
        return hd_sprintf(a, "%s is %s%s, want %s%s", v->name, hd_onnx_dtype_name(v->dtype),
                          hd_dims_text(a, v->dim, v->rank), hd_onnx_dtype_name(w->dtype),
                          hd_dims_text(a, w->dim, w->rank));
    for (size_t i = 0; i < n; i++) {
        double x = hd_element(got, v->dtype, i), y = hd_element(want, v->dtype, i);
        const char *bx = (const char *)got + i * (size_t)v->elem_bytes,
                   *by = (const char *)want + i * (size_t)v->elem_bytes;
        if (x == y || (x != x && y != y) || !memcmp(bx, by, (size_t)v->elem_bytes)) continue;
        if (!(fabs(x - y) <= allowed(v->name, v->dtype, y)))
            return hd_sprintf(a, "%s: element %zu is %.9g, want %.9g", v->name, i, x, y);
    }
    return NULL;
}

static hd_status run_checks(struct tester *t, const hd_model *m, const char **why,
                            const char **text) {
    hd_session *s = NULL;
    TRY(hd_open_session(t->c, m, t->c->opt.device, &s));
    void **out = hd_output_buffers(t->a, m);
    const void **in; /* constants that are not to be folded */
    hd_status r = hd_match_inputs(t->c->ctx, t->a, m, NULL, 0, &in);
    if (r == HD_OK) r = hd_session_run(t->c->ctx, s, in, out);
    hd_session_close(s);
    for (int i = 0; r == HD_OK && i + 1 < m->n_outputs && !*why; i += 2)
        *why = compare(t->a, &m->values[m->outputs[i]], out[i], &m->values[m->outputs[i + 1]],
                       out[i + 1]);
    *text = hd_sprintf(t->a, "%d comparisons", m->n_outputs / 2);
    return r;
}

static void verdict(struct tester *t, const char *what, hd_status s, const char *why,
                    const char *text) {
    const char *reason = test_listed(t, what);
    if (s != HD_OK) why = hd_message(t->c->ctx);
    if (reason)
        test_say(t, what, why ? SKIP : FAIL,
                 why ? reason : "it is in the list of those left out, and passes; take it out");
    else if (s == HD_UNSUPPORTED && !t->listed)
        test_say(t, what, SKIP, why);
    else
        test_say(t, what, why ? FAIL : PASS, why ? why : text);
}

void test_checks(struct tester *t, const char *path) {
    bool host = hd_is_graph_device(t->c->opt.device);
    for (int k = 1;; k++) {
        hd_model *m = NULL;
        const char *why = NULL, *text = "imported; it holds no expected values";
        t->a = hd_arena_create();
        hd_clear(t->c->ctx);
        hd_status s = hd_open_checks(t->c, path, host, k, &m);
        bool none = s == HD_MISMATCH && k == 1, end = s == HD_MISMATCH && k > 1;
        if (none) {
            hd_clear(t->c->ctx);
            s = hd_open_checks(t->c, path, host, 0, &m);
        } else if (s == HD_OK) {
            s = run_checks(t, m, &why, &text);
        }
        const char *what = hd_sprintf(t->a, "%s#%d", path, k);
        if (!end) verdict(t, none ? path : what, s, why, text);
        hd_model_destroy(m);
        hd_arena_destroy(t->a);
        if (none || end || k == 1000) return;
    }
}
