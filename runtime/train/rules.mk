SRCS += $(wildcard runtime/train/*.c)
