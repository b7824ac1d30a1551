# One call, one line: first as text, then as JSON.
log info
joined
node=n1
zone=dc1/r1
cores=16
----
2026-11-15T08:49:55.000123Z info  joined node=n1 zone=dc1/r1 cores=16
{"time":"2026-11-15T08:49:55.000123Z","level":"info","message":"joined","node":"n1","zone":"dc1/r1","cores":16}

# Values in text are quoted when they hold a space, a quote, '=' or a control character, or nothing.
log warn
disk is filling
empty=
space=two words
quote=say "hi"
equals=a=b
newline=a\nb
escape=\e[31mred
backslash=a\b
bad=\xff\xff
accent=é
----
2026-11-15T08:49:55.000123Z warn  disk is filling empty="" space="two words" quote="say \"hi\"" equals="a=b" newline="a\nb" escape="\u001b[31mred" backslash="a\\b" bad="\xff\xff" accent=é
{"time":"2026-11-15T08:49:55.000123Z","level":"warn","message":"disk is filling","empty":"","space":"two words","quote":"say \"hi\"","equals":"a=b","newline":"a\nb","escape":"\u001b[31mred","backslash":"a\\b","bad":"��","accent":"é"}

# Kinds: numbers and booleans are bare in JSON, text that looks like them is not; what JSON has no word for is text.
log debug
kinds
whole=-12
part=0.25
yes=true
no=false
text='12'
truth='true'
nan=nan
inf=inf
tiny=1.5e-300
----
2026-11-15T08:49:55.000123Z debug kinds whole=-12 part=0.25 yes=true no=false text=12 truth=true nan=nan inf=inf tiny=1.5e-300
{"time":"2026-11-15T08:49:55.000123Z","level":"debug","message":"kinds","whole":-12,"part":0.25,"yes":true,"no":false,"text":"12","truth":"true","nan":"nan","inf":"inf","tiny":1.5e-300}

# A message with what could be mistaken for fields stands in quotes. So does an odd key, and none can pass for the line's own.
log error
boom node=n1\nsecond line
odd key=1
time=yesterday
level=9000
message=mine
----
2026-11-15T08:49:55.000123Z error "boom node=n1\nsecond line" "odd key"=1 time_=yesterday level_=9000 message_=mine
{"time":"2026-11-15T08:49:55.000123Z","level":"error","message":"boom node=n1\nsecond line","odd key":1,"time_":"yesterday","level_":9000,"message_":"mine"}

# An empty message, and a key given twice: it keeps its place and takes the last value.
log info

attempt=1
node=n1
attempt=2
----
2026-11-15T08:49:55.000123Z info  "" attempt=2 node=n1
{"time":"2026-11-15T08:49:55.000123Z","level":"info","message":"","attempt":2,"node":"n1"}
