# RUN: sh test/golden/compare/dilated.sh
#= 256 33 20 16 9 16, tiny: golden,iss agree: 5 values compared, all bit-equal; 16 images, 0 parts on the host
#= 256 33 20 16 9 16, base: golden,iss agree: 5 values compared, all bit-equal; 16 images, 0 parts on the host
#= 128 40 29 17 13 21, tiny: golden,iss agree: 5 values compared, all bit-equal; 17 images, 0 parts on the host
#= 128 40 29 17 13 21, base: golden,iss agree: 5 values compared, all bit-equal; 17 images, 0 parts on the host
#= 2048 9 50 4 20 4, tiny: golden,iss agree: 5 values compared, all bit-equal; 80 images, 0 parts on the host
#= 2048 9 50 4 20 4, base: golden,iss agree: 5 values compared, all bit-equal; 80 images, 0 parts on the host
