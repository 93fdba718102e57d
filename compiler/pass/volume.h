/* Private to pass volume (volume.c, volume_conv.c, volume_move.c, volume_pool.c). */
#ifndef HD_PASS_VOLUME_H
#define HD_PASS_VOLUME_H

#include "compiler/pass/qdq.h"

enum { RANK = 5, DEPTH = 2 };

struct volume {
    hd_graph *g;
    int *images; /* per tensor of the graph as it came: its form [N*D,C,H,W]; -1 = not made */
    bool *made;  /* per such tensor: a layer makes it as images, no move */
    size_t n;
};

/* Attributes of a window of three dimensions. */
struct box {
    int64_t kernel[3], stride[3], dilation[3], before[3], after[3];
};

/* New tensors, named after one: of its type, or what a reshape or a transpose makes of it (into y;
 * y < 0: a new one). */
int hd_volume_tensor(struct volume *v, int like, int rank, const int64_t *dim);
int hd_volume_reshaped(struct volume *v, int x, int rank, const int64_t *dim, int y);
int hd_volume_transposed(struct volume *v, int x, const int64_t *perm, int y);

bool hd_volume_is(const hd_graph *g, int t); /* a variable [N,C,D,H,W] of known shape */
/* The images of a tensor; of one that is dequantised those of its integers, dequantised. */
int hd_volume_images(struct volume *v, int t);
/* Its images are there, or those of the integers that it is dequantised from. */
bool hd_volume_has_images(const struct volume *v, int t);
/* Makes y, [N,C,D,H,W], of its images; what made it is killed already. */
void hd_volume_from_images(struct volume *v, int images, int y);
/* The integers behind a dequantised volume. */
bool hd_volume_integers(const struct volume *v, int t, int *q, struct hd_qparam *p);
/* A float tensor of what dequantize `like` makes of other integers. */
int hd_volume_dequantised(struct volume *v, int q, int like, const char *name);

/* False: it has attributes that say more. */
bool hd_volume_box(const struct hd_node *n, struct box *b);
/* The last two dimensions of b for a node of images. */
void hd_volume_set_window(struct volume *v, int node, const struct box *b);
/* It goes over the depth alone; then its first dimension is a window for a node of an image of D
 * rows and H*W columns, whose bytes are those of the D images. */
bool hd_volume_deep(const struct box *b);
void hd_volume_set_deep(struct volume *v, int node, const struct box *b);
/* Operands beside each other along `axis`. */
int hd_volume_join(struct volume *v, int n, const int *in, int axis, const int64_t *dim, int like);
/* Image index[i] of x at place i. */
int hd_volume_gathered(struct volume *v, int x, int64_t count, const int64_t *index);
/* Images of bytes, in runs of kd: run o of each volume is what the window of output image o meets,
 * [N*out*kd,C,H,W]. Beyond the volume lie images of `zero`. */
int hd_volume_windows(struct volume *v, int images, int64_t n, int64_t out, const struct box *b,
                      int zero);

/* A node of three dimensions as one of two; false: it stays. */
bool hd_volume_conv(struct volume *v, int node);
bool hd_volume_convtranspose(struct volume *v, int node);
bool hd_volume_maxpool(struct volume *v, int node);
bool hd_volume_average(struct volume *v, int node);
bool hd_volume_resize(struct volume *v, int node);
bool hd_volume_concat(struct volume *v, int node);
bool hd_volume_slice(struct volume *v, int node);
bool hd_volume_split(struct volume *v, int node);

#endif
