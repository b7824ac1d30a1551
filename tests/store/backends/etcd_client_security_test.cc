// The etcd client with users, passwords and TLS.

#include "tests/store/backends/etcd_client.h"
#include "tests/store/backends/servers.h"

namespace evenkeel::store {
namespace {

using test::etcd_client;
using test::EtcdCluster;
using test::Process;
using test::Seen;
using testing::HasSubstr;

constexpr const char* root_password = "root:very secret";

OpenOptions as(std::string user, std::string password) {
  return {.access = {.user = std::move(user), .password = std::move(password)}};
}

// A server that asks for users: root may do all, ann only what is below /ann.
class EtcdUsers : public testing::Test {
 protected:
  void SetUp() override {
    control({"user", "add", root_password});
    control({"user", "add", "ann:apple pie"});
    control({"role", "add", "ann"});
    control({"role", "grant-permission", "ann", "readwrite", "/ann/", "/ann0"});
    control({"user", "grant-role", "ann", "ann"});
    control({"user", "grant-role", "root", "root"});
    control({"auth", "enable"});
    with_password_ = true;
  }
  void control(std::vector<std::string> words) {
    if (with_password_) words.insert(words.begin(), {"--user", root_password});
    (void)test::etcdctl(server_.endpoints()[0], std::move(words));
  }

  EtcdCluster server_;
  bool with_password_ = false;
};

TEST_F(EtcdUsers, TheRightPasswordOpensWhatTheUserMayDo) {
  const auto root = etcd_client(server_.url(), as("root", "very secret"));
  ASSERT_TRUE(root->put("/any", "1"));
  const auto ann = etcd_client(server_.url("/ann"), as("ann", "apple pie"));
  const auto put = ann->put("/a", "1");
  ASSERT_TRUE(put) << put.error().message;
  Seen seen(*ann, "/");
  EXPECT_TRUE(seen.next()->fresh);
  ASSERT_TRUE(ann->put("/b", "1"));
  EXPECT_TRUE(seen.until("/b"));
  Txn txn;
  txn.put_ephemeral("/c", "1");
  EXPECT_TRUE(ann->txn(txn));

  const auto outside = etcd_client(server_.url("/bob"), as("ann", "apple pie"));
  for (const Error& error : {outside->put("/a", "1").error(), outside->get("/a").error(), outside->list("/").error()}) {
    EXPECT_EQ(error.code, Code::denied);
    EXPECT_THAT(error.message, HasSubstr("ann"));
  }
  Seen nothing(*outside, "/");
  EXPECT_EQ(nothing.next().error().code, Code::denied);
  Seen later(*outside, "/", put->revision);
  EXPECT_EQ(later.next().error().code, Code::denied);
  EXPECT_TRUE(ann->status());
}

TEST_F(EtcdUsers, AWrongPasswordIsDeniedAndNamesTheUserNotThePassword) {
  const auto store = etcd_client(server_.url(), as("ann", "cherry pie"));
  const auto put = store->put("/ann/a", "1");
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, Code::denied);
  EXPECT_THAT(put.error().message, HasSubstr("password"));
  EXPECT_THAT(put.error().message, HasSubstr("ann"));
  EXPECT_THAT(put.error().message, testing::Not(HasSubstr("cherry")));
  Seen seen(*store, "/ann/");
  EXPECT_EQ(seen.next().error().code, Code::denied);

  const auto nobody = etcd_client(server_.url());
  EXPECT_EQ(nobody->get("/ann/a").error().code, Code::denied);
  EXPECT_THAT(nobody->get("/ann/a").error().message, HasSubstr("none are given"));
}

TEST_F(EtcdUsers, AForgottenTokenIsRenewed) {
  const auto ann = etcd_client(server_.url("/ann"), as("ann", "apple pie"));
  ASSERT_TRUE(ann->put("/a", "1"));
  Seen seen(*ann, "/");
  EXPECT_TRUE(seen.next()->fresh);
  // A server that starts again knows no tokens; so does one whose users were changed.
  server_.kill(0);
  server_.restart(0);
  server_.wait_ready(0);
  for (int i = 0; i < 100 && !ann->put("/b", "1"); ++i) {
  }
  EXPECT_TRUE(seen.until("/b"));
  control({"user", "revoke-role", "ann", "ann"});
  EXPECT_EQ(ann->put("/c", "1").error().code, Code::denied);
  control({"user", "grant-role", "ann", "ann"});
  const auto back = ann->put("/c", "1");
  EXPECT_TRUE(back) << back.error().message;
  EXPECT_TRUE(seen.until("/c"));
}

TEST_F(EtcdUsers, AUserIsNoHarmWhereTheServerKnowsNone) {
  control({"auth", "disable"});
  with_password_ = false;
  const auto ann = etcd_client(server_.url("/ann"), as("ann", "apple pie"));
  ASSERT_TRUE(ann->put("/a", "1"));
  EXPECT_THAT(ann->status()->warnings, testing::Contains(HasSubstr("does not ask for users")));
  control({"auth", "enable"});
  const auto put = ann->put("/a", "2");
  EXPECT_TRUE(put) << put.error().message;
}

// One certificate for all: it is its own authority, the server's and the client's.
class EtcdTls : public testing::Test {
 protected:
  void SetUp() override {
    make_certificate("good");
    make_certificate("other");
    const std::string client = "https://" + endpoint();
    const std::string peer = fmt::format("http://127.0.0.1:{}", test::free_port());
    server_ = std::make_unique<Process>(std::vector<std::string>{"etcd",
                                                                 "--data-dir",
                                                                 folder_.path() + "/data",
                                                                 "--listen-client-urls",
                                                                 client,
                                                                 "--advertise-client-urls",
                                                                 client,
                                                                 "--listen-peer-urls",
                                                                 peer,
                                                                 "--initial-advertise-peer-urls",
                                                                 peer,
                                                                 "--initial-cluster",
                                                                 "default=" + peer,
                                                                 "--logger=zap",
                                                                 "--log-level=error",
                                                                 "--client-cert-auth",
                                                                 "--trusted-ca-file",
                                                                 file("good.pem"),
                                                                 "--cert-file",
                                                                 file("good.pem"),
                                                                 "--key-file",
                                                                 file("good.key")},
                                        folder_.path() + "/log");
  }
  std::string endpoint() const { return fmt::format("127.0.0.1:{}", port_); }
  std::string file(const std::string& name) const { return folder_.path() + "/" + name; }
  void make_certificate(const std::string& name) {
    (void)test::run_program({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                             "-keyout", file(name + ".key"), "-out", file(name + ".pem"), "-subj", "/CN=" + name, "-days", "2",
                             "-addext", "subjectAltName=IP:127.0.0.1"});
  }
  std::unique_ptr<Blocking> client(Tls tls, Duration timeout) const {
    return etcd_client("etcds://" + endpoint(), {.access = {.tls = std::move(tls)}, .timeout = timeout});
  }

  test::TempFolder folder_;
  std::uint16_t port_ = test::free_port();
  std::unique_ptr<Process> server_;
};

TEST_F(EtcdTls, BothSidesShowACertificate) {
  const auto good = client({file("good.pem"), file("good.pem"), file("good.key")}, test::etcd_patience);
  const auto put = good->put("/a", "1");
  ASSERT_TRUE(put) << put.error().message << server_->output_tail();

  const auto distrusting = client({file("other.pem"), file("good.pem"), file("good.key")}, 4s)->get("/a");
  ASSERT_FALSE(distrusting);
  EXPECT_EQ(distrusting.error().code, Code::unavailable);
  EXPECT_THAT(distrusting.error().message, HasSubstr("certificate"));
  const auto unknown = client({file("good.pem")}, 4s)->get("/a");
  ASSERT_FALSE(unknown) << "the server asks for the client's";
  EXPECT_THAT(unknown.error().message, HasSubstr("certificate"));
  EXPECT_FALSE(client({file("good.pem"), file("other.pem"), file("other.key")}, 1s)->get("/a"));
  EXPECT_FALSE(client({file("good.pem"), file("good.pem"), file("good.key"), "elsewhere.example"}, 1s)->get("/a"));
  const auto plain = etcd_client("etcd://" + endpoint(), {.timeout = 4s})->get("/a");
  ASSERT_FALSE(plain);
  EXPECT_THAT(plain.error().message, HasSubstr("etcds://"));
}

TEST_F(EtcdTls, WhatCannotBeUsedIsSaidAtOnce) {
  RealLoop loop;
  const auto open = [&](const std::string& url, Tls tls) {
    return etcd::connect(loop, *parse_url(url), {.access = {.tls = std::move(tls)}});
  };
  const auto missing = open("etcds://127.0.0.1:1", {.authority = file("none.pem")});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::not_found);
  EXPECT_THAT(missing.error().message, HasSubstr("none.pem"));
  EXPECT_EQ(open("etcds://127.0.0.1:1", {.certificate = file("good.pem")}).error().code, Code::invalid);
  const auto plain = open("etcd://127.0.0.1:1", {.authority = file("good.pem")});
  ASSERT_FALSE(plain);
  EXPECT_THAT(plain.error().message, HasSubstr("etcds://"));
}

}  // namespace
}  // namespace evenkeel::store
