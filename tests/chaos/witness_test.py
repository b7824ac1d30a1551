#!/usr/bin/env python3
"""The witness notices what it is there for: each story has something wrong with it, or nothing."""
import sys

import witness

# What happens, parts of what the witness says is wrong, what it hears, and by what leaders are fenced off, if not by their sessions.
STORIES = [
    ("all is well", None, "n1 g 0 1 10 0; n1 w 0 1 11; n1 a 0 1 12 1; n2 g 0 2 20 1; n2 w 0 2 21; n2 a 0 2 22 2"),
    ("a write that was on its way is refused, and nobody is to blame", None, "n1 g 0 1 10 0; n2 g 0 2 20 0; n1 w 0 1 19"),
    ("what was not acknowledged may be gone", None, "n1 g 0 1 10 0; n1 w 0 1 11; n2 g 0 2 20 0"),
    ("one epoch twice", "was given to n1 and to n2", "n1 g 0 1 10 0; n2 g 0 1 20 0"),
    ("one epoch twice, to one process", "was given to n1 and to n1", "n1 g 0 1 10 0; n1 g 0 1 20 0"),
    ("somebody acts at another's epoch", "which was given to n1", "n1 g 0 1 10 0; n2 w 0 1 20"),
    ("somebody acts at another's epoch, and is heard first", "n2 acts at epoch 1, which was given to nobody; was given to n1, and n2 has acted",
     "n2 w 0 1 20; n1 g 0 1 10 0"),
    ("somebody acts at an epoch that nobody was given", "n1 acts at epoch 2, which was given to nobody", "n1 g 0 1 10 0; n1 w 0 2 20"),
    ("somebody acts at another's epoch that is over", "n3 acts at epoch 1, which was given to n1", "n1 g 0 1 10 0; n2 g 0 2 20 0; n3 w 0 1 21", "epoch"),
    ("one who does not know that it is fenced off is refused", None, "n1 g 0 1 10 0; n2 g 0 2 20 0; n1 w 0 1 21", "epoch"),
    ("two lead at a time", "might lead at epoch 1", "n1 g 0 1 10 0; n2 g 0 2 20 0; n1 w 0 1 21"),
    ("two lead at a time, and the second is heard late", "might lead at epoch 1", "n1 g 0 1 10 0; n1 w 0 1 21; n2 g 0 2 20 0"),
    ("an old leader acknowledges", "might lead at epoch 1", "n1 g 0 1 10 0; n2 g 0 2 20 1; n1 a 0 1 21 1"),
    ("an old leader acknowledges, and the second is heard late", "might lead at epoch 1", "n1 g 0 1 10 0; n1 w 0 1 11; n1 a 0 1 21 1; n2 g 0 2 20 1"),
    ("an old leader writes and acknowledges, and the second is heard late", "might lead at epoch 1", "n1 g 0 1 10 0; n1 w 0 1 21; n1 a 0 1 22 1; n2 g 0 2 20 1"),
    ("an old leader acknowledged before it wrote what is on its way", None, "n1 g 0 1 10 0; n1 a 0 1 12 1; n1 w 0 1 11; n2 g 0 2 20 1"),
    ("one who does not know that it is fenced off acknowledges what its successor has", None, "n1 g 0 1 10 0; n1 w 0 1 11; n1 a 0 1 21 1; n2 g 0 2 20 1", "epoch"),
    ("the same, heard in another order", None, "n1 g 0 1 10 0; n1 w 0 1 11; n2 g 0 2 20 1; n1 a 0 1 21 1", "epoch"),
    ("it acknowledges what its successor has not", "1 was acknowledged at 1", "n1 g 0 1 10 0; n1 w 0 1 11; n1 a 0 1 21 1; n2 g 0 2 20 0", "epoch"),
    ("the same, heard in another order", "was given 2 and has 0", "n1 g 0 1 10 0; n1 w 0 1 11; n2 g 0 2 20 0; n1 a 0 1 21 1", "epoch"),
    ("somebody acknowledges at another's epoch, and is heard first", "n2 acts at epoch 1, which was given to nobody; was given to n1, and n2 has acted",
     "n2 a 0 1 20 1; n1 g 0 1 10 0"),
    ("an acknowledged write is lost", "1 was acknowledged at 1", "n1 g 0 1 10 0; n1 a 0 1 11 1; n2 g 0 2 20 0"),
    ("an acknowledged write is lost, and it is heard of late", "was given 2 and has 0", "n1 g 0 1 10 0; n2 g 0 2 20 0; n1 a 0 1 11 1"),
    ("a number is acknowledged twice", "twice", "n1 g 0 1 10 0; n1 a 0 1 11 1; n1 a 0 1 12 1"),
]


def main():
    failed = 0
    for what, wrong, story, *fencing in STORIES:
        heard = witness.Witness(1, *fencing)
        for line in story.split("; "):
            heard.hear(*line.split(" ", 1))
        parts = wrong.split("; ") if wrong else []
        good = len(heard.wrong) == len(parts) and all(part in said for part, said in zip(parts, heard.wrong))
        failed += 0 if good else 1
        print("ok:" if good else "FAILED:", what, "" if good else heard.wrong)
    heard = witness.Witness(2)
    heard.hear("n1", "g 0 1 10 0")
    heard.hear("n1", "a 0 1 12 1")
    if heard.led_since(11) != [1] or heard.led_since(12) != [0, 1]:
        print("FAILED: who is led since when")
        failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
