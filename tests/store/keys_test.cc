#include <gtest/gtest.h>

#include "evenkeel/store/store.h"

namespace evenkeel::store {
namespace {

std::string wrong(const Result<>& result) { return result ? "" : result.error().message; }

TEST(Keys, ArePaths) {
  for (const char* good : {"/a", "/a/b", "/é/ü", "/a b", "/a.b", "/zookeeper2", "/a/zookeeper"})
    EXPECT_EQ(wrong(check_key(good)), "") << good;
}

TEST(Keys, AreRefusedWithAReason) {
  EXPECT_EQ(wrong(check_key("a")), "\"a\" is no key: keys begin with '/'");
  EXPECT_EQ(wrong(check_key("")), "\"\" is no key: keys begin with '/'");
  EXPECT_EQ(wrong(check_key("/")), "\"/\" is no key: a part of its path is empty");
  EXPECT_EQ(wrong(check_key("/a//b")), "\"/a//b\" is no key: a part of its path is empty");
  EXPECT_EQ(wrong(check_key("/a/")), "\"/a/\" is no key: a part of its path is empty");
  EXPECT_EQ(wrong(check_key("/a/../b")), "\"/a/../b\" is no key: no part of a path is \"..\"");
  EXPECT_EQ(wrong(check_key("/a\n")), "\"/a\\n\" has a control character at byte 3");
  EXPECT_EQ(wrong(check_key("/a\xff")), "a key is not UTF-8: byte 3 of \"/a\\xff\"");
  EXPECT_EQ(wrong(check_key("/zookeeper/quota")), "\"/zookeeper/quota\": /zookeeper is ZooKeeper's own; choose another path");
  EXPECT_EQ(check_key("/" + std::string(key_bytes_max, 'a')).error().code, Code::too_large);
}

TEST(Keys, PrefixesEndWithASlash) {
  EXPECT_TRUE(check_prefix("/"));
  EXPECT_TRUE(check_prefix("/a/"));
  EXPECT_EQ(wrong(check_prefix("/a")), "\"/a\" is no prefix: a prefix ends with '/'");
  EXPECT_FALSE(check_prefix("//"));
}

TEST(Txns, NameNoKeyTwice) {
  Txn txn;
  txn.put("/a", "1").erase("/a");
  EXPECT_EQ(wrong(check_txn(txn)), "/a is written twice in one txn; leave one of the writes out");
  Txn below;
  below.erase_below("/a/").put("/a/b", "1");
  EXPECT_EQ(wrong(check_txn(below)), "/a/b is below /a/, all of which is erased in the same txn; leave one of the writes out");
}

TEST(Txns, AreBounded) {
  Txn large;
  large.put("/a", std::string(value_bytes_max + 1, 'x'));
  EXPECT_EQ(check_txn(large).error().code, Code::too_large);
  Txn exact;
  exact.put("/a", std::string(value_bytes_max, 'x'));
  EXPECT_TRUE(check_txn(exact));
  Txn many;
  for (std::size_t i = 0; i <= operations_max; ++i) many.put("/k" + std::to_string(i), "");
  EXPECT_EQ(check_txn(many).error().code, Code::too_large);
  Txn heavy;
  for (int i = 0; i < 3; ++i) heavy.put("/k" + std::to_string(i), std::string(400'000, 'x'));
  EXPECT_EQ(check_txn(heavy).error().code, Code::too_large);
}

}  // namespace
}  // namespace evenkeel::store
