"""Tests of ptx.py, which `cargo test -p xtask` runs."""

import pathlib
import tempfile
import unittest

import ptx

IMAGE = """\
\tmin.u32 \t%r1, %r0, 3;
\t// begin inline asm
\t// arc switch %r2 of 4
\t// end inline asm
\tmov.u32 \t%r9, 1;
\tsetp.gt.s32 \t%p1, %r2, 1;
\t@%p1 bra \t$L__BB0_5;
\tbra.uni \t$L__BB0_1;

$L__BB0_5:
\tsetp.eq.s32 \t%p2, %r2, 2;
\t@%p2 bra \t$L__BB0_6;

\tst.global.u32 \t[%rd1], %r3;
\tbra.uni \t$L__BB0_9;

$L__BB0_1:
\tsetp.eq.s32 \t%p3, %r2, 0;
\t@%p3 bra \t$L__BB0_7;
\tbra.uni \t$L__BB0_9;

$L__BB0_6:
\tst.global.u32 \t[%rd1], %r4;
\tbra.uni \t$L__BB0_9;

$L__BB0_7:
\t// begin inline asm
\t// arc part operation
\t// end inline asm
\tbra.uni \t$L__BB0_9;

$L__BB0_9:
\tret;
"""

TABULATED = """\
\tmin.u32 \t%r1, %r0, 3;
\t// begin inline asm
\t// arc switch %r2 of 4
\t// end inline asm
\tmov.u32 \t%r9, 1;
\t$L_arc_switch_0: .branchtargets
\t$L__BB0_7,
\t$L__BB0_9,
\t$L__BB0_6,
\t$L_arc_switch_0_target_3;
\tbrx.idx.uni \t%r2, $L_arc_switch_0;

$L__BB0_5:

$L_arc_switch_0_target_3:
\tst.global.u32 \t[%rd1], %r3;
\tbra.uni \t$L__BB0_9;

$L__BB0_1:

$L__BB0_6:
\tst.global.u32 \t[%rd1], %r4;
\tbra.uni \t$L__BB0_9;

$L__BB0_7:
\t// begin inline asm
\t// arc part operation
\t// end inline asm
\tbra.uni \t$L__BB0_9;

$L__BB0_9:
\tret;
"""

DETOURS = """\
\t$L_arc_switch_0: .branchtargets
\t$L__BB0_7,
\t$L__BB0_9,
\t$L_arc_switch_0_2,
\t$L_arc_switch_0_3;
\tbrx.idx.uni \t%r2, $L_arc_switch_0;

$L_arc_switch_0_2:
\tmov.pred \t%p2, -1;
\tbra.uni \t$L__BB0_6;

$L_arc_switch_0_3:
\tmov.pred \t%p2, 0;
\tbra.uni \t$L_arc_switch_0_target_3;

$L__BB0_5:
"""

# What ptxas 12.9 says of a kernel with spills and of one that calls a function.
LOG = """\
ptxas warning : Local memory used for function 'arc_b', size of stack frame: 592 bytes
ptxas warning : Registers are spilled to local memory in function 'arc_b', 736 bytes spill stores, 884 bytes spill loads
ptxas info    : 304 bytes gmem, 8 bytes cmem[3], 304 bytes cmem[4]
ptxas info    : Compiling entry function 'arc_b' for 'sm_60'
ptxas info    : Function properties for arc_b
    592 bytes stack frame, 736 bytes spill stores, 884 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 592 bytes cumulative stack size, 328 bytes cmem[0]
"""


class Tests(unittest.TestCase):
    def test_a_tree_becomes_a_table(self):
        self.assertEqual(ptx.tabulated(IMAGE), TABULATED)

    def test_what_others_read_of_the_tree_is_said_on_the_way(self):
        self.assertIn(DETOURS, ptx.tabulated(IMAGE.replace("\tret;", "\t@%p2 ret;")))

    def test_no_tree_is_an_error(self):
        with self.assertRaises(SystemExit) as caught:
            ptx.tabulated("\t// arc switch %r2 of 2\n\tret;\n")
        self.assertEqual(str(caught.exception), "line 1: // arc switch %r2 of 2: the file ends in the tree")

    def test_other_images_stay(self):
        self.assertEqual(ptx.tabulated("\tret;\n"), "\tret;\n")

    def test_a_difference_names_its_first_line(self):
        self.assertIsNone(ptx.difference("a\nb\n", "a\nb\n"))
        self.assertEqual(ptx.difference("", "a\n"), "there is none")
        self.assertEqual(ptx.difference("a\n\tb\n", "a\n\tc\n"), "line 2: `b`, expected `c`")
        self.assertEqual(ptx.difference("a\n", "a\nb\n"), "line 2: `the end`, expected `b`")
        self.assertEqual(ptx.difference("a", "a\n"), "its last line has another end")

    def test_a_warning_names_its_architecture(self):
        found = ptx.warnings_in("sm_60", LOG)
        self.assertEqual(len(found), 2)
        self.assertTrue(found[0].startswith("sm_60: Local memory used for function 'arc_b'"), found)

    def test_a_requirement_is_pinned_by_version_and_content(self):
        for wheel in (ptx.NVRTC, ptx.NVCC):
            pinned = rf"{wheel.package}=={wheel.version} --hash=sha256:[0-9a-f]{{64}}\n"
            self.assertRegex(wheel.requirement(), f"^{pinned}$")

    def test_what_is_unpacked_is_not_fetched_again(self):
        with tempfile.TemporaryDirectory() as root:
            folder = pathlib.Path(root) / "target/cuda/nvidia-cuda-nvrtc-cu12-12.2.140"
            file = folder / ptx.NVRTC.holds
            file.parent.mkdir(parents=True)
            file.touch()
            self.assertEqual(ptx.NVRTC.fetch(pathlib.Path(root)), folder)


if __name__ == "__main__":
    unittest.main()
