/* A network from its file to cycles, with the installed library: network MODEL */
#include <heddle.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    hd_ctx *ctx = hd_ctx_create();
    hd_net *net = NULL;
    hd_model *model = NULL;
    hd_session *session = NULL;
    void *in[8], *out[8];
    hd_status s = argc > 1 ? hd_net_load(ctx, argv[1], NULL, 0, &net) : HD_INVALID;
    if (!s) s = hd_net_compile(ctx, net, NULL, &model);
    if (!s) s = hd_session_open(ctx, model, "iss", NULL, &session);
    for (int i = 0; !s && i < hd_model_n_inputs(model) + hd_model_n_outputs(model); i++) {
        struct hd_io_info info;
        int n = hd_model_n_inputs(model);
        i < n ? hd_model_input(model, i, &info) : hd_model_output(model, i - n, &info);
        *(i < n ? &in[i] : &out[i - n]) = calloc(1, info.bytes);
    }
    if (!s) s = hd_session_run(ctx, session, (const void *const *)in, out);
    if (s)
        fprintf(stderr, "%s\n", hd_message(ctx));
    else
        printf("%s on %s: %llu cycles\n", hd_model_name(model), hd_model_machine(model),
               (unsigned long long)hd_session_cycles(session));
    hd_session_close(session);
    hd_model_destroy(model);
    hd_net_destroy(net);
    hd_ctx_destroy(ctx);
    return s != HD_OK;
}
