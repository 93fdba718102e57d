# RUN: heddle graph /no/such.onnx -o x.doc
# EXIT: 1
#= heddle graph: -o x.doc: want a name that ends in .svg, .png, .pdf or .dot, or - for DOT on standard output
