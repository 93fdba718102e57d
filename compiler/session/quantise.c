/* Networks without integers: quantised by `heddle quantize`, as a process of its own, because it
 * starts threads, which workers must not inherit. */
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/session/session.h"

hd_status hd_quantise(struct hd_cmd *c, const char *path, const char *out) {
    const char *args[] = {"heddle", "quantize", path, "-o", out, NULL};
    int status = 0;
    hd_cmd_progress(c, "%s: quantising", path);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        if (!freopen("/dev/null", "w", stdout)) _exit(126);
        execv("/proc/self/exe", (char *const *)args);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    if (pid > 0 && WIFEXITED(status) && !WEXITSTATUS(status)) return HD_OK;
    return hd_fail(c->ctx, HD_INVALID, "%s: has no integers, and heddle quantize failed on it",
                   path);
}

double hd_integer_macs(const hd_graph *g) {
    double macs = 0;
    for (size_t i = 0; i < g->n_nodes; i++)
        if (!g->nodes[i].dead && hd_ir_ops[g->nodes[i].op].name[0] == 'q')
            macs += (double)hd_node_macs(g, &g->nodes[i]);
    return macs;
}
