SRCS += $(wildcard cpu_ref/*.c)
