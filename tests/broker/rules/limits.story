# 10 cpu, 100 memory. Queue `small` may hold 2 cpu; `free` has no limit of its own.
config node
{"cmd":"configure","config":{"queues":[{"name":"queue_default","weight":1},{"name":"small","weight":1,"limit":{"cpu":2}},{"name":"free","weight":1}],"tasks":[{"name":"unknown","queue":"queue_default","default_duration_us":100},{"name":"small","queue":"small","default_duration_us":100},{"name":"free","queue":"free","default_duration_us":100}],"limit":{"cpu":10,"memory":100}}}
----
kept

# A queue at its own limit is skipped; the others go on.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"small","cpu":2}
{"cmd":"submit","client":"x","task":2,"type":"small","cpu":1}
{"cmd":"submit","client":"x","task":3,"type":"free","cpu":8}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"allocated","t":0,"client":"x","task":3,"cookie":null}

# A task above its queue's limit runs when it is alone in the queue, and while it runs nothing else of the queue does, not even what
# needs no cpu: 3 + 0 > 2.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"small","cpu":3}
{"cmd":"submit","client":"x","task":2,"type":"small","memory":1}
{"cmd":"finish","client":"x","task":1}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"allocated","t":0,"client":"x","task":2,"cookie":null}

# A task above the total limit waits until nothing runs on the node. What it needs is kept for it meanwhile, so it cannot starve: 3
# would fit, and waits.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"free","cpu":1}
{"cmd":"submit","client":"x","task":2,"type":"unknown","cpu":11}
{"cmd":"submit","client":"x","task":3,"type":"free","cpu":1}
{"cmd":"finish","client":"x","task":1}
{"cmd":"finish","client":"x","task":2}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"allocated","t":0,"client":"x","task":2,"cookie":null}
{"ev":"allocated","t":0,"client":"x","task":3,"cookie":null}

# Only the resources that the blocked task needs are kept: 2 waits for cpu, and 3, which needs memory alone, goes past it.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"free","cpu":9}
{"cmd":"submit","client":"x","task":2,"type":"unknown","cpu":2}
{"cmd":"submit","client":"x","task":3,"type":"free","memory":50}
{"cmd":"submit","client":"x","task":4,"type":"small","cpu":1}
{"cmd":"finish","client":"x","task":1}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"allocated","t":0,"client":"x","task":3,"cookie":null}
{"ev":"allocated","t":0,"client":"x","task":2,"cookie":null}
{"ev":"allocated","t":0,"client":"x","task":4,"cookie":null}

# A queue that was skipped is not looked at again in the same pass. When 5 finishes, `small` has consumed less and comes first: 2 fits
# the node (1 + 9) but not its queue, so it is skipped and keeps nothing. 3 is granted, after which 2 would no longer fit the node;
# 4 is granted all the same.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"small","cpu":1}
{"cmd":"submit","client":"x","task":2,"type":"small","cpu":9}
{"cmd":"submit","client":"x","task":5,"type":"free","cpu":9}
{"cmd":"advance","us":100}
{"cmd":"submit","client":"x","task":3,"type":"free","cpu":1}
{"cmd":"submit","client":"x","task":4,"type":"free","cpu":1}
{"cmd":"finish","client":"x","task":5}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"allocated","t":0,"client":"x","task":5,"cookie":null}
{"ev":"allocated","t":100,"client":"x","task":3,"cookie":null}
{"ev":"allocated","t":100,"client":"x","task":4,"cookie":null}

# A task that needs nothing always fits, but for a queue or a node that holds more than its limit.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"free","cpu":10,"memory":100}
{"cmd":"submit","client":"x","task":2,"type":"free"}
{"cmd":"update","client":"x","task":1,"type":"free","cpu":11,"memory":100}
{"cmd":"submit","client":"x","task":3,"type":"free"}
{"cmd":"update","client":"x","task":1,"type":"free","cpu":10,"memory":100}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"allocated","t":0,"client":"x","task":2,"cookie":null}
{"ev":"allocated","t":0,"client":"x","task":3,"cookie":null}

# A limit that is not given is unlimited, and sums do not wrap: two tasks of 2^64 - 1 do not fit together. A third resource has its
# column.
trace
{"cmd":"configure","config":{"queues":[{"name":"queue_default","limit":{"disk":5}}],"tasks":[{"name":"unknown","queue":"queue_default"}]}}
{"cmd":"submit","client":"x","task":1,"type":"unknown","cpu":18446744073709551615,"disk":3}
{"cmd":"submit","client":"x","task":2,"type":"unknown","cpu":18446744073709551615,"disk":1}
{"cmd":"update","client":"x","task":1,"type":"unknown","cpu":18446744073709551614,"disk":3}
{"cmd":"update","client":"x","task":2,"type":"unknown","cpu":1,"disk":1}
{"cmd":"update","client":"x","task":2,"type":"unknown","cpu":18446744073709551615,"disk":1}
{"cmd":"stats"}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"allocated","t":0,"client":"x","task":2,"cookie":null}
{"ev":"stats","t":0,"missing_task_type":0,"queue":{"total":{"cpu":36893488147419103229,"memory":0,"disk":4,"finished":0,"enqueued":0,"infly":2},"queue_default":{"cpu":36893488147419103229,"memory":0,"disk":4,"finished":0,"enqueued":0,"infly":2}},"task":{"unknown":{"cpu":36893488147419103229,"memory":0,"disk":4,"finished":0,"enqueued":0,"infly":2}}}

