# RUN: heddle exec %s --devices iss,rtl --machine tiny
# EXIT: 1
# Word 5 begins with the loop token: flipped its body has 253 words, not 2, of which none have issued.
#: flip 5 0xff00
loop 4
  lx.nop
end
seq.halt
#= error 4, bundle or operation that does not decode (unit seq) at word 4
