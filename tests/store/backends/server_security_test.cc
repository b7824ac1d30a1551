// Who may reach the embedded server, and what each may do there.

#include <gtest/gtest.h>

#include <filesystem>
#include <mutex>

#include "evenkeel/store/backends/embedded/detail/server_access.h"
#include "evenkeel/store/backends/embedded/users.h"
#include "tests/store/backends/etcdctl.h"
#include "tests/store/backends/server_calls.h"

namespace evenkeel::store::embedded {
namespace {

using evenkeel::test::Calls;
using evenkeel::test::Etcdctl;
using evenkeel::test::OurServer;
using evenkeel::test::Process;
using evenkeel::test::Said;
using evenkeel::test::TempFolder;
using evenkeel::test::text_of;
using evenkeel::test::Watches;
using evenkeel::test::write_text;
namespace pb = etcdserverpb;

// An authority with a server's and a client's certificate, and another authority that nobody should trust.
class Certificates {
 public:
  Certificates() {
    authority("authority");
    authority("other");
    issue("server", "authority", "/CN=localhost");
    issue("client", "authority", "/CN=n1.example.org");
    issue("stranger", "authority", "/CN=stranger.example.org");
    issue("impostor", "other", "/CN=n1.example.org");
  }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  ServerTls server(bool ask_clients) const {
    return {path("server.pem"), path("server.key"), ask_clients ? path("authority.pem") : ""};
  }
  std::vector<std::string> flags(const std::string& client) const {
    std::vector<std::string> flags = {"--cacert", path("authority.pem")};
    if (!client.empty()) flags.insert(flags.end(), {"--cert", path(client + ".pem"), "--key", path(client + ".key")});
    return flags;
  }

 private:
  void openssl(std::vector<std::string> words) {
    words.insert(words.begin(), "openssl");
    Process process(words, path("log"));
    const int code = process.wait(60s);
    if (code != 0) throw std::runtime_error(process.output_tail());
  }
  void authority(const std::string& name) {
    openssl({"req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
             "/CN=" + name, "-keyout", path(name + ".key"), "-out", path(name + ".pem")});
  }
  void issue(const std::string& name, const std::string& by, const std::string& subject) {
    openssl({"req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", subject, "-keyout",
             path(name + ".key"), "-out", path(name + ".request")});
    write_text(path(name + ".ext"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
    openssl({"x509", "-req", "-days", "2", "-in", path(name + ".request"), "-CA", path(by + ".pem"), "-CAkey", path(by + ".key"),
             "-CAcreateserial", "-extfile", path(name + ".ext"), "-out", path(name + ".pem")});
  }

  TempFolder folder_;
};

// Of users n1, who may read /c/ and write /c/n1, and admin, with the passwords "one" and "all".
std::string users_file() {
  return fmt::format(R"(users:
  - {{name: admin, password: "{}", admin: true}}
  - name: n1
    password: "{}"
    certificate: n1.example.org
    rights: [{{prefix: /c/, read: true}}, {{prefix: /c/n1, write: true}}, {{prefix: /blind/, write: true}}]
)",
                     hash_password("all"), hash_password("one"));
}

struct WithUsers {
  WithUsers() { write_text(file, users_file()); }
  TempFolder folder;
  std::string file = folder.path() + "/users.yaml";
};

std::string token_of(const Calls& calls, const std::string& name, const std::string& password) {
  pb::AuthenticateRequest request;
  request.set_name(name);
  request.set_password(password);
  pb::AuthenticateResponse response;
  const grpc::Status status = calls.auth()->Authenticate(calls.context().get(), request, &response);
  return status.ok() ? response.token() : fmt::format("{}: {}", static_cast<int>(status.error_code()), status.error_message());
}

TEST(ServerTls, LetsInWhoTrustsItsCertificate) {
  const Certificates certificates;
  OurServer ours({.tls = certificates.server(false)});
  Etcdctl good("https://" + ours.server->address(), certificates.flags(""));
  EXPECT_EQ(good.run({"put", "a", "1"}).out, "OK\n");
  EXPECT_EQ(good.run({"get", "a"}).out, "a\n1\n");
  EXPECT_NE(good.run({"member", "list"}).out.find("https://" + ours.server->address()), std::string::npos);
  Etcdctl plain(ours.server->address(), {"--dial-timeout", "1s", "--command-timeout", "1s"});
  EXPECT_NE(plain.run({"get", "a"}).code, 0);
  Etcdctl wrong("https://" + ours.server->address(),
                {"--cacert", certificates.path("other.pem"), "--dial-timeout", "1s", "--command-timeout", "1s"});
  EXPECT_NE(wrong.run({"get", "a"}).code, 0);
}

TEST(ServerTls, AsksClientsForTheirs) {
  const Certificates certificates;
  OurServer ours({.tls = certificates.server(true)});
  const auto get = [&](const std::string& client) {
    auto flags = certificates.flags(client);
    flags.insert(flags.end(), {"--dial-timeout", "1s", "--command-timeout", "1s"});
    Etcdctl ctl("https://" + ours.server->address(), flags);
    return ctl.run({"put", "a", "1"}).code;
  };
  EXPECT_EQ(get("client"), 0);
  EXPECT_NE(get(""), 0);
  EXPECT_NE(get("impostor"), 0);
}

TEST(ServerTls, SaysWhatIsWrongWithItsFiles) {
  const Certificates certificates;
  OurServer ours;
  const auto start = [&](const ServerTls& tls) {
    return Server::start(*ours.engine, {.listen = "127.0.0.1:0", .tls = tls}).error();
  };
  const ServerTls good = certificates.server(false);
  EXPECT_EQ(start({good.certificate, "", ""}).code, Code::invalid);
  EXPECT_EQ(start({"", "", good.certificate}).code, Code::invalid);
  EXPECT_EQ(start({certificates.path("none"), good.key, ""}).code, Code::not_found);
  EXPECT_EQ(start({good.key, good.key, ""}).code, Code::invalid);
  EXPECT_EQ(start({good.certificate, good.certificate, ""}).code, Code::invalid);
  const Error other = start({good.certificate, certificates.path("client.key"), ""});
  EXPECT_NE(other.message.find("is not that of the certificate"), std::string::npos) << other.message;
  EXPECT_EQ(start({good.certificate, good.key, good.key}).code, Code::invalid);
  // With a certificate alone anybody could still write, so others do not reach it.
  EXPECT_EQ(Server::start(*ours.engine, {.listen = "0.0.0.0:0", .tls = good}).error().code, Code::refused);
  const WithUsers users;
  EXPECT_EQ(Server::start(*ours.engine, {.listen = "0.0.0.0:0", .users = users.file}).error().code, Code::refused);
  EXPECT_TRUE(Server::start(*ours.engine, {.listen = "0.0.0.0:0", .tls = good, .users = users.file}));
  EXPECT_TRUE(Server::start(*ours.engine, {.listen = "0.0.0.0:0", .tls = certificates.server(true)}));
}

TEST(ServerUsers, LogInWithEtcdctl) {
  const WithUsers users;
  std::mutex mutex;
  std::string lines;
  Log log = Log::to(
      [&](Level, std::string_view line) {
        const std::scoped_lock lock(mutex);
        lines += std::string(line) + "\n";
      },
      {.level = Level::debug, .format = Log::Format::text}, [] { return WallTime(); });
  OurServer ours({.users = users.file, .log = &log});
  const auto with = [&](const std::string& user, std::vector<std::string> words) {
    Etcdctl ctl(ours.server->address(), user.empty() ? std::vector<std::string>() : std::vector<std::string>{"--user", user});
    return ctl.run(std::move(words));
  };
  EXPECT_EQ(with("n1:one", {"put", "/c/n1/state", "x"}).out, "OK\n");
  EXPECT_EQ(with("n1:one", {"get", "/c/", "--prefix"}).out, "/c/n1/state\nx\n");
  EXPECT_EQ(with("n1:one", {"put", "/c/n2", "x"}).error, "Error: etcdserver: permission denied\n");
  EXPECT_EQ(with("n1:one", {"get", "/", "--prefix"}).error, "Error: etcdserver: permission denied\n");
  EXPECT_EQ(with("n1:one", {"compaction", "2"}).error, "Error: etcdserver: permission denied\n");
  EXPECT_NE(with("n1:one", {"endpoint", "hashkv"}).error.find("etcdserver: permission denied"), std::string::npos);
  EXPECT_EQ(with("admin:all", {"compaction", "2"}).out, "compacted revision 2\n");
  EXPECT_EQ(with("admin:all", {"put", "anything", "x"}).out, "OK\n");
  EXPECT_EQ(with("", {"get", "/c/n1"}).error, "Error: etcdserver: user name is empty\n");
  const std::string refused = "etcdserver: authentication failed, invalid user ID or password";
  EXPECT_NE(with("n1:wrong-secret", {"get", "/c/n1"}).error.find(refused), std::string::npos);
  EXPECT_NE(with("nobody:one", {"get", "/c/n1"}).error.find(refused), std::string::npos);
  EXPECT_EQ(with("n1:one", {"lock", "/c/n1/lock", "echo", "held"}).out, "held\n");
  // As etcd: who may read "health" or is told that he may not has reached a healthy server.
  EXPECT_NE(with("n1:one", {"endpoint", "health"}).error.find("is healthy"), std::string::npos);
  const std::scoped_lock lock(mutex);
  for (const char* secret : {"wrong-secret", "scrypt", ":one", ":all"}) EXPECT_EQ(lines.find(secret), std::string::npos) << lines;
}

TEST(ServerUsers, AreKnownByTheirCertificates) {
  const Certificates certificates;
  const WithUsers users;
  OurServer ours({.tls = certificates.server(true), .users = users.file});
  const auto with = [&](const std::string& client, std::vector<std::string> words) {
    Etcdctl ctl("https://" + ours.server->address(), certificates.flags(client));
    return ctl.run(std::move(words));
  };
  EXPECT_EQ(with("client", {"put", "/c/n1", "x"}).out, "OK\n");
  EXPECT_EQ(with("client", {"put", "/c/n2", "x"}).error, "Error: etcdserver: permission denied\n");
  EXPECT_EQ(with("stranger", {"get", "/c/n1"}).error, "Error: etcdserver: permission denied\n");
  // A token says more than a certificate.
  Etcdctl admin("https://" + ours.server->address(), [&] {
    auto flags = certificates.flags("client");
    flags.insert(flags.end(), {"--user", "admin:all"});
    return flags;
  }());
  EXPECT_EQ(admin.run({"put", "/c/n2", "x"}).out, "OK\n");
}

pb::TxnRequest txn_of(const std::function<void(pb::TxnRequest&)>& fill) {
  pb::TxnRequest txn;
  fill(txn);
  return txn;
}

TEST(ServerUsers, MayDoWhatTheirRightsSay) {
  const WithUsers users;
  OurServer ours({.users = users.file});
  const Calls open(ours.server->address());
  const Calls n1(ours.server->address(), grpc::InsecureChannelCredentials(), token_of(open, "n1", "one"));
  const Calls admin(ours.server->address(), grpc::InsecureChannelCredentials(), token_of(open, "admin", "all"));
  ASSERT_TRUE(admin.put("/c/n2", "other").ok());
  pb::PutRequest blind, with_previous;
  blind.set_key("/blind/x");
  with_previous = blind;
  with_previous.set_prev_kv(true);
  const auto compare = [](pb::TxnRequest& txn, const std::string& key) { txn.add_compare()->set_key(key); };
  struct Case {
    const char* what;
    bool allowed;
    grpc::Status status;
  };
  const std::string all(1, '\0');
  const std::vector<Case> cases = {
      {"read", true, n1.range("/c/n2")},
      {"read a prefix", true, n1.range("/c/", "/c0")},
      {"read all", false, n1.range("/c/", all)},
      {"read too much", false, n1.range("/c/", "/d")},
      {"write", true, n1.put("/c/n1", "1")},
      {"write below", true, n1.put("/c/n1/x", "1")},
      {"write another's", false, n1.put("/c/n2", "1")},
      {"write blindly", true, n1.put(blind)},
      {"read what was written", false, n1.range("/blind/x")},
      {"see what was before", false, n1.put(with_previous)},
      {"erase", true, n1.erase("/c/n1/x")},
      {"erase and see", true, n1.erase("/c/n1", {}, true)},
      {"erase blindly", true, n1.erase("/blind/x")},
      {"erase and see blindly", false, n1.erase("/blind/x", {}, true)},
      {"erase too much", false, n1.erase("/c/n1", "/c/n3")},
      {"compare", true, n1.txn(txn_of([&](auto& txn) { compare(txn, "/c/n2"); }))},
      {"compare elsewhere", false, n1.txn(txn_of([&](auto& txn) { compare(txn, "/d"); }))},
      {"compare a range", false, n1.txn(txn_of([&](auto& txn) {
         compare(txn, "/c/");
         txn.mutable_compare(0)->set_range_end(all);
       }))},
      {"put in a branch not taken", false,
       n1.txn(txn_of([](auto& txn) { txn.add_failure()->mutable_request_put()->set_key("/c/n2"); }))},
      {"range in a txn", false, n1.txn(txn_of([](auto& txn) { txn.add_success()->mutable_request_range()->set_key("/d"); }))},
      {"erase in a txn", false,
       n1.txn(txn_of([](auto& txn) { txn.add_success()->mutable_request_delete_range()->set_key("/c/n2"); }))},
      {"put in a txn in a txn", false, n1.txn(txn_of([](auto& txn) {
         txn.add_success()->mutable_request_txn()->add_success()->mutable_request_put()->set_key("/c/n2");
       }))},
      {"put in a txn", true, n1.txn(txn_of([](auto& txn) { txn.add_success()->mutable_request_put()->set_key("/c/n1"); }))},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(one.status.ok(), one.allowed) << one.what << ": " << one.status.error_message();
    if (one.allowed) continue;
    EXPECT_EQ(one.status.error_code(), grpc::StatusCode::PERMISSION_DENIED) << one.what;
    EXPECT_EQ(one.status.error_message(), "etcdserver: permission denied") << one.what;
  }
  EXPECT_EQ(ours.engine->range({.span = {"/c/n2", {}}})->entries.at(0).value, "other");
}

TEST(ServerUsers, WatchAndLeaseByTheirRights) {
  const WithUsers users;
  OurServer ours({.users = users.file});
  const Calls open(ours.server->address());
  const Calls n1(ours.server->address(), grpc::InsecureChannelCredentials(), token_of(open, "n1", "one"));
  const Calls admin(ours.server->address(), grpc::InsecureChannelCredentials(), token_of(open, "admin", "all"));
  Watches watches(n1);
  const auto refused = watches.create(watches.request_of("/d"));
  EXPECT_TRUE(refused.created());
  EXPECT_TRUE(refused.canceled());
  EXPECT_EQ(refused.cancel_reason(), "rpc error: code = PermissionDenied desc = etcdserver: permission denied");
  EXPECT_FALSE(watches.create(watches.request_of("/c/", "/c0")).canceled());
  Watches nobodys(open);
  EXPECT_TRUE(nobodys.create(nobodys.request_of("/c/")).canceled());

  const auto grant = [&](const Calls& calls) {
    pb::LeaseGrantRequest request;
    request.set_ttl(100);
    pb::LeaseGrantResponse response;
    EXPECT_TRUE(calls.lease()->LeaseGrant(calls.context().get(), request, &response).ok());
    return response.id();
  };
  const auto revoke = [&](const Calls& calls, std::int64_t id) {
    pb::LeaseRevokeRequest request;
    request.set_id(id);
    pb::LeaseRevokeResponse response;
    return calls.lease()->LeaseRevoke(calls.context().get(), request, &response).error_message();
  };
  const std::int64_t theirs = grant(admin), own = grant(n1);
  ASSERT_TRUE(admin.put("/c/n2", "x", theirs).ok());
  // Its end would delete what he may not.
  EXPECT_EQ(revoke(n1, theirs), "etcdserver: permission denied");
  EXPECT_EQ(n1.put("/c/n1", "x", theirs).error_message(), "etcdserver: permission denied");
  EXPECT_TRUE(n1.put("/c/n1", "x", own).ok());
  EXPECT_TRUE(n1.put("/blind/x", "x", own).ok());
  pb::LeaseTimeToLiveRequest request;
  request.set_id(own);
  pb::LeaseTimeToLiveResponse response;
  EXPECT_TRUE(n1.lease()->LeaseTimeToLive(n1.context().get(), request, &response).ok());
  request.set_keys(true);  // one of which he may not read
  EXPECT_EQ(n1.lease()->LeaseTimeToLive(n1.context().get(), request, &response).error_message(), "etcdserver: permission denied");
  EXPECT_EQ(revoke(n1, own), "");
  EXPECT_EQ(revoke(admin, theirs), "");
  EXPECT_EQ(revoke(open, own), "etcdserver: user name is empty");
  const auto stub = open.lease();
  const auto context = open.context();
  const auto stream = stub->LeaseKeepAlive(context.get());
  pb::LeaseKeepAliveResponse kept;
  EXPECT_FALSE(stream->Read(&kept));
  EXPECT_EQ(stream->Finish().error_message(), "etcdserver: user name is empty");
}

TEST(ServerUsers, GetATokenForAPassword) {
  const WithUsers users;
  OurServer ours({.users = users.file});
  const Calls open(ours.server->address());
  const std::string refused = "3: etcdserver: authentication failed, invalid user ID or password";
  EXPECT_EQ(token_of(open, "n1", "two"), refused);
  EXPECT_EQ(token_of(open, "n1", ""), refused);
  EXPECT_EQ(token_of(open, "", ""), refused);
  EXPECT_NE(token_of(open, "n1", "one"), token_of(open, "n1", "one"));
  const Calls guess(ours.server->address(), grpc::InsecureChannelCredentials(), "guess");
  const grpc::Status status = guess.range("/c/x");
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(status.error_message(), "etcdserver: invalid auth token");
}

// As users_file() has them, with hashes that stay the same.
std::string users_line(const std::string& name, const std::string& hash, const std::string& rights) {
  return fmt::format("  - {{name: {}, password: \"{}\", rights: [{}]}}\n", name, hash, rights);
}

TEST(ServerUsers, AreReadAnew) {
  const WithUsers users;
  const std::string one = hash_password("one"), two = hash_password("two");
  const std::string reads_c = "{prefix: /c/, read: true}", reads_d = "{prefix: /d/, read: true}";
  write_text(users.file, "users:\n" + users_line("n1", one, reads_c) + users_line("n2", two, reads_c));
  OurServer ours({.users = users.file});
  const std::string address = ours.server->address();
  const Calls open(address);
  const auto with = [&](const std::string& token) { return Calls(address, grpc::InsecureChannelCredentials(), token); };
  const Calls n1 = with(token_of(open, "n1", "one")), n2 = with(token_of(open, "n2", "two"));
  Watches watches(n1);
  EXPECT_FALSE(watches.create(watches.request_of("/c/", "/c0")).canceled());

  // One that is wrong, or gone: all is as it was.
  write_text(users.file, "users:\n  - {name: n1, pasword: x}\n");
  const auto wrong = ours.server->reload();
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, Code::invalid);
  EXPECT_NE(wrong.error().message.find("users.yaml:2"), std::string::npos) << wrong.error().message;
  std::filesystem::remove(users.file);
  EXPECT_EQ(ours.server->reload().error().code, Code::not_found);
  EXPECT_TRUE(n1.range("/c/x").ok());
  EXPECT_TRUE(n2.range("/c/x").ok());

  // n1 reads something else, n2 has another password, n3 is new.
  write_text(users.file,
             "users:\n" + users_line("n1", one, reads_d) + users_line("n2", one, reads_c) + users_line("n3", two, reads_c));
  ASSERT_TRUE(ours.server->reload());
  EXPECT_TRUE(watches.ended());
  EXPECT_EQ(watches.finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  Watches again(n1);
  EXPECT_TRUE(again.create(again.request_of("/c/", "/c0")).canceled());
  EXPECT_FALSE(again.create(again.request_of("/d/", "/d0")).canceled());
  EXPECT_EQ(n1.range("/c/x").error_message(), "etcdserver: permission denied");
  EXPECT_TRUE(n1.range("/d/x").ok());
  EXPECT_EQ(n2.range("/c/x").error_message(), "etcdserver: invalid auth token");
  EXPECT_EQ(token_of(open, "n2", "two"), "3: etcdserver: authentication failed, invalid user ID or password");
  EXPECT_TRUE(with(token_of(open, "n2", "one")).range("/c/x").ok());
  EXPECT_TRUE(with(token_of(open, "n3", "two")).range("/c/x").ok());

  write_text(users.file, "users:\n" + users_line("n3", two, reads_c));
  ASSERT_TRUE(ours.server->reload());
  EXPECT_EQ(n1.range("/d/x").error_message(), "etcdserver: invalid auth token");
}

TEST(ServerUsers, AreNotReadAnewWhereThereAreNone) {
  OurServer ours;
  EXPECT_EQ(ours.server->reload().error().code, Code::refused);
  EXPECT_TRUE(Calls(ours.server->address()).range("/c/x").ok());
}

class SetClock final : public Clock {
 public:
  Instant now() const override { return time; }
  Instant time = Instant(1h);
};

TEST(ServerUsers, LoseATokenThatTheyDoNotUse) {
  SetClock clock;
  auto parsed = Users::parse(users_file(), "users.yaml");
  ASSERT_TRUE(parsed) << parsed.error().message;
  detail::Access access(*std::move(parsed), clock);
  const std::string used = *access.authenticate("n1", "one"), idle = *access.authenticate("admin", "all");
  for (int i = 0; i < 4; ++i) {
    clock.time += 2min;
    const auto who = access.who_has(used);
    ASSERT_TRUE(who);
    EXPECT_EQ((*who)->name, "n1");
  }
  const auto lost = access.who_has(idle);
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().message, "etcdserver: invalid auth token");
  clock.time += 5min + 1s;
  EXPECT_FALSE(access.who_has(used));
}

}  // namespace
}  // namespace evenkeel::store::embedded
