#include <gtest/gtest.h>
#include <zookeeper/zookeeper.h>

#include "evenkeel/store/backends/zookeeper/detail/call.h"

namespace evenkeel::store::zookeeper {
namespace {

TEST(ZooKeeperErrors, OfASentWriteOnlyARefusalIsCertain) {
  for (const ZOO_ERRORS code : {ZSYSTEMERROR, ZRUNTIMEINCONSISTENCY, ZDATAINCONSISTENCY, ZMARSHALLINGERROR, ZCONNECTIONLOSS,
                                ZOPERATIONTIMEOUT, ZINVALIDSTATE}) {
    EXPECT_EQ(write_error_of(code, "/a").code, Code::unknown_outcome) << code;
    EXPECT_EQ(error_of(code, "/a").code, Code::unavailable) << code << " of a read";
  }
  EXPECT_EQ(write_error_of(ZNOAUTH, "/a").code, Code::denied);
  EXPECT_EQ(write_error_of(ZBADARGUMENTS, "/a").code, Code::invalid);
  EXPECT_EQ(write_error_of(ZNOCHILDRENFOREPHEMERALS, "/a").code, Code::refused);
  EXPECT_EQ(write_error_of(ZUNIMPLEMENTED, "/a").code, Code::unavailable);
  EXPECT_EQ(write_error_of(ZNOTHING - 1, "/a").code, Code::unavailable);  // some other answer of a server
}

}  // namespace
}  // namespace evenkeel::store::zookeeper
