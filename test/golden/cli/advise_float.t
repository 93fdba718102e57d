# RUN: heddle advise ../shared/models/mlperf_ad_autoencoder_fp32 --machine tiny | tail -1 | sed 's/makes it 0\.[0-9]* ms/makes it 0.T ms/'
# NEEDS: ../shared/models/mlperf_ad_autoencoder_fp32
# EXIT: 0
#= as it is written, a run takes about 0.2912 ms, mostly on the host; heddle quantize makes it 0.T ms
