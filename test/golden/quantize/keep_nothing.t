# NEEDS: ../shared/models/mnist8
# RUN: heddle quantize ../shared/models/mnist8 --keep lstm -o /tmp/heddle_golden_q.onnx
# EXIT: 1
#= heddle quantize: --keep 'lstm': means no node; heddle query MODEL SELECTOR shows what a selector means
