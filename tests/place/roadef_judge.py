#!/usr/bin/env python3
"""Judges a solution of the machine reassignment problem, from the definitions and nothing else: it shares no line with the engine or its benchmark.

  python3 -B tests/place/roadef_judge.py MODEL START SOLUTION

prints `OK COST` or `VIOLATED COST` and what is broken. Exit status: 0, 1, or 2 if a file cannot be read.
"""
import collections
import sys


class Numbers:
    def __init__(self, path):
        with open(path, encoding="ascii") as file:
            self.words = iter([int(word) for word in file.read().split()])

    def one(self):
        return next(self.words)

    def row(self, size):
        return [next(self.words) for _ in range(size)]

    def rest(self):
        return list(self.words)


Resource = collections.namedtuple("Resource", "transient weight")
Machine = collections.namedtuple("Machine", "neighbourhood location capacity safety distance")
Service = collections.namedtuple("Service", "spread needs")
Process = collections.namedtuple("Process", "service needs cost")
Balance = collections.namedtuple("Balance", "first second target weight")


class Model:
    def __init__(self, path):
        read = Numbers(path)
        self.resources = [Resource(*read.row(2)) for _ in range(read.one())]
        width, count = len(self.resources), read.one()
        self.machines = [Machine(*read.row(2), read.row(width), read.row(width), read.row(count)) for _ in range(count)]
        self.services = [Service(read.one(), read.row(read.one())) for _ in range(read.one())]
        self.processes = [Process(read.one(), read.row(width), read.one()) for _ in range(read.one())]
        self.balances = [Balance(*read.row(4)) for _ in range(read.one())]
        self.process_move, self.service_move, self.machine_move = read.row(3)
        if read.rest():
            raise ValueError("more numbers than the model has")


def assignment(path, model):
    where = Numbers(path).rest()
    if len(where) != len(model.processes) or not all(0 <= machine < len(model.machines) for machine in where):
        raise ValueError(f"{path}: a machine for each of {len(model.processes)} processes is expected")
    return where


def used(model, where):
    table = [[0] * len(model.resources) for _ in model.machines]
    for process, machine in zip(model.processes, where):
        for r, need in enumerate(process.needs):
            table[machine][r] += need
    return table


def broken(model, start, end):
    """What the solution does not keep, in words."""
    peak = used(model, end)
    for process, before, after in zip(model.processes, start, end):
        for r, resource in enumerate(model.resources):
            peak[before][r] += process.needs[r] if resource.transient and before != after else 0
    for m, machine in enumerate(model.machines):
        for r, most in enumerate(machine.capacity):
            if peak[m][r] > most:
                yield f"machine {m}: {peak[m][r]} of resource {r}, and {most} are there"
    members = collections.defaultdict(list)
    for process, machine in zip(model.processes, end):
        members[process.service].append(machine)
    near = {service: {model.machines[m].neighbourhood for m in on} for service, on in members.items()}
    for s, service in enumerate(model.services):
        on = members[s]
        if len(set(on)) != len(on):
            yield f"service {s}: two processes on one machine"
        if len({model.machines[m].location for m in on}) < service.spread:
            yield f"service {s}: in fewer than {service.spread} locations"
        for other in service.needs:
            if not near.get(s, set()) <= near.get(other, set()):
                yield f"service {s}: in a neighbourhood without service {other}"


def cost(model, start, end):
    total = 0
    for machine, use in zip(model.machines, used(model, end)):
        total += sum(resource.weight * max(0, amount - safe) for resource, amount, safe in zip(model.resources, use, machine.safety))
        free = [most - amount for most, amount in zip(machine.capacity, use)]
        total += sum(of.weight * max(0, of.target * free[of.first] - free[of.second]) for of in model.balances)
    moved = collections.Counter()
    for process, before, after in zip(model.processes, start, end):
        total += model.machine_move * model.machines[before].distance[after]
        if before != after:
            total += model.process_move * process.cost
            moved[process.service] += 1
    return total + model.service_move * max(moved.values(), default=0)


def main(words):
    if len(words) != 3:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        model = Model(words[0])
        start, end = (assignment(path, model) for path in words[1:])
    except (OSError, ValueError, StopIteration, TypeError) as error:
        print(f"roadef_judge: {error or 'a file ends early'}", file=sys.stderr)
        return 2
    wrong = list(broken(model, start, end))
    print("VIOLATED" if wrong else "OK", cost(model, start, end))
    print(*wrong[:20], sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
