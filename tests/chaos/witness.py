"""Who watches over a cluster of ledgers from outside: every leader says to it what it does, and it knows what must not be.

It stands for the third system that a service writes to: it takes a write only if no higher epoch was seen. What it holds, shard by shard, in
whatever order processes are heard:

- an epoch is given to one process, which says so before it acts at it, in the one stream that it ever has. Nobody else acts at it, and nobody at one that was
  given to nobody;
- nobody may lead after somebody was given a higher epoch, by the one clock of this host: it neither writes nor acknowledges. Not with `fencing: epoch`, where one
  who does not know yet that it is fenced off is only refused by all;
- whoever leads has everything that was acknowledged at lower epochs.

`ledger.cc` has the lines. The witness is called on one thread, and asked by others: `led_since`, `wrong` and `tally` only read.
"""
import time

SECOND = 1_000_000_000


def now():
    """Of the clock by which ledgers speak."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


class Shard:
    def __init__(self):
        self.sealed = {}  # epoch -> when a replica was sealed for it last
        self.granted = {}  # epoch -> (who, time, position)
        self.wrote = {}  # epoch -> (who, latest time of a write)
        self.led = {}  # epoch -> (who, latest time at which it might lead: a write's or an acknowledgement's)
        self.acknowledged = {}  # epoch -> highest position
        self.top = 0  # the highest epoch seen
        self.well = 0  # when a write at that epoch was acknowledged last


class Witness:
    def __init__(self, shards, fencing="session"):
        self.alone = fencing == "session"
        self.shards = [Shard() for _ in range(shards)]
        self.wrong = []
        self.grants = self.taken = self.refused = self.acknowledged = 0

    def hear(self, who, line):
        """One line of a ledger; `who` is its name and process id."""
        words = line.split()
        shard, epoch, at = self.shards[int(words[1])], int(words[2]), int(words[3])
        if words[0] == "w":
            self.write(who, words[1], shard, epoch, at)
        elif words[0] == "a":
            self.acknowledge(who, words[1], shard, epoch, at, int(words[4]))
        elif words[0] == "g":
            self.grant(who, words[1], shard, epoch, at, int(words[4]))
        elif words[0] == "s":
            shard.sealed[epoch] = max(at, shard.sealed.get(epoch, 0))

    def grant(self, who, name, shard, epoch, at, position):
        self.grants += 1
        if epoch in shard.granted:
            self.complain(f"shard {name}: epoch {epoch} was given to {shard.granted[epoch][0]} and to {who}")
        elif epoch in shard.led and shard.led[epoch][0] != who:
            self.complain(f"shard {name}: epoch {epoch} was given to {who}, and {shard.led[epoch][0]} has acted at it")
        shard.granted[epoch] = (who, at, position)
        shard.top = max(shard.top, epoch)
        for earlier, (other, latest) in shard.led.items():
            if self.alone and earlier < epoch and latest > at:
                self.complain(f"shard {name}: {other} might lead at epoch {earlier} {(latest - at) / SECOND:.6f} s after {who} was given {epoch}")
        for earlier, known in shard.acknowledged.items():
            if earlier < epoch and known > position:
                self.complain(f"shard {name}: {who} was given epoch {epoch} and has {position}; {known} was acknowledged at {earlier}")

    def write(self, who, name, shard, epoch, at):
        self.at_its_time(who, name, shard, epoch, at)
        shard.wrote[epoch] = (who, at)
        if epoch >= shard.top:
            shard.top = epoch
            self.taken += 1
        else:
            self.refused += 1  # it was on its way while somebody else began

    def acknowledge(self, who, name, shard, epoch, at, position):
        self.at_its_time(who, name, shard, epoch, at)
        self.acknowledged += 1
        if position <= shard.acknowledged.get(epoch, 0):
            self.complain(f"shard {name}: {who} acknowledges {position} twice at epoch {epoch}")
        shard.acknowledged[epoch] = position
        for later, (other, _, known) in shard.granted.items():
            if later > epoch and known < position:
                self.complain(f"shard {name}: {who} acknowledged {position} at epoch {epoch}; {other} was given {later} and has {known}")
        if epoch == shard.top:
            shard.well = at

    def at_its_time(self, who, name, shard, epoch, at):
        """Who writes or acknowledges might lead then. Whoever is given a higher epoch may be heard before it or after it: both ways it is judged by the times."""
        shard.led[epoch] = (who, max(at, shard.led.get(epoch, (who, 0))[1]))
        given = shard.granted.get(epoch)
        if given is None or given[0] != who:
            self.complain(f"shard {name}: {who} acts at epoch {epoch}, which was given to {given[0] if given else 'nobody'}")
        if epoch == shard.top:
            return
        for later, (other, since, _) in shard.granted.items():
            if self.alone and later > epoch and at > since:
                self.complain(f"shard {name}: {who} might lead at epoch {epoch} {(at - since) / SECOND:.6f} s after {other} was given {later}")

    def complain(self, what):
        if len(self.wrong) < 20:
            self.wrong.append(what)

    def led_since(self, when):
        """The shards for which no write was acknowledged since: none, if all is well."""
        return [number for number, shard in enumerate(self.shards) if shard.well <= when]

    def describe(self, number):
        """What was heard of a shard lately."""
        shard = self.shards[number]
        given, wrote = shard.granted.get(shard.top), shard.wrote.get(shard.top)
        ages = [f"{word} {(now() - at) / SECOND:.1f} s ago" for word, at in (("given", given and given[1]), ("wrote", wrote and wrote[1]), ("acknowledged", shard.well)) if at]
        return f"epoch {shard.top} of {given and given[0]}: {', '.join(ages)}"

    def tally(self):
        return f"{self.grants} grants, {self.taken} writes taken and {self.refused} refused, {self.acknowledged} acknowledged"
