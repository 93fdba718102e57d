# RUN: for a in "--prune 120%" --blocks "--prune 0.3"; do heddle finetune test/models/digits --data test/data/digits.npz $a -o /nowhere/x.onnx; done
# EXIT: 1
#= heddle finetune: --prune 120%: want more than 0% and less than 100%
#= heddle finetune: --blocks says how to --prune: give a share
#= heddle finetune: --prune 0.3: want more than 0% and less than 100%
