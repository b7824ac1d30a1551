#pragma once
// Strong ids: no bare int or string names a thing, so a shard can never be passed where a node is meant.
//
// Two shapes, both made by a tag that nobody defines:
//   using NodeId   = Name<struct NodeTag>;            // text, as people write it: NodeId("n1")
//   using NodeIndex = Number<struct NodeIndexTag>;    // a dense or counting number: NodeIndex(7), ++index
// Ids of one type compare, order, hash (std and absl) and format; ids of different types do none of it.

#include <fmt/format.h>

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace evenkeel {

template <class Tag>
class Name {
 public:
  Name() = default;
  explicit Name(std::string text) : text_(std::move(text)) {}

  const std::string& str() const { return text_; }
  bool empty() const { return text_.empty(); }

  friend auto operator<=>(const Name&, const Name&) = default;
  template <class H>
  friend H AbslHashValue(H h, const Name& name) {
    return H::combine(std::move(h), name.text_);
  }

 private:
  std::string text_;
};

template <class Tag, class Rep = std::uint32_t>
class Number {
 public:
  using rep = Rep;

  constexpr Number() = default;
  constexpr explicit Number(Rep value) : value_(value) {}

  constexpr Rep value() const { return value_; }
  constexpr Number& operator++() {
    ++value_;
    return *this;
  }
  constexpr Number next() const { return Number(static_cast<Rep>(value_ + 1)); }

  friend constexpr auto operator<=>(const Number&, const Number&) = default;
  template <class H>
  friend H AbslHashValue(H h, const Number& number) {
    return H::combine(std::move(h), number.value_);
  }

 private:
  Rep value_{};
};

}  // namespace evenkeel

template <class Tag>
struct std::hash<evenkeel::Name<Tag>> {
  std::size_t operator()(const evenkeel::Name<Tag>& name) const { return std::hash<std::string>()(name.str()); }
};
template <class Tag, class Rep>
struct std::hash<evenkeel::Number<Tag, Rep>> {
  std::size_t operator()(const evenkeel::Number<Tag, Rep>& number) const { return std::hash<Rep>()(number.value()); }
};
template <class Tag>
struct fmt::formatter<evenkeel::Name<Tag>> : fmt::formatter<std::string_view> {
  auto format(const evenkeel::Name<Tag>& name, format_context& context) const {
    return formatter<std::string_view>::format(name.str(), context);
  }
};
template <class Tag, class Rep>
struct fmt::formatter<evenkeel::Number<Tag, Rep>> : fmt::formatter<Rep> {
  auto format(const evenkeel::Number<Tag, Rep>& number, format_context& context) const {
    return formatter<Rep>::format(number.value(), context);
  }
};
