# RUN: heddle expr %s --schedule 'split y m 2 mo mi' --emit c | sed -n '/^static inline .*expression/,$p'
(x: i8[3,2], w: i8[2]) -> y
y[m] += i32(x[m,k]) * i32(pad(w[k - 1], 3))
#= static inline uint8_t expression_lt_i64(int64_t a, int64_t b) { return (uint8_t)(a < b); }
#= static inline int64_t expression_add_i64(int64_t a, int64_t b) { return (int64_t)(WRAP(a, +, b)); }
#= static inline int64_t expression_mul_i64(int64_t a, int64_t b) { return (int64_t)(WRAP(a, *, b)); }
#= static inline int32_t expression_add_i32(int64_t a, int64_t b) { return (int32_t)(WRAP(a, +, b)); }
#= static inline int32_t expression_mul_i32(int64_t a, int64_t b) { return (int32_t)(WRAP(a, *, b)); }
#= static inline int64_t expression_sub_i64(int64_t a, int64_t b) { return (int64_t)(WRAP(a, -, b)); }
#= void expression(const void *const *in, void *const *out) {
#=     const int8_t *t0 = in[0];
#=     const int8_t *t1 = in[1];
#=     int32_t *t2 = out[0];
#=     (void)t0;
#=     (void)t1;
#=     for (int64_t i2 = 0; i2 < 2; i2++) {
#=         for (int64_t i3 = 0; i3 < 2; i3++) {
#=             if (expression_lt_i64(expression_add_i64(expression_mul_i64(i2, INT64_C(2)), i3), INT64_C(3))) {
#=                 t2[expression_add_i64(expression_mul_i64(i2, INT64_C(2)), i3)] = INT64_C(0);
#=             }
#=             for (int64_t i1 = 0; i1 < 2; i1++) {
#=                 if (expression_lt_i64(expression_add_i64(expression_mul_i64(i2, INT64_C(2)), i3), INT64_C(3))) {
#=                     t2[expression_add_i64(expression_mul_i64(i2, INT64_C(2)), i3)] = expression_add_i32(t2[expression_add_i64(expression_mul_i64(i2, INT64_C(2)), i3)], expression_mul_i32(((int32_t)(t0[expression_add_i64(expression_mul_i64(i2, INT64_C(2)), i3)*INT64_C(2) + i1])), ((int32_t)(((uint64_t)(expression_sub_i64(i1, INT64_C(1))) < 2 ? t1[expression_sub_i64(i1, INT64_C(1))] : INT64_C(3))))));
#=                 }
#=             }
#=         }
#=     }
#= }
