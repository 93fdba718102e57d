# RUN: heddle run ../shared/models/mlperf_ad_autoencoder_fp32 | head -1
# NEEDS: ../shared/models/mlperf_ad_autoencoder_fp32
# EXIT: 0
#= nothing ran on the machine, all 19 operations on the host: heddle quantize ../shared/models/mlperf_ad_autoencoder_fp32/model.onnx -o INT8.onnx makes an int8 network
