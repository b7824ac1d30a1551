#!/usr/bin/env python3
"""The witness notices what it is there for: each story has one thing wrong with it, or nothing."""
import sys

import witness

STORIES = [
    ("all is well", None, "n1 g 0 1 10 0; n1 w 0 1 11; n1 a 0 1 12 1; n2 g 0 2 20 1; n2 w 0 2 21; n2 a 0 2 22 2"),
    ("a write that was on its way is refused, and nobody is to blame", None, "n1 g 0 1 10 0; n2 g 0 2 20 0; n1 w 0 1 19"),
    ("what was not acknowledged may be gone", None, "n1 g 0 1 10 0; n1 w 0 1 11; n2 g 0 2 20 0"),
    ("one epoch twice", "was given to n1 and to n2", "n1 g 0 1 10 0; n2 g 0 1 20 0"),
    ("one epoch twice, to one process", "was given to n1 and to n1", "n1 g 0 1 10 0; n1 g 0 1 20 0"),
    ("somebody acts at another's epoch", "which was given to n1", "n1 g 0 1 10 0; n2 w 0 1 20"),
    ("two lead at a time", "might lead at epoch 1", "n1 g 0 1 10 0; n2 g 0 2 20 0; n1 w 0 1 21"),
    ("two lead at a time, and the second is heard late", "might lead at epoch 1", "n1 g 0 1 10 0; n1 w 0 1 21; n2 g 0 2 20 0"),
    ("an old leader acknowledges", "might lead at epoch 1", "n1 g 0 1 10 0; n2 g 0 2 20 1; n1 a 0 1 21 1"),
    ("an acknowledged write is lost", "1 was acknowledged at 1", "n1 g 0 1 10 0; n1 a 0 1 11 1; n2 g 0 2 20 0"),
    ("an acknowledged write is lost, and it is heard of late", "was given 2 and has 0", "n1 g 0 1 10 0; n2 g 0 2 20 0; n1 a 0 1 11 1"),
    ("a number is acknowledged twice", "twice", "n1 g 0 1 10 0; n1 a 0 1 11 1; n1 a 0 1 12 1"),
]


def main():
    failed = 0
    for what, wrong, story in STORIES:
        heard = witness.Witness(1)
        for line in story.split("; "):
            heard.hear(*line.split(" ", 1))
        good = heard.wrong == [] if wrong is None else len(heard.wrong) == 1 and wrong in heard.wrong[0]
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
