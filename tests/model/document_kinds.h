#pragma once
// Every kind of document by its name, for stories, properties and the fuzzer.

#include <string>
#include <string_view>

#include "evenkeel/model/documents.h"

namespace evenkeel {

// The text in its one form, or why it is refused. What was read survives being written and read, or the process stops.
template <class Parse>
Result<std::string> rewrite_document(std::string_view text, const Parse& parse) {
  const auto value = parse(text);
  if (!value) {
    ensure(!value.error().message.empty(), "a refusal says why");
    ensure(value.error().code == Code::invalid || value.error().code == Code::refused, "a document is wrong or too new");
    return fail(value.error());
  }
  const auto written = [](const auto& v) {
    if constexpr (std::same_as<std::decay_t<decltype(v)>, ControllerEpoch>)
      return format_controller_epoch(v);
    else
      return format(v);
  };
  auto out = written(*value);
  const auto again = parse(out);
  ensure(again.has_value(), "a document that was written can be read");
  ensure(*again == *value, "a document survives being written and read");
  ensure(written(*again) == out, "equal documents have equal texts");
  return out;
}

struct DocumentKind {
  std::string_view name;
  Result<std::string> (*rewrite)(std::string_view text);
};

inline const Key document_key{
    .kind = Key::Kind::target, .node = NodeId("n1"), .workload = WorkloadId("t1"), .bucket = Bucket(3), .shard = {}};

inline const DocumentKind document_kinds[] = {
    {"config", [](auto text) { return rewrite_document(text, [](auto t) { return parse_config(t, "config"); }); }},
    {"node", [](auto text) { return rewrite_document(text, [](auto t) { return parse_node(t, "node"); }); }},
    {"workload",
     [](auto text) { return rewrite_document(text, [](auto t) { return parse_workload(t, WorkloadId("t1"), "workload"); }); }},
    {"order", [](auto text) { return rewrite_document(text, [](auto t) { return parse_order(t, "order"); }); }},
    {"live", [](auto text) { return rewrite_document(text, [](auto t) { return parse_live(t, NodeId("n1"), "live"); }); }},
    {"permit", [](auto text) { return rewrite_document(text, [](auto t) { return parse_permit(t, "permit"); }); }},
    {"waits", [](auto text) { return rewrite_document(text, [](auto t) { return parse_waits(t, "waits"); }); }},
    {"records",
     [](auto text) {
       return rewrite_document(text, [](auto t) { return parse_records(t, WorkloadId("t1"), Bucket(3), "records"); });
     }},
    {"target", [](auto text) { return rewrite_document(text, [](auto t) { return parse_target(t, document_key, "target"); }); }},
    {"report", [](auto text) { return rewrite_document(text, [](auto t) { return parse_report(t, document_key, "report"); }); }},
    {"view",
     [](auto text) { return rewrite_document(text, [](auto t) { return parse_view(t, WorkloadId("t1"), Bucket(3), "view"); }); }},
    {"controller_epoch",
     [](auto text) { return rewrite_document(text, [](auto t) { return parse_controller_epoch(t, "controller_epoch"); }); }},
    {"pulse", [](auto text) { return rewrite_document(text, [](auto t) { return parse_pulse(t); }); }},
};

}  // namespace evenkeel
