#pragma once
// The fields of one JSON object of a trace, asked for by name and type. The first thing wrong is kept, and what is read after it is
// of no consequence: the line is refused as a whole. Of a name given twice the last counts; names nobody asks for are ignored.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evenkeel/base/quantity.h"
#include "evenkeel/broker/config.h"
#include "evenkeel/broker/detail/trace_json.h"

namespace evenkeel::broker::detail {

class Fields {
 public:
  // `what` is what the object describes, for messages: "submit".
  Fields(JsonText object, std::string_view what, std::optional<JsonFault>& fault);

  std::optional<JsonText> find(std::string_view name) const;

  // Without a default: a fault if they are missing.
  JsonText any(std::string_view name);
  std::string text(std::string_view name);
  std::uint64_t whole(std::string_view name);
  UInt128 wide(std::string_view name);  // a text of digits
  JsonText object(std::string_view name) { return of_kind(name, JsonText::Kind::object, "an object"); }
  JsonText list(std::string_view name) { return of_kind(name, JsonText::Kind::list, "a list"); }
  // With one.
  std::uint64_t whole_or(std::string_view name, std::uint64_t otherwise);
  bool flag_or(std::string_view name, bool otherwise);
  Amounts amounts_or_none(std::string_view name);  // an object of whole numbers

  void fault(JsonText where, std::string message, std::string hint);

 private:
  JsonText of_kind(std::string_view name, JsonText::Kind kind, std::string_view kind_name);
  std::uint64_t whole_in(JsonText value, std::string_view name);

  JsonText object_;
  std::string_view what_;
  std::vector<std::pair<std::string, JsonText>> fields_;
  std::optional<JsonFault>& fault_;
};

// Every object of a list, as fields.
void for_each_object(JsonText list, std::string_view what, std::optional<JsonFault>& fault,
                     const std::function<void(Fields& fields)>& visit);

Config read_config(JsonText object, std::optional<JsonFault>& fault);
void write_config(std::string& out, const Config& config);
void write_amounts(std::string& out, const Amounts& amounts);  // {"cpu":2}

}  // namespace evenkeel::broker::detail
