# RUN: heddle opt test/golden/import/models/sequence_beyond.onnx
# EXIT: 1
#= heddle opt: node 'at' (SequenceAt): position 2, allowed below 2
#=   while importing test/golden/import/models/sequence_beyond.onnx
