# RUN: heddle advise ../shared/models/mlperf_ad_autoencoder_int8_qlinear --machine tiny | tail -1
# NEEDS: ../shared/models/mlperf_ad_autoencoder_int8_qlinear
# EXIT: 0
#= no operation is left that heddle quantize would bring to the machine
