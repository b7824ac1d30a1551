#pragma once
// A txn as people write it, in YAML or JSON, with what is wrong line by line.
//
//   compare:
//     - {key: /c1/leader, absent: true}          # or present: true
//     - {key: /c1/config, unchanged: 7}          # its latest write is still that of revision 7
//   then:
//     - {put: /c1/leader, value: n1}             # or base64: …, for a value that is not text
//     - {erase: /c1/old}
//   else:
//     - {erase_below: /c1/tmp/}
//
// parse(format(txn)) == txn for every txn without ephemeral keys, which a command that ends could not keep.

#include <string>
#include <string_view>

#include "evenkeel/base/document.h"
#include "evenkeel/store/store.h"

namespace evenkeel::cli {

Parsed<store::Txn> parse_txn(std::string_view text, std::string file);
std::string format_txn(const store::Txn& txn, Syntax syntax);

}  // namespace evenkeel::cli
