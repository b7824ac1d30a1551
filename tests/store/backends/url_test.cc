#include <gtest/gtest.h>

#include "evenkeel/store/backends/open.h"

namespace evenkeel::store {
namespace {

TEST(Url, RoundTrips) {
  for (const char* text :
       {"memory:", "embedded:/var/lib/evenkeel", "etcd://h1:2379,h2:2379/prefix", "etcds://[::1]:2379", "zk://h1:2181/a/b"}) {
    const auto url = parse_url(text);
    ASSERT_TRUE(url) << text << ": " << url.error().message;
    EXPECT_EQ(format(*url), text);
  }
  EXPECT_EQ(parse_url("zk://h1:2181/a/")->path, "/a");
}

TEST(Url, SaysWhatIsWrong) {
  for (const char* text :
       {"", "etcd", "http://h:1", "etcd://", "etcd://h", "etcd://h:0", "etcd://h:1,,h:2", "zk://h:1/a//b", "embedded:"})
    EXPECT_EQ(parse_url(text).error().code, Code::invalid) << text;
  EXPECT_NE(parse_url("etcd://root:secret@h:2379").error().message.find("no user or password"), std::string::npos);
  EXPECT_EQ(parse_url("etcd://root:secret@h:2379").error().message.find("secret"), std::string::npos);
}

}  // namespace
}  // namespace evenkeel::store
