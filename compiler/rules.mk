SRCS += $(filter-out compiler/cli/%,$(wildcard compiler/*.c compiler/*/*.c))
# The search of plans spends its time in these.
$(foreach f,$(wildcard compiler/cost/*.c compiler/machine_ops/*.c compiler/kind/*.c),$(eval FLAGS_$f := -O3))
