#!/bin/sh
# A node in shell: `evenkeel agent` runs this for each transition, seal and report, and before it joins. docs/agent.md says what is asked.
#
# A shard is a file of lines, WORKLOAD.SHARD.log; whoever leads it adds one, "EPOCH NODE". Followers copy the file of whom they are told to copy from, out of
# the folder beside their own: these nodes share a disk. A service of yours would ask over the network.
#
# In a cluster of its own, next to `make run`, whose store it uses:
#
#   export EVENKEEL_CLUSTER=shell
#   build/evenkeel serve --cluster shell --store etcd://127.0.0.1:2379 --http 127.0.0.1:7080 &
#   for n in 1 2 3; do
#     build/evenkeel agent --name s$n --zone z$n --data /tmp/shell/s$n --ttl 3s --report-every 1s -- examples/agent/node.sh &
#   done
#   build/evenkeel apply -f examples/agent/shell.yaml --yes
#   build/evenkeel shard list shell        # who leads what
#   cat /tmp/shell/s1/shell.0.log          # and who has led it
#   kill -9 PID                            # of an agent: within seconds others lead
set -eu

fail() { echo "$*" >&2; exit 1; }

# Of a log: the epoch of its last line, and how many lines it has.
last() { if [ -s "$1" ]; then tail -n 1 "$1" | cut -d ' ' -f 1; else echo 0; fi; }
lines() { if [ -f "$1" ]; then wc -l <"$1" | tr -d ' '; else echo 0; fi; }

if [ "$EVENKEEL_KIND" = inventory ]; then
  comma=
  printf '{"shards": ['
  for state in "$EVENKEEL_DATA"/*.state; do
    [ -f "$state" ] || continue
    read -r shard epoch change refuses _ <"$state"
    log=${state%.state}.log
    printf '%s{"shard": "%s", "epoch": %s, "change": %s, "last": %s, "progress": %s, "refuses": %s}' \
      "$comma" "$shard" "$epoch" "$change" "$(last "$log")" "$(lines "$log")" "$refuses"
    comma=', '
  done
  echo ']}'
  exit
fi

file=$EVENKEEL_WORKLOAD.${EVENKEEL_SHARD##*/}
base=$EVENKEEL_DATA/$file
log=$base.log
# A report or a seal may come while a transition runs.
exec 9>"$base.lock"
flock 9

# What we were told last is beside the log: its epoch and change, which epochs we refuse, and whom we follow. It is put in place whole, or not at all.
epoch=0 change=0 refuses=0 follows=-
[ ! -f "$base.state" ] || read -r _ epoch change refuses follows <"$base.state"
note() {
  echo "$EVENKEEL_SHARD $epoch $change $refuses $follows" >"$base.new"
  sync "$base.new"
  mv "$base.new" "$base.state"
}
theirs() { echo "${EVENKEEL_DATA%/*}/$follows/$file.log"; }
copy() {
  cp "$(theirs)" "$base.copy"
  mv "$base.copy" "$log"
}

case $EVENKEEL_KIND in
  transition)
    if [ "$EVENKEEL_TO" = dropped ]; then
      rm -f "$log" "$base.state" "$base.new" "$base.copy" # and not $base.*, which may be of workload t.1; whoever waits for the lock has it
      exit
    fi
    epoch=$EVENKEEL_EPOCH change=$EVENKEEL_CHANGE follows=${EVENKEEL_COPY_FROM:--}
    [ "$refuses" -ge "$epoch" ] || refuses=$epoch
    if [ "$EVENKEEL_TO" = leader ]; then
      follows=-
      [ "$(last "$log")" = "$epoch" ] || echo "$epoch $EVENKEEL_NODE" >>"$log"
    elif [ "$follows" != - ] && [ -f "$(theirs)" ]; then
      copy
    elif [ "$follows" != - ] && [ "$EVENKEEL_REASON" != first ]; then # the first leader may have written nothing yet
      fail "$follows has no copy of $EVENKEEL_SHARD"
    fi
    note
    ;;
  seal) # nothing older is taken from now on, also after a restart
    if [ "$refuses" -lt "$EVENKEEL_EPOCH" ]; then
      refuses=$EVENKEEL_EPOCH
      note
    fi
    echo "{\"epoch\": $(last "$log"), \"progress\": $(lines "$log")}"
    ;;
  report) # it comes every second: a follower looks what its leader has added
    if [ "$follows" != - ] && [ "$(last "$(theirs)")" -ge "$refuses" ]; then copy; fi
    echo "{\"epoch\": $(last "$log"), \"progress\": $(lines "$log"), \"lag\": 0, \"load\": {\"lines\": $(lines "$log")}}"
    ;;
  *) fail "nobody has told me what to do for $EVENKEEL_KIND" ;;
esac
