/* Recognises a digit on the simulated machine: docs/runtime.md, "From a program".
 *   cc example.c $(pkg-config --cflags --libs heddle_rt) && ./a.out digits.hdl [DEVICE] */
#include <heddle_rt.h>
#include <stdio.h>
#include <string.h>

static const char ink[] = " .:-=+*#%@"; /* lighter to darker: 0 to 16 */
static const char picture[] = "  +@#.  "
                              " =@=*=  "
                              " *+ =+  "
                              "  - **  "
                              "    #+  "
                              "   :@.  "
                              "  :%%+: "
                              "  =@@@@#";

int main(int argc, char **argv) {
    const char *file = argc > 1 ? argv[1] : "digits.hdl", *device = argc > 2 ? argv[2] : "iss";
    float image[64], logits[10] = {0};
    int best = 0;
    for (int i = 0; i < 64; i++) image[i] = (float)(strchr(ink, picture[i]) - ink) * 16 / 9;

    hd_ctx *ctx = hd_ctx_create();
    hd_model *model = NULL;
    hd_session *session = NULL;
    hd_status s = hd_model_load(ctx, file, &model);
    if (!s) s = hd_session_open(ctx, model, device, NULL, &session);
    if (!s) s = hd_session_run(ctx, session, (const void *[]){image}, (void *[]){logits});
    for (int i = 1; i < 10; i++)
        if (logits[i] > logits[best]) best = i;
    if (s)
        fprintf(stderr, "%s\n", hd_message(ctx));
    else
        printf("a %d, in %llu cycles\n", best, (unsigned long long)hd_session_cycles(session));
    hd_session_close(session);
    hd_model_destroy(model);
    hd_ctx_destroy(ctx);
    return s != HD_OK;
}
