# RUN: heddle run test/models/digits --devices iss,cpu,rtl
# EXIT: 1
#= heddle run: devices iss,cpu,rtl: iss and rtl both run programs; name one of them
