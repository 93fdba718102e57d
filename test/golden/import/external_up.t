# RUN: heddle opt test/golden/import/models/external_up.onnx
# EXIT: 1
#= heddle opt: tensor 'w': its data is in '../make_models.py', which leaves the model's folder test/golden/import/models/; put the file there
#=   while importing test/golden/import/models/external_up.onnx
