SRCS += $(wildcard driver/*.c)
