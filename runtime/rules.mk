SRCS += $(wildcard runtime/*.c runtime/base/*.c)
