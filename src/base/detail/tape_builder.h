#pragma once
// What the YAML and JSON front ends feed: events in the order of the text become a Document's tape, under its bounds.
//
// Every call returns false once the text is refused; the problem is then among the document's and the front end stops.

#include <string_view>
#include <vector>

#include "evenkeel/base/document.h"

namespace evenkeel {

class TapeBuilder {
 public:
  explicit TapeBuilder(Document& document) : document_(document) {}

  bool scalar(Value::Kind kind, std::string_view text, Place place);
  bool begin(Value::Kind kind, Place place);
  bool end();
  // Adds the problem and returns false.
  bool refuse(Place place, std::string message, std::string hint = "");

  bool complete() const { return open_.empty() && document_.tape_.size() > 0; }

 private:
  struct Open {
    std::uint32_t at;        // its record
    std::uint32_t children;  // so far; for a map, keys and values
  };
  bool is_key() const;
  bool add(Value::Kind kind, std::string_view text, Place place);
  bool check_keys(std::uint32_t map);

  Document& document_;
  std::vector<Open> open_;
};

// The place of a byte of the text.
Place place_of(std::string_view text, std::size_t offset);

// The front ends. Each reads all of `text` into the builder, or refuses it.
bool read_yaml(std::string_view text, TapeBuilder& builder);
bool read_json(std::string_view text, TapeBuilder& builder);

}  // namespace evenkeel
