# RUN: heddle exec %s --devices iss,rtl --machine tiny
# EXIT: 1
# Word 5 is the loop word: it asks for a body of 1023 words, of which none have issued.
#: flip 5 0x3ff00
loop 4
  lx.nop
end
seq.halt
#= error 4, bundle or operation that does not decode (unit seq) at word 4
