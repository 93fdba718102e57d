# Several processes by MPI.
test-mpi: heddle ## training and searches on several ranks, kills; installs Open MPI
	$(Q)scripts/deps.sh mpi
	$(Q)$(MAKE) --no-print-directory mpi-ranks
mpi-ranks: heddle $(B)/libhd_mpi.so
	$(Q)OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 sh -c 'python3 test/train/ranks.py $(B)/heddle $(B)/ranks && python3 test/explore/ranks.py $(B)/heddle $(B)/explore-ranks'
test-race: ## exchange of gradients in a thread, under ThreadSanitizer
	$(Q)$(MAKE) --no-print-directory BUILD=tsan build/tsan/test/unit/train/test_shards
	$(Q)HEDDLE_PLUGINS=none build/tsan/test/unit/train/test_shards
nightly: test-mpi test-race
bench-train: heddle ## steps of training beside PyTorch (python3-torch, libopenblas0-pthread)
	$(Q)/usr/bin/python3 scripts/torch_speed.py $(B)/heddle
bench-ranks: heddle $(B)/libhd_mpi.so ## two ranks beside two jobs of one rank each, median of five
	$(Q)uptime; OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 2 $(B)/heddle bench train; uptime
test-train-digits: heddle rtl-base ## digits from scratch, float and int8 on rtl, five splits
	$(Q)python3 test/train/digits.py $(B)/heddle $(B)/digits
nightly: test-train-digits
DATA_words := --data $(B)/keywords.npz --calibrate $(B)/keywords.npy
$(B)/keywords.npz: scripts/keywords.py
	@mkdir -p $(@D)
	$(Q)python3 $< $@ $(@:.npz=.npy)
search-channels: heddle $(if $(filter words,$(NETWORK)),$(B)/keywords.npz) ## channel counts by cycles, and the accuracy of those worth training (NETWORK, WIDTHS, ARGS)
	$(Q)python3 scripts/channels.py $(B)/heddle $(or $(NETWORK),cnn) $(or $(WIDTHS),16,32:16,32:16,32,64) $(DATA_$(NETWORK)) $(ARGS)
.PHONY: bench-train bench-ranks test-train-digits search-channels
test-train-tasks: $(B)/test/unit/train/test_tasks ## networks of heddle train TASK reach their results, 3 minutes
	$(Q)$< all
nightly: test-train-tasks
.PHONY: test-mpi test-race mpi-ranks test-train-tasks
