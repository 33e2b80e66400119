# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a call raises when it fails."""
from cdnagen.abi import Status


class Error(Exception):
    """Error: a call failed.
    status: a Status, or a number that a newer library knows   name: "CDNAGEN_LIMIT"
    message: one sentence that names what was wrong and what would be right
    """

    def __init__(self, status, message, name=None):
        try:
            status = Status(status)
        except ValueError:
            pass
        self.status, self.message = status, message
        self.name = name or "CDNAGEN_" + status.name
        super().__init__(f"{self.name}: {message}")


def refuse(message):
    """refuse: an argument that this package cannot hand on, in the words of the library."""
    return Error(Status.BAD_ARGUMENT, message)
