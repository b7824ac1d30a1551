// An etcd at its quota: it looks at that when a write comes in, and again when it applies it, and what is over it then is written all the same.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/store/backends/etcd_client.h"
#include "tests/store/backends/servers.h"

namespace evenkeel::store {
namespace {

using test::etcd_client;
using testing::HasSubstr;

// Many writes at once, so that several have passed the first look when the space ends. Returns those that were answered with an error.
std::map<std::string, Error> fill(Blocking& client, int round, int writes) {
  std::map<std::string, Error> errors;
  const auto done = client.run<bool>([&](Store& store, Answer<bool> answer) {
    const auto left = std::make_shared<int>(writes);
    const auto all = std::make_shared<Answer<bool>>(std::move(answer));
    for (int i = 0; i < writes; ++i) {
      const std::string key = fmt::format("/full/{}/{}", round, i);
      Txn txn;
      txn.put(key, std::string(100'000, 'x'));
      store.txn(std::move(txn), [&errors, key, left, all](const Result<Committed>& committed) {
        if (!committed) errors.emplace(key, committed.error());
        if (--*left == 0) (*all)(true);
      });
    }
  });
  EXPECT_TRUE(done);
  return errors;
}

TEST(EtcdClientQuota, AWriteThatIsSaidToBeTooMuchMayBeDone) {
  test::EtcdCluster servers(1, {"--quota-backend-bytes=3000000"});
  const auto client = etcd_client(servers.url(), {.timeout = test::etcd_patience});
  // etcd sees how large it is only when it writes to the disk, some time later.
  std::map<std::string, Error> errors;
  for (int round = 0; round < 100 && errors.empty(); ++round) errors = fill(*client, round, 24);
  ASSERT_FALSE(errors.empty());
  for (const auto& [key, error] : errors) {
    EXPECT_THAT(error.message, HasSubstr("database space exceeded"));
    const auto read = client->get(key);
    ASSERT_TRUE(read) << read.error().message;
    const bool certain = error.code != Code::unknown_outcome;
    EXPECT_FALSE(certain && read->entry) << key << " was said to be refused, and is there";
  }
}

}  // namespace
}  // namespace evenkeel::store
