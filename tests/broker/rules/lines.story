# What a trace may look like, and how it is refused. Blank lines, unknown fields and notes are ignored; of a field given twice the
# last counts; -0 is 0.
config node
{"cmd":"configure","config":{"queues":[{"name":"queue_default"}],"tasks":[{"name":"unknown","queue":"queue_default"}],"limit":{"cpu":2}}}
----
kept

trace
{"cmd":"note","text":"before the first configure"}

= node
  	 
{"cmd":"submit","client":"x","task":1,"type":"unknown","cpu":2,"colour":"red","client":"y","disk":"not a resource here"}
 { "task" : -0 , "cmd" : "submit" , "client" : "" , "type" : "unknown", "cookie": 1.50e+99 }
{"cmd":"submit","client":"\u00e9\ud83d\ude00\n","task":18446744073709551615,"type":"unknown","cookie":"\ud800"}
{"cmd":"stats","text":7}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"y","task":1,"cookie":null}
{"ev":"allocated","t":0,"client":"","task":1,"cookie":1.50e+99}
{"ev":"allocated","t":0,"client":"é😀\n","task":18446744073709551615,"cookie":"\ud800"}
{"ev":"stats","t":0,"missing_task_type":0,"queue":{"total":{"cpu":2,"memory":0,"finished":0,"enqueued":0,"infly":3},"queue_default":{"cpu":2,"memory":0,"finished":0,"enqueued":0,"infly":3}},"task":{"unknown":{"cpu":2,"memory":0,"finished":0,"enqueued":0,"infly":3}}}

# The first command must be a configure that is right: its answer is printed, and the trace ends.
trace
{"cmd":"configure","config":{"queues":[],"tasks":[]}}
= node
----
{"ev":"configured","t":0,"ok":false,"message":"queue 'queue_default' is required"}
! 1:1: the trace cannot start: queue 'queue_default' is required
!   begin it with a configure that is right

trace
{"cmd":"note","text":"no configure"}
{"cmd":"stats"}
----
{"ev":"configured","t":0,"ok":false,"message":"the first command must be configure"}
! 2:1: the trace cannot start: the first command must be configure
!   begin it with a configure that is right

# Lines that cannot be read end the trace; the events before them stay.
trace
= node
{"cmd":"submit","client":"x","task":1,"type":"unknown"}
{"cmd":"submit","client":"x","task":2
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":0,"client":"x","task":1,"cookie":null}
! 3:38: expected ',' or '}'
!   write one JSON object a line

trace
[1]
----
! 1:1: expected an object, found a list
!   write a command as {"cmd":"…",…}

trace
not JSON
----
! 1:1: expected a JSON value
!   write one JSON object a line

trace
= node
{"cmd":"sumbit","client":"x","task":1,"type":"unknown"}
----
{"ev":"configured","t":0,"ok":true,"message":""}
! 2:8: unknown command "sumbit"
!   did you mean "submit"?

trace
= node
{"client":"x"}
----
{"ev":"configured","t":0,"ok":true,"message":""}
! 2:1: a command lacks the field "cmd"
!   add it

trace
= node
{"cmd":"submit","task":1,"type":"unknown"}
----
{"ev":"configured","t":0,"ok":true,"message":""}
! 2:1: submit lacks the field "client"
!   add it

trace
= node
{"cmd":"submit","client":"é","task":1.0,"type":"unknown"}
----
{"ev":"configured","t":0,"ok":true,"message":""}
! 2:37: "task" of submit: expected an integer from 0 to 2^64 - 1, found 1.0
!   write it in digits alone, without quotes, sign, point or exponent

trace
= node
{"cmd":"submit","client":"x","task":true,"type":"unknown"}
----
{"ev":"configured","t":0,"ok":true,"message":""}
! 2:37: "task" of submit: expected an integer from 0 to 2^64 - 1, found true
!   write it in digits alone, without quotes, sign, point or exponent

trace
= node
{"cmd":"submit","client":"x","task":1,"type":"unknown","cpu":-1}
----
{"ev":"configured","t":0,"ok":true,"message":""}
! 2:62: "cpu" of submit: expected an integer from 0 to 2^64 - 1, found -1
!   write it in digits alone, without quotes, sign, point or exponent

trace
= node
{"cmd":"submit","client":"x","task":1,"type":"unknown","cpu":18446744073709551616}
----
{"ev":"configured","t":0,"ok":true,"message":""}
! 2:62: "cpu" of submit: expected an integer from 0 to 2^64 - 1, found 18446744073709551616
!   write it in digits alone, without quotes, sign, point or exponent

trace
= node
{"cmd":"submit","client":"x","task":1,"type":"unknown","cpu":"2"}
----
{"ev":"configured","t":0,"ok":true,"message":""}
! 2:62: "cpu" of submit: expected an integer from 0 to 2^64 - 1, found a text
!   write it in digits alone, without quotes, sign, point or exponent

trace
= node
{"cmd":"submit","client":7,"task":1,"type":"unknown"}
----
{"ev":"configured","t":0,"ok":true,"message":""}
! 2:26: "client" of submit: expected a text, found a number
!   give a text

trace
= node
{"cmd":"update","client":"x","task":1,"type":"unknown","resubmit":1}
----
{"ev":"configured","t":0,"ok":true,"message":""}
! 2:67: "resubmit" of update: expected true or false, found a number
!   give true or false

trace
= node
{"cmd":"update_cookie","client":"x","task":1}
----
{"ev":"configured","t":0,"ok":true,"message":""}
! 2:1: update_cookie lacks the field "cookie"
!   add it

trace
= node
{"cmd":"note"}
----
{"ev":"configured","t":0,"ok":true,"message":""}
! 2:1: note lacks the field "text"
!   add it

trace
{"cmd":"configure","config":{"queues":[{"weight":1}],"tasks":[]}}
----
! 1:40: a queue lacks the field "name"
!   add it

trace
{"cmd":"configure","config":{"queues":{},"tasks":[]}}
----
! 1:39: "queues" of config: expected a list, found an object
!   give a list

trace
{"cmd":"configure","config":{"queues":[7],"tasks":[]}}
----
! 1:40: expected an object for a queue, found a number
!   write {…}

trace
{"cmd":"configure","config":{"queues":[{"name":"queue_default","limit":{"cpu":"two"}}],"tasks":[]}}
----
! 1:79: "cpu" of limit: expected an integer from 0 to 2^64 - 1, found a text
!   write it in digits alone, without quotes, sign, point or exponent

trace
{"cmd":"configure"}
----
! 1:1: configure lacks the field "config"
!   add it

# The clock has an end.
trace
= node
{"cmd":"advance","us":18446744073709551615}
{"cmd":"submit","client":"x","task":1,"type":"unknown"}
{"cmd":"advance","us":1}
----
{"ev":"configured","t":0,"ok":true,"message":""}
{"ev":"allocated","t":18446744073709551615,"client":"x","task":1,"cookie":null}
! 4:1: the clock stands at 18446744073709551615 and would pass 2^64 - 1 microseconds
!   advance by less

# Restore, in place of the first configure: a broker as it was at 500, with task 1 running and 2 waiting; id 0 goes on at 9.
trace
{"cmd":"restore","state":{"now":500,"config":{"queues":[{"name":"queue_default"}],"tasks":[{"name":"unknown","queue":"queue_default"}],"limit":{"cpu":2}},"next_task":9,"missing_types":3,"finished":4,"finished_by_queue":{"queue_default":4},"finished_by_type":{"unknown":4},"clients":["x"],"queues":[{"name":"queue_default","real":"400","planned":"600"}],"types":[{"name":"unknown","durations":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,7],"oldest":0}],"tasks":[{"client":"x","task":1,"name":"","type":"unknown","priority":0,"need":{"cpu":2},"cookie":"one","submitted":100,"since":200,"planned_duration":400,"running":true},{"client":"x","task":2,"name":"","type":"unknown","priority":0,"need":{"cpu":1},"cookie":"two","submitted":300,"since":300,"planned_duration":0,"running":false}]}}
{"cmd":"advance","us":10}
{"cmd":"finish","client":"x","task":1}
{"cmd":"submit","client":"y","type":"unknown"}
{"cmd":"stats"}
----
{"ev":"configured","t":500,"ok":true,"message":""}
{"ev":"allocated","t":510,"client":"x","task":2,"cookie":"two"}
{"ev":"allocated","t":510,"client":"y","task":9,"cookie":null}
{"ev":"stats","t":510,"missing_task_type":3,"queue":{"total":{"cpu":1,"memory":0,"finished":5,"enqueued":0,"infly":2},"queue_default":{"cpu":1,"memory":0,"finished":5,"enqueued":0,"infly":2}},"task":{"unknown":{"cpu":1,"memory":0,"finished":5,"enqueued":0,"infly":2}}}

# It stands first or nowhere.
trace
= node
{"cmd":"restore","state":{"now":0,"config":{"queues":[{"name":"queue_default"}],"tasks":[{"name":"unknown","queue":"queue_default"}]},"next_task":1,"missing_types":0,"finished":0,"clients":[],"queues":[{"name":"queue_default","real":"0","planned":"0"}],"types":[{"name":"unknown","durations":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"oldest":0}],"tasks":[]}}
----
{"ev":"configured","t":0,"ok":true,"message":""}
! 2:1: restore stands in the middle of a trace
!   it may only be the first command

# And it must be what a broker could have saved.
trace
{"cmd":"restore","state":{"now":0,"config":{"queues":[{"name":"queue_default"}],"tasks":[{"name":"unknown","queue":"queue_default"}]},"next_task":1,"missing_types":0,"finished":0,"clients":[],"queues":[],"types":[],"tasks":[]}}
----
! 1:26: this state contradicts itself: its queues are not those of its config
!   restore what a broker has saved

