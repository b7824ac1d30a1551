#include "evenkeel/base/address.h"

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

TEST(Address, AsPeopleWriteThem) {
  for (const char* text :
       {"127.0.0.1:7071", "localhost:0", "[::1]:65535", "node-1.example:80", "unix:/run/broker", "unix:relative"}) {
    const auto address = parse_address(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(format(*address), text);
    EXPECT_EQ(*parse_address(format(*address)), *address);
  }
  EXPECT_EQ(parse_address("[::1]:7071")->host, "::1");
}

TEST(Address, WhatIsNone) {
  const std::string long_path = "unix:" + std::string(200, 'x');
  for (const std::string& text :
       {std::string(), std::string("7071"), std::string(":7071"), std::string("host:"), std::string("host:70000"),
        std::string("host:-1"), std::string("::1:7071"), std::string("[::1]"), std::string("[::g]:1"), std::string("a b:1"),
        std::string("a/b:1"), std::string("unix:"), long_path, std::string("unix:a\0b", 8)}) {
    const auto address = parse_address(text);
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.error().code, Code::invalid);
  }
}

TEST(Address, WhatOnlyThisHostReaches) {
  for (const char* text : {"127.0.0.1:1", "127.255.0.3:1", "LocalHost:1", "[::1]:1", "unix:/run/broker"})
    EXPECT_TRUE(is_local(*parse_address(text))) << text;
  for (const char* text :
       {"0.0.0.0:1", "128.0.0.1:1", "[::]:1", "[::ffff:127.0.0.1]:1", "localhost.example:1", "127.0.0.1.example:1", "127.1:1"})
    EXPECT_FALSE(is_local(*parse_address(text))) << text;
}

}  // namespace
}  // namespace evenkeel
