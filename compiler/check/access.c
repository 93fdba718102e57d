/* The places that an operation touches, as few runs as possible. */
#include "compiler/check/check.h"

int64_t hd_check_places(const struct hd_machine *m, enum hd_check_space space) {
    switch (space) {
    case HD_CHECK_XM:
        return m->xm_bytes;
    case HD_CHECK_WM:
        return hd_wm_words(m);
    case HD_CHECK_PM:
        return hd_pm_words(m);
    case HD_CHECK_TM:
        return HD_TM_TABLES;
    case HD_CHECK_AM:
        return hd_am_words(m);
    default:
        return 0;
    }
}

static void sort_by_step(struct hd_access *a) {
    for (int i = 1; i < a->n_loops; i++)
        for (int j = i; j > 0 && a->step[j] < a->step[j - 1]; j--) {
            int64_t n = a->n[j], step = a->step[j];
            a->n[j] = a->n[j - 1], a->step[j] = a->step[j - 1];
            a->n[j - 1] = n, a->step[j - 1] = step;
        }
}

void hd_access_normalise(struct hd_access *a) {
    int kept = 0;
    for (int i = 0; i < a->n_loops; i++) { /* steps positive, no loop that stands still */
        int64_t n = a->n[i], step = a->step[i];
        if (n == 1 || step == 0) continue;
        if (step < 0) a->at += step * (n - 1), step = -step;
        a->n[kept] = n, a->step[kept++] = step;
    }
    a->n_loops = kept;
    sort_by_step(a);
    kept = 0;
    for (int i = 0; i < a->n_loops; i++) {
        int64_t n = a->n[i], step = a->step[i];
        if (step <= a->run && kept == 0) { /* runs that touch or overlap */
            a->run += step * (n - 1);
            continue;
        }
        int64_t *n_in = kept ? &a->n[kept - 1] : NULL, inner = kept ? a->step[kept - 1] : 1;
        if (n_in && step % inner == 0 && step / inner <= *n_in) { /* a longer inner loop */
            *n_in += step / inner * (n - 1);
            continue;
        }
        a->n[kept] = n, a->step[kept++] = step;
    }
    a->n_loops = kept;
}
