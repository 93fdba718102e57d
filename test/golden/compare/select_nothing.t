# RUN: heddle compare test/models/digits --devices golden,iss --machine tiny --select lstm
# EXIT: 1
#= heddle compare: selector 'lstm': means no layer of the machine; heddle query shows what a selector means
