// Any bytes as YAML or JSON (the first byte says which): refused with a place, or a tree that writes and reads back as the same tree.

#include "evenkeel/base/document.h"

#include <cstdint>
#include <string>

#include "evenkeel/base/write.h"

namespace {

using namespace evenkeel;

void write(Writer& out, Value value) {
  switch (value.kind()) {
    case Value::Kind::null:
      out.null();
      break;
    case Value::Kind::plain:
    case Value::Kind::text:
      out.text(value.text());
      break;
    case Value::Kind::list:
      out.begin_list();
      for (const Value item : value.items()) write(out, item);
      out.end_list();
      break;
    case Value::Kind::map:
      out.begin_map(Writer::Flow::line);
      for (const auto [key, item] : value.pairs()) {
        out.key(key.text());
        write(out, item);
      }
      out.end_map();
      break;
  }
}

bool same(Value a, Value b) {
  if (a.is_scalar() != b.is_scalar() || a.text() != b.text() || a.size() != b.size()) return false;
  auto other = b.items().begin();
  for (const Value item : a.items()) {
    if (!same(item, *other)) return false;
    ++other;
  }
  auto pair = b.pairs().begin();
  for (const auto [key, item] : a.pairs()) {
    if (key.text() != (*pair).first.text() || !same(item, (*pair).second)) return false;
    ++pair;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto document = Document::parse(text, "fuzz", data[0] % 2 == 0 ? Syntax::yaml : Syntax::json);
  if (!document) {
    ensure(!document.error().empty(), "a refusal says why");
    return 0;
  }
  for (const Syntax syntax : {Syntax::yaml, Syntax::json}) {
    Writer out(syntax);
    write(out, document->root());
    const auto written = std::move(out).take();
    const auto again = Document::parse(written, "again", syntax);
    ensure(again.has_value(), "what was written can be read");
    ensure(same(document->root(), again->root()), "what was written says the same");
  }
  return 0;
}
