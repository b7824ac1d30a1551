#include "evenkeel/model/controller_address.h"

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

TEST(ControllerAddress, IsReadAsItIsWritten) {
  const ControllerAddress all{"host-1:7070", "127.0.0.1:7070", "[::1]:7071"};
  EXPECT_EQ(format(all), "host-1:7070 http=127.0.0.1:7070 pulse=[::1]:7071");
  for (const ControllerAddress& each : {all, {"host-1"}, {"host-1", "", "127.0.0.1:1"}, {"host-1", "127.0.0.1:1"}, {}})
    EXPECT_EQ(parse_controller_address(format(each)), each) << format(each);
}

TEST(ControllerAddress, OverlooksWordsThatItDoesNotKnow) {
  EXPECT_EQ(parse_controller_address("c1 since=9  pulse=h:1 http"), (ControllerAddress{"c1", "", "h:1"}));
  EXPECT_EQ(parse_controller_address(" c1"), (ControllerAddress{}));
}

}  // namespace
}  // namespace evenkeel
