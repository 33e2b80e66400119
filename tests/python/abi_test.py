# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The structs, enums and functions of the package are those of tests/build/abi.txt, measured from the header."""
import ctypes
import enum
import os
import re
import unittest

from cdnagen import abi, library

LINES = open(os.path.dirname(os.path.abspath(__file__)) + "/../build/abi.txt").read().splitlines()
# Structs and enums that have another name in Python.
NAMES = {"cdnagen_tensor": "CTensor"}


def python_name(name):
    return NAMES.get(name) or "".join(word.capitalize() for word in name.split("_")[1:])


def facts_of(name):
    return [line.split()[1:] for line in LINES if line.startswith(name + " ")]


class Abi(unittest.TestCase):
    def test_every_struct_has_the_layout_of_the_header(self):
        structs = [line.split()[1:] for line in LINES if line.startswith("struct ")]
        self.assertGreater(len(structs), 8)
        for name, size in structs:
            struct = getattr(abi, python_name(name))
            layout = [f"{member} {getattr(struct, member).offset} + {getattr(struct, member).size}"
                      for member, *_ in struct._fields_]
            self.assertEqual(layout, [" ".join(fact) for fact in facts_of(name)], name)
            self.assertEqual(ctypes.sizeof(struct), int(size), name)
            if layout[0] == "size 0 + 8":
                self.assertEqual(struct().size, int(size), name)

    def test_every_enum_has_the_numbers_of_the_header(self):
        enums = [line.split()[1] for line in LINES if line.startswith("enum ")]
        self.assertGreater(len(enums), 12)
        for name in enums:
            ours = {member.name: member.value for member in getattr(abi, python_name(name))}
            theirs = facts_of(name)
            self.assertEqual(len(ours), len(theirs), name)
            for word, number in theirs:
                short = [m for m in ours if re.fullmatch(r"CDNAGEN_(\w+_)?" + m, word)]
                self.assertIn(int(number), [ours[m] for m in short], word)

    def test_nothing_is_declared_that_the_header_lacks(self):
        declared = {name for name, value in vars(abi).items() if isinstance(value, type) and
                    issubclass(value, (ctypes.Structure, enum.IntEnum)) and value.__module__ == abi.__name__}
        known = {python_name(line.split()[1]) for line in LINES if re.match("struct|enum", line)}
        self.assertEqual(declared - known, {"Sized"})

    def test_every_function_has_a_prototype(self):
        functions = [line.split()[1] for line in LINES if line.startswith("function ")]
        self.assertGreater(len(functions), 30)
        for name in functions:
            function = getattr(library.lib, name)
            if name not in ("cdnagen_error", "cdnagen_version"):
                self.assertIsNotNone(function.argtypes, name)
            self.assertTrue(function.errcheck is library._raise if function.restype is ctypes.c_int else
                            function.restype in (None, ctypes.c_char_p), name)

    def test_the_version_is_the_headers(self):
        self.assertEqual(LINES[0], "version " + library.VERSION)

    def test_an_unknown_member_is_an_error(self):
        with self.assertRaisesRegex(TypeError, "MqaLogitsShape has no head"):
            abi.MqaLogitsShape(head=64)


if __name__ == "__main__":
    unittest.main()
