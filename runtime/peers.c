/* Sessions of several processes, device by device: see runtime.h. */
#include <stdlib.h>

#include "runtime/session.h"

const char *hd_peers_why_not(hd_ctx *ctx, const char *device) {
    const struct hd_device_ops *ops = NULL;
    hd_status s = hd_device_find(ctx, device, &ops);
    hd_clear(ctx);
    if (s != HD_OK || !ops->peers) return "its memory is out of reach for other processes";
    return ops->peers->why_not();
}

static hd_status peers_of(hd_ctx *ctx, const hd_session *s, const struct hd_peers_ops **out) {
    const struct hd_runner *r = &s->runner[0];
    if (!s->whole_graph || s->in_place || !r->ops->peers)
        return hd_fail(ctx, HD_UNSUPPORTED,
                       "%s: device %s has no way to those of other processes; want cuda alone",
                       s->model->name, s->names);
    *out = r->ops->peers;
    return HD_OK;
}

hd_status hd_session_peers_id(hd_ctx *ctx, const hd_session *s, void *out) {
    const struct hd_peers_ops *peers = NULL;
    TRY(peers_of(ctx, s, &peers));
    return peers->id(ctx, out);
}

hd_status hd_session_join(hd_ctx *ctx, hd_session *s, const void *id, int me, int n) {
    const struct hd_peers_ops *peers = NULL;
    TRY(peers_of(ctx, s, &peers));
    return peers->join(ctx, s->runner[0].dev, id, me, n);
}

static hd_status find_move(hd_ctx *ctx, const hd_session *s, const hd_session *source,
                           const struct hd_session_move *m, struct hd_peers_move *out) {
    const hd_model *to = s->model, *from = source->model;
    if (m->output < 0 || m->output >= from->n_outputs || m->input < 0 || m->input >= to->n_inputs)
        return hd_fail(ctx, HD_INVALID, "output %d of %s, which has %d, to input %d of %s of %d",
                       m->output, from->name, from->n_outputs, m->input, to->name, to->n_inputs);
    *out = (struct hd_peers_move){
        .from = source->last->graph_io[from->n_inputs + m->output],
        .to = s->last->graph_io[m->input],
        .at = m->at,
        .bytes = hd_value_dense_bytes(&from->values[from->outputs[m->output]])};
    return HD_OK;
}

hd_status hd_session_gather(hd_ctx *ctx, hd_session *s, hd_session *source,
                            const struct hd_session_move *move, int n) {
    const struct hd_peers_ops *peers = NULL, *theirs = NULL;
    TRY(peers_of(ctx, s, &peers));
    TRY(peers_of(ctx, source, &theirs));
    if (peers != theirs)
        return hd_fail(ctx, HD_INVALID, "%s is on %s, %s on %s: want the same device",
                       s->model->name, s->names, source->model->name, source->names);
    struct hd_peers_move *m = calloc((size_t)n + 1, sizeof *m);
    hd_status r = m ? HD_OK : hd_fail(ctx, HD_NOMEM, "no memory for a list of %d moves", n);
    for (int i = 0; i < n && r == HD_OK; i++) r = find_move(ctx, s, source, &move[i], &m[i]);
    if (r == HD_OK) r = peers->gather(ctx, s->runner[0].dev, source->runner[0].dev, m, n);
    free(m);
    return r;
}
