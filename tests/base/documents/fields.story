fields
{name: x, size: 7, on: true, ratio: 12.5%, wait: 1h30m, room: 64Gi, word: blue}
----
x 7 true 12.5% 1h30m 64Gi blue

fields
{"name": "x", "size": 1, "on": false, "ratio": 0.5, "wait": "250ms", "room": 0.001, "word": "red"}
----
x 1 false 50% 250ms 0.001 red

# What is absent keeps its default; what is required is missed.
fields
{size: 3}
----
d:1:1: error: a thing lacks the field "name"
  add it

fields
{name: x}
----
x 5 false 0% 0s 0 red

# All that is wrong at once.
fields
{name: [x], size: 11, on: yes, ratio: 12.5.1%, wait: 15, room: 5 Gi, word: gren, nmae: y, other: z}
----
d:1:8: error: expected text, found a list
d:1:19: error: 11 is out of range
  give a whole number from 1 to 10
d:1:27: error: expected true or false, found "yes"
d:1:39: error: "12.5.1%" has the unknown suffix ".1%": use %, or none
d:1:54: error: "15" has no unit: add a unit, for example 15s
d:1:64: error: "5 Gi" has the unknown suffix " Gi": did you mean 5Gi?
d:1:76: error: expected a colour, found "gren"
  did you mean "green"?
d:1:82: error: unknown field "nmae" of a thing
  did you mean "name"?
d:1:91: error: unknown field "other" of a thing
  known: name, size, on, ratio, wait, room, word

fields
{name: , size: "3", on: "true", ratio: [], wait: -5s, room: -1, word: }
----
d:1:8: error: "name" of a thing has no value
  give one, or remove the field
d:1:16: error: expected a whole number, found the text "3"
  remove the quotes
d:1:25: error: expected true or false, found the text "true"
d:1:40: error: expected a share such as 80% or 0.8, found a list
d:1:50: error: "-5s" is negative
  give zero or more
d:1:61: error: "-1" is negative
  give zero or more
d:1:71: error: "word" of a thing has no value
  give one, or remove the field

fields
{name: x, size: 0, wait: {}, room: lots, word: purple}
----
d:1:17: error: 0 is out of range
  give a whole number from 1 to 10
d:1:26: error: expected a duration such as 30s or 1h30m, found a map
d:1:36: error: "lots" is not a quantity: write a number, for example 0.5, 500m or 64Gi
d:1:48: error: expected a colour, found "purple"
  known: red, green, blue

fields
{name: x, size: 99999999999999999999}
----
d:1:17: error: "99999999999999999999" is too large: at most 18446744073709551615

fields
[name]
----
d:1:3: error: not valid JSON: syntax error while parsing value - invalid literal
