# One cpu, and tasks that need all of it, so that one runs at a time. `a` weighs 2, `b` 1.
config node
{"cmd":"configure","config":{"queues":[{"name":"queue_default","weight":1},{"name":"a","weight":2},{"name":"b","weight":1}],"tasks":[{"name":"unknown","queue":"queue_default","default_duration_us":100},{"name":"a","queue":"a","default_duration_us":100},{"name":"b","queue":"b","default_duration_us":100}],"limit":{"cpu":1}}}
----
kept

# With runs of 100 as planned, `a` is charged 50 a run and `b` 100. a1 runs from 0 (a: 50); b waits at 0, so b4 is next (b: 100);
# then a2 (a: 100). At 100 each the larger weight goes first: a3 (a: 150), and then b5.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"a","cpu":1}
{"cmd":"submit","client":"x","task":2,"type":"a","cpu":1}
{"cmd":"submit","client":"x","task":3,"type":"a","cpu":1}
{"cmd":"submit","client":"x","task":4,"type":"b","cpu":1}
{"cmd":"submit","client":"x","task":5,"type":"b","cpu":1}
{"cmd":"advance","us":100}
{"cmd":"finish","client":"x","task":1}
{"cmd":"advance","us":100}
{"cmd":"finish","client":"x","task":4}
{"cmd":"advance","us":100}
{"cmd":"finish","client":"x","task":2}
{"cmd":"advance","us":100}
{"cmd":"finish","client":"x","task":3}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"allocated","t":100,"client":"x","task":4,"cookie":null}
{"ev":"allocated","t":200,"client":"x","task":2,"cookie":null}
{"ev":"allocated","t":300,"client":"x","task":3,"cookie":null}
{"ev":"allocated","t":400,"client":"x","task":5,"cookie":null}

# An overrun is charged as time passes: b's task was planned for 100 and took 1000, so `a` (planned 50 a run) has many turns.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"b","cpu":1}
{"cmd":"submit","client":"x","task":2,"type":"b","cpu":1}
{"cmd":"submit","client":"x","task":3,"type":"a","cpu":1}
{"cmd":"submit","client":"x","task":4,"type":"a","cpu":1}
{"cmd":"advance","us":1000}
{"cmd":"finish","client":"x","task":1}
{"cmd":"advance","us":100}
{"cmd":"finish","client":"x","task":3}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"allocated","t":1000,"client":"x","task":3,"cookie":null}
{"ev":"allocated","t":1100,"client":"x","task":4,"cookie":null}

# A run that ends early gives back what was planned: b1 was planned 100 and took 1, so `b` has consumed 1 and `a` 0 when both wait;
# after a2, charged 50, it is b's turn again.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"b","cpu":1}
{"cmd":"submit","client":"x","task":4,"type":"b","cpu":1}
{"cmd":"submit","client":"x","task":2,"type":"a","cpu":1}
{"cmd":"submit","client":"x","task":3,"type":"a","cpu":1}
{"cmd":"advance","us":1}
{"cmd":"finish","client":"x","task":1}
{"cmd":"advance","us":100}
{"cmd":"finish","client":"x","task":2}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"allocated","t":1,"client":"x","task":2,"cookie":null}
{"ev":"allocated","t":101,"client":"x","task":4,"cookie":null}

# Activation: idleness saves nothing up. `a` ran for 10000 and stands at 5000 when b's first task comes, and `b` is lifted to that,
# since a's tasks wait. At 5000 each the larger weight goes first (a2, 50 more in 100), then b4 (100 more), then a3. Without the lift
# `b` would have had every turn up to 5000.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"a","cpu":1}
{"cmd":"submit","client":"x","task":2,"type":"a","cpu":1}
{"cmd":"submit","client":"x","task":3,"type":"a","cpu":1}
{"cmd":"advance","us":10000}
{"cmd":"submit","client":"x","task":4,"type":"b","cpu":1}
{"cmd":"submit","client":"x","task":5,"type":"b","cpu":1}
{"cmd":"finish","client":"x","task":1}
{"cmd":"advance","us":100}
{"cmd":"finish","client":"x","task":2}
{"cmd":"advance","us":100}
{"cmd":"finish","client":"x","task":4}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"allocated","t":10000,"client":"x","task":2,"cookie":null}
{"ev":"allocated","t":10100,"client":"x","task":4,"cookie":null}
{"ev":"allocated","t":10200,"client":"x","task":3,"cookie":null}

# Equal consumption and equal weight: the queue that stands earlier in the config, whatever came first.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"a","cpu":1}
{"cmd":"submit","client":"x","task":2,"type":"b","cpu":1}
{"cmd":"submit","client":"x","task":3,"type":"unknown","cpu":1}
{"cmd":"finish","client":"x","task":1}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"allocated","t":0,"client":"x","task":3,"cookie":null}

# Ten cpu, so that many run at once and the plan alone decides: a task of one cpu is charged a tenth of its planned time.
config large
{"cmd":"configure","config":{"queues":[{"name":"queue_default","weight":1},{"name":"a","weight":2},{"name":"b","weight":1}],"tasks":[{"name":"unknown","queue":"queue_default","default_duration_us":100},{"name":"a","queue":"a","default_duration_us":100},{"name":"b","queue":"b","default_duration_us":100}],"limit":{"cpu":10}}}
----
kept

# The planned time is the mean of the type's last 20 runs, the window filled with the default: after one run of 2100 the mean of b is
# (19 * 100 + 2100) / 20 = 200, so a grant costs 20, and one of `unknown` 10. Both start at 210: u 220, b 230, u 230, u 240 (tied with
# b, and earlier in the config), b 250, u 250.
trace
= large
{"cmd":"submit","client":"x","task":1,"type":"b","cpu":1}
{"cmd":"advance","us":2100}
{"cmd":"finish","client":"x","task":1}
{"cmd":"submit","client":"x","task":9,"type":"a","cpu":10}
{"cmd":"submit","client":"x","task":11,"type":"b","cpu":1}
{"cmd":"submit","client":"x","task":12,"type":"b","cpu":1}
{"cmd":"submit","client":"x","task":21,"type":"unknown","cpu":1}
{"cmd":"submit","client":"x","task":22,"type":"unknown","cpu":1}
{"cmd":"submit","client":"x","task":23,"type":"unknown","cpu":1}
{"cmd":"submit","client":"x","task":24,"type":"unknown","cpu":1}
{"cmd":"finish","client":"x","task":9}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"allocated","t":2100,"client":"x","task":9,"cookie":null}
{"ev":"allocated","t":2100,"client":"x","task":21,"cookie":null}
{"ev":"allocated","t":2100,"client":"x","task":11,"cookie":null}
{"ev":"allocated","t":2100,"client":"x","task":22,"cookie":null}
{"ev":"allocated","t":2100,"client":"x","task":23,"cookie":null}
{"ev":"allocated","t":2100,"client":"x","task":12,"cookie":null}
{"ev":"allocated","t":2100,"client":"x","task":24,"cookie":null}

# A cancelled run is not recorded: a grant costs 10 in both, and they alternate.
trace
= large
{"cmd":"submit","client":"x","task":1,"type":"b","cpu":1}
{"cmd":"advance","us":2100}
{"cmd":"finish","client":"x","task":1,"cancel":true}
{"cmd":"submit","client":"x","task":9,"type":"a","cpu":10}
{"cmd":"submit","client":"x","task":11,"type":"b","cpu":1}
{"cmd":"submit","client":"x","task":12,"type":"b","cpu":1}
{"cmd":"submit","client":"x","task":21,"type":"unknown","cpu":1}
{"cmd":"submit","client":"x","task":22,"type":"unknown","cpu":1}
{"cmd":"submit","client":"x","task":23,"type":"unknown","cpu":1}
{"cmd":"submit","client":"x","task":24,"type":"unknown","cpu":1}
{"cmd":"finish","client":"x","task":9}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"allocated","t":2100,"client":"x","task":9,"cookie":null}
{"ev":"allocated","t":2100,"client":"x","task":21,"cookie":null}
{"ev":"allocated","t":2100,"client":"x","task":11,"cookie":null}
{"ev":"allocated","t":2100,"client":"x","task":22,"cookie":null}
{"ev":"allocated","t":2100,"client":"x","task":12,"cookie":null}
{"ev":"allocated","t":2100,"client":"x","task":23,"cookie":null}
{"ev":"allocated","t":2100,"client":"x","task":24,"cookie":null}

