/* Which devices another computer has, without opening one. */
#include <stdio.h>
#include <string.h>

#include "driver/remote/client.h"
#include "driver/remote/remote.h"

static hd_status connect_host(hd_ctx *ctx, const char *host, struct hd_link *l) {
    struct hd_fleet *f = NULL;
    if (strcmp(host, HD_REMOTE_FLEET)) {
        TRY(hd_link_start(ctx, l, host, NULL));
        return hd_link_greet(ctx, l, hd_link_greet_ms(l));
    }
    hd_status s = hd_fleet_create(ctx, &f);
    if (!s) s = hd_fleet_connect(ctx, f, l);
    hd_fleet_destroy(f);
    return s;
}

static hd_status ask(hd_ctx *ctx, struct hd_link *l,
                     void (*tell)(void *user, const struct hd_remote_entry *e), void *user) {
    struct hd_frame f;
    bool late;
    TRY(hd_link_post(ctx, l, HD_FRAME_devices, NULL, 0));
    for (;;) {
        hd_status s = hd_link_next(ctx, l, l->number, HD_ASK_MS, &f, &late);
        if (late) return hd_link_late(ctx, l);
        TRY(hd_link_leave(l, s));
        if (f.kind == HD_FRAME_ok) return HD_OK;
        char name[64], runs[32], doc[256], more[512];
        hd_wire_text(&f.body, name, sizeof name);
        hd_wire_text(&f.body, runs, sizeof runs);
        hd_wire_text(&f.body, doc, sizeof doc);
        hd_wire_text(&f.body, more, sizeof more);
        bool available = hd_cursor_u32(&f.body) != 0;
        if (f.kind != HD_FRAME_device || f.body.bad)
            return hd_link_lies(ctx, l, "what is no device");
        tell(user, &(struct hd_remote_entry){name, runs, doc, more, available});
    }
}

hd_status hd_remote_devices(hd_ctx *ctx, const char *host,
                            void (*tell)(void *user, const struct hd_remote_entry *e), void *user) {
    struct hd_link l = {.open = false};
    hd_status s = connect_host(ctx, host, &l);
    if (!s) s = ask(ctx, &l, tell, user);
    hd_link_close(&l);
    return s;
}

struct check {
    const char *scheme;
    bool found, available;
    char why[512];
};

static void look(void *user, const struct hd_remote_entry *e) {
    struct check *c = user;
    if (strcmp(e->name, c->scheme)) return;
    c->found = true;
    c->available = e->available;
    snprintf(c->why, sizeof c->why, "%s", e->more);
}

hd_status hd_remote_check(hd_ctx *ctx, const char *name) {
    char host[HD_HOST_BYTES];
    const char *slash = strrchr(name, '/');
    int n = slash ? (int)(slash - name) : 0;
    if (!n || n >= HD_HOST_BYTES)
        return hd_fail(ctx, HD_INVALID, "device %.300s: want HOST/NAME, the host below %d bytes",
                       name, HD_HOST_BYTES);
    snprintf(host, sizeof host, "%.*s", n, name);
    struct check c = {.scheme = slash + 1};
    TRY(hd_remote_devices(ctx, host, look, &c));
    if (c.found && c.available) return HD_OK;
    return hd_fail(ctx, c.found ? HD_DEVICE : HD_UNSUPPORTED, "device %s: not available: %s", name,
                   c.found ? c.why
                           : "that host has no such device; heddle devices HOST lists them");
}
