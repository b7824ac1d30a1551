# Whole numbers of bytes, plain or with a suffix; a fraction is fine if it comes out whole.
bytes
0
4096
512Ki
10M
1.5Ki
64Mi
1024Mi
16383Pi
1e6
18446744073709551615
----
0:           0
4096:        4096
512Ki:       524288
10M:         10000000
1.5Ki:       1536
64Mi:        64Mi
1024Mi:      1Gi
16383Pi:     16383Pi
1e6:         1000000
18446744073709551615: 18446744073709551615

# What is not one.
bytes
18446744073709551616
16Ei
1.5
0.1Ki
500m
64m
-1
-0
1e-3
64MB
12 Ki
big

----
18446744073709551616: "18446744073709551616" is too large: at most 18446744073709551615 (2^64 - 1) (invalid)
16Ei:        "16Ei" is too large: at most 18446744073709551615 (2^64 - 1) (invalid)
1.5:         "1.5" is not a whole number of bytes (invalid)
0.1Ki:       "0.1Ki" is not a whole number of bytes (invalid)
500m:        "500m" has the unknown suffix "m": did you mean 500M? (invalid)
64m:         "64m" has the unknown suffix "m": did you mean 64M? (invalid)
-1:          "-1" is negative: write 0 or more (invalid)
-0:          "-0" is negative: write 0 or more (invalid)
1e-3:        "1e-3" is not a whole number of bytes (invalid)
64MB:        "64MB" has the unknown suffix "MB": did you mean 64M? (invalid)
12 Ki:       "12 Ki" has the unknown suffix " Ki": did you mean 12Ki? (invalid)
big:         "big" is not a number of bytes: write a number, for example 4096, 512Ki or 10M (invalid)
:            "" is empty: write a number, for example 4096, 512Ki or 10M (invalid)
