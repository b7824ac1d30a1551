# What is rare: long cookies, plans of more than half of all time, and the last moment of the clock.

# The cookie of a removed task comes back whole, however long it is.
trace
{"cmd":"configure","config":{"queues":[{"name":"queue_default"}],"tasks":[{"name":"unknown","queue":"queue_default","default_duration_us":0}],"limit":{"cpu":1}}}
{"cmd":"submit","client":"x","task":1,"type":"unknown","cpu":1}
{"cmd":"submit","client":"x","task":2,"type":"unknown","cpu":1,"cookie":"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"}
{"cmd":"remove","client":"x","task":2,"reply":true}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"removed","t":0,"client":"x","task":2,"cookie":"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"}

# The plan of `a` reaches to three quarters of the clock, and real passes it only then: at the end `a` has consumed 10 for 9 of `b`.
trace
{"cmd":"configure","config":{"queues":[{"name":"queue_default"},{"name":"a"},{"name":"b"}],"tasks":[{"name":"unknown","queue":"queue_default","default_duration_us":0},{"name":"a","queue":"a","default_duration_us":13835058055282163712},{"name":"b","queue":"b","default_duration_us":18446744073709551615}],"limit":{"cpu":100}}}
{"cmd":"submit","client":"x","task":1,"type":"a","cpu":10}
{"cmd":"submit","client":"x","task":2,"type":"b","cpu":9}
{"cmd":"submit","client":"x","task":3,"type":"unknown","cpu":81}
{"cmd":"submit","client":"x","task":4,"type":"a","cpu":50}
{"cmd":"submit","client":"x","task":5,"type":"b","cpu":50}
{"cmd":"advance","us":18446744073709551614}
{"cmd":"finish","client":"x","task":3}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"allocated","t":0,"client":"x","task":2,"cookie":null}
{"ev":"allocated","t":0,"client":"x","task":3,"cookie":null}
{"ev":"allocated","t":18446744073709551614,"client":"x","task":5,"cookie":null}

# The clock's last microsecond, with so many queues that they are kept in order, and one that its own limit stops.
trace
{"cmd":"configure","config":{"queues":[{"name":"queue_default"},{"name":"q0","limit":{"cpu":1}},{"name":"q1","limit":{"cpu":1}},{"name":"q2","limit":{"cpu":1}},{"name":"q3","limit":{"cpu":1}},{"name":"q4","limit":{"cpu":1}},{"name":"q5","limit":{"cpu":1}},{"name":"q6","limit":{"cpu":1}},{"name":"q7","limit":{"cpu":1}},{"name":"q8","limit":{"cpu":1}},{"name":"q9","limit":{"cpu":1}},{"name":"q10","limit":{"cpu":1}},{"name":"q11","limit":{"cpu":1}},{"name":"q12","limit":{"cpu":1}},{"name":"q13","limit":{"cpu":1}},{"name":"q14","limit":{"cpu":1}},{"name":"q15","limit":{"cpu":1}},{"name":"q16","limit":{"cpu":1}},{"name":"q17","limit":{"cpu":1}},{"name":"q18","limit":{"cpu":1}},{"name":"q19","limit":{"cpu":1}},{"name":"q20","limit":{"cpu":1}},{"name":"q21","limit":{"cpu":1}},{"name":"q22","limit":{"cpu":1}},{"name":"q23","limit":{"cpu":1}},{"name":"q24","limit":{"cpu":1}},{"name":"q25","limit":{"cpu":1}},{"name":"q26","limit":{"cpu":1}},{"name":"q27","limit":{"cpu":1}},{"name":"q28","limit":{"cpu":1}},{"name":"q29","limit":{"cpu":1}},{"name":"q30","limit":{"cpu":1}},{"name":"q31","limit":{"cpu":1}},{"name":"q32","limit":{"cpu":1}}],"tasks":[{"name":"unknown","queue":"queue_default","default_duration_us":0},{"name":"q","queue":"q0","default_duration_us":1000}],"limit":{"cpu":10}}}
{"cmd":"submit","client":"x","task":1,"type":"q","cpu":1}
{"cmd":"submit","client":"x","task":2,"type":"unknown","cpu":9}
{"cmd":"submit","client":"x","task":3,"type":"q","cpu":1}
{"cmd":"advance","us":18446744073709551615}
{"cmd":"reduce","client":"x","task":2,"cpu":1}
{"cmd":"finish","client":"x","task":1}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
{"ev":"allocated","t":0,"client":"x","task":2,"cookie":null}
{"ev":"result","t":18446744073709551615,"op":"reduce","client":"x","task":2,"ok":true}
{"ev":"allocated","t":18446744073709551615,"client":"x","task":3,"cookie":null}
