SRCS += runtime/base/status.c runtime/base/version.c runtime/base/arena.c runtime/base/io.c runtime/base/fn.c runtime/base/half.c runtime/base/small.c runtime/base/parallel.c runtime/base/fields.c \
        runtime/base/folder.c runtime/base/plugin.c runtime/base/dtype.c runtime/base/element.c runtime/base/sha256.c runtime/base/socket.c \
        runtime/device/model.c runtime/device/model_save.c runtime/device/value.c runtime/device/states.c runtime/device/cache.c runtime/devices.c runtime/session.c runtime/whole_graph.c runtime/peers.c runtime/state.c runtime/queue.c runtime/heddle_rt.c \
        runtime/device/null_dev.c
LDLIBS += -lz
