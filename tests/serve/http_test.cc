// The HTTP server over loopback.

#include "evenkeel/serve/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <future>
#include <latch>
#include <thread>

namespace evenkeel::serve {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<HttpServer> start(std::vector<Route> routes, HttpOptions options = {}) {
  auto server = HttpServer::start(std::move(routes), std::move(options));
  EXPECT_TRUE(server) << server.error().message;
  return std::move(*server);
}

httplib::Client client_of(const HttpServer& server) {
  httplib::Client client("http://" + server.address());
  client.set_read_timeout(60);
  return client;
}

Response hello(const Request& request) {
  const auto name = request.query.find("name");
  return {.body = fmt::format("{} {} {}", request.method, name == request.query.end() ? "nobody" : name->second, request.body),
          .headers = {{"X-Test", "yes"}}};
}

TEST(Http, RoutesLeadToFunctions) {
  const auto server = start(
      {{"GET", "/hello", hello}, {"POST", "/hello", hello}, {"GET", "/", [](const Request&) { return redirect("/hello"); }}});
  auto client = client_of(*server);
  const auto got = client.Get("/hello?name=a%20b&name=c");
  ASSERT_TRUE(got);
  EXPECT_EQ(got->status, 200);
  EXPECT_EQ(got->body, "GET a b ");
  EXPECT_EQ(got->get_header_value("X-Test"), "yes");
  EXPECT_EQ(got->get_header_value("Content-Type"), "text/plain; charset=utf-8");
  EXPECT_EQ(got->get_header_value("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(client.Post("/hello", "body", "text/plain")->body, "POST nobody body");
  const auto head = client.Head("/hello");
  EXPECT_EQ(head->status, 200);
  EXPECT_EQ(head->body, "");
  const auto moved = client.Get("/");
  EXPECT_EQ(moved->status, 302);
  EXPECT_EQ(moved->get_header_value("Location"), "/hello");
}

TEST(Http, ARouteMayHaveAllBelowIt) {
  const auto path = [](const Request& request) { return Response{.body = request.path, .headers = {}}; };
  const auto server = start({{"GET", "/shards/*", path}});
  auto client = client_of(*server);
  EXPECT_EQ(client.Get("/shards/t1/7?limit=1")->body, "/shards/t1/7");
  EXPECT_EQ(client.Get("/shards/a%20b")->body, "/shards/a b");
  for (const char* other : {"/shards", "/shards/", "/shards1/a"}) EXPECT_EQ(client.Get(other)->status, 404) << other;
  EXPECT_EQ(client.Post("/shards/t1", "", "text/plain")->status, 405);
}

TEST(Http, RefusalsSayWhatToDo) {
  const auto server = start({{"GET", "/hello", hello},
                             {"POST", "/hello", hello},
                             {"GET", "/throws", [](const Request&) -> Response { throw std::runtime_error("x"); }}},
                            {.body_max = Bytes(100)});
  auto client = client_of(*server);
  const auto missing = client.Get("/he");
  EXPECT_EQ(missing->status, 404);
  EXPECT_EQ(missing->get_header_value("Content-Type"), "application/problem+json");
  EXPECT_EQ(missing->body,
            "{\"type\":\"urn:evenkeel:problem:not-found\",\"title\":\"Not found\",\"status\":404,\"detail\":\"There is nothing "
            "at \\\"/he\\\"; there is /hello, /throws.\"}\n");
  const auto wrong = client.Delete("/hello");
  EXPECT_EQ(wrong->status, 405);
  EXPECT_EQ(wrong->get_header_value("Allow"), "GET, POST");
  EXPECT_EQ(client.Get("/throws")->status, 500);
  EXPECT_EQ(client.Post("/hello", std::string(101, 'x'), "text/plain")->status, 413);
  EXPECT_EQ(client.Post("/hello", std::string(100, 'x'), "text/plain")->status, 200);
}

TEST(Http, NothingHasNoBound) {
  const auto server = start({{"GET", "/hello", hello}, {"POST", "/hello", hello}}, {.body_max = Bytes(100)});
  auto client = client_of(*server);
  // A body that does not say how long it is.
  const auto endless = [](std::size_t, httplib::DataSink& sink) { return sink.write("xxxxxxxxxx", 10); };
  const auto cut_off = client.Post("/hello", endless, "text/plain");
  EXPECT_TRUE(!cut_off || cut_off->status == 400);
  const auto ten = [](std::size_t, httplib::DataSink& sink) {
    sink.write("xxxxxxxxxx", 10);
    sink.done();
    return true;
  };
  EXPECT_EQ(client.Post("/hello", ten, "text/plain")->body, "POST nobody xxxxxxxxxx");
  // One that is larger than it says.
  EXPECT_EQ(client.Post("/hello", {{"Content-Encoding", "gzip"}}, "x", "text/plain")->status, 415);
  httplib::Headers headers;
  for (int i = 0; i < 100; ++i) headers.emplace(fmt::format("X-{}", i), std::string(1000, 'x'));
  const auto too_long = client.Get("/hello", headers);
  EXPECT_TRUE(!too_long || too_long->status == 400);
  const auto ranges = client.Get("/hello", {{"Range", "bytes=0-,0-,0-"}});
  EXPECT_EQ(ranges->status, 200);
  EXPECT_EQ(ranges->body, "GET nobody ");
}

TEST(Http, ARequestHasItsTimeAsAWhole) {
  const auto server = start({{"POST", "/hello", hello}}, {.pause_max = 1h, .exchange_max = 200ms});
  auto client = client_of(*server);
  std::promise<void> begun, over;
  const auto late = [&, gone = over.get_future().share()](std::size_t, httplib::DataSink&) {
    begun.set_value();
    gone.wait();
    return false;
  };
  auto answer = std::async(std::launch::async, [&] { return client.Post("/hello", late, "text/plain"); });
  begun.get_future().wait();
  // The server gives up by itself; that the other one is still there changes nothing.
  server->stop();
  over.set_value();
  EXPECT_FALSE(answer.get());
}

TEST(Http, OnlyForThisHost) {
  const auto server = start({{"GET", "/hello", hello}});
  auto client = client_of(*server);
  for (const char* host : {"localhost", "LOCALHOST:1", "127.0.0.1:7070", "[::1]", "[::1]:7070"})
    EXPECT_EQ(client.Get("/hello", {{"Host", host}})->status, 200) << host;
  for (const char* host : {"evil.example", "evil.example:80", "127.0.0.1.evil.example", "[::2]:1", "a b"})
    EXPECT_EQ(client.Get("/hello", {{"Host", host}})->status, 403) << host;
  EXPECT_EQ(HttpServer::start({}, {.listen = "0.0.0.0:0"}).error().code, Code::denied);
  EXPECT_EQ(HttpServer::start({}, {.listen = "unix:/tmp/x"}).error().code, Code::invalid);
  EXPECT_EQ(HttpServer::start({}, {.listen = "x"}).error().code, Code::invalid);
}

TEST(Http, APortIsForOneServer) {
  const auto server = start({{"GET", "/hello", hello}});
  const auto second = HttpServer::start({}, {.listen = server->address()});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::conflict);
  EXPECT_THAT(second.error().message, HasSubstr("port 0"));
  EXPECT_EQ(client_of(*server).Get("/hello")->status, 200);
  const std::string address = server->address();
  server->stop();
  EXPECT_FALSE(httplib::Client("http://" + address).Get("/hello"));
  EXPECT_TRUE(HttpServer::start({}, {.listen = address})) << "the port is free again";
}

TEST(Http, SoManyConnectionsAtOnce) {
  std::latch both_in(2);
  std::promise<void> go;
  const std::shared_future<void> going = go.get_future().share();
  std::atomic<int> inside = 0, most = 0;
  const auto slow = [&](const Request&) {
    const int now = ++inside;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) continue;
    if (now <= 2 && !both_in.try_wait()) both_in.count_down();
    going.wait();
    --inside;
    return Response{.body = "done", .headers = {}};
  };
  const auto server = start({{"GET", "/slow", slow}}, {.connections_max = 2});
  std::vector<std::future<int>> answers;
  for (int i = 0; i < 6; ++i) {
    answers.push_back(std::async(std::launch::async, [&] {
      auto client = client_of(*server);
      const auto got = client.Get("/slow", {{"Connection", "close"}});
      return got ? got->status : -1;
    }));
  }
  both_in.wait();
  go.set_value();
  for (auto& answer : answers) EXPECT_EQ(answer.get(), 200);
  EXPECT_EQ(most, 2);
}

TEST(Http, StopsWhileConnectionsAreOpen) {
  auto server = start({{"GET", "/hello", hello}}, {.connections_max = 1, .idle_max = 1s});
  auto idle = client_of(*server);
  idle.set_keep_alive(true);
  EXPECT_EQ(idle.Get("/hello")->status, 200);
  // This one waits for the only thread, which the idle one has.
  auto waiting = std::async(std::launch::async, [&] { client_of(*server).Get("/hello"); });
  server->stop();
  waiting.get();
  server.reset();
}

}  // namespace
}  // namespace evenkeel::serve
