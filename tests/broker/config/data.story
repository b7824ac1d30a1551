# The files of tests/broker/data: the same broker twice, and an old one.
data ydb.txt
----
queues:
  - {name: queue_default, weight: 25, limit: {cpu: 3}}
  - {name: queue_backup, weight: 75, limit: {cpu: 2, memory: 4294967296}}
  - {name: queue_scan, weight: 90, limit: {cpu: 5, memory: 8589934592}}
tasks:
  - {name: unknown, queue_name: queue_default, default_duration: 45000000}
  - {name: backup, queue_name: queue_backup, default_duration: 900000000}
  - {name: scan, queue_name: queue_scan, default_duration: 5000000}
resource_limit: {cpu: 12, memory: 34359738368}
right

data ydb.yaml
----
queues:
  - {name: queue_default, weight: 25, limit: {cpu: 3}}
  - {name: queue_backup, weight: 75, limit: {cpu: 2, memory: 4294967296}}
  - {name: queue_scan, weight: 90, limit: {cpu: 5, memory: 8589934592}}
tasks:
  - {name: unknown, queue_name: queue_default, default_duration: 45000000}
  - {name: backup, queue_name: queue_backup, default_duration: 900000000}
  - {name: scan, queue_name: queue_scan, default_duration: 5000000}
resource_limit: {cpu: 12, memory: 34359738368}
right

data compaction.txt
----
queues:
  - {name: queue_legacy0, weight: 100, limit: {cpu: 12}}
  - {name: queue_legacy1, weight: 100, limit: {cpu: 6}}
  - {name: queue_legacy2, weight: 100, limit: {cpu: 3}}
  - {name: queue_legacy3, weight: 100, limit: {cpu: 1}}
  - {name: queue_default, weight: 30, limit: {cpu: 2}}
tasks:
  - {name: compaction_gen0, queue_name: queue_legacy0, default_duration: 30000000}
  - {name: compaction_gen1, queue_name: queue_legacy1, default_duration: 30000000}
  - {name: compaction_gen2, queue_name: queue_legacy2, default_duration: 30000000}
  - {name: compaction_gen3, queue_name: queue_legacy3, default_duration: 30000000}
  - {name: unknown, queue_name: queue_default, default_duration: 30000000}
resource_limit: {cpu: 24}
right
