# One small node for all stories of this file: 4 cpu, 100 memory. Queue `a` and `b` have equal weights, `queue_default` a tenth.
config node
{"cmd":"configure","config":{"queues":[{"name":"queue_default","weight":1},{"name":"a","weight":10},{"name":"b","weight":10}],"tasks":[{"name":"unknown","queue":"queue_default","default_duration_us":100},{"name":"a","queue":"a","default_duration_us":100},{"name":"b","queue":"b","default_duration_us":100}],"limit":{"cpu":4,"memory":100}}}
----
kept

# What fits is granted at once; what does not, waits, and is granted when something finishes.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"a","cpu":3,"cookie":"first"}
{"cmd":"submit","client":"x","task":2,"type":"a","cpu":2,"cookie":"second"}
{"cmd":"advance","us":50}
{"cmd":"finish","client":"x","task":1}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":"first"}
{"ev":"allocated","t":50,"client":"x","task":2,"cookie":"second"}

# The passing of time alone grants nothing, and a failed operation runs no pass: only the finish at the end does.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"a","cpu":4}
{"cmd":"submit","client":"x","task":2,"type":"a","cpu":4}
{"cmd":"advance","us":1000000}
{"cmd":"finish","client":"x","task":3}
{"cmd":"update_cookie","client":"x","task":2,"cookie":7}
{"cmd":"finish","client":"x","task":1}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"error","t":1000000,"client":"x","task":3,"code":"UNKNOWN_TASK","message":"the client has no task of this id","cookie":null}
{"ev":"allocated","t":1000000,"client":"x","task":2,"cookie":7}

# Order in a queue: priority ascending, then submit time, then order of creation. 5 is most urgent; 3 and 4 came later than 2.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"a","cpu":4}
{"cmd":"submit","client":"x","task":2,"type":"a","cpu":1,"priority":7}
{"cmd":"advance","us":10}
{"cmd":"submit","client":"x","task":4,"type":"a","cpu":1,"priority":7}
{"cmd":"submit","client":"x","task":3,"type":"a","cpu":1,"priority":7}
{"cmd":"submit","client":"x","task":5,"type":"a","cpu":1,"priority":2}
{"cmd":"finish","client":"x","task":1}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"allocated","t":10,"client":"x","task":5,"cookie":null}
{"ev":"allocated","t":10,"client":"x","task":2,"cookie":null}
{"ev":"allocated","t":10,"client":"x","task":4,"cookie":null}
{"ev":"allocated","t":10,"client":"x","task":3,"cookie":null}

# An updated task keeps its submit time: 2 comes back to priority 0 in front of 3, which was submitted later.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"a","cpu":4}
{"cmd":"submit","client":"x","task":2,"type":"a","cpu":4,"priority":5}
{"cmd":"advance","us":10}
{"cmd":"submit","client":"x","task":3,"type":"a","cpu":4}
{"cmd":"update","client":"x","task":2,"type":"a","cpu":4}
{"cmd":"finish","client":"x","task":1}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"allocated","t":10,"client":"x","task":2,"cookie":null}

# The first task of a queue stands in the way of those behind it, even if they would fit.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"a","cpu":2}
{"cmd":"submit","client":"x","task":2,"type":"a","cpu":3}
{"cmd":"submit","client":"x","task":3,"type":"a","cpu":1}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}

# A type that the config does not know goes to the queue of `unknown`, and is counted once as missing.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"nosuch","cpu":1}
{"cmd":"update","client":"x","task":1,"type":"neither","cpu":2}
{"cmd":"submit","client":"x","task":1,"type":"nosuch","cpu":1}
{"cmd":"stats"}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"error","t":0,"client":"x","task":1,"code":"ALREADY_EXISTS","message":"the client has a task of this id; finish or remove it first, or take another id","cookie":null}
{"ev":"stats","t":0,"missing_task_type":1,"queue":{"total":{"cpu":2,"memory":0,"finished":0,"enqueued":0,"infly":1},"queue_default":{"cpu":2,"memory":0,"finished":0,"enqueued":0,"infly":1},"a":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0},"b":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0}},"task":{"unknown":{"cpu":2,"memory":0,"finished":0,"enqueued":0,"infly":1},"a":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0},"b":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0}}}

# Id 0: one counter from 1 for all clients, skipping ids that this client uses. y gets 2 although x has a 2.
trace
= node
{"cmd":"submit","client":"x","task":2,"type":"a"}
{"cmd":"submit","client":"x","task":0,"type":"a"}
{"cmd":"submit","client":"y","type":"a"}
{"cmd":"submit","client":"y","task":3,"type":"a"}
{"cmd":"submit","client":"y","task":0,"type":"a"}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":2,"cookie":null}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"allocated","t":0,"client":"y","task":2,"cookie":null}
{"ev":"allocated","t":0,"client":"y","task":3,"cookie":null}
{"ev":"allocated","t":0,"client":"y","task":4,"cookie":null}

