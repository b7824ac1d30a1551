# What the verbs of `evenkeel store` make of their words. What they do is tested with real processes (store_live.py): here there is no
# outside, so they are refused before they do anything.

run store get /a
----

run store get
----

run store get /a -o valu
----

run store put /a
----

run store put /a x --file y
----

run store put /a x --if-absent --if-revision 3
----

run store put /a x --if-revision three
----

run store del
----

run store del /a --below /a/
----

run store list /a /b
----

run store watch / --after -1
----

run store watch / --count 0
----

run store backup
----

run store backup --to a --folder b
----

run store restore
----

run store compact 0
----

run store compact soon
----

run store serve
----

run store serve --data d --tls-key k
----

run store serve --data d --client-authority c
----

run store serve --data d --quota much
----

run store password
----

run store status --timeout 0s
----

run store stats
----

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

run store txn -f txn.yaml
----

file txn.json
{"compare": [{"key": "/a", "absent": true}], "then": [{"put": "/a", "base64": "AP8="}, {"put": "/b", "value": "text"}], "else": [{"erase_below": "/old/"}]}
----

run store txn -f txn.json --dry-run
----

run store txn -f txn.json --dry-run -o json
----

run store txn -f txn.json
----

run store txn -f nothing.yaml
----

file empty.yaml
{}
----

run store txn -f empty.yaml
----

file covered.yaml
then: [{put: /old/a, value: x}, {erase_below: /old/}]
----

run store txn -f covered.yaml
----

file dump.jsonl
{"evenkeel_dump":1,"below":"/","revision":17}
{"key":"/c1/config","value":"x"}
{"end":true,"entries":2}
----

run store restore --from dump.jsonl
----

file old.jsonl
{"evenkeel_dump":2,"below":"/","revision":17}
----

run store restore --from old.jsonl
----
