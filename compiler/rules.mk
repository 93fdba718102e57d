SRCS += $(filter-out compiler/cli/%,$(wildcard compiler/*.c compiler/*/*.c))
