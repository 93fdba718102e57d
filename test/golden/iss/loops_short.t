# RUN: heddle exec %s --devices iss,rtl --machine tiny
# EXIT: 1
# Word 4 says that 64 words more issue than the stream has: what stands before its end has run.
#: flip 4 0x40
#: dump 0x1000 4 u8
lx.load seg=1 src=0x107 dst=0 run=1 n1=1 n2=1 n3=1
seq.barrier
loop 4
  st.store seg=1 dst+=0x400 run=1 n1=1 n2=1 n3=1
end
seq.barrier
#= error 4, bundle or operation that does not decode (unit seq) at word 53
#= 0x1000 u8 7 1 2 3
