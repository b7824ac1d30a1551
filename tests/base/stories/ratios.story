# A share, as a percentage or as a number; always written as a percentage.
ratio
80%
0.8
12.5%
0
0%
1
100%
0.0001%
0.000001
33.3333%
1000
100000%
1e-1
----
80%:         80%
0.8:         80%
12.5%:       12.5%
0:           0%
0%:          0%
1:           100%
100%:        100%
0.0001%:     0.0001%
0.000001:    0.0001%
33.3333%:    33.3333%
1000:        100000%
100000%:     100000%
1e-1:        10%

# What is not one.
ratio
-1%
33.33333%
0.0000001
1000.000001
100001%
80 %
80%%
80k
0.5m
1e1%
half

%
----
-1%:         "-1%" is negative: write 0 or more (invalid)
33.33333%:   "33.33333%" is finer than a millionth: write at most four decimals of a percent (invalid)
0.0000001:   "0.0000001" is finer than a millionth: write at most four decimals of a percent (invalid)
1000.000001: "1000.000001" is too large: at most 1000 (100000%) (invalid)
100001%:     "100001%" is too large: at most 1000 (100000%) (invalid)
80 %:        "80 %" has the unknown suffix " %": did you mean 80%? (invalid)
80%%:        "80%%" has the unknown suffix "%%": use %, or none (invalid)
80k:         "80k" has the unknown suffix "k": use %, or none (invalid)
0.5m:        "0.5m" has the unknown suffix "m": use %, or none (invalid)
1e1%:        "1e1%" has both an exponent and the suffix %: write one of them (invalid)
half:        "half" is not a ratio: write a number, for example 80% or 0.8 (invalid)
:            "" is empty: write a number, for example 80% or 0.8 (invalid)
%:           "%" is not a ratio: write a number, for example 80% or 0.8 (invalid)
