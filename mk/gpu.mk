# Devices opencl and cuda. In `make test` on pocl: three networks and some of ONNX's cases, and one network by NVRTC; `make
# test-gpu` has all of them.

comma     := ,
GPU_NETS  := mnist8 mlperf_ic_resnet8_int8_qdq kwt1_transformer_fp32
GPU_CASES  = $(addprefix $(ONNX_DATA)/node/,$(shell cat test/gpu/cases.txt))
GPU_SHARE := $(B)/test/gpu/share
GPU_NVRTC := $(B)/test/gpu/nvrtc
# What `share` needs sizes of is left out: dimensions without a number.
GPU_PLANS  = $(patsubst %/model.onnx,%,$(filter-out %/retinaface_mnet025/model.onnx %/silero_vad_16k_op15/model.onnx,$(wildcard $(SHARED)/*/model.onnx $(SHARED)/light/*/model.onnx $(SHARED)/_quant_rnn/*/model.onnx)))
gpu_run    = $(B)/heddle test --device opencl $(1) > $(B)/test-opencl.log 2>&1 || { grep -v '^ok\|^skip' $(B)/test-opencl.log; exit 1; }; \
             echo "  opencl: $$(tail -1 $(B)/test-opencl.log)"
gpu_share  = $(GPU_SHARE) --nodes 95 --macs 99.9 --device $(1) $(GPU_PLANS) > $(B)/gpu-share.log || { cat $(B)/gpu-share.log; exit 1; }; \
             echo "  $(1): $$(tail -1 $(B)/gpu-share.log)"
gpu_nvrtc  = $(GPU_NVRTC) 80,90 $(2) $(1) > $(B)/gpu-nvrtc.log || { cat $(B)/gpu-nvrtc.log; exit 1; }; echo "  NVRTC: $$(tail -1 $(B)/gpu-nvrtc.log)"

test-opencl: heddle $(GPU_SHARE) ## device opencl on pocl: three networks, some of ONNX's cases, shares of plans
	$(Q)$(B)/heddle devices | grep -q '^opencl .* yes' || { $(B)/heddle devices | grep '^opencl' >&2; exit 1; }
	$(Q)$(if $(wildcard $(ONNX_DATA)),$(call gpu_run,$(GPU_CASES)),echo "  no $(ONNX_DATA): ONNX's cases are skipped")
	$(Q)$(if $(wildcard $(SHARED)),$(call gpu_run,$(GPU_NETS:%=$(SHARED)/%)),echo "  no $(SHARED): its networks are skipped")
	$(Q)$(if $(wildcard $(SHARED)),$(call gpu_share,opencl))

test-cuda: $(GPU_NVRTC) ## the kernels of a network by NVRTC, where the CUDA toolkit is; and with schedules at random
	$(Q)$(if $(wildcard $(SHARED)),$(call gpu_nvrtc,$(SHARED)/mlperf_ic_resnet8_int8_qdq),echo "  no $(SHARED): its networks are skipped")
	$(Q)$(if $(wildcard $(SHARED)),$(call gpu_nvrtc,$(SHARED)/mlperf_ic_resnet8_int8_qdq,--tuned 2),echo "  no $(SHARED): its networks are skipped")

test-gpu: test-opencl $(GPU_NVRTC) ## all of ONNX's cases and of ../shared/models on opencl, by NVRTC; tiles of a GPU; a few under oclgrind
	$(Q)$(if $(wildcard $(SHARED)),$(call gpu_share,cuda))
	$(Q)$(if $(wildcard $(SHARED)),$(call gpu_nvrtc,$(GPU_PLANS)))
	$(Q)$(MAKE) --no-print-directory test-conform CONFORM_DEVICES=opencl
	$(Q)$(if $(wildcard $(SHARED)),$(call gpu_run,$(SHARED)))
	$(Q)HEDDLE_GPU_TILES=gpu $(call gpu_run,$(wildcard test/golden/custom/cases $(SHARED)/mlperf_ic_resnet8_int8_qdq))
	$(Q)if command -v oclgrind > /dev/null; then scripts/oclgrind.sh $(B) $(addprefix test/golden/custom/cases/,correlation product) $(wildcard $(addprefix $(ONNX_DATA)/node/,test_matmul_2d test_basic_conv_with_padding test_softmax_axis_1 test_matmulinteger)); \
	    else echo "  oclgrind is not installed: run 'scripts/deps.sh gpu'"; fi

# Networks that several devices share: placed by cost, and every other one at random; results are golden's, bit for bit.
shared_by = $(1) --devices $(2) --count $(3) --small > $(B)/test-devices.log || { cat $(B)/test-devices.log; exit 1; }; echo "  $$(tail -1 $(B)/test-devices.log)"
test-devices: heddle $(RANDOM_NET) $(RANDOM_RNN) ## random networks on iss, cpu, opencl and golden together
	$(Q)$(call shared_by,$(RANDOM_NET),iss$(comma)cpu$(comma)golden,60)
	$(Q)$(call shared_by,$(RANDOM_NET),cpu$(comma)iss$(comma)opencl,6)
	$(Q)$(call shared_by,$(RANDOM_RNN),cpu$(comma)iss,20)
	$(Q)$(if $(wildcard $(SHARED)),$(B)/heddle test $(SHARED)/mnist8 $(SHARED)/mlperf_kws_dscnn_int8_qdq --devices golden$(comma)iss$(comma)cpu > $(B)/test-devices.log || { cat $(B)/test-devices.log; exit 1; })
test: test-opencl test-cuda test-devices
nightly: test-gpu
.PHONY: test-opencl test-cuda test-gpu test-devices
