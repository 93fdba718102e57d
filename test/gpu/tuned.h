/* A database of schedules with a candidate for each work of a network, chosen at random among
 * those that heddle tune may measure: what a plan makes of it is right, whatever was chosen. */
#ifndef HD_TEST_GPU_TUNED_H
#define HD_TEST_GPU_TUNED_H

#include <string.h>
#include <unistd.h>

#include "gpu_ref/gpu_choice.h"
#include "gpu_ref/gpu_plan.h"
#include "test/rng.h"

struct tuned {
    int works, steps; /* of the plan; those with a choice of the database, on paper */
};

/* Adds to *sum. The file at path is a new one. */
static inline hd_status tuned_db(hd_ctx *ctx, const struct hd_gpu_api *api,
                                 const struct hd_gpu_limits *l, const hd_graph *g,
                                 const hd_model *m, struct rng *r, const char *path,
                                 struct tuned *sum) {
    struct hd_gpu_plan *p = NULL;
    struct hd_gpu_tuning t = {0};
    hd_arena *a = hd_arena_create();
    hd_status s = hd_gpu_plan_on_paper(ctx, api, l, g, m, NULL, &p);
    unlink(path);
    if (s == HD_OK) s = hd_schedules_open(ctx, path, true, &t.db);
    for (size_t i = 0; s == HD_OK && i < p->works.n; i++) {
        struct hd_gpu_candidate *list;
        int n = hd_gpu_space(a, p->works.work[i].f, l, &list);
        struct hd_schedule_row row = {hd_gpu_device_key(a, api, l), p->works.work[i].name,
                                      n ? list[rng_range(r, 0, n - 1)].text : "", 1e-9};
        s = hd_schedules_put(ctx, t.db, &row);
        sum->works++;
    }
    hd_gpu_plan_destroy(p);
    p = NULL;
    if (s == HD_OK) s = hd_gpu_plan_on_paper(ctx, api, l, g, m, &t, &p);
    for (size_t i = 0; s == HD_OK && i < p->n_steps; i++)
        sum->steps += strstr(p->steps[i].how, "tuned") != NULL;
    hd_gpu_plan_destroy(p);
    hd_schedules_close(t.db);
    hd_arena_destroy(a);
    return s;
}

#endif
