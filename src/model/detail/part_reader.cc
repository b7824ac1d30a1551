#include "evenkeel/model/detail/part_reader.h"

#include <array>

#include "evenkeel/base/text.h"
#include "evenkeel/model/detail/control_fields.h"

namespace evenkeel::detail {

void PartReader::read_settings(Value value, Settings& out) {
  FieldReader fields(value, problems_, "settings");
  const auto ratio = [&](Value v) { return read_ratio(v, problems_); };
  fields.count("replicas_per_core", out.replicas_per_core);
  fields.count("core0_reserve", out.core0_reserve);
  fields.read("soft_limit", out.soft_limit, ratio);
  fields.read("hard_limit", out.hard_limit, ratio);
  fields.read("tolerance", out.tolerance, ratio);
  fields.count("moves_max", out.moves_max);
  fields.count("moves_per_node_max", out.moves_per_node_max);
  fields.read("levels", out.levels, [&](Value v) {
    return read_list<std::string>(v, "names of levels", [&](Value item) { return read_text(item, problems_); });
  });
  fields.read("spread", out.spread, [&](Value v) { return read_spread(v); });
  read_control(fields, out.control);
  finish(fields);
}

void PartReader::read_control(FieldReader& fields, ControlSettings& out) {
  const auto count = [&](Value v) { return read_number(v); };
  for (const auto& [name, member] : settings_durations) {
    fields.read(name, out.*member, [&](Value v) { return read_duration(v, problems_); });
  }
  fields.read("max_offline", out.max_offline, count);
  fields.read("resume_offline", out.resume_offline, count);
  fields.count("extra_replicas", out.extra_replicas);
  for (const auto& [name, member] : settings_throttles) {
    if (const auto value = fields.take(name)) read_throttle(*value, out.*member);
  }
  fields.read("errors_max", out.errors_max, [&](Value v) { return read_ratio(v, problems_); });
  fields.read("loads_margin", out.loads_margin, [&](Value v) { return read_ratio(v, problems_); });
}

// What the map leaves out keeps its default, so that a limit of bytes does not lift that of copies.
void PartReader::read_throttle(Value value, Throttle& out) {
  FieldReader fields(value, problems_, "a limit");
  fields.count("copies", out.copies);
  fields.quantity("bytes_per_second", out.bytes_per_second);
  finish(fields);
}

std::optional<std::uint32_t> PartReader::read_number(Value value) {
  return read_count(value, problems_, {}).transform([](auto n) { return static_cast<std::uint32_t>(n); });
}

std::optional<Spread> PartReader::read_spread(Value value) {
  FieldReader fields(value, problems_, "a spread");
  Spread out;
  fields.text("level", out.level);
  fields.flag("hard", out.hard);
  finish(fields);
  return out;
}

std::optional<StateModel> PartReader::read_model(Value value) {
  const auto before = problems_.found();
  const auto state_id = [&](Value v) { return read_id<StateId>(v); };
  const auto read_count_of = [&](Value v) -> std::optional<StateCount> {
    if (v.kind() == Value::Kind::plain && parse_unsigned(v.text())) {
      return read_count(v, problems_, {.least = 1}).transform([](auto n) {
        return StateCount{StateCount::Kind::number, static_cast<std::uint32_t>(n)};
      });
    }
    static constexpr std::array<std::string_view, 2> words = {"replicas", "nodes"};
    return read_word(v, problems_, "a number, replicas or nodes", words).transform([](auto i) {
      return StateCount{i == 0 ? StateCount::Kind::replicas : StateCount::Kind::nodes, 0};
    });
  };
  const auto read_state = [&](Value v) -> std::optional<State> {
    FieldReader fields(v, problems_, "a state");
    State state;
    fields.required("name", state.name, state_id);
    fields.read("count", state.count, read_count_of);
    fields.flag("data", state.data);
    finish(fields);
    return state;
  };
  const auto read_edge = [&](Value v) -> std::optional<StateEdge> {
    if (v.kind() != Value::Kind::list || v.size() != 2) {
      problems_.add(v.place(), fmt::format("expected a transition, found {}", v.describe()), "write it as [from, to]");
      return std::nullopt;
    }
    const auto ends = read_list<StateId>(v, "two states", state_id);
    if (!ends || ends->size() != 2) return std::nullopt;
    return StateEdge{(*ends)[0], (*ends)[1]};
  };
  FieldReader fields(value, problems_, "a state model");
  StateModelSpec spec;
  fields.required("name", spec.name, [&](Value v) { return read_id<StateModelId>(v); });
  fields.required("states", spec.states, [&](Value v) { return read_list<State>(v, "states", read_state); });
  fields.required("initial", spec.initial, state_id);
  fields.required("transitions", spec.transitions, [&](Value v) { return read_list<StateEdge>(v, "transitions", read_edge); });
  finish(fields);
  if (problems_.found() != before) return std::nullopt;
  auto model = StateModel::make(std::move(spec));
  if (!model) {
    for (const std::string& wrong : model.error()) problems_.add(value.place(), "this state model is not sound: " + wrong);
    return std::nullopt;
  }
  return *std::move(model);
}

std::optional<Amounts> PartReader::read_amounts(Value value) {
  if (!expect_map(value, problems_, "resources and quantities")) return std::nullopt;
  Amounts out;
  for (const auto [key, amount] : value.pairs()) {
    if (const auto quantity = read_quantity(amount, problems_)) out.emplace(ResourceId(std::string(key.text())), *quantity);
  }
  return out;
}

std::optional<Labels> PartReader::read_labels(Value value) {
  if (!expect_map(value, problems_, "labels")) return std::nullopt;
  Labels out;
  for (const auto [key, label] : value.pairs()) {
    if (auto text = read_text(label, problems_)) out.emplace(key.text(), *std::move(text));
  }
  return out;
}

Place place_of(Value at, std::span<const std::string> path, bool at_key) {
  Place place = at.place();
  for (std::size_t depth = 0; depth < path.size(); ++depth) {
    const std::string& part = path[depth];
    const bool last = depth + 1 == path.size();
    bool found = false;
    auto left = parse_unsigned(part).value_or(0);
    for (const Value item : at.items()) {
      if (left-- > 0) continue;
      at = item, place = item.place(), found = true;
      break;
    }
    for (const auto [key, value] : at.pairs()) {
      if (found || key.text() != part) continue;
      place = last && at_key ? key.place() : value.place();
      at = value, found = true;
      break;
    }
    if (!found) break;  // a field that was left out: its owner's place is the nearest
  }
  return place;
}

}  // namespace evenkeel::detail
