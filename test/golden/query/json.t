# NEEDS: ../shared/models/mlperf_ic_resnet8_int8_qdq
# RUN: heddle query ../shared/models/mlperf_ic_resnet8_int8_qdq '#Gemm_73' --json - --stage legalize | python3 -c 'import json, sys; q = json.load(sys.stdin); o = q["operations"][0]; print(q["schema"], q["selector"], o["name"], o["op"], o["labels"], *(o["attributes"][k] for k in ("dtype", "shape", "macs", "weight_bytes", "layer", "bound")))'
#= heddle.query/1 #Gemm_73 Gemm_73 qgemm ['machine'] i8 1,10 640 720 Gemm_73 memory
