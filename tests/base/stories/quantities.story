# Plain numbers, and what is written for them.
quantity
0
-0
1
007
0.5
0.50
-2.25
9223372036854775807
-9223372036854775807
----
0:           0
-0:          0
1:           1
007:         7
0.5:         0.5
0.50:        0.5
-2.25:       -2.25
9223372036854775807: 9223372036854775807
-9223372036854775807: -9223372036854775807

# Suffixes: m, powers of 1000, powers of 1024. Whole multiples of 1Mi come back with a binary suffix.
quantity
500m
1500m
1k
1.5k
1M
2G
3T
4P
5E
1Ki
1024Ki
64Gi
1.5Gi
65536Mi
7Ei
0.1Ki
1048576
----
500m:        0.5
1500m:       1.5
1k:          1000
1.5k:        1500
1M:          1000000
2G:          2000000000
3T:          3000000000000
4P:          4000000000000000
5E:          5000000000000000000
1Ki:         1024
1024Ki:      1Mi
64Gi:        64Gi
1.5Gi:       1536Mi
65536Mi:     64Gi
7Ei:         7Ei
0.1Ki:       102.4
1048576:     1Mi

# Exponents. E with digits behind is one, E alone is a suffix.
quantity
2e3
2E3
2e+3
1e-9
5e-10
0e400
1E
1e18
123456789e-9
0.000000000000000001e18
----
2e3:         2000
2E3:         2000
2e+3:        2000
1e-9:        0.000000001
5e-10:       "5e-10" is too small: the smallest step is 0.000000001 (invalid)
0e400:       0
1E:          1000000000000000000
1e18:        1000000000000000000
123456789e-9: 0.123456789
0.000000000000000001e18: 1

# Nine decimals, rounded to nearest, ties to even.
quantity
0.1234567894
0.1234567895
0.1234567885
0.12345678850000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001
0.0000000005
0.00000000050001
1.9999999999
1e-6m
----
0.1234567894: 0.123456789
0.1234567895: 0.12345679
0.1234567885: 0.123456788
0.12345678850000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001: 0.123456789
0.0000000005: "0.0000000005" is too small: the smallest step is 0.000000001 (invalid)
0.00000000050001: 0.000000001
1.9999999999: 2
1e-6m:       "1e-6m" has both an exponent and the suffix m: write one of them (invalid)

# Too large or too small to keep.
quantity
9223372036854775808
9223372036854775807.9999999999
8Ei
1e19
1e400
1e99999999999999999999999999
0.0000000001
1e-400
1e-99999999999999999999999999
1m0
----
9223372036854775808: "9223372036854775808" is too large: at most 9223372036854775807 (2^63 - 1) (invalid)
9223372036854775807.9999999999: "9223372036854775807.9999999999" is too large: at most 9223372036854775807 (2^63 - 1) (invalid)
8Ei:         "8Ei" is too large: at most 9223372036854775807 (2^63 - 1) (invalid)
1e19:        "1e19" is too large: at most 9223372036854775807 (2^63 - 1) (invalid)
1e400:       "1e400" is too large: at most 9223372036854775807 (2^63 - 1) (invalid)
1e99999999999999999999999999: "1e99999999999999999999999999" is too large: at most 9223372036854775807 (2^63 - 1) (invalid)
0.0000000001: "0.0000000001" is too small: the smallest step is 0.000000001 (invalid)
1e-400:      "1e-400" is too small: the smallest step is 0.000000001 (invalid)
1e-99999999999999999999999999: "1e-99999999999999999999999999" is too small: the smallest step is 0.000000001 (invalid)
1m0:         "1m0" has the unknown suffix "m0": use m k M G T P E Ki Mi Gi Ti Pi Ei, or none (invalid)

# Near misses get a hint.
quantity
64GiB
64 Gi
64gi
64GB
64 GB
64mb
1K
1kb
1g
64B
-3gib
----
64GiB:       "64GiB" has the unknown suffix "GiB": did you mean 64Gi? (invalid)
64 Gi:       "64 Gi" has the unknown suffix " Gi": did you mean 64Gi? (invalid)
64gi:        "64gi" has the unknown suffix "gi": did you mean 64Gi? (invalid)
64GB:        "64GB" has the unknown suffix "GB": did you mean 64G? (invalid)
64 GB:       "64 GB" has the unknown suffix " GB": did you mean 64G? (invalid)
64mb:        "64mb" has the unknown suffix "mb": did you mean 64M? (invalid)
1K:          "1K" has the unknown suffix "K": did you mean 1k? (invalid)
1kb:         "1kb" has the unknown suffix "kb": did you mean 1k? (invalid)
1g:          "1g" has the unknown suffix "g": did you mean 1G? (invalid)
64B:         "64B" has the unknown suffix "B": did you mean 64? (invalid)
-3gib:       "-3gib" has the unknown suffix "gib": did you mean -3Gi? (invalid)

# Not quantities at all, each with what to do about it.
quantity

-
.
1.
.5
-.5
+5
0x10
nan
inf
-inf
infinity
1e
1e+
1E-
1e3k
1e3 k
1.2.3
1,5
1_000
1 000
five
12parsecs
----
:            "" is empty: write a number, for example 0.5, 500m or 64Gi (invalid)
-:           "-" is not a quantity: write a number, for example 0.5, 500m or 64Gi (invalid)
.:           "." has a point without a digit before it: write 0.5 (invalid)
1.:          "1." has a point without digits after it: write 1.5, or leave the point out (invalid)
.5:          ".5" has a point without a digit before it: write 0.5 (invalid)
-.5:         "-.5" has a point without a digit before it: write 0.5 (invalid)
+5:          "+5" has a '+': leave it out (invalid)
0x10:        "0x10" has the unknown suffix "x10": use m k M G T P E Ki Mi Gi Ti Pi Ei, or none (invalid)
nan:         "nan" is not a quantity: write a number, for example 0.5, 500m or 64Gi (invalid)
inf:         "inf" is not a quantity: write a number, for example 0.5, 500m or 64Gi (invalid)
-inf:        "-inf" is not a quantity: write a number, for example 0.5, 500m or 64Gi (invalid)
infinity:    "infinity" is not a quantity: write a number, for example 0.5, 500m or 64Gi (invalid)
1e:          "1e" has an exponent without digits: write 2e3, or E for 10^18 (invalid)
1e+:         "1e+" has an exponent without digits: write 2e3, or E for 10^18 (invalid)
1E-:         "1E-" has an exponent without digits: write 2e3, or E for 10^18 (invalid)
1e3k:        "1e3k" has both an exponent and the suffix k: write one of them (invalid)
1e3 k:       "1e3 k" has " k" after its exponent: leave it out (invalid)
1.2.3:       "1.2.3" has the unknown suffix ".3": use m k M G T P E Ki Mi Gi Ti Pi Ei, or none (invalid)
1,5:         "1,5" has the unknown suffix ",5": use m k M G T P E Ki Mi Gi Ti Pi Ei, or none (invalid)
1_000:       "1_000" has the unknown suffix "_000": use m k M G T P E Ki Mi Gi Ti Pi Ei, or none (invalid)
1 000:       "1 000" has the unknown suffix " 000": use m k M G T P E Ki Mi Gi Ti Pi Ei, or none (invalid)
five:        "five" is not a quantity: write a number, for example 0.5, 500m or 64Gi (invalid)
12parsecs:   "12parsecs" has the unknown suffix "parsecs": use m k M G T P E Ki Mi Gi Ti Pi Ei, or none (invalid)
