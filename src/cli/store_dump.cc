#include "evenkeel/cli/store_dump.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "evenkeel/base/text.h"
#include "evenkeel/cli/store_view.h"

namespace evenkeel::cli {
namespace {

using Json = nlohmann::json;

constexpr std::string_view cut_off = "it was cut off, or is no dump: take another backup";

class DumpReader {
 public:
  explicit DumpReader(std::string file) : problems_(std::move(file)) {}

  Parsed<Dump> read(std::string_view text) {
    // What begins like no dump has nothing but the same said of every line.
    while (!text.empty() && problems_.found() < Diagnostics::most && !no_dump_) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      ++line_;
      read_line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (problems_.empty() && !ended_) problem("the dump has no end", cut_off);
    if (!problems_.empty()) return unexpected(std::move(problems_));
    return std::move(dump_);
  }

 private:
  void problem(std::string message, std::string_view hint = "") {
    problems_.add({line_, 1}, std::move(message), std::string(hint));
  }

  void read_line(std::string_view line) {
    const Json object = Json::parse(line, nullptr, false);
    no_dump_ |= line_ == 1 && !(object.is_object() && object.contains("evenkeel_dump"));
    if (!object.is_object()) return problem("expected a JSON object", cut_off);
    if (ended_) return problem("something after the end of the dump");
    if (line_ == 1) return read_head(object);
    if (object.contains("end")) return read_end(object);
    read_pair(object);
  }

  void read_head(const Json& object) {
    const auto format = object.find("evenkeel_dump");
    if (format == object.end()) return problem("this is no dump of a store", "`evenkeel store backup` makes one");
    if (*format != 1) return problem(fmt::format("a dump of format {}, and only 1 is known", format->dump()));
    const auto below = object.find("below");
    if (below == object.end() || !below->is_string()) return problem("the dump does not say below what it is");
    dump_.below = below->get<std::string>();
    if (const auto good = store::check_prefix(dump_.below); !good) problem(good.error().message);
    const auto revision = object.find("revision");
    if (revision == object.end() || !revision->is_number_unsigned() ||
        revision->get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return problem("the dump has no revision");
    dump_.revision = store::Revision(revision->get<std::int64_t>());
  }

  void read_end(const Json& object) {
    ended_ = true;
    const auto entries = object.find("entries");
    if (entries == object.end() || *entries != dump_.pairs.size())
      problem(fmt::format("the dump has {} entries, and its end says otherwise", dump_.pairs.size()), cut_off);
  }

  void read_pair(const Json& object) {
    const auto key = object.find("key");
    if (key == object.end() || !key->is_string()) return problem("an entry without a key");
    Dump::Pair pair{.key = key->get<std::string>(), .value = {}};
    if (const auto good = store::check_key(pair.key); !good) return problem(good.error().message);
    if (!pair.key.starts_with(dump_.below)) return problem(fmt::format("{} is not below {}", quote(pair.key), dump_.below));
    if (!keys_.insert(pair.key).second) return problem(fmt::format("{} comes twice", quote(pair.key)));
    const auto value = object.find("value"), bytes = object.find("base64");
    if (value != object.end() && value->is_string()) {
      pair.value = value->get<std::string>();
    } else if (bytes != object.end() && bytes->is_string()) {
      auto decoded = from_base64(bytes->get_ref<const std::string&>());
      if (!decoded) return problem(decoded.error().message);
      pair.value = *std::move(decoded);
    } else {
      return problem("an entry without a value", "give value or base64");
    }
    if (pair.value.size() > store::value_bytes_max)
      return problem(fmt::format("the value of {} has {} bytes, and at most {} are allowed", quote(pair.key), pair.value.size(),
                                 store::value_bytes_max));
    dump_.pairs.push_back(std::move(pair));
  }

  Diagnostics problems_;
  std::uint32_t line_ = 0;
  bool ended_ = false;
  bool no_dump_ = false;
  std::set<std::string> keys_;
  Dump dump_;
};

}  // namespace

std::string format_dump(const Dump& dump) {
  std::string out =
      fmt::format("{{\"evenkeel_dump\":1,\"below\":{},\"revision\":{}}}\n", json_quoted(dump.below), dump.revision.value());
  for (const Dump::Pair& pair : dump.pairs) {
    const bool bytes = find_invalid_utf8(pair.value).has_value();
    out += fmt::format("{{\"key\":{},\"{}\":{}}}\n", json_quoted(pair.key), bytes ? "base64" : "value",
                       json_quoted(bytes ? to_base64(pair.value) : pair.value));
  }
  return out + fmt::format("{{\"end\":true,\"entries\":{}}}\n", dump.pairs.size());
}

Parsed<Dump> parse_dump(std::string_view text, std::string file) { return DumpReader(std::move(file)).read(text); }

}  // namespace evenkeel::cli
