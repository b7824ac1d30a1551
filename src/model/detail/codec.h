#pragma once
// Values as JSON and back, by one description of each type, so that what is written is what is read.
//
//   template <>
//   struct Shape<HandOver> {                        // a map of named fields
//     static constexpr std::string_view what = "a hand-over";
//     static constexpr auto fields = std::tuple(required("from", &HandOver::from), required("to", &HandOver::to));
//   };
//   template <>
//   struct Row<Version> {                           // a list of fixed length: [5, 2]
//     static constexpr std::string_view what = "a version, [epoch, change]";
//     static constexpr auto parts = std::tuple(&Version::epoch, &Version::change);
//   };
//   template <>
//   struct Words<Reason> { … all = {Reason::first, …} };   // by name(Reason)
//
//   put(text, value);   get(scan, value);
//
// A required field is always written, and missed where it is absent; another one is written only where it is not what a value starts with.
// An optional is absent or there. Lists of shards, and of things that have one, are in rising order. Fields that are not described are overlooked.

#include <array>
#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "evenkeel/base/later.h"
#include "evenkeel/base/quantity.h"
#include "evenkeel/base/text.h"
#include "evenkeel/base/time.h"
#include "evenkeel/model/detail/json_scan.h"
#include "evenkeel/model/ids.h"

namespace evenkeel::detail {

enum class Need : std::uint8_t { optional, required };
template <class Owner, class T>
struct Field {
  std::string_view name;
  T Owner::*member;
  Need need;
};
template <class Owner, class T>
constexpr Field<Owner, T> required(std::string_view name, T Owner::*member) {
  return {name, member, Need::required};
}
template <class Owner, class T>
constexpr Field<Owner, T> field(std::string_view name, T Owner::*member) {
  return {name, member, Need::optional};
}

template <class T>
struct Shape;
template <class T>
struct Row;
template <class T>
struct Words;

template <class T>
concept Shaped = requires { Shape<T>::fields; };
template <class T>
concept InRow = requires { Row<T>::parts; };
template <class T>
concept Worded = requires { Words<T>::all; };
template <class T>
concept ByShard = requires(const T& item) {
  { item.shard } -> std::same_as<const ShardIndex&>;
};

// 1. Writing.

class JsonText {
 public:
  void raw(std::string_view text) { out_ += text; }
  void quoted(std::string_view text);
  void number(std::uint64_t value) {
    const fmt::format_int digits(value);
    out_.append(digits.data(), digits.size());
  }
  void key(std::string_view name, bool first) {
    if (!first) out_ += ", ";
    out_ += '"';
    out_ += name;
    out_ += "\": ";
  }
  // A list whose items are maps has a line for each.
  void enter() { indent_ += 2; }
  void leave() { indent_ -= 2; }
  void new_line() {
    out_ += '\n';
    out_.append(indent_, ' ');
  }
  std::string take() && { return std::move(out_); }

 private:
  std::string out_;
  std::size_t indent_ = 0;
};

inline void put(JsonText& out, bool value) { out.raw(value ? "true" : "false"); }
inline void put(JsonText& out, const std::string& value) { out.quoted(value); }
template <class N>
  requires(std::unsigned_integral<N> && !std::same_as<N, bool>)
void put(JsonText& out, N value) {
  out.number(value);
}
template <class Tag>
void put(JsonText& out, const Name<Tag>& name) {
  out.quoted(name.str());
}
template <class Tag, class Rep>
void put(JsonText& out, Number<Tag, Rep> number) {
  out.number(number.value());
}
// In hexadecimal, and as text: it is random, and many readers of JSON keep only 53 bits of a number.
inline void put(JsonText& out, Incarnation incarnation) { out.raw(fmt::format("\"{:016x}\"", incarnation.value())); }
inline void put(JsonText& out, Duration duration) { out.quoted(format(duration)); }
inline void put(JsonText& out, Quantity quantity) {
  const auto text = format(quantity);
  is_digit(text.back()) ? out.raw(text) : out.quoted(text);
}
inline void put(JsonText& out, const ShardId& shard) { out.quoted(format(shard)); }
template <Worded T>
void put(JsonText& out, T value) {
  out.quoted(name(value));
}
template <InRow T>
void put(JsonText& out, const T& value);
template <Shaped T>
void put(JsonText& out, const T& value);
template <class T>
void put(JsonText& out, const std::optional<T>& value) {
  put(out, *value);
}
template <class K, class V>
void put(JsonText& out, const std::map<K, V>& map);
template <class T>
void put(JsonText& out, const std::vector<T>& items);

template <InRow T>
void put(JsonText& out, const T& value) {
  out.raw("[");
  bool first = true;
  const auto part = [&](const auto& member) {
    if (!std::exchange(first, false)) out.raw(", ");
    put(out, value.*member);
  };
  std::apply([&](const auto&... members) { (part(members), ...); }, Row<T>::parts);
  out.raw("]");
}

template <class Owner, class T>
bool worth_writing(const Field<Owner, T>& field, const Owner& value) {
  static const Owner usual{};
  return field.need == Need::required || value.*field.member != usual.*field.member;
}

template <Shaped T>
void put(JsonText& out, const T& value) {
  out.raw("{");
  bool first = true;
  const auto part = [&](const auto& field) {
    if (!worth_writing(field, value)) return;
    out.key(field.name, std::exchange(first, false));
    put(out, value.*field.member);
  };
  std::apply([&](const auto&... fields) { (part(fields), ...); }, Shape<T>::fields);
  if constexpr (is_later) {
    out.key(later_key, first);
    out.raw(later_value);
  }
  out.raw("}");
}

template <class K, class V>
void put(JsonText& out, const std::map<K, V>& map) {
  out.raw("{");
  bool first = true;
  for (const auto& [key, value] : map) {
    if (!std::exchange(first, false)) out.raw(", ");
    put(out, key);
    out.raw(": ");
    put(out, value);
  }
  out.raw("}");
}

template <class T>
void put(JsonText& out, const std::vector<T>& items) {
  out.raw("[");
  out.enter();
  bool first = true;
  for (const T& item : items) {
    if (!std::exchange(first, false)) out.raw(Shaped<T> ? "," : ", ");
    if constexpr (Shaped<T>) out.new_line();
    put(out, item);
  }
  out.leave();
  out.raw("]");
}

// The whole of a document: its format, and a line for each field.
template <Shaped T>
std::string put_document(const T& value, std::uint32_t format) {
  JsonText out;
  out.raw("{");
  out.enter();
  out.new_line();
  out.key("format", true);
  out.number(format);
  const auto part = [&](const auto& field) {
    if (!worth_writing(field, value)) return;
    out.raw(",");
    out.new_line();
    out.key(field.name, true);
    put(out, value.*field.member);
  };
  std::apply([&](const auto&... fields) { (part(fields), ...); }, Shape<T>::fields);
  out.raw("\n}\n");
  return with_later_field(std::move(out).take());
}

// 2. Reading.

template <class T>
void get_parsed(JsonScan& in, T& out, std::string_view what, Result<T> (*parse)(std::string_view)) {
  const auto text = in.text_or_number(what);
  if (in.failed()) return;
  auto parsed = parse(text);
  parsed ? void(out = *std::move(parsed)) : in.fail(parsed.error().message);
}
void get_name(JsonScan& in, std::string& out);

inline void get(JsonScan& in, bool& out) { out = in.flag(); }
inline void get(JsonScan& in, std::string& out) { out = in.text(); }
template <class N>
  requires(std::unsigned_integral<N> && !std::same_as<N, bool>)
void get(JsonScan& in, N& out) {
  out = static_cast<N>(in.count(std::numeric_limits<N>::max()));
}
template <class Tag>
void get(JsonScan& in, Name<Tag>& out) {
  std::string text;
  get_name(in, text);
  out = Name<Tag>(std::move(text));
}
template <class Tag, class Rep>
void get(JsonScan& in, Number<Tag, Rep>& out) {
  out = Number<Tag, Rep>(static_cast<Rep>(in.count(std::numeric_limits<Rep>::max())));
}
void get(JsonScan& in, Incarnation& out);
void get(JsonScan& in, Duration& out);
void get(JsonScan& in, Quantity& out);
inline void get(JsonScan& in, ShardId& out) { get_parsed(in, out, "a shard such as \"t1/9\"", parse_shard_id); }

template <Worded T>
void get(JsonScan& in, T& out) {
  const auto word = in.text(Words<T>::what);
  if (in.failed()) return;
  for (const T value : Words<T>::all) {
    if (name(value) == word) return void(out = value);
  }
  std::vector<std::string_view> names;
  for (const T value : Words<T>::all) names.push_back(name(value));
  in.fail(fmt::format("expected {}, found the text {}", Words<T>::what, quote(word)),
          fmt::format("known: {}", fmt::join(names, ", ")));
}
template <InRow T>
void get(JsonScan& in, T& out);
template <Shaped T>
void get(JsonScan& in, T& out);
template <class K, class V>
void get(JsonScan& in, std::map<K, V>& out);
template <class T>
void get(JsonScan& in, std::vector<T>& out);
template <class T>
void get(JsonScan& in, std::optional<T>& out) {
  get(in, out.emplace());
}

template <InRow T>
void get(JsonScan& in, T& out) {
  in.begin_list(Row<T>::what);
  const auto start = in.began();
  bool first = true, whole = true;
  const auto part = [&](const auto& member) {
    whole = whole && in.next_item(first);
    if (whole) get(in, out.*member);
  };
  std::apply([&](const auto&... members) { (part(members), ...); }, Row<T>::parts);
  if (!whole || in.next_item(first)) in.fail_at(start, fmt::format("expected {}, found a list of another length", Row<T>::what));
}

template <Shaped T>
void get(JsonScan& in, T& out) {
  using Described = Shape<T>;
  in.begin_map(Described::what);
  const auto start = in.began();
  std::uint32_t seen = 0;
  static_assert(std::tuple_size_v<decltype(Described::fields)> <= 32);
  const auto take = [&](const auto& field, std::uint32_t bit) {
    if (in.key() != field.name) return false;
    if ((seen & bit) != 0) in.fail(fmt::format("{} is given twice in one map", quote(field.name)), "keep one");
    seen |= bit;
    get(in, out.*field.member);
    return true;
  };
  for (bool first = true; in.next_key(first);) {
    std::uint32_t bit = 1;
    const auto next = [&](const auto& field) { return take(field, std::exchange(bit, bit << 1)); };
    if (!std::apply([&](const auto&... fields) { return (next(fields) || ...); }, Described::fields)) in.skip();
  }
  std::uint32_t bit = 1;
  const auto miss = [&](const auto& field) {
    if ((seen & std::exchange(bit, bit << 1)) == 0 && field.need == Need::required)
      in.fail_at(start, fmt::format("{} lacks the field {}", Described::what, quote(field.name)), "add it");
  };
  std::apply([&](const auto&... fields) { (miss(fields), ...); }, Described::fields);
}

template <class K, class V>
void get(JsonScan& in, std::map<K, V>& out) {
  in.begin_map("a map");
  for (bool first = true; in.next_key(first);) {
    if constexpr (!std::same_as<K, std::string>) {
      if (const auto why = why_not_a_name(in.key())) in.fail(*why);
    }
    const auto [at, added] = out.try_emplace(K(std::string(in.key())));
    if (!added) in.fail(fmt::format("{} is given twice in one map", quote(in.key())), "keep one");
    get(in, at->second);
  }
}

inline std::string shard_of(const ShardId& shard) { return format(shard); }
template <ByShard T>
ShardIndex shard_of(const T& item) {
  return item.shard;
}

inline bool rises(const ShardId& a, const ShardId& b) { return a < b; }
template <ByShard T>
bool rises(const T& a, const T& b) {
  return a.shard < b.shard;
}

template <class T>
void get(JsonScan& in, std::vector<T>& out) {
  in.begin_list("a list");
  for (bool first = true; in.next_item(first);) {
    const auto start = in.began();
    get(in, out.emplace_back());
    if constexpr (ByShard<T>) {
      if (out.size() < 2 || rises(out[out.size() - 2], out.back())) continue;
      in.fail_at(start, fmt::format("shard {} stands after shard {}", shard_of(out.back()), shard_of(out[out.size() - 2])),
                 "each is there once, in rising order");
    }
  }
}

// The format that a text says it has, if it is a map that says so; what else is wrong with it is not looked at.
std::optional<std::uint64_t> format_of(std::string_view text);
// Code::refused if that is higher than `known`, Code::invalid if there is none.
Result<void> check_format(std::string_view text, std::string_view where, std::uint32_t known);

template <Shaped T>
Result<T> get_document(std::string_view text, std::string_view where, std::uint32_t known) {
  if (auto wrong = check_format(text, where, known); !wrong) return tl::unexpected(std::move(wrong.error()));
  JsonScan in(text);
  T out;
  get(in, out);
  in.end();
  if (in.failed()) return tl::unexpected(in.problems(where).to_error());
  return out;
}

}  // namespace evenkeel::detail
