# NEEDS: ../shared/models/mobilenet_v2_qdq_int8
# RUN: t=$(mktemp) && heddle run ../shared/models/mobilenet_v2_qdq_int8 --trace $t > /dev/null && python3 scripts/check_trace.py $t | sed 's/[0-9]\+ \([oa]\)/N \1/g'; rm -f $t
#= trace of iss: N operations, N arrows, adds up to the counters
