#include "evenkeel/cli/store_view.h"

#include <array>

#include "evenkeel/base/text.h"

namespace evenkeel::cli {
namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string number(store::Revision revision) { return fmt::format("{}", revision.value()); }

std::string shown(std::string_view value, std::size_t most) {
  return find_invalid_utf8(value) ? fmt::format("{} bytes, not text", value.size()) : quote(value, most);
}

std::string table_of(const std::vector<store::Entry>& entries, bool wide, bool values) {
  std::vector<std::string> header{"KEY", "REVISION"};
  if (wide) header.insert(header.end(), {"CREATED", "EPHEMERAL", "BYTES"});
  if (values) header.emplace_back("VALUE");
  Table table(std::move(header));
  for (const store::Entry& entry : entries) {
    std::vector<std::string> row{entry.key, number(entry.modified)};
    if (wide) {
      row.push_back(number(entry.created));
      row.emplace_back(entry.ephemeral ? "yes" : "");
      row.push_back(fmt::format("{}", entry.value.size()));
    }
    if (values) row.push_back(shown(entry.value, wide ? 400 : 60));
    table.add(std::move(row));
  }
  return table.format();
}

std::string names_of(const std::vector<store::Entry>& entries) {
  std::string out;
  for (const store::Entry& entry : entries) out += entry.key + '\n';
  return out;
}

Syntax syntax_of(Output output) { return output == Output::json ? Syntax::json : Syntax::yaml; }

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    const std::size_t taken = std::min<std::size_t>(3, bytes.size() - at);
    for (std::size_t i = 0; i < 3; ++i) group = group << 8 | (i < taken ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i) out += i <= taken ? alphabet[group >> (18 - 6 * i) & 63] : '=';
  }
  return out;
}

Result<std::string> from_base64(std::string_view text) {
  const auto wrong = [](std::string_view what) { return fail(Code::invalid, "not base64: {}", what); };
  if (text.size() % 4 != 0) return wrong("its length is no multiple of 4");
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += 4) {
    const bool last = at + 4 == text.size();
    const std::size_t padding = !last || text[at + 3] != '=' ? 0 : text[at + 2] != '=' ? 1 : 2;
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t value = i >= 4 - padding ? 0 : alphabet.find(text[at + i]);
      if (value == std::string_view::npos) return wrong(fmt::format("{} at {}", quote(text.substr(at + i, 1)), at + i + 1));
      group = group << 6 | static_cast<std::uint32_t>(value);
    }
    if ((padding == 1 && (group & 0xFF) != 0) || (padding == 2 && (group & 0xFFFF) != 0)) return wrong("bits after its end");
    for (std::size_t i = 0; i < 3 - padding; ++i) out += static_cast<char>(group >> (16 - 8 * i) & 0xFF);
  }
  return out;
}

void write_value(Writer& out, std::string_view value) {
  if (find_invalid_utf8(value)) {
    out.key("base64").text(to_base64(value));
  } else {
    out.key("value").text(value);
  }
}

void write_entry(Writer& out, const store::Entry& entry, bool values) {
  out.begin_map(Writer::Flow::line).key("key").text(entry.key);
  if (values) write_value(out, entry.value);
  out.key("created").number(number(entry.created)).key("revision").number(number(entry.modified));
  if (entry.ephemeral) out.key("ephemeral").flag(true);
  out.end_map();
}

std::string entries_as(const std::vector<store::Entry>& entries, store::Revision revision, Output output, bool values) {
  if (output == Output::name) return names_of(entries);
  if (output == Output::table || output == Output::wide) return table_of(entries, output == Output::wide, values);
  Writer out(syntax_of(output));
  out.begin_map().key("revision").number(number(revision)).key("entries").begin_list();
  for (const store::Entry& entry : entries) write_entry(out, entry, values);
  out.end_list().end_map();
  return std::move(out).take();
}

std::string entry_as(const store::Entry& entry, store::Revision revision, Output output) {
  if (output != Output::json && output != Output::yaml) return entries_as({entry}, revision, output, true);
  Writer out(syntax_of(output));
  write_entry(out, entry, true);
  return std::move(out).take();
}

std::string revision_as(store::Revision revision, Output output) {
  if (output == Output::name) return number(revision) + '\n';
  if (output == Output::table || output == Output::wide) return fmt::format("revision {}\n", number(revision));
  Writer out(syntax_of(output));
  out.begin_map(Writer::Flow::line).key("revision").number(number(revision)).end_map();
  return std::move(out).take();
}

}  // namespace evenkeel::cli
