# Three replicas, one in each zone; n4 is only told to lead, and does not serve yet.
table
node n1 10.0.0.1:9090 dc1/r1
node n2 10.0.0.2:9090 dc1/r2
node n3 10.0.0.3:9090 dc2/r1
node n4 10.0.0.4:9090 dc1/r1
workload t1 4
shard t1/0 4.0 leader=n3 n1=follower n2=follower
shard t1/1 4.0 next=n4 n2=follower
----
t1/0 changed
t1/1 changed

pick t1/0 leader dc1/r1
----
n3 leader at 10.0.0.3:9090, epoch 4

# The same rack first, then the same data centre.
pick t1/0 any dc1/r2
----
n2 follower at 10.0.0.2:9090, epoch 4
n1 follower at 10.0.0.1:9090, epoch 4
n3 leader at 10.0.0.3:9090, epoch 4

pick t1/0 follower dc1/r1
----
n1 follower at 10.0.0.1:9090, epoch 4
n2 follower at 10.0.0.2:9090, epoch 4

# A zone that is not whole, and one that only begins alike.
pick t1/0 any dc1
----
n1 follower at 10.0.0.1:9090, epoch 4
n2 follower at 10.0.0.2:9090, epoch 4
n3 leader at 10.0.0.3:9090, epoch 4

pick t1/0 any dc
----
n3 leader at 10.0.0.3:9090, epoch 4
n1 follower at 10.0.0.1:9090, epoch 4
n2 follower at 10.0.0.2:9090, epoch 4

# Who is told to lead is not picked.
pick t1/1 leader
----
nobody

pick t1/1 any
----
n2 follower at 10.0.0.2:9090, epoch 4

# Not known: a shard without a view, one beyond the number of shards, another workload.
pick t1/2 any
----
nobody

pick t1/4 any
----
nobody

pick t2/0 any
----
nobody

# One that is not live is picked last, however near.
table
gone n2
----
no shard changed

pick t1/0 any dc1/r2
----
n1 follower at 10.0.0.1:9090, epoch 4
n3 leader at 10.0.0.3:9090, epoch 4
n2 follower at 10.0.0.2:9090, epoch 4

# The same name at another address.
table
node n2 10.0.0.22:9090 dc2/r2
----
no shard changed

pick t1/0 any dc2/r2
----
n2 follower at 10.0.0.22:9090, epoch 4
n3 leader at 10.0.0.3:9090, epoch 4
n1 follower at 10.0.0.1:9090, epoch 4

# Versions never go back: a lower epoch, a lower change, the same again.
table
shard t1/0 3.9 leader=n1
----
no shard changed

table
shard t1/0 4.1 leader=n3 n1=follower
shard t1/0 4.0 leader=n3 n1=follower n2=follower
----
t1/0 changed

table
shard t1/0 4.1 leader=n1
----
no shard changed

pick t1/0 any
----
n3 leader at 10.0.0.3:9090, epoch 4
n1 follower at 10.0.0.1:9090, epoch 4

# Of one node that leads and is also among the others, only that it leads is taken.
table
shard t1/0 5.0 leader=n1 n1=follower
----
t1/0 changed

pick t1/0 any
----
n1 leader at 10.0.0.1:9090, epoch 5

# One that nobody has ever heard of cannot be asked.
table
shard t1/0 6.0 leader=n5 n1=follower
----
t1/0 changed

pick t1/0 leader
----
nobody

pick t1/0 any
----
n1 follower at 10.0.0.1:9090, epoch 6
