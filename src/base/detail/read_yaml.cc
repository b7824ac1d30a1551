// YAML's front end, over libyaml's event parser: constant memory, and an order of magnitude faster than a node tree.

#include <yaml.h>

#include <algorithm>

#include "evenkeel/base/detail/tape_builder.h"

namespace evenkeel {
namespace {

Place place_of(const yaml_mark_t& mark) {
  return {static_cast<std::uint32_t>(mark.line + 1), static_cast<std::uint32_t>(mark.column + 1)};
}

std::string_view view(const yaml_char_t* text, std::size_t size) { return {reinterpret_cast<const char*>(text), size}; }

// Owns libyaml's parser and one event at a time.
class Events {
 public:
  explicit Events(std::string_view text) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~Events() {
    if (event_.type != YAML_NO_EVENT) yaml_event_delete(&event_);
    yaml_parser_delete(&parser_);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  const yaml_event_t* next() {
    if (event_.type != YAML_NO_EVENT) yaml_event_delete(&event_);
    event_ = {};
    return yaml_parser_parse(&parser_, &event_) == 1 ? &event_ : nullptr;
  }
  const yaml_parser_t& parser() const { return parser_; }

 private:
  yaml_parser_t parser_{};
  yaml_event_t event_{};
};

bool refuse_syntax(std::string_view text, const yaml_parser_t& parser, TapeBuilder& builder) {
  const std::string_view problem = parser.problem != nullptr ? parser.problem : "out of memory";
  if (parser.error == YAML_READER_ERROR) {
    // The mark is where the scanner is, which lags behind what the reader has seen.
    return builder.refuse(evenkeel::place_of(text, std::min(parser.problem_offset, text.size())), std::string(problem),
                          "remove it, or write it as an escape in double quotes");
  }
  std::string message = fmt::format("not valid YAML: {}", problem);
  if (parser.context != nullptr) message += fmt::format(" ({})", parser.context);
  const bool tab = problem.find("cannot start any token") != std::string_view::npos;
  return builder.refuse(place_of(parser.problem_mark), std::move(message),
                        tab ? "YAML is indented by spaces, never by tabs; quote text that starts with @, % or `" : "");
}

bool is_null(std::string_view text) { return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL"; }

bool on_scalar(const yaml_event_t& event, TapeBuilder& builder) {
  const auto& scalar = event.data.scalar;
  const auto text = view(scalar.value, scalar.length);
  if (scalar.style != YAML_PLAIN_SCALAR_STYLE) return builder.scalar(Value::Kind::text, text, place_of(event.start_mark));
  if (is_null(text)) return builder.scalar(Value::Kind::null, {}, place_of(event.start_mark));
  return builder.scalar(Value::Kind::plain, text, place_of(event.start_mark));
}

// The anchor and tag of an event, where its kind has them.
std::pair<const yaml_char_t*, const yaml_char_t*> decorations(const yaml_event_t& event) {
  switch (event.type) {
    case YAML_SCALAR_EVENT:
      return {event.data.scalar.anchor, event.data.scalar.tag};
    case YAML_SEQUENCE_START_EVENT:
      return {event.data.sequence_start.anchor, event.data.sequence_start.tag};
    case YAML_MAPPING_START_EVENT:
      return {event.data.mapping_start.anchor, event.data.mapping_start.tag};
    default:
      return {};
  }
}

bool on_event(const yaml_event_t& event, TapeBuilder& builder, int& documents) {
  const Place place = place_of(event.start_mark);
  const auto [anchor, tag] = decorations(event);
  if (anchor != nullptr || event.type == YAML_ALIAS_EVENT) {
    return builder.refuse(place, "YAML anchors and aliases are not accepted", "write the value out where it is used");
  }
  if (tag != nullptr) return builder.refuse(place, "YAML tags are not accepted", "remove the word that starts with !");
  switch (event.type) {
    case YAML_DOCUMENT_START_EVENT:
      return ++documents == 1 ||
             builder.refuse(place, "a second document starts here", "one file holds one document: remove the line ---");
    case YAML_SCALAR_EVENT:
      return on_scalar(event, builder);
    case YAML_SEQUENCE_START_EVENT:
      return builder.begin(Value::Kind::list, place);
    case YAML_MAPPING_START_EVENT:
      return builder.begin(Value::Kind::map, place);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
      return builder.end();
    default:
      return true;
  }
}

}  // namespace

bool read_yaml(std::string_view text, TapeBuilder& builder) {
  Events events(text);
  int documents = 0;
  while (const yaml_event_t* event = events.next()) {
    if (event->type == YAML_STREAM_END_EVENT) return true;
    if (!on_event(*event, builder, documents)) return false;
  }
  return refuse_syntax(text, events.parser(), builder);
}

}  // namespace evenkeel
