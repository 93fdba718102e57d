# TFLite_Detection_PostProcess: each box by its best class, and class by class.
# RUN: heddle test test/golden/import/detection_cases --device golden
# RUN: heddle test test/golden/import/detection_cases --device cpu
# RUN: heddle test test/golden/import/detection_cases --device iss
#= ok   test/golden/import/detection_cases/by_class/test_data_set_0: max|diff| 5.96e-08, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest
#= ok   test/golden/import/detection_cases/fast/test_data_set_0: max|diff| 0, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest
#= 2 passed, 0 failed, 0 skipped
#= ok   test/golden/import/detection_cases/by_class/test_data_set_0: max|diff| 5.96e-08, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest
#= ok   test/golden/import/detection_cases/fast/test_data_set_0: max|diff| 0, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest
#= 2 passed, 0 failed, 0 skipped
#= ok   test/golden/import/detection_cases/by_class/test_data_set_0: max|diff| 5.96e-08, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest; 1 integer tensors bit-equal to golden
#= ok   test/golden/import/detection_cases/fast/test_data_set_0: max|diff| 0, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest; 1 integer tensors bit-equal to golden
#= 2 passed, 0 failed, 0 skipped
