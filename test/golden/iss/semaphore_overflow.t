# RUN: heddle exec %s --devices iss,rtl --machine tiny
# EXIT: 1
# 256 tokens: queue by queue of nops. 255 is the limit.
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 ; vx.nop sig=6 }
seq.barrier
{ lx.nop sig=6 ; lw.nop sig=6 ; mx.nop sig=6 }
seq.barrier
st.nop sig=6
seq.barrier
seq.halt
#= error 8, semaphore above 255 (unit st) at word 583: st.nop sig=6
