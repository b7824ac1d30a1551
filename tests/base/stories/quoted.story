# Safe in one line, and cut between characters.
quoted

plain
say "hi" \ there
a\nb\e[31m
byte \xff here
exactly 16 bytes
exactly seventeen
fifteen bytes..é
----
""
"plain"
"say \"hi\" \\ there"
"a\nb\u001b[31m"
"byte \xff here"
"exactly 16 bytes"
"exactly seventee"…
"fifteen bytes.."…
