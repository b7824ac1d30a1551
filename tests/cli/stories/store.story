# What the verbs of `evenkeel store` make of their words. What they do is tested with real processes (store_live.py): here there is no
# outside, so they are refused before they do anything.

run store get /a
----
! evenkeel: there is no network here
exit 5

run store get
----
! evenkeel: KEY is required
!   see: evenkeel store get --help
exit 2

run store get /a -o valu
----
! evenkeel: --output: "valu" is not a form of output; did you mean "value"?
!   see: evenkeel store get --help
exit 2

run store put /a
----
! evenkeel: VALUE: give a value, - for standard input, or --file; and only one of them
!   see: evenkeel store put --help
exit 2

run store put /a x --file y
----
! evenkeel: VALUE: give a value, - for standard input, or --file; and only one of them
!   see: evenkeel store put --help
exit 2

run store put /a x --if-absent --if-revision 3
----
! evenkeel: --if-absent: and --if-revision cannot both hold; give one
!   see: evenkeel store put --help
exit 2

run store put /a x --if-revision three
----
! evenkeel: --if-revision: "three" is not a whole number: write digits only, for example 12
!   see: evenkeel store put --help
exit 2

run store del
----
! evenkeel: KEY: give a key or --below, one of the two
!   see: evenkeel store del --help
exit 2

run store del /a --below /a/
----
! evenkeel: KEY: give a key or --below, one of the two
!   see: evenkeel store del --help
exit 2

run store list /a /b
----
! evenkeel: unexpected argument "/b"
!   see: evenkeel store list --help
exit 2

run store watch / --after -1
----
! evenkeel: --after: a revision is 0 or more
!   see: evenkeel store watch --help
exit 2

run store watch / --count 0
----
! evenkeel: --count: must be 1 or more
!   see: evenkeel store watch --help
exit 2

run store backup
----
! evenkeel: --to: give --to FILE or --folder DIR, one of the two
!   see: evenkeel store backup --help
exit 2

run store backup --to a --folder b
----
! evenkeel: --to: give --to FILE or --folder DIR, one of the two
!   see: evenkeel store backup --help
exit 2

run store restore
----
! evenkeel: --from is required
!   see: evenkeel store restore --help
exit 2

run store compact 0
----
! evenkeel: REVISION: must be 1 or more
!   see: evenkeel store compact --help
exit 2

run store compact soon
----
! evenkeel: REVISION: "soon" is not a whole number: write digits only, for example 12
!   see: evenkeel store compact --help
exit 2

run store serve
----
! evenkeel: --data is required
!   see: evenkeel store serve --help
exit 2

run store serve --data d --tls-key k
----
! evenkeel: --tls-certificate: needs --tls-key, and the other way round: give both
!   see: evenkeel store serve --help
exit 2

run store serve --data d --client-authority c
----
! evenkeel: --client-authority: needs --tls-certificate and --tls-key: clients show theirs over TLS only
!   see: evenkeel store serve --help
exit 2

run store serve --data d --quota much
----
! evenkeel: --quota: "much" is not a number of bytes: write a number, for example 4096, 512Ki or 10M
!   see: evenkeel store serve --help
exit 2

run store password
----
! evenkeel: there is no network here
exit 5

run store status --timeout 0s
----
! evenkeel: --timeout: must be longer than nothing, for example 5s
!   see: evenkeel store status --help
exit 2

run store stats
----
! evenkeel: unknown command "stats"
!   did you mean "status"?
!   see: evenkeel store --help
exit 2

# The document of a txn, with the place of all that is wrong.
file txn.yaml
compare:
  - {key: /a}
  - {key: b, absent: true}
  - {key: /c, absent: true, present: true}
  - {key: /d, unchanged: 0}
  - {key: /e, absent: false}
then:
  - {put: /a}
  - {put: /b, value: x, base64: AA==}
  - {put: /c, base64: A}
  - {erase: /b}
  - {erase_below: /f}
  - {ersae: /g}
  - just words
otherwise: []
----
kept

run store txn -f txn.yaml
----
! txn.yaml:2:5: error: a compare says nothing of its key
!   give one of absent: true, present: true, unchanged: REVISION
! txn.yaml:3:11: error: "b" is no key: keys begin with '/'
! txn.yaml:4:5: error: a compare says more than one thing of its key
!   give one of absent: true, present: true, unchanged: REVISION
! txn.yaml:5:26: error: 0 is out of range
!   give a whole number from 1 to 9223372036854775807
! txn.yaml:6:23: error: can only be true
!   leave it out, or ask for the opposite by its own name
! txn.yaml:8:5: error: a put has no value
!   give one of value: TEXT, base64: BYTES
! txn.yaml:9:5: error: a put has two values
!   give one of value: TEXT, base64: BYTES
! txn.yaml:10:23: error: not base64: its length is no multiple of 4
! txn.yaml:11:5: error: "/b" is written twice
!   leave one of the writes out
! txn.yaml:12:19: error: "/f" is no prefix: a prefix ends with '/'
! txn.yaml:13:5: error: a write does nothing
!   give one of put: KEY, erase: KEY, erase_below: PREFIX
! txn.yaml:13:6: error: unknown field "ersae" of a write
!   did you mean "erase"?
! txn.yaml:14:5: error: expected a write with its fields, found "just words"
! txn.yaml:15:1: error: unknown field "otherwise" of a txn
!   known: compare, then, else
exit 2

file txn.json
{"compare": [{"key": "/a", "absent": true}], "then": [{"put": "/a", "base64": "AP8="}, {"put": "/b", "value": "text"}], "else": [{"erase_below": "/old/"}]}
----
kept

run store txn -f txn.json --dry-run
----
compare:
  - {key: "/a", absent: true}
then:
  - {put: "/a", base64: "AP8="}
  - {put: "/b", value: text}
else:
  - {erase_below: "/old/"}

run store txn -f txn.json --dry-run -o json
----
{
  "compare": [
    {"key": "/a", "absent": true}
  ],
  "then": [
    {"put": "/a", "base64": "AP8="},
    {"put": "/b", "value": "text"}
  ],
  "else": [
    {"erase_below": "/old/"}
  ]
}

run store txn -f txn.json
----
! evenkeel: there is no network here
exit 5

run store txn -f nothing.yaml
----
! evenkeel: cannot read nothing.yaml: No such file or directory
exit 3

file empty.yaml
{}
----
kept

run store txn -f empty.yaml
----
! empty.yaml:1:1: error: a txn without compares and writes
!   give compare, then or else
exit 2

file covered.yaml
then: [{put: /old/a, value: x}, {erase_below: /old/}]
----
kept

run store txn -f covered.yaml
----
! covered.yaml: error: /old/a is below /old/, all of which is erased in the same txn; leave one of the writes out
exit 2

file dump.jsonl
{"evenkeel_dump":1,"below":"/","revision":17}
{"key":"/c1/config","value":"x"}
{"end":true,"entries":2}
----
kept

run store restore --from dump.jsonl
----
! dump.jsonl:3:1: error: the dump has 1 entries, and its end says otherwise
!   it was cut off, or is no dump: take another backup
exit 2

file notes.txt
Dear diary,
this is no dump,
and each line of it is none.
----
kept

run store restore --from notes.txt
----
! notes.txt:1:1: error: expected a JSON object
!   it was cut off, or is no dump: take another backup
exit 2

file old.jsonl
{"evenkeel_dump":2,"below":"/","revision":17}
----
kept

run store restore --from old.jsonl
----
! old.jsonl:1:1: error: a dump of format 2, and only 1 is known
exit 2
