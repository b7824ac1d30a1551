# The same tree from both syntaxes, each value with its line and column.
tree d.yaml
a: 1
b:
  - x
  - {c: "d e", f: ~}
'g': >-
  folded
  text
----
map 1:1 of 3
  a (1:1) = plain 1:4 "1"
  b (2:1) = list 3:3 of 2
    - plain 3:5 "x"
    - map 4:5 of 2
      c (4:6) = text 4:9 "d e"
      f (4:16) = null 4:19
  g (5:1) = text 5:6 "folded text"

tree d.json
{"a": 1,
 "b": ["x", {"c": "d e", "f": null}, 2],
 "é": -1.50e3, "h": true
}
----
map 1:1 of 4
  a (1:2) = plain 1:7 "1"
  b (2:2) = list 2:7 of 3
    - text 2:8 "x"
    - map 2:13 of 2
      c (2:14) = text 2:19 "d e"
      f (2:26) = null 2:31
    - plain 2:38 "2"
  é (3:2) = plain 3:7 "-1.50e3"
  h (3:16) = plain 3:21 "true"

# Characters count, not bytes; escapes are resolved.
tree d.json
{"äöü": "\u00e9\n\ud834\udd1e", "z": [[], {}, [1,2 , 3]]}
----
map 1:1 of 2
  äöü (1:2) = text 1:9 "é\n𝄞"
  z (1:33) = list 1:38 of 3
    - list 1:39 of 0
    - map 1:43 of 0
    - list 1:47 of 3
      - plain 1:48 "1"
      - plain 1:50 "2"
      - plain 1:54 "3"

tree
[1, "two", null]
----
list 1:1 of 3
  - plain 1:2 "1"
  - text 1:5 "two"
  - null 1:12

tree d.yaml
a: {b: 1, b: 2, c: 3, b: 4}
----
map 1:1 of 1
  a (1:1) = map 1:4 of 4
    b (1:5) = plain 1:8 "1"
    b (1:11) = plain 1:14 "2"
    c (1:17) = plain 1:20 "3"
    b (1:23) = plain 1:26 "4"
d.yaml:1:11: error: "b" is given twice in one map
  the first is at line 1, column 5: keep one
d.yaml:1:23: error: "b" is given twice in one map
  the first is at line 1, column 11: keep one

tree d.yaml
"unfinished
----
d.yaml:2:1: error: not valid YAML: found unexpected end of stream (while scanning a quoted scalar)

tree d.json
["unfinished
----
d.json:1:13: error: not valid JSON: syntax error while parsing value - invalid string: control character U+000A (LF) must be escaped to \u000A or \n

tree d.json
[1, 2] x
----
d.json:1:8: error: not valid JSON: syntax error while parsing value - invalid literal; expected end of input

tree d.json
[01]
----
d.json:1:4: error: not valid JSON: syntax error while parsing array - unexpected number literal; expected ']'

tree d.yaml
a: [1, 2
b: 3
----
d.yaml:2:2: error: not valid YAML: did not find expected ',' or ']' (while parsing a flow sequence)
