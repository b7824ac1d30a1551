#include "evenkeel/cli/edit.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "evenkeel/base/read.h"
#include "evenkeel/base/text.h"
#include "evenkeel/model/cluster_file.h"

namespace evenkeel::cli {
namespace {

using nlohmann::json;

struct Edit {
  std::string key;
  std::optional<std::string> value;  // none: it is taken back
};

Result<Edit> parse_edit(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals != std::string::npos && equals > 0) return Edit{word.substr(0, equals), word.substr(equals + 1)};
  if (equals == std::string::npos && word.size() > 1 && word.ends_with('-')) return Edit{word.substr(0, word.size() - 1), {}};
  return fail(Code::invalid, "{} is neither KEY=VALUE nor KEY-, which takes a value back", quote(word));
}

// As a reader of cluster files wants it: numbers and flags unquoted, lists as JSON.
json value_of(const std::string& word) {
  if (word == "true" || word == "false") return word == "true";
  if (word.starts_with('[')) {
    const json parsed = json::parse(word, nullptr, false);
    if (!parsed.is_discarded()) return parsed;
  }
  const auto number = parse_unsigned(word);
  return number ? json(*number) : json(word);
}

// All that is wrong, in one line; places in a text that nobody wrote mean nothing.
Error error_of(const Diagnostics& problems) {
  std::string out;
  for (const Diagnostic& problem : problems.sorted()) {
    out += out.empty() ? "" : "; ";
    out += problem.hint.empty() ? problem.message : fmt::format("{}: {}", problem.message, problem.hint);
  }
  return {Code::invalid, std::move(out)};
}

constexpr std::array<std::string_view, 5> node_fields = {"rebalance_delay", "capacity", "power", "labels", "taints"};

json own_of(const LiveDocument& own, const std::string& field) {
  NodeDocument said;
  said.capacity = own.capacity;
  said.labels = own.labels;
  const json document = json::parse(format(said));
  return document.contains(field) ? document[field] : json::object();
}

// KEY=EFFECT or KEY=VALUE:EFFECT.
Result<> edit_taint(NodeDocument& document, const LiveDocument& own, const std::string& key, const Edit& edit) {
  if (!document.taints) document.taints = own.taints;
  std::erase_if(*document.taints, [&](const Taint& taint) { return taint.key == key; });
  if (!edit.value) {
    std::ranges::copy_if(own.taints, std::back_inserter(*document.taints), [&](const Taint& taint) { return taint.key == key; });
    if (std::ranges::is_permutation(*document.taints, own.taints)) document.taints.reset();
    return {};
  }
  const std::size_t colon = edit.value->rfind(':');
  const std::string effect = colon == std::string::npos ? *edit.value : edit.value->substr(colon + 1);
  if (effect != "refuse" && effect != "avoid")
    return fail(Code::invalid, "{}: {} is no effect of a taint: known: refuse, avoid", edit.key, quote(effect));
  document.taints->push_back({.key = key,
                              .value = colon == std::string::npos ? "" : edit.value->substr(0, colon),
                              .effect = effect == "refuse" ? Taint::Effect::refuse : Taint::Effect::avoid});
  return {};
}

Result<> edit_field(NodeDocument& document, const LiveDocument& own, const Edit& edit) {
  const std::size_t dot = edit.key.find('.');
  const std::string field = edit.key.substr(0, dot), part = dot == std::string::npos ? "" : edit.key.substr(dot + 1);
  if (std::ranges::find(node_fields, field) == node_fields.end())
    return fail(Code::invalid, "{} cannot be set on a node; {}", quote(field), suggestion(field, node_fields));
  const bool is_map = field == "capacity" || field == "labels" || field == "taints";
  if (part.empty() && is_map && edit.value)
    return fail(Code::invalid, "{} has parts: write {}.KEY=VALUE, or {}- to take all of it back", field, field, field);
  if (!part.empty() && !is_map) return fail(Code::invalid, "{} has no parts: write {}=VALUE", field, field);
  if (field == "taints" && !part.empty()) return edit_taint(document, own, part, edit);
  json text = json::parse(format(document));
  if (part.empty()) {
    text.erase(field);
    if (edit.value) text[field] = *edit.value;
  } else {
    const json said = own_of(own, field);
    if (!text.contains(field)) text[field] = said;
    text[field].erase(part);
    if (edit.value) {
      text[field][part] = *edit.value;
    } else if (said.contains(part)) {
      text[field][part] = said[part];
    }
    if (!edit.value && text[field] == said) text.erase(field);
  }
  auto parsed = parse_node(text.dump(), edit.key);
  if (!parsed) {  // its place is in a text that nobody wrote
    constexpr std::string_view mark = ": error: ";
    const std::string& message = parsed.error().message;
    const std::size_t at = message.find(mark);
    return fail(Code::invalid, "{}: {}", edit.key, at == std::string::npos ? message : message.substr(at + mark.size()));
  }
  document = *std::move(parsed);
  return {};
}

}  // namespace

Result<Settings> edit_settings(const Settings& settings, std::span<const std::string> words) {
  json file = json::parse(format_cluster({.name = ClusterId("c"), .settings = settings}, Syntax::json));
  if (!file.contains("settings")) file["settings"] = json::object();
  for (const std::string& word : words) {
    const auto edit = parse_edit(word);
    if (!edit) return fail(edit.error());
    const std::size_t dot = edit->key.find('.');
    json& section = file["settings"];
    json& owner = dot == std::string::npos ? section : section[edit->key.substr(0, dot)];
    if (owner.is_null()) owner = json::object();
    if (!owner.is_object()) return fail(Code::invalid, "{} has no parts", quote(edit->key.substr(0, dot)));
    const std::string name = dot == std::string::npos ? edit->key : edit->key.substr(dot + 1);
    owner.erase(name);
    if (edit->value) owner[name] = value_of(*edit->value);
  }
  const auto parsed = parse_cluster(file.dump(), "settings", Syntax::json);
  if (!parsed) return fail(error_of(parsed.error()));
  return parsed->settings;
}

Result<NodeDocument> edit_node(const NodeDocument& document, const LiveDocument& own, std::span<const std::string> words) {
  NodeDocument out = document;
  for (const std::string& word : words) {
    const auto edit = parse_edit(word);
    if (!edit) return fail(edit.error());
    if (const auto good = edit_field(out, own, *edit); !good) return fail(good.error());
  }
  return out;
}

}  // namespace evenkeel::cli
