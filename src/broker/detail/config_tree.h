#pragma once
// A config's text as a tree, whether it was YAML, JSON or protobuf text, so that one reader of fields serves them all.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/diagnostic.h"

namespace evenkeel::broker {

struct ConfigField;

struct ConfigNode {
  enum class Kind : std::uint8_t { nothing, plain, text, list, message };
  Kind kind = Kind::nothing;
  Place place;
  std::string text;                 // of a scalar
  std::vector<ConfigNode> items;    // of a list
  std::vector<ConfigField> fields;  // of a message, in order; protobuf text repeats names

  // For messages: `the text "x"`, `"5"`, `a list`.
  std::string describe() const;
};

struct ConfigField {
  std::string name;
  Place place;
  ConfigNode value;
};

struct ConfigTree {
  ConfigNode root;
  bool protobuf = false;  // else YAML or JSON
  Diagnostics problems;   // what is wrong although it could be read
};

// 16 MiB of text and 2^18 values: some 50 000 queues, and below 100 MiB for the tree at its largest.
inline constexpr std::size_t config_bytes_max = 16u << 20;
inline constexpr std::size_t config_values_max = 1u << 18;
inline constexpr std::size_t config_depth_max = 32;

Parsed<ConfigTree> read_config_tree(std::string_view text, std::string file);

// Whether that reads a text as protobuf text.
bool is_protobuf_config(std::string_view text);

}  // namespace evenkeel::broker
