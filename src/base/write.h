#pragma once
// Writer: YAML or JSON text from a walk over a value, one canonical form of each, made to be read and diffed.
//
//   Writer out(Syntax::yaml);
//   out.begin_map();
//   out.key("cluster").text("pages");
//   out.key("nodes").begin_list();
//   out.begin_map(Writer::Flow::line).key("name").text("n1").key("cores").number("16").end_map();
//   out.end_list().end_map();
//   out.take()  ->  cluster: pages
//                   nodes:
//                     - {name: n1, cores: 16}
//
// `text` is quoted whenever a reader could take it for something else; `number` is for what the reader's types accept unquoted
// (digits, true, 80%, 64Gi) and is quoted only in JSON and only where JSON has no such literal. What a Writer writes, Document reads
// back as the same tree. A million short lists take well under a second: text is appended, nothing else is kept.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/document.h"

namespace evenkeel {

class Writer {
 public:
  enum class Flow : std::uint8_t {
    block,  // one item a line
    line,   // all in one line, brackets around
  };

  explicit Writer(Syntax syntax) : syntax_(syntax) {}

  Writer& begin_map(Flow flow = Flow::block) { return begin('{', flow); }
  Writer& end_map() { return end('}'); }
  Writer& begin_list(Flow flow = Flow::block) { return begin('[', flow); }
  Writer& end_list() { return end(']'); }
  Writer& key(std::string_view name);
  Writer& text(std::string_view text);
  Writer& number(std::string_view text);
  Writer& number(std::uint64_t value) { return number(fmt::format("{}", value)); }
  Writer& flag(bool value) { return number(value ? "true" : "false"); }
  Writer& null() { return scalar("null"); }

  // All that was written, ending with a newline.
  std::string take() &&;

 private:
  struct Open {
    bool map;
    bool line;
    std::size_t items = 0;
  };

  Writer& begin(char bracket, Flow flow);
  Writer& end(char bracket);
  Writer& scalar(std::string_view finished);
  void before_item();  // separators, indentation and dashes in front of the next item or key
  void new_line(std::size_t depth);
  void space_after_key();

  Syntax syntax_;
  std::string out_;
  std::vector<Open> open_;
  bool after_key_ = false;
};

}  // namespace evenkeel
