# Each unit, alone and together. The answer is the canonical form.
duration
0
0s
-0
1d
2h
3m
4s
5ms
6us
7ns
1d2h3m4s5ms6us7ns
90m
3600s
1500ms
-1h30m
----
0:           0s
0s:          0s
-0:          0s
1d:          1d
2h:          2h
3m:          3m
4s:          4s
5ms:         5ms
6us:         6us
7ns:         7ns
1d2h3m4s5ms6us7ns: 1d2h3m4s5ms6us7ns
90m:         1h30m
3600s:       1h
1500ms:      1s500ms
-1h30m:      -1h30m

# A fraction belongs to the last number, and must come out whole in nanoseconds. 2^-16 of a day is the finest of them.
duration
1.5s
1h0.5m
0.000000001s
0.0000152587890625d
1.50000000000000000000s
0.0000000001s
0.00000762939453125d
1.5h30m
1.5ns
----
1.5s:        1s500ms
1h0.5m:      1h30s
0.000000001s: 1ns
0.0000152587890625d: 1s318ms359us375ns
1.50000000000000000000s: 1s500ms
0.0000000001s: "0.0000000001s" is finer than a nanosecond: leave out some decimals (invalid)
0.00000762939453125d: "0.00000762939453125d" is finer than a nanosecond: leave out some decimals (invalid)
1.5h30m:     "1.5h30m" has a fraction before its last part: only the last number may have one (invalid)
1.5ns:       "1.5ns" is finer than a nanosecond: leave out some decimals (invalid)

# The ends of the range.
duration
106751d23h47m16s854ms775us807ns
-106751d23h47m16s854ms775us808ns
106751d23h47m16s854ms775us808ns
-106751d23h47m16s854ms775us809ns
106752d
99999999999999999999999999d
18446744073709551616ns
----
106751d23h47m16s854ms775us807ns: 106751d23h47m16s854ms775us807ns
-106751d23h47m16s854ms775us808ns: -106751d23h47m16s854ms775us808ns
106751d23h47m16s854ms775us808ns: "106751d23h47m16s854ms775us808ns" is too long: at most 106751d23h47m16s854ms775us807ns (invalid)
-106751d23h47m16s854ms775us809ns: "-106751d23h47m16s854ms775us809ns" is too far back: at least -106751d23h47m16s854ms775us808ns (invalid)
106752d:     "106752d" is too long: at most 106751d23h47m16s854ms775us807ns (invalid)
99999999999999999999999999d: "99999999999999999999999999d" is too long: at most 106751d23h47m16s854ms775us807ns (invalid)
18446744073709551616ns: "18446744073709551616ns" is too long: at most 106751d23h47m16s854ms775us807ns (invalid)

# Without a unit, with one that is not known, or with too many.
duration
15
15.5
1h30
5min
5 min
5mins
5S
2hours
3µs
3secnds
1w
1s2s
5s1m
1m1h
1h 30m
----
15:          "15" has no unit: add a unit, for example 15s (invalid)
15.5:        "15.5" has no unit: add a unit, for example 15.5s (invalid)
1h30:        "1h30" has a number without a unit: add d, h, m, s, ms, us or ns after each (invalid)
5min:        "5min" has the unknown unit "min": did you mean "m"? (invalid)
5 min:       "5 min" has a space inside: write it without, for example 1h30m (invalid)
5mins:       "5mins" has the unknown unit "mins": did you mean "m"? (invalid)
5S:          "5S" has the unknown unit "S": did you mean "s"? (invalid)
2hours:      "2hours" has the unknown unit "hours": did you mean "h"? (invalid)
3µs:         "3µs" has the unknown unit "µs": did you mean "us"? (invalid)
3secnds:     "3secnds" has the unknown unit "secnds": did you mean "s"? (invalid)
1w:          "1w" has the unknown unit "w": units are d, h, m, s, ms, us and ns (invalid)
1s2s:        "1s2s" has the unit s twice: write each unit once (invalid)
5s1m:        "5s1m" has m after s: write units from the largest to the smallest (invalid)
1m1h:        "1m1h" has h after m: write units from the largest to the smallest (invalid)
1h 30m:      "1h 30m" has a space inside: write it without, for example 1h30m (invalid)

# Not durations at all.
duration

-
.
.5s
1.s
1.
+5s
--5s
1h-5m
s
1e3s
nan
inf
0x10s
abc
----
:            "" is empty: write a number and a unit, for example 15s or 1h30m (invalid)
-:           "-" is not a duration: write a number and a unit, for example 15s or 1h30m (invalid)
.:           "." has a point without a digit before it: write 0.5s (invalid)
.5s:         ".5s" has a point without a digit before it: write 0.5s (invalid)
1.s:         "1.s" has a point without digits after it: write 1.5s, or leave the point out (invalid)
1.:          "1." has a point without digits after it: write 1.5s, or leave the point out (invalid)
+5s:         "+5s" has a '+': leave it out (invalid)
--5s:        "--5s" is not a duration: write a number and a unit, for example 15s or 1h30m (invalid)
1h-5m:       "1h-5m" has a '-' inside: only the whole duration has a sign, in front (invalid)
s:           "s" is not a duration: write a number and a unit, for example 15s or 1h30m (invalid)
1e3s:        "1e3s" has the unknown unit "e": units are d, h, m, s, ms, us and ns (invalid)
nan:         "nan" is not a duration: write a number and a unit, for example 15s or 1h30m (invalid)
inf:         "inf" is not a duration: write a number and a unit, for example 15s or 1h30m (invalid)
0x10s:       "0x10s" has the unknown unit "x": units are d, h, m, s, ms, us and ns (invalid)
abc:         "abc" is not a duration: write a number and a unit, for example 15s or 1h30m (invalid)
