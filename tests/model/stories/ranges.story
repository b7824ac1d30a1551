# Names count up; zones are dealt in turn, the leftmost bracket turning fastest.
expand
nodes:
  - {name: "w[1-4]", zone: "dc[1-3]"}
  - {name: "x[1-7]", zone: "a[1-2]/r[1-3]"}
  - {name: "p[08-11]"}
  - {name: "r[1-2]n[1-2]", zone: z}
----
w1 dc1
w2 dc2
w3 dc3
w4 dc1
x1 a1/r1
x2 a2/r1
x3 a1/r2
x4 a2/r2
x5 a1/r3
x6 a2/r3
x7 a1/r1
p08 -
p09 -
p10 -
p11 -
r1n1 z
r1n2 z
r2n1 z
r2n2 z

# Runs that a range can say are written as one; others stay apart.
parse
nodes:
  - {name: w1, zone: dc1}
  - {name: w2, zone: dc2}
  - {name: w3, zone: dc1}
  - {name: w4, zone: dc2}
  - {name: w5, zone: dc1, cores: 4}
  - {name: w6, zone: dc1, cores: 4}
  - {name: p08}
  - {name: p09}
  - {name: p10}
  - {name: p11}
  - {name: q9}
  - {name: q10}
  - {name: q11}
----
cluster: default
nodes:
  - {name: "w[1-4]", zone: "dc[1-2]"}
  - {name: w5, zone: dc1, cores: 4}
  - {name: w6, zone: dc1, cores: 4}
  - {name: "p[08-11]"}
  - {name: "q[9-11]"}

parse
nodes: [{name: "w[1-1000]", zone: "dc[1-3]/r[1-40]", capacity: {cpu: 32}}]
----
cluster: default
nodes:
  - {name: "w[1-1000]", zone: "dc[1-3]/r[1-40]", capacity: {cpu: 32}}

# What is no range is said, with what to do.
parse
nodes:
  - {name: "w[1-"}
  - {name: "w1]"}
  - {name: "w[3-1]"}
  - {name: "w[a-b]"}
  - {name: "w[01-100]"}
  - {name: "w[1-4000000000]"}
  - {name: "w[1-1000000]x[1-1000000]"}
  - {name: n, zone: "dc[1-3]"}
  - {name: "w[1-99999999999999999999]"}
----
c.yaml:2:12: error: "w[1-" is not a range: a bracket is not closed; write for example w[1-100]
c.yaml:3:12: error: "w1]" is not a range: a bracket is not opened; write for example w[1-100]
c.yaml:4:12: error: "w[3-1]" is not a range: the first number is larger than the second; write for example w[1-100]
c.yaml:5:12: error: "w[a-b]" is not a range: brackets hold two numbers of at most 15 digits with a dash between; write for example w[1-100]
c.yaml:6:12: error: "w[01-100]" is not a range: with leading zeros both numbers have the same number of digits; write for example w[1-100]
c.yaml:7:12: error: "w[1-4000000000]" stands for more than 1048576 names
c.yaml:8:12: error: "w[1-1000000]x[1-1000000]" stands for more than 1048576 names
c.yaml:9:21: error: a range of zones for a single node
  give the node a range too, or one zone
c.yaml:10:12: error: "w[1-99999999999999999999]" is not a range: brackets hold two numbers of at most 15 digits with a dash between; write for example w[1-100]

# Names given twice are found after expanding.
parse
nodes:
  - {name: "w[1-5]"}
  - {name: w3}
----
c.yaml:3:12: error: node "w3" is named twice
  rename one
