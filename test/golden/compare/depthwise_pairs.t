# RUN: sh test/golden/compare/depthwise_pairs.sh
#= 512 14 uint8 131 3, tiny: golden,iss agree: 1 values compared, all bit-equal; padding above by vx
#= 512 14 uint8 131 3, base: golden,iss agree: 1 values compared, all bit-equal; padding above by vx
#= 96 57 int8 -7 3, tiny: golden,iss agree: 1 values compared, all bit-equal; padding above by vx
#= 96 57 int8 -7 3, base: golden,iss agree: 1 values compared, all bit-equal; padding above by vx
#= 160 31 int8 9 2, tiny: golden,iss agree: 1 values compared, all bit-equal; padding above by vx
#= 160 31 int8 9 2, base: golden,iss agree: 1 values compared, all bit-equal; padding above by vx
