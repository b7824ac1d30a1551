# A swap of neighbours is one edit, case does not count, the nearest wins, then the earliest.
nearest replicas shards zone
replcias
replica
SHARDS
shrads
zoen
zne
rplcs
node
----
replcias: did you mean replicas?
replica: did you mean replicas?
SHARDS: did you mean shards?
shrads: did you mean shards?
zoen: did you mean zone?
zne: did you mean zone?
rplcs: nothing near
node: nothing near

nearest bat cat
hat
cot
xyz
at
----
hat: did you mean bat?
cot: did you mean cat?
xyz: nothing near
at: nothing near

# Words of one and two letters have no edits to spare.
nearest m ms us
M
mz
----
M: did you mean m?
mz: nothing near
