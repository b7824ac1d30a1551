# 4 cpu. `a` and `b` are types of two queues.
config node
{"cmd":"configure","config":{"queues":[{"name":"queue_default"},{"name":"a"},{"name":"b"}],"tasks":[{"name":"unknown","queue":"queue_default","default_duration_us":100},{"name":"a","queue":"a","default_duration_us":100},{"name":"b","queue":"b","default_duration_us":100}],"limit":{"cpu":4}}}
----
kept

# Submit: an id in use is refused, with the cookie just sent; another client may use the same id.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"a","cpu":1,"cookie":"old"}
{"cmd":"submit","client":"x","task":1,"type":"b","cpu":1,"cookie":"new"}
{"cmd":"submit","client":"y","task":1,"type":"a","cpu":1,"cookie":{"any": [1.0, "json"]}}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":"old"}
{"ev":"error","t":0,"client":"x","task":1,"code":"ALREADY_EXISTS","message":"the client has a task of this id; finish or remove it first, or take another id","cookie":"new"}
{"ev":"allocated","t":0,"client":"y","task":1,"cookie":{"any": [1.0, "json"]}}

# Update of a running task: resized in place, no limit is checked, and what it gave up is granted to others.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"a","cpu":4}
{"cmd":"submit","client":"x","task":2,"type":"a","cpu":3}
{"cmd":"update","client":"x","task":1,"type":"a","cpu":9}
{"cmd":"update","client":"x","task":1,"type":"a","cpu":1}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"allocated","t":0,"client":"x","task":2,"cookie":null}

# Update of a running task with resubmit: it waits again and is granted again; no finish is counted.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"a","cpu":4,"cookie":"c"}
{"cmd":"submit","client":"x","task":2,"type":"a","cpu":4}
{"cmd":"update","client":"x","task":1,"type":"a","cpu":2,"priority":9,"resubmit":true}
{"cmd":"finish","client":"x","task":2}
{"cmd":"stats"}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":"c"}
{"ev":"allocated","t":0,"client":"x","task":2,"cookie":null}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":"c"}
{"ev":"stats","t":0,"missing_task_type":0,"queue":{"total":{"cpu":2,"memory":0,"finished":1,"enqueued":0,"infly":1},"queue_default":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0},"a":{"cpu":2,"memory":0,"finished":1,"enqueued":0,"infly":1},"b":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0}},"task":{"unknown":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0},"a":{"cpu":2,"memory":0,"finished":1,"enqueued":0,"infly":1},"b":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0}}}

# Update overwrites all three: what is not given is 0 or false. Counters follow the type.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"a","cpu":2,"memory":5}
{"cmd":"update","client":"x","task":1,"type":"b","memory":7}
{"cmd":"stats"}
{"cmd":"update","client":"x","task":9,"type":"b"}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"stats","t":0,"missing_task_type":0,"queue":{"total":{"cpu":0,"memory":7,"finished":0,"enqueued":0,"infly":1},"queue_default":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0},"a":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0},"b":{"cpu":0,"memory":7,"finished":0,"enqueued":0,"infly":1}},"task":{"unknown":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0},"a":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0},"b":{"cpu":0,"memory":7,"finished":0,"enqueued":0,"infly":1}}}
{"ev":"error","t":0,"client":"x","task":9,"code":"UNKNOWN_TASK","message":"the client has no task of this id","cookie":null}

# The cookie is delivered with the next grant, so an update after the grant shows only in a resubmit.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"a","cpu":1,"cookie":"old"}
{"cmd":"update_cookie","client":"x","task":1,"cookie":"new"}
{"cmd":"update","client":"x","task":1,"type":"a","cpu":1,"resubmit":true}
{"cmd":"update_cookie","client":"x","task":2,"cookie":"new"}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":"old"}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":"new"}
{"ev":"error","t":0,"client":"x","task":2,"code":"UNKNOWN_TASK","message":"the client has no task of this id","cookie":null}

# Remove: a waiting task goes, with a reply if asked, before the grants it causes. A running one stays, with an error in any case.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"a","cpu":2,"cookie":"one"}
{"cmd":"submit","client":"x","task":2,"type":"a","cpu":3,"cookie":"two"}
{"cmd":"submit","client":"x","task":3,"type":"a","cpu":1,"cookie":"three"}
{"cmd":"submit","client":"x","task":4,"type":"a","cpu":2,"cookie":"four"}
{"cmd":"remove","client":"x","task":2,"reply":true}
{"cmd":"remove","client":"x","task":4}
{"cmd":"remove","client":"x","task":1}
{"cmd":"remove","client":"x","task":2}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":"one"}
{"ev":"removed","t":0,"client":"x","task":2,"cookie":"two"}
{"ev":"allocated","t":0,"client":"x","task":3,"cookie":"three"}
{"ev":"error","t":0,"client":"x","task":1,"code":"TASK_IN_FLY","message":"the task runs; finish it instead","cookie":"one"}
{"ev":"error","t":0,"client":"x","task":2,"code":"UNKNOWN_TASK","message":"the client has no task of this id","cookie":null}

# Finish: a waiting task cannot be finished. Cancelled runs count as finished too.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"a","cpu":4,"cookie":"one"}
{"cmd":"submit","client":"x","task":2,"type":"a","cpu":4,"cookie":"two"}
{"cmd":"finish","client":"x","task":2}
{"cmd":"finish","client":"y","task":1}
{"cmd":"finish","client":"x","task":1,"cancel":true}
{"cmd":"finish","client":"x","task":1}
{"cmd":"stats"}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":"one"}
{"ev":"error","t":0,"client":"x","task":2,"code":"TASK_IN_QUEUE","message":"the task still waits; remove it instead","cookie":"two"}
{"ev":"error","t":0,"client":"y","task":1,"code":"UNKNOWN_TASK","message":"the client has no task of this id","cookie":null}
{"ev":"allocated","t":0,"client":"x","task":2,"cookie":"two"}
{"ev":"error","t":0,"client":"x","task":1,"code":"UNKNOWN_TASK","message":"the client has no task of this id","cookie":null}
{"ev":"stats","t":0,"missing_task_type":0,"queue":{"total":{"cpu":4,"memory":0,"finished":1,"enqueued":0,"infly":1},"queue_default":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0},"a":{"cpu":4,"memory":0,"finished":1,"enqueued":0,"infly":1},"b":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0}},"task":{"unknown":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0},"a":{"cpu":4,"memory":0,"finished":1,"enqueued":0,"infly":1},"b":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0}}}

# A client's death takes its tasks, running and waiting, without a word; one pass serves the others. A client without tasks dies
# without any effect.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"a","cpu":4}
{"cmd":"submit","client":"x","task":2,"type":"a","cpu":1}
{"cmd":"submit","client":"y","task":1,"type":"a","cpu":1}
{"cmd":"client_died","client":"x"}
{"cmd":"client_died","client":"z"}
{"cmd":"stats"}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"allocated","t":0,"client":"y","task":1,"cookie":null}
{"ev":"stats","t":0,"missing_task_type":0,"queue":{"total":{"cpu":1,"memory":0,"finished":1,"enqueued":0,"infly":1},"queue_default":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0},"a":{"cpu":1,"memory":0,"finished":1,"enqueued":0,"infly":1},"b":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0}},"task":{"unknown":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0},"a":{"cpu":1,"memory":0,"finished":1,"enqueued":0,"infly":1},"b":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0}}}

# An instant submit is granted at once or dropped; the answer comes after the grants to others, and there is no `allocated` for it.
# With id 0 the answer has the id picked, and the id of a dropped one stays spent. An id in use: not granted.
trace
= node
{"cmd":"submit_instant","client":"x","task":0,"type":"a","cpu":3}
{"cmd":"submit_instant","client":"x","task":0,"type":"a","cpu":3}
{"cmd":"submit_instant","client":"x","task":1,"type":"a","cpu":1}
{"cmd":"submit_instant","client":"x","task":0,"type":"a","cpu":1}
{"cmd":"stats"}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"result","t":0,"op":"submit_instant","client":"x","task":1,"ok":true}
{"ev":"result","t":0,"op":"submit_instant","client":"x","task":2,"ok":false}
{"ev":"result","t":0,"op":"submit_instant","client":"x","task":1,"ok":false}
{"ev":"result","t":0,"op":"submit_instant","client":"x","task":3,"ok":true}
{"ev":"stats","t":0,"missing_task_type":0,"queue":{"total":{"cpu":4,"memory":0,"finished":0,"enqueued":0,"infly":2},"queue_default":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0},"a":{"cpu":4,"memory":0,"finished":0,"enqueued":0,"infly":2},"b":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0}},"task":{"unknown":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0},"a":{"cpu":4,"memory":0,"finished":0,"enqueued":0,"infly":2},"b":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0}}}

# A granted instant task that is resubmitted gets an ordinary `allocated`.
trace
= node
{"cmd":"submit_instant","client":"x","task":7,"type":"a","cpu":3,"cookie":"c"}
{"cmd":"update","client":"x","task":7,"type":"a","cpu":1,"resubmit":true}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"result","t":0,"op":"submit_instant","client":"x","task":7,"ok":true}
{"ev":"allocated","t":0,"client":"x","task":7,"cookie":"c"}

# A dropped instant task of an unknown type counts as missing; the instant finish answers with a result alone.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"a","cpu":4}
{"cmd":"submit_instant","client":"x","task":2,"type":"nosuch","cpu":1}
{"cmd":"submit","client":"x","task":3,"type":"a","cpu":1}
{"cmd":"finish_instant","client":"x","task":3}
{"cmd":"finish_instant","client":"x","task":2}
{"cmd":"finish_instant","client":"x","task":1}
{"cmd":"stats"}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"result","t":0,"op":"submit_instant","client":"x","task":2,"ok":false}
{"ev":"result","t":0,"op":"finish_instant","client":"x","task":3,"ok":false}
{"ev":"result","t":0,"op":"finish_instant","client":"x","task":2,"ok":false}
{"ev":"allocated","t":0,"client":"x","task":3,"cookie":null}
{"ev":"result","t":0,"op":"finish_instant","client":"x","task":1,"ok":true}
{"ev":"stats","t":0,"missing_task_type":1,"queue":{"total":{"cpu":1,"memory":0,"finished":1,"enqueued":0,"infly":1},"queue_default":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0},"a":{"cpu":1,"memory":0,"finished":1,"enqueued":0,"infly":1},"b":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0}},"task":{"unknown":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0},"a":{"cpu":1,"memory":0,"finished":1,"enqueued":0,"infly":1},"b":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0}}}

# Reduce: the need shrinks, never below 0, of a waiting or a running task; the pass comes before the answer.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"a","cpu":4,"memory":1}
{"cmd":"submit","client":"x","task":2,"type":"a","cpu":3}
{"cmd":"reduce","client":"x","task":2,"cpu":1}
{"cmd":"reduce","client":"x","task":1,"cpu":2,"memory":5}
{"cmd":"reduce","client":"x","task":9,"cpu":2}
{"cmd":"stats"}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"result","t":0,"op":"reduce","client":"x","task":2,"ok":true}
{"ev":"allocated","t":0,"client":"x","task":2,"cookie":null}
{"ev":"result","t":0,"op":"reduce","client":"x","task":1,"ok":true}
{"ev":"result","t":0,"op":"reduce","client":"x","task":9,"ok":false}
{"ev":"stats","t":0,"missing_task_type":0,"queue":{"total":{"cpu":4,"memory":0,"finished":0,"enqueued":0,"infly":2},"queue_default":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0},"a":{"cpu":4,"memory":0,"finished":0,"enqueued":0,"infly":2},"b":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0}},"task":{"unknown":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0},"a":{"cpu":4,"memory":0,"finished":0,"enqueued":0,"infly":2},"b":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0}}}

# Merge: a running donor of the same client and type name hands over what it holds and is finished.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"a","cpu":1}
{"cmd":"submit","client":"x","task":2,"type":"a","cpu":2}
{"cmd":"merge","client":"x","task":1,"donor":2}
{"cmd":"stats"}
{"cmd":"finish","client":"x","task":2}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"allocated","t":0,"client":"x","task":2,"cookie":null}
{"ev":"result","t":0,"op":"merge","client":"x","task":1,"ok":true}
{"ev":"stats","t":0,"missing_task_type":0,"queue":{"total":{"cpu":3,"memory":0,"finished":1,"enqueued":0,"infly":1},"queue_default":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0},"a":{"cpu":3,"memory":0,"finished":1,"enqueued":0,"infly":1},"b":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0}},"task":{"unknown":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0},"a":{"cpu":3,"memory":0,"finished":1,"enqueued":0,"infly":1},"b":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0}}}
{"ev":"error","t":0,"client":"x","task":2,"code":"UNKNOWN_TASK","message":"the client has no task of this id","cookie":null}

# Refused: itself; one that waits; another type name, even if both are unknown to the config; another client's; one that is not there.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"nosuch","cpu":1}
{"cmd":"submit","client":"x","task":2,"type":"neither","cpu":1}
{"cmd":"submit","client":"x","task":3,"type":"nosuch","cpu":4}
{"cmd":"submit","client":"y","task":4,"type":"nosuch"}
{"cmd":"merge","client":"x","task":1,"donor":1}
{"cmd":"merge","client":"x","task":1,"donor":2}
{"cmd":"merge","client":"x","task":1,"donor":3}
{"cmd":"merge","client":"x","task":1,"donor":4}
{"cmd":"merge","client":"x","task":1,"donor":5}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"allocated","t":0,"client":"x","task":2,"cookie":null}
{"ev":"result","t":0,"op":"merge","client":"x","task":1,"ok":false}
{"ev":"result","t":0,"op":"merge","client":"x","task":1,"ok":false}
{"ev":"result","t":0,"op":"merge","client":"x","task":1,"ok":false}
{"ev":"result","t":0,"op":"merge","client":"x","task":1,"ok":false}
{"ev":"result","t":0,"op":"merge","client":"x","task":1,"ok":false}

# And refused: a sum above 2^64 - 1.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"a","memory":1}
{"cmd":"submit","client":"x","task":2,"type":"a","memory":1}
{"cmd":"update","client":"x","task":1,"type":"a","memory":18446744073709551615}
{"cmd":"merge","client":"x","task":1,"donor":2}
{"cmd":"update","client":"x","task":1,"type":"a","memory":18446744073709551614}
{"cmd":"merge","client":"x","task":1,"donor":2}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"allocated","t":0,"client":"x","task":2,"cookie":null}
{"ev":"result","t":0,"op":"merge","client":"x","task":1,"ok":false}
{"ev":"result","t":0,"op":"merge","client":"x","task":1,"ok":true}

