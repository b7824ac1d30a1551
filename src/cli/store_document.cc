#include "evenkeel/cli/store_document.h"

#include <limits>
#include <set>

#include "evenkeel/base/read.h"
#include "evenkeel/base/text.h"
#include "evenkeel/base/write.h"
#include "evenkeel/cli/store_view.h"

namespace evenkeel::cli {
namespace {

using store::Compare;
using store::Write;

std::optional<std::string> read_key(Value value, Diagnostics& problems, bool prefix = false) {
  auto key = read_text(value, problems);
  if (!key) return std::nullopt;
  if (const auto good = prefix ? store::check_prefix(*key) : store::check_key(*key); !good) {
    problems.add(value.place(), good.error().message);
    return std::nullopt;
  }
  return key;
}

// A flag that can only be true: "absent: false" is not how one says `present`.
std::optional<bool> read_true(Value value, Diagnostics& problems) {
  const auto flag = read_flag(value, problems);
  if (flag && !*flag) problems.add(value.place(), "can only be true", "leave it out, or ask for the opposite by its own name");
  return flag;
}

Compare read_compare(Value value, Diagnostics& problems) {
  FieldReader fields(value, problems, "a compare");
  Compare compare;
  fields.required("key", compare.key, [&](Value v) { return read_key(v, problems); });
  int kinds = 0;
  for (const auto& [name, kind] : {std::pair("absent", Compare::Kind::absent), std::pair("present", Compare::Kind::present)}) {
    const auto given = fields.take(name);
    if (!given) continue;
    read_true(*given, problems);
    compare.kind = kind;
    ++kinds;
  }
  if (const auto given = fields.take("unchanged")) {
    constexpr CountRange range{.least = 1, .most = std::numeric_limits<std::int64_t>::max()};
    if (const auto number = read_count(*given, problems, range))
      compare.modified = store::Revision(static_cast<std::int64_t>(*number));
    compare.kind = Compare::Kind::unchanged;
    ++kinds;
  }
  fields.finish();
  if (fields.is_map() && kinds != 1)
    problems.add(value.place(),
                 kinds == 0 ? "a compare says nothing of its key" : "a compare says more than one thing of its key",
                 "give one of absent: true, present: true, unchanged: REVISION");
  return compare;
}

void read_put(FieldReader& fields, Value value, Diagnostics& problems, Write& write) {
  const auto text = fields.take("value");
  const auto bytes = fields.take("base64");
  if (!text == !bytes) {
    problems.add(value.place(), text ? "a put has two values" : "a put has no value", "give one of value: TEXT, base64: BYTES");
  } else if (text) {
    if (const auto read = read_text(*text, problems)) write.value = *read;
  } else if (const auto read = read_text(*bytes, problems)) {
    auto decoded = from_base64(*read);
    if (decoded) {
      write.value = *std::move(decoded);
    } else {
      problems.add(bytes->place(), decoded.error().message);
    }
  }
}

Write read_write(Value value, Diagnostics& problems) {
  FieldReader fields(value, problems, "a write");
  Write write;
  int kinds = 0;
  for (const auto& [name, kind] : {std::pair("put", Write::Kind::put), std::pair("erase", Write::Kind::erase),
                                   std::pair("erase_below", Write::Kind::erase_below)}) {
    const auto given = fields.take(name);
    if (!given) continue;
    write.kind = kind;
    if (auto key = read_key(*given, problems, kind == Write::Kind::erase_below)) write.key = *std::move(key);
    if (kind == Write::Kind::put) read_put(fields, value, problems, write);
    ++kinds;
  }
  fields.finish();
  if (fields.is_map() && kinds != 1)
    problems.add(value.place(), kinds == 0 ? "a write does nothing" : "a write does more than one thing",
                 "give one of put: KEY, erase: KEY, erase_below: PREFIX");
  return write;
}

void read_writes(FieldReader& fields, std::string_view name, Diagnostics& problems, std::vector<Write>& writes) {
  const auto list = fields.take(name);
  if (!list || !expect_list(*list, problems, name)) return;
  std::set<std::string> keys;
  for (const Value item : list->items()) {
    Write write = read_write(item, problems);
    if (!write.key.empty() && !keys.insert(write.key).second)
      problems.add(item.place(), fmt::format("{} is written twice", quote(write.key)), "leave one of the writes out");
    writes.push_back(std::move(write));
  }
}

void format_writes(Writer& out, std::string_view name, const std::vector<Write>& writes) {
  if (writes.empty()) return;
  out.key(name).begin_list();
  for (const Write& write : writes) {
    const std::string_view kind = write.kind == Write::Kind::erase         ? "erase"
                                  : write.kind == Write::Kind::erase_below ? "erase_below"
                                                                           : "put";
    out.begin_map(Writer::Flow::line).key(kind).text(write.key);
    if (kind == "put") write_value(out, write.value);
    out.end_map();
  }
  out.end_list();
}

}  // namespace

Parsed<store::Txn> parse_txn(std::string_view text, std::string file) {
  const auto document = Document::parse(text, std::move(file));
  if (!document) return unexpected(document.error());
  Diagnostics problems = document->problems();
  FieldReader fields(document->root(), problems, "a txn");
  store::Txn txn;
  if (const auto list = fields.take("compare"); list && expect_list(*list, problems, "compare")) {
    for (const Value item : list->items()) txn.compares.push_back(read_compare(item, problems));
  }
  read_writes(fields, "then", problems, txn.then);
  read_writes(fields, "else", problems, txn.otherwise);
  fields.finish();
  if (problems.empty() && txn == store::Txn())
    problems.add(document->root().place(), "a txn without compares and writes", "give compare, then or else");
  if (problems.empty()) {
    if (const auto good = store::check_txn(txn); !good) problems.add({}, good.error().message);
  }
  if (!problems.empty()) return unexpected(std::move(problems));
  return txn;
}

std::string format_txn(const store::Txn& txn, Syntax syntax) {
  Writer out(syntax);
  out.begin_map();
  if (!txn.compares.empty()) {
    out.key("compare").begin_list();
    for (const Compare& compare : txn.compares) {
      out.begin_map(Writer::Flow::line).key("key").text(compare.key);
      if (compare.kind == Compare::Kind::unchanged) {
        out.key("unchanged").number(fmt::format("{}", compare.modified.value()));
      } else {
        out.key(compare.kind == Compare::Kind::absent ? "absent" : "present").flag(true);
      }
      out.end_map();
    }
    out.end_list();
  }
  format_writes(out, "then", txn.then);
  format_writes(out, "else", txn.otherwise);
  out.end_map();
  return std::move(out).take();
}

}  // namespace evenkeel::cli
