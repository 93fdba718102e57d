# RUN: heddle graph test/models/digits
# EXIT: 2
#= heddle graph: -o FILE is missing: a name that ends in .svg, .png, .pdf or .dot; see heddle graph --help
