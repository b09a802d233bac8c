"""The pictures of docs/pipelines.md are what `weft schedule show --svg` draws today. With WEFT_WRITE_PICTURES=1 they are written."""

import os
import unittest

from harness import ROOT, SystemTest

SHAPE = ("--ranks", "4", "--microbatches", "8")
PICTURES = {name: (name, *SHAPE) for name in
            ("gpipe", "1f1b", "interleaved", "zb_h1", "zb_h2", "zb_v", "v_half", "v_min", "dualpipe_v")}
PICTURES["auto"] = ("auto", *SHAPE, "--times", "3,4,2", "--transfer", "0.5", "--limit", "6")


class SchedulePictures(SystemTest):

    def testEveryPictureOfTheDocsIsCurrent(self):
        for name, words in PICTURES.items():
            with self.subTest(name):
                self.passes("weft", "schedule", "show", *words, "--svg", f"{name}.svg")
                self.assertPicture(f"schedule_{name}.svg", f"{name}.svg")

    def testThePageShowsThemAll(self):
        with open(os.path.join(ROOT, "docs", "pipelines.md"), encoding="utf-8") as file:
            page = file.read()
        for name in PICTURES:
            self.assertIn(f"](images/schedule_{name}.svg)", page)


if __name__ == "__main__":
    unittest.main()
