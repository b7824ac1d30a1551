#pragma once
// A dump: keys and values of any store as lines of JSON, which any store takes back.
//
//   {"evenkeel_dump":1,"below":"/","revision":17}
//   {"key":"/c1/config","value":"…"}
//   {"key":"/c1/picture","base64":"AAEC"}
//   {"end":true,"entries":2}
//
// Revisions and ephemeral keys are not in it: they belong to the store and to living clients. The last line is the proof that it is whole.

#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/diagnostic.h"
#include "evenkeel/store/store.h"

namespace evenkeel::cli {

struct Dump {
  std::string below = "/";
  store::Revision revision;  // of the listing
  struct Pair {
    std::string key;
    std::string value;
    friend bool operator==(const Pair&, const Pair&) = default;
  };
  std::vector<Pair> pairs;
  friend bool operator==(const Dump&, const Dump&) = default;
};

std::string format_dump(const Dump& dump);
Parsed<Dump> parse_dump(std::string_view text, std::string file);

}  // namespace evenkeel::cli
