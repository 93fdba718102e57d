SRCS += $(wildcard gpu_ref/*.c)
