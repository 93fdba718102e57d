# RUN: heddle run test/models/digits --inputs test/models/digits/digits.npz --dump import
# EXIT: 1
#= heddle run: input image: got u8[360,8,8], want f32[1,1,8,8]
#=   in test/models/digits/digits.npz
