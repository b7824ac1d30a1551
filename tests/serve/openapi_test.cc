// docs/openapi.yaml, held against the routes that there are and against what a daemon at work answers.

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "evenkeel/base/text.h"
#include "evenkeel/serve/detail/routes.h"
#include "tests/serve/town.h"

namespace evenkeel::serve {
namespace {

std::optional<Value> child(std::optional<Value> of, std::string_view name) {
  if (!of) return std::nullopt;
  for (const auto [key, value] : of->pairs()) {
    if (key.text() == name) return value;
  }
  return std::nullopt;
}
std::set<std::string> keys_of(std::optional<Value> of) {
  std::set<std::string> keys;
  if (!of) return keys;
  for (const auto [key, value] : of->pairs()) keys.emplace(key.text());
  return keys;
}
std::set<std::string> words_of(std::optional<Value> of) {
  std::set<std::string> words;
  if (!of) return words;
  if (of->is_scalar()) words.emplace(of->text());
  for (const Value item : of->items()) words.emplace(item.text());
  return words;
}

class OpenApi {
 public:
  OpenApi() : document_(parse()) {}

  std::optional<Value> paths() const { return child(document_.root(), "paths"); }

  // What #/a/b/c leads to, if this is a reference.
  Value followed(Value value) const {
    const auto ref = child(value, "$ref");
    if (!ref) return value;
    std::optional<Value> at = document_.root();
    std::string_view way = ref->text().substr(2);
    while (at && !way.empty()) {
      const std::string_view word = way.substr(0, way.find('/'));
      way.remove_prefix(std::min(way.size(), word.size() + 1));
      at = child(at, word);
    }
    EXPECT_TRUE(at) << ref->text() << " leads nowhere";
    return at.value_or(value);
  }

  // The fields of a schema, with those of all that it is made of.
  std::map<std::string, Value> fields_of(Value schema) const {
    schema = followed(schema);
    std::map<std::string, Value> fields;
    if (const auto parts = child(schema, "allOf")) {
      for (const Value part : parts->items()) fields.merge(fields_of(part));
    }
    const auto properties = child(schema, "properties");
    EXPECT_EQ(keys_of(properties), words_of(child(schema, "required"))) << "each answer has all fields";
    if (properties) {
      for (const auto [key, value] : properties->pairs()) fields.insert_or_assign(std::string(key.text()), value);
    }
    return fields;
  }

  // That an answer is as the schema says, in every field, and that it has them all.
  void check(Value answer, Value schema, const std::string& where) const {
    schema = followed(schema);
    const std::set<std::string> types = words_of(child(schema, "type"));
    if (answer.kind() == Value::Kind::null) {
      EXPECT_TRUE(types.contains("null")) << where << " is null";
      return;
    }
    if (answer.kind() == Value::Kind::map) return check_fields(answer, schema, where);
    if (answer.kind() == Value::Kind::list) {
      EXPECT_TRUE(types.contains("array")) << where << " is a list";
      const auto items = child(schema, "items");
      ASSERT_TRUE(items) << where;
      for (const Value item : answer.items()) check(item, *items, where + "[]");
      return;
    }
    const bool flag = answer.text() == "true" || answer.text() == "false";
    const std::string type = answer.kind() == Value::Kind::text ? "string" : flag ? "boolean" : "integer";
    EXPECT_TRUE(types.contains(type)) << where << " is of type " << type;
    const auto words = words_of(child(schema, "enum"));
    EXPECT_TRUE(words.empty() || words.contains(std::string(answer.text()))) << where << " is " << answer.text();
  }

 private:
  static Document parse() {
    std::ifstream file(EVENKEEL_TESTS_DIR "/../docs/openapi.yaml");
    std::stringstream text;
    text << file.rdbuf();
    auto document = Document::parse(text.str(), "openapi.yaml");
    EXPECT_TRUE(document);
    return *std::move(document);
  }

  void check_fields(Value answer, Value schema, const std::string& where) const {
    const auto fields = fields_of(schema);
    std::set<std::string> described;
    for (const auto& [name, value] : fields) described.insert(name);
    EXPECT_EQ(keys_of(answer), described) << where;
    for (const auto [key, value] : answer.pairs()) {
      if (const auto field = fields.find(std::string(key.text())); field != fields.end())
        check(value, field->second, fmt::format("{}.{}", where, field->first));
    }
  }

  Document document_;
};

// /shards/{workload} is below /shards/*.
bool is_of(const std::string& route, const std::string& path) {
  if (!route.ends_with("/*")) return route == path;
  return path.starts_with(route.substr(0, route.size() - 1) + "{");
}

TEST(OpenApi, NamesEveryRouteAndNoOther) {
  const OpenApi api;
  std::set<std::string> named = keys_of(api.paths());
  for (const Route& route : detail::routes([](const auto&) { return false; })) {
    EXPECT_EQ(route.method, "GET") << route.path;
    EXPECT_GT(std::erase_if(named, [&](const std::string& path) { return is_of(route.path, path); }), 0) << route.path;
  }
  EXPECT_EQ(named, std::set<std::string>{});
}

// A path with its parameters filled in: of something that is there, or not.
std::string asked_for(std::string path, const std::string& workload, const std::string& shard) {
  for (const auto& [name, value] : {std::pair(std::string("{workload}"), workload), std::pair(std::string("{shard}"), shard)}) {
    if (const auto at = path.find(name); at != std::string::npos) path.replace(at, name.size(), value);
  }
  return path;
}

void check_answer(const OpenApi& api, const Got& got, Value path, const std::string& where) {
  const auto described = child(child(child(path, "get"), "responses"), std::to_string(got.status));
  ASSERT_TRUE(described) << where << " answers " << got.status;
  const auto content = child(api.followed(*described), "content");
  const auto schema = child(child(content, got.type.substr(0, got.type.find(';'))), "schema");
  ASSERT_TRUE(schema) << where << " is of type " << got.type;
  if (got.type.find("json") == std::string::npos) return;
  const auto answer = Document::parse(got.body, "answer.json");
  ASSERT_TRUE(answer) << got.body;
  api.check(answer->root(), *schema, where);
}

TEST(OpenApi, DescribesWhatADaemonAnswers) {
  Town town;
  town.create("t1", 4, 2);
  Holding handler;
  const auto daemon = town.start("d1");
  EXPECT_EQ(get(daemon->http(), "/api/v1/openapi.yaml").type, "application/yaml");
  const auto n1 = town.join("n1", handler), n2 = town.join("n2", handler);
  wait_for(*daemon, "/api/v1/workloads", "workloads/0/below_min_active", "0");
  wait_for(*daemon, "/api/v1/nodes", "nodes/1/replicas", "4");
  const OpenApi api;
  for (const auto [key, value] : api.paths()->pairs()) {
    const std::string path(key.text());
    check_answer(api, get(daemon->http(), asked_for(path, "t1", "3")), value, path);
    check_answer(api, get(daemon->http(), asked_for(path, "t9", "3")), value, path);
    if (path.starts_with("/api/v1/") && keys_of(child(child(child(value, "get"), "responses"), "400")).empty()) continue;
    check_answer(api, get(daemon->http(), asked_for(path, "t1", "x") + "?limit=0"), value, path);
  }
  // In maintenance, and frozen: what is null otherwise.
  ConfigDocument config;
  config.settings.control.controller_ttl = 2s;
  config.freeze = Freeze{.keep_leaders = true, .reason = "a test", .timeout = {}};
  town.put(town.keys.config(), format(config));
  wait_for(*daemon, "/api/v1/cluster", "freeze/reason", "a test");
  check_answer(api, get(daemon->http(), "/api/v1/cluster"), *child(api.paths(), "/api/v1/cluster"), "frozen");
}

}  // namespace
}  // namespace evenkeel::serve
