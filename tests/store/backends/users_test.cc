#include "evenkeel/store/backends/embedded/users.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace evenkeel::store::embedded {
namespace {

const std::string hash =
    "scrypt:1024:8:1:00112233445566778899aabbccddeeff:"
    "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

TEST(Users, AreReadFromYamlAndJson) {
  const std::string yaml = fmt::format(R"(users:
  - {{name: admin, password: "{}", admin: true}}
  - name: n1
    certificate: n1.example.org
    rights:
      - {{prefix: /c1/, read: true}}
      - {{prefix: /c1/live/n1, write: true, read: true}}
)",
                                       hash);
  const std::string json = fmt::format(
      R"({{"users": [{{"name": "admin", "password": "{}", "admin": true}}, {{"name": "n1", "certificate": "n1.example.org",
         "rights": [{{"prefix": "/c1/", "read": true}}, {{"prefix": "/c1/live/n1", "write": true, "read": true}}]}}]}})",
      hash);
  for (const std::string& text : {yaml, json}) {
    const auto users = Users::parse(text, "users");
    ASSERT_TRUE(users) << users.error().message;
    ASSERT_NE(users->find("admin"), nullptr);
    EXPECT_TRUE(users->find("admin")->admin);
    EXPECT_EQ(users->find("nobody"), nullptr);
    EXPECT_EQ(users->by_certificate("nobody"), nullptr);
    EXPECT_EQ(users->by_certificate(""), nullptr);
    const User* n1 = users->by_certificate("n1.example.org");
    ASSERT_NE(n1, nullptr);
    EXPECT_EQ(n1, users->find("n1"));
    EXPECT_TRUE(may(*n1, false, "/c1/config", {}));
    EXPECT_FALSE(may(*n1, true, "/c1/config", {}));
    EXPECT_TRUE(may(*n1, true, "/c1/live/n1", {}));
  }
}

TEST(Users, SayWhatIsWrongAndNeverAPassword) {
  struct Case {
    std::string text, says;
  };
  const std::vector<Case> cases = {
      {"", "the file is empty"},
      {"users: []", "no users"},
      {"users: 5", "a list of users"},
      {"user: []", "did you mean \"users\""},
      {"users: [{name: a, password: hunter2}]", "no hash that can be checked"},
      {"users: [{name: a, password: [hunter2]}]", "no hash that can be checked"},
      {"users: [{name: a, password: 'scrypt:16384:8:1:hunter2:hunter2'}]", "no hash that can be checked"},
      {"users: [{name: a}]", "can never show who it is"},
      {"users: [{certificate: a}]", "lacks the field \"name\""},
      {"users: [{name: '', certificate: a}]", "this is empty"},
      {"users: [{name: a, certificate: x}, {name: a, certificate: y}]", "given twice"},
      {"users: [{name: a, certificate: x}, {name: b, certificate: x}]", "two users have the certificate"},
      {"users: [{name: a, certificate: x, rights: [{prefix: /}]}]", "allows nothing"},
      {"users: [{name: a, certificate: x, rights: [{read: true}]}]", "lacks the field \"prefix\""},
      {"users: [{name: a, certificate: x, right: []}]", "did you mean \"rights\""},
      {"users: [{name: a, certificate: x, admin: perhaps}]", "perhaps"},
  };
  for (const Case& one : cases) {
    const auto users = Users::parse(one.text, "u.yaml");
    ASSERT_FALSE(users) << one.text;
    EXPECT_EQ(users.error().code, Code::invalid);
    EXPECT_NE(users.error().message.find(one.says), std::string::npos) << one.text << "\n" << users.error().message;
    EXPECT_NE(users.error().message.find("u.yaml:"), std::string::npos) << users.error().message;
    EXPECT_EQ(users.error().message.find("hunter2"), std::string::npos) << users.error().message;
  }
}

// Parameters that would take the server's memory or time are refused.
TEST(Users, TakeOnlyHashesThatCanBeChecked) {
  const std::string salt = "00112233445566778899aabbccddeeff", rest = ":" + salt + ":" + salt;
  const auto good = [&](const std::string& parameters) {
    return Users::parse(fmt::format("users: [{{name: a, password: 'scrypt:{}'}}]", parameters), "u").has_value();
  };
  EXPECT_TRUE(good("16384:8:1" + rest));
  EXPECT_TRUE(good("2:1:1" + rest));
  for (const char* parameters : {"16383:8:1", "0:8:1", "1:8:1", "16384:0:1", "16384:8:0", "1048576:8:1", "16384:8:17",
                                 "16384:65:1", "-2:8:1", "x:8:1", "18446744073709551615:8:1"})
    EXPECT_FALSE(good(parameters + rest)) << parameters;
  EXPECT_FALSE(good("16384:8:1:" + salt));
  EXPECT_FALSE(good("16384:8:1:" + salt + ":"));
  EXPECT_FALSE(good("16384:8:1:" + salt + ":" + salt.substr(1)));
  EXPECT_FALSE(good("16384:8:1:zz" + salt + ":" + salt));
  EXPECT_FALSE(good("16384:8:1:00:" + salt));
}

TEST(Users, KnowTheirPasswords) {
  const std::string first = hash_password("correct horse"), second = hash_password("correct horse");
  EXPECT_NE(first, second);  // each has its salt
  EXPECT_EQ(first.find("horse"), std::string::npos);
  const auto users =
      Users::parse(fmt::format("users: [{{name: a, password: '{}'}}, {{name: b, password: '{}'}}, {{name: c, certificate: c}}]",
                               first, second),
                   "u");
  ASSERT_TRUE(users) << users.error().message;
  EXPECT_TRUE(users->check_password("a", "correct horse"));
  EXPECT_TRUE(users->check_password("b", "correct horse"));
  for (const char* wrong : {"", "correct hors", "correct horse ", "Correct horse"})
    EXPECT_FALSE(users->check_password("a", wrong)) << wrong;
  // Nobody, and one without a password, even with somebody else's.
  EXPECT_FALSE(users->check_password("nobody", "correct horse"));
  EXPECT_FALSE(users->check_password("c", "correct horse"));
  EXPECT_FALSE(users->check_password("c", ""));
}

// scrypt's own test vector (RFC 7914, section 12): N = 16384, r = 8, p = 1, "pleaseletmein" with the salt "SodiumChloride".
TEST(Users, HashAsOthersDo) {
  const auto users = Users::parse(
      "users: [{name: a, password: 'scrypt:16384:8:1:536f6469756d43686c6f72696465:"
      "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45"
      "575887'}]",
      "u");
  ASSERT_TRUE(users) << users.error().message;
  EXPECT_TRUE(users->check_password("a", "pleaseletmein"));
  EXPECT_FALSE(users->check_password("a", "pleaseletmeout"));
}

User with(std::string prefix) {
  User user;
  user.rights.push_back({.prefix = std::move(prefix), .read = true, .write = false});
  return user;
}

TEST(Rights, AreOfAllThatLiesInOnePrefix) {
  const std::string all(1, '\0');
  const User user = with("/a/");
  EXPECT_TRUE(may(user, false, "/a/", {}));
  EXPECT_TRUE(may(user, false, "/a/b", {}));
  EXPECT_TRUE(may(user, false, "/a/", "/a0"));
  EXPECT_TRUE(may(user, false, "/a/b", "/a/c"));
  EXPECT_FALSE(may(user, true, "/a/b", {}));
  EXPECT_FALSE(may(user, false, "/a", {}));
  EXPECT_FALSE(may(user, false, "/a", "/a0"));
  EXPECT_FALSE(may(user, false, "/a/", "/a1"));
  EXPECT_FALSE(may(user, false, "/a/", all));
  EXPECT_TRUE(may(with(""), false, "x", all));
  EXPECT_TRUE(may(with("\xff"), false, "\xff", all));
  EXPECT_FALSE(may(with("\xff"), false, "\xfe", all));
  User admin;
  admin.admin = true;
  EXPECT_TRUE(may(admin, true, "anything", all));
  // Two halves are not the whole.
  User halves = with("/a/a");
  halves.rights.push_back({.prefix = "/a/b", .read = true, .write = true});
  EXPECT_FALSE(may(halves, false, "/a/a", "/a/c"));
  EXPECT_TRUE(may(halves, false, "/a/a", "/a/b"));
}

// Keys of three letters, the last and the first byte among them: a range is allowed only if each key in it is.
RC_GTEST_PROP(Rights, NeverReachFurtherThanTheirKeys, ()) {
  const auto text = rc::gen::container<std::string>(rc::gen::element('\0', 'a', '\xff'));
  const std::string prefix = *rc::gen::resize(3, text), key = *rc::gen::resize(3, text), end = *rc::gen::resize(3, text);
  const bool allowed = may(with(prefix), false, key, end);
  const std::string other = *rc::gen::resize(4, text);
  const bool in = end.empty() ? other == key : other >= key && (end == std::string(1, '\0') || other < end);
  if (allowed && in) RC_ASSERT(other.starts_with(prefix));
  if (end.empty()) RC_ASSERT(allowed == key.starts_with(prefix));
}

}  // namespace
}  // namespace evenkeel::store::embedded
