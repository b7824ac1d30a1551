// The file of contexts: what is written is read back, and no text does harm.

#include "evenkeel/cli/contexts.h"

#include <gtest/gtest.h>

#include <map>

#include "evenkeel/base/rng.h"

namespace evenkeel::cli {
namespace {

std::string any_of(Rng& rng, std::initializer_list<std::string_view> words) {
  return std::string(words.begin()[rng.below(words.size())]);
}

Context any_context(Rng& rng) {
  Context out;
  out.store = any_of(rng, {"", "etcd://h1:2379,h2:2379/below", "etcds://store.example.org:2379", "zk://127.0.0.1:2181",
                           "memory:", "embedded:/a folder/with: all # sorts"});
  out.cluster = any_of(rng, {"", "pages", "1", "true", "null", "a.b-c"});
  out.http = any_of(rng, {"", "http://127.0.0.1:7070", "https://daemon.example.org"});
  if (out.store.empty()) return out;
  out.user = any_of(rng, {"", "ann", "~", "no", "a b", "\"quoted\"", "ünï"});
  if (!out.user.empty()) out.password_file = any_of(rng, {"", "/home/ann/.pages", "relative", "- x", "a\nb\tc"});
  if (!out.store.starts_with("etcds:")) return out;
  out.tls.authority = any_of(rng, {"", "/etc/ours.pem", "007"});
  out.tls.server_name = any_of(rng, {"", "store"});
  if (rng.chance(1, 2)) out.tls.certificate = "/c.pem", out.tls.key = "/k.pem";
  return out;
}

Contexts any_contexts(Rng& rng) {
  Contexts out;
  for (std::uint64_t count = rng.below(5); count > 0; --count)
    out.all[any_of(rng, {"prod", "demo", "1", "true", "null", "a+b", "x"})] = any_context(rng);
  out.current = any_of(rng, {"", "prod", "1", "null"});
  return out;
}

TEST(Contexts, SurviveBeingWrittenAndRead) {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    Rng rng(seed);
    const Contexts contexts = any_contexts(rng);
    const std::string text = format_contexts(contexts);
    const auto again = parse_contexts(text, "again");
    ASSERT_TRUE(again.has_value()) << "seed " << seed << ": " << again.error().format() << text;
    ASSERT_EQ(*again, contexts) << "seed " << seed << ": " << text;
  }
}

// One that somebody has typed into: refused with a reason, or read for what it then says.
TEST(Contexts, AnyTextIsRefusedOrRead) {
  constexpr std::string_view typed = "{}[]:,-#\"' \n\t~&*!|>az09/";
  for (std::uint64_t seed = 0; seed < 5'000; ++seed) {
    Rng rng(seed);
    std::string text = format_contexts(any_contexts(rng));
    for (std::uint64_t count = 1 + rng.below(4); count > 0; --count) {
      const std::size_t at = rng.below(text.size());
      if (rng.chance(1, 3)) {
        text.erase(at, 1 + rng.below(6));
      } else {
        text.insert(at, 1, typed[rng.below(typed.size())]);
      }
      if (text.empty()) text = " ";
    }
    const auto read = parse_contexts(text, "typed");
    if (!read) {
      ASSERT_TRUE(read.error().format().starts_with("typed:")) << "seed " << seed;
      continue;
    }
    if (read->later) continue;
    const auto again = parse_contexts(format_contexts(*read), "again");
    ASSERT_TRUE(again.has_value() && *again == *read) << "seed " << seed << ": " << text;
  }
}

TEST(Contexts, NoneAreInAnEmptyFile) {
  for (const std::string_view text : {"", "# nothing\n", "{}", "contexts: {}", "~"})
    EXPECT_EQ(parse_contexts(text, "f"), Contexts()) << text;
}

TEST(Contexts, WhoWasQuickerIsNotWrittenOver) {
  std::map<std::string, std::string> files;
  const Io io{.out = [](std::string_view) -> Result<void> { return {}; },
              .err = [](std::string_view) {},
              .read_file = [&](const std::string& path) -> Result<std::string> {
                if (!files.contains(path)) return fail(Code::not_found, "no file");
                return files[path];
              },
              .write_private = [&](const std::string& path, std::string_view text) -> Result<void> {
                files[path] = text;
                return {};
              }};
  Contexts contexts;
  contexts.all["one"].cluster = "c";
  const ContextFile none{.path = "f", .text = {}, .contexts = {}};
  ASSERT_TRUE(save_contexts(io, none, contexts));
  EXPECT_EQ(files["f"], format_contexts(contexts));
  contexts.all["two"].cluster = "d";
  const auto late = save_contexts(io, none, contexts);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::conflict);
  EXPECT_TRUE(save_contexts(io, {.path = "f", .text = files["f"], .contexts = {}}, contexts));
  const ContextFile later{.path = "f", .text = files["f"], .contexts = {.later = true}};
  EXPECT_EQ(save_contexts(io, later, contexts).error().code, Code::refused);
}

}  // namespace
}  // namespace evenkeel::cli
