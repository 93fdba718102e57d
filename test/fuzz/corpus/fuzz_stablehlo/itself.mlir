func.func @main() -> tensor<i1> {
  %0 = call @main() : () -> tensor<i1>
  return %0 : tensor<i1>
}
