# RUN: heddle graph test/models/digits -o x.jpg
# EXIT: 1
#= heddle graph: -o x.jpg: want a name that ends in .svg, .png, .pdf or .dot, or - for DOT on standard output
