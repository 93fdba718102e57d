# RUN: heddle bench compare test/models/digits --devices golden,iss,rtl --machine tiny --csv - 2> /dev/null | cut -d, -f1,2,6,7
#= model,device,agreement,max_abs_diff
#= "digits","golden","reference",0
#= "digits","iss","bit-equal",0
#= "digits","rtl","bit-equal",0
