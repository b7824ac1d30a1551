# A trace from a file or from standard input.
file trace.jsonl
{"cmd":"configure","config":{"queues":[{"name":"queue_default"}],"tasks":[{"name":"unknown","queue":"queue_default"}],"limit":{"cpu":2}}}
{"cmd":"submit","client":"a","task":1,"type":"unknown","cpu":2}
{"cmd":"submit","client":"b","task":1,"type":"unknown","cpu":1,"cookie":{"row": 7}}
{"cmd":"advance","us":1000}
{"cmd":"finish","client":"a","task":1}
----
kept

run broker replay trace.jsonl
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"a","task":1,"cookie":null}
{"ev":"allocated","t":1000,"client":"b","task":1,"cookie":{"row": 7}}

file -
{"cmd":"note","text":"no configure follows"}
----
kept

run broker replay
----

# A line that cannot be read ends the replay; what came before it is printed.
file bad.jsonl
{"cmd":"configure","config":{"queues":[{"name":"queue_default"}],"tasks":[{"name":"unknown","queue":"queue_default"}]}}

{"cmd":"submit","client":"a","task":"1","type":"unknown"}
----
kept

run broker replay bad.jsonl
----
{"ev":"configured","t":0,"ok":true,"message":""}
! bad.jsonl:3:37: error: "task" of submit: expected an integer from 0 to 2^64 - 1, found a text
!   write it in digits alone, without quotes, sign, point or exponent
exit 2

file refused.jsonl
{"cmd":"configure","config":{"queues":[],"tasks":[]}}
----
kept

run broker replay refused.jsonl
----
{"ev":"configured","t":0,"ok":false,"message":"queue 'queue_default' is required"}
! refused.jsonl:1:1: error: the trace cannot start: queue 'queue_default' is required
!   begin it with a configure that is right
exit 2

run broker replay nosuch.jsonl
----
! evenkeel: cannot read nosuch.jsonl: No such file or directory
exit 3

full broker replay trace.jsonl
----
! evenkeel: standard output: No space left on device
exit 1

