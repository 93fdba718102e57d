func.func @main() -> tensor<i1> {
  %0 = stablehlo.constant dense<true> : tensor<i1>
  %1 = "stablehlo.while"(%0) ({
  ^bb0(%a: tensor<i1>):
    stablehlo.return %a : tensor<i1>
  }, {
  ^bb0(%a: tensor<i1>):
    stablehlo.return %a : tensor<i1>
  }) : (tensor<i1>) -> tensor<i1>
  return %1 : tensor<i1>
}
