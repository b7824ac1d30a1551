#pragma once
// Protobuf text, read by hand and without a schema: the names of resources are open, and its errors look like those of other files.
//
// Accepted: `#` comments; `field: value`, `field { … }`, `field: { … }`, `< … >` for braces; lists `[ … ]`; `,` or `;` after a field;
// strings in single or double quotes with escapes, adjacent ones joined; numbers in decimal, hexadecimal and octal. Beyond protobuf
// a field's name may be quoted, since a resource may have any name. Bare words are no values here: no field of a config has them.
// Depth and number of values are bounded; linear time.

#include <string>
#include <string_view>

#include "evenkeel/broker/detail/config_tree.h"

namespace evenkeel::broker {

// All fields of the text as one message; the first thing that is wrong ends it.
Parsed<ConfigNode> read_protobuf_text(std::string_view text, std::string file);

// The text in double quotes, as protobuf text takes it.
std::string protobuf_quoted(std::string_view text);

// Whether a field's name can stand without quotes.
bool is_protobuf_name(std::string_view text);

}  // namespace evenkeel::broker
