# RUN: heddle opt test/golden/import/models/external_absolute.onnx
# EXIT: 1
#= heddle opt: tensor 'w': its data is in '/etc/hostname', an absolute path; want a file in the model's folder
#=   while importing test/golden/import/models/external_absolute.onnx
