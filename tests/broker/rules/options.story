# Departures from the rules, each off unless asked for. 4 cpu; queue `small` may hold 2.
config node
{"cmd":"configure","config":{"queues":[{"name":"queue_default","weight":1},{"name":"small","weight":2,"limit":{"cpu":2}}],"tasks":[{"name":"unknown","queue":"queue_default","default_duration_us":100},{"name":"small","queue":"small"}],"limit":{"cpu":4}}}
----
kept

# By the rules small's second task does not fit the node and blocks cpu, though its own queue's limit holds it anyway: 3 waits.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"small","cpu":2}
{"cmd":"submit","client":"x","task":2,"type":"small","cpu":3}
{"cmd":"submit","client":"x","task":3,"type":"unknown","cpu":2}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}

# With queue_limit_first it keeps nothing back.
trace queue_limit_first
= node
{"cmd":"submit","client":"x","task":1,"type":"small","cpu":2}
{"cmd":"submit","client":"x","task":2,"type":"small","cpu":3}
{"cmd":"submit","client":"x","task":3,"type":"unknown","cpu":2}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"allocated","t":0,"client":"x","task":3,"cookie":null}

# Tasks that could only run alone are refused, and nothing of them stays: no id is spent, no missing type counted.
trace refuse_oversized
= node
{"cmd":"submit","client":"x","task":1,"type":"small","cpu":3,"cookie":"c"}
{"cmd":"submit","client":"x","task":2,"type":"unknown","cpu":4}
{"cmd":"submit","client":"x","task":3,"type":"nosuch","cpu":5}
{"cmd":"submit","client":"x","task":4,"type":"unknown","cpu":1,"cookie":"four"}
{"cmd":"update","client":"x","task":4,"type":"unknown","cpu":5}
{"cmd":"update","client":"x","task":2,"type":"unknown","cpu":5}
{"cmd":"submit_instant","client":"x","task":0,"type":"unknown","cpu":5}
{"cmd":"stats"}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"error","t":0,"client":"x","task":1,"code":"OVERSIZED","message":"the task needs more than a limit allows, and this broker refuses such tasks; ask for less","cookie":"c"}
{"ev":"allocated","t":0,"client":"x","task":2,"cookie":null}
{"ev":"error","t":0,"client":"x","task":3,"code":"OVERSIZED","message":"the task needs more than a limit allows, and this broker refuses such tasks; ask for less","cookie":null}
{"ev":"error","t":0,"client":"x","task":4,"code":"OVERSIZED","message":"the task needs more than a limit allows, and this broker refuses such tasks; ask for less","cookie":"four"}
{"ev":"result","t":0,"op":"submit_instant","client":"x","task":0,"ok":false}
{"ev":"stats","t":0,"missing_task_type":0,"queue":{"total":{"cpu":5,"memory":0,"finished":0,"enqueued":1,"infly":1},"queue_default":{"cpu":5,"memory":0,"finished":0,"enqueued":1,"infly":1},"small":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0}},"task":{"unknown":{"cpu":5,"memory":0,"finished":0,"enqueued":1,"infly":1},"small":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0}}}

# At most one task waits in a queue.
trace waiting_max=1
= node
{"cmd":"submit","client":"x","task":1,"type":"small","cpu":2}
{"cmd":"submit","client":"x","task":2,"type":"small","cpu":2,"cookie":"two"}
{"cmd":"submit","client":"x","task":3,"type":"small","cpu":2,"cookie":"three"}
{"cmd":"submit","client":"x","task":4,"type":"unknown","cpu":2}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"error","t":0,"client":"x","task":3,"code":"QUEUE_FULL","message":"as many tasks wait in the queue as this broker allows; try again when some were granted","cookie":"three"}
{"ev":"allocated","t":0,"client":"x","task":4,"cookie":null}

