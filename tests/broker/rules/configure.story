config node
{"cmd":"configure","config":{"queues":[{"name":"queue_default"},{"name":"a"}],"tasks":[{"name":"unknown","queue":"queue_default"},{"name":"a","queue":"a"}],"limit":{"cpu":2}}}
----
kept

# A larger limit lets what waits go; the grants are sent before the reply.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"a","cpu":2}
{"cmd":"submit","client":"x","task":2,"type":"a","cpu":2}
{"cmd":"configure","config":{"queues":[{"name":"queue_default"},{"name":"a"}],"tasks":[{"name":"unknown","queue":"queue_default"},{"name":"a","queue":"a"}],"limit":{"cpu":4}}}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"allocated","t":0,"client":"x","task":2,"cookie":null}
{"ev":"configured","t":0,"ok":true,"message":""}

# A config that is refused changes nothing, and the trace goes on. First hit first.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"a","cpu":2}
{"cmd":"configure","config":{"queues":[{"name":"q"}],"tasks":[{"name":"t","queue":"nosuch"}]}}
{"cmd":"configure","config":{"queues":[{"name":"q"}],"tasks":[{"name":"t","queue":"q"}]}}
{"cmd":"configure","config":{"queues":[{"name":"queue_default"}],"tasks":[{"name":"t","queue":"queue_default"}]}}
{"cmd":"stats"}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"configured","t":0,"ok":false,"message":"task 't' uses unknown queue 'nosuch'"}
{"ev":"configured","t":0,"ok":false,"message":"queue 'queue_default' is required"}
{"ev":"configured","t":0,"ok":false,"message":"task 'unknown' is required"}
{"ev":"stats","t":0,"missing_task_type":0,"queue":{"total":{"cpu":2,"memory":0,"finished":0,"enqueued":0,"infly":1},"queue_default":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0},"a":{"cpu":2,"memory":0,"finished":0,"enqueued":0,"infly":1}},"task":{"unknown":{"cpu":0,"memory":0,"finished":0,"enqueued":0,"infly":0},"a":{"cpu":2,"memory":0,"finished":0,"enqueued":0,"infly":1}}}

# `finished` counts for ever, by name: a queue or type gone from the config shows its old count when it returns. A task whose type
# has gone counts as `unknown`, but not as missing.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"a","cpu":1}
{"cmd":"submit","client":"x","task":2,"type":"a","cpu":1}
{"cmd":"finish","client":"x","task":1}
{"cmd":"configure","config":{"queues":[{"name":"queue_default"}],"tasks":[{"name":"unknown","queue":"queue_default"}],"limit":{"cpu":2}}}
{"cmd":"stats"}
{"cmd":"finish","client":"x","task":2}
= node
{"cmd":"stats"}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"allocated","t":0,"client":"x","task":2,"cookie":null}
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"stats","t":0,"missing_task_type":0,"queue":{"total":{"cpu":1,"memory":0,"finished":1,"enqueued":0,"infly":1},"queue_default":{"cpu":1,"memory":0,"finished":0,"enqueued":0,"infly":1}},"task":{"unknown":{"cpu":1,"memory":0,"finished":0,"enqueued":0,"infly":1}}}
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"stats","t":0,"missing_task_type":0,"queue":{"total":{"cpu":0,"memory":0,"finished":2,"enqueued":0,"infly":0},"queue_default":{"cpu":0,"memory":0,"finished":1,"enqueued":0,"infly":0},"a":{"cpu":0,"memory":0,"finished":1,"enqueued":0,"infly":0}},"task":{"unknown":{"cpu":0,"memory":0,"finished":1,"enqueued":0,"infly":0},"a":{"cpu":0,"memory":0,"finished":1,"enqueued":0,"infly":0}}}

# Resources come and go with the limits that name them: disk is dropped from the need, and starts at 0 when it returns.
trace
{"cmd":"configure","config":{"queues":[{"name":"queue_default"}],"tasks":[{"name":"unknown","queue":"queue_default"}],"limit":{"disk":10}}}
{"cmd":"submit","client":"x","task":1,"type":"unknown","cpu":1,"disk":3,"tape":9}
{"cmd":"stats"}
{"cmd":"configure","config":{"queues":[{"name":"queue_default","limit":{"tape":1}}],"tasks":[{"name":"unknown","queue":"queue_default"}]}}
{"cmd":"stats"}
{"cmd":"configure","config":{"queues":[{"name":"queue_default","limit":{"tape":1}}],"tasks":[{"name":"unknown","queue":"queue_default"}],"limit":{"disk":10}}}
{"cmd":"stats"}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"stats","t":0,"missing_task_type":0,"queue":{"total":{"cpu":1,"memory":0,"disk":3,"finished":0,"enqueued":0,"infly":1},"queue_default":{"cpu":1,"memory":0,"disk":3,"finished":0,"enqueued":0,"infly":1}},"task":{"unknown":{"cpu":1,"memory":0,"disk":3,"finished":0,"enqueued":0,"infly":1}}}
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"stats","t":0,"missing_task_type":0,"queue":{"total":{"cpu":1,"memory":0,"tape":0,"finished":0,"enqueued":0,"infly":1},"queue_default":{"cpu":1,"memory":0,"tape":0,"finished":0,"enqueued":0,"infly":1}},"task":{"unknown":{"cpu":1,"memory":0,"tape":0,"finished":0,"enqueued":0,"infly":1}}}
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"stats","t":0,"missing_task_type":0,"queue":{"total":{"cpu":1,"memory":0,"tape":0,"disk":0,"finished":0,"enqueued":0,"infly":1},"queue_default":{"cpu":1,"memory":0,"tape":0,"disk":0,"finished":0,"enqueued":0,"infly":1}},"task":{"unknown":{"cpu":1,"memory":0,"tape":0,"disk":0,"finished":0,"enqueued":0,"infly":1}}}

# Consumption starts at 0 again, and running tasks add the time they have left. Before, `b` had consumed 1000 and `a` little; now
# `a` has 60 planned microseconds of half the node left, 30, and `b` nothing: b's task 4 is first.
trace
{"cmd":"configure","config":{"queues":[{"name":"queue_default"},{"name":"a"},{"name":"b"}],"tasks":[{"name":"unknown","queue":"queue_default"},{"name":"a","queue":"a","default_duration_us":100},{"name":"b","queue":"b","default_duration_us":1000}],"limit":{"cpu":2}}}
{"cmd":"submit","client":"x","task":1,"type":"b","cpu":2}
{"cmd":"advance","us":1000}
{"cmd":"finish","client":"x","task":1}
{"cmd":"submit","client":"x","task":2,"type":"a","cpu":1}
{"cmd":"submit","client":"x","task":5,"type":"unknown","cpu":1}
{"cmd":"submit","client":"x","task":3,"type":"a","cpu":1}
{"cmd":"submit","client":"x","task":4,"type":"b","cpu":1}
{"cmd":"advance","us":40}
{"cmd":"configure","config":{"queues":[{"name":"queue_default"},{"name":"a"},{"name":"b"}],"tasks":[{"name":"unknown","queue":"queue_default"},{"name":"a","queue":"a","default_duration_us":100},{"name":"b","queue":"b","default_duration_us":1000}],"limit":{"cpu":2}}}
{"cmd":"finish","client":"x","task":5}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"allocated","t":1000,"client":"x","task":2,"cookie":null}
{"ev":"allocated","t":1000,"client":"x","task":5,"cookie":null}
{"ev":"configured","t":1040,"ok":true,"message":""}
{"ev":"allocated","t":1040,"client":"x","task":4,"cookie":null}

