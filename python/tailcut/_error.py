"""What goes wrong."""

from __future__ import annotations

import operator
import os


class Error(Exception):
    """The input is wrong, or a run could not be done. The text is the message of the command line: where the mistake
    stands, with a caret below it, and what would be right.

    >>> import tailcut
    >>> try:
    ...     tailcut.Scenario.from_toml("workload.lod = 0.5").check()
    ... except tailcut.Error as error:
    ...     print(error.message, error.line)
    unknown key `lod` 1
    """

    #: What is wrong, in a sentence.
    message: str
    #: What would be right, if that is known.
    help: str | None
    #: The file or text in which the mistake stands, if it stands in one.
    source: str | None
    #: The line there, from 1.
    line: int | None

    def __init__(
        self,
        text: str,
        message: str | None = None,
        help: str | None = None,  # noqa: A002
        source: str | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(text)
        self.message = message if message is not None else text.removeprefix("error: ")
        self.help = help
        self.source = source
        self.line = line

    def __reduce__(self) -> tuple[type[Error], tuple[str, str, str | None, str | None, int | None]]:
        return type(self), (str(self), self.message, self.help, self.source, self.line)


def path_of(given: object, expected: str) -> str:
    """A path of a file or a folder.

    Raises:
        Error: If it is none.
    """
    if isinstance(given, (str, os.PathLike)):
        path = os.fspath(given)
        if isinstance(path, str):
            return path
    raise wrong(f"{given!r} is no path", f"expected {expected}")


def text_of(given: object, what: str, expected: str) -> str:
    """A text.

    Raises:
        Error: If it is none.
    """
    if isinstance(given, str):
        return given
    raise wrong(f"{what} is {given!r}", f"expected {expected}")


def count_of(given: object, what: str) -> int:
    """A number of things, of which there is one at least.

    Raises:
        Error: If it is none.
    """
    try:
        number = operator.index(given)  # type: ignore[arg-type]
    except TypeError:
        number = 0
    if isinstance(given, bool) or not 1 <= number < 2**31:
        raise wrong(f"{what} is {given!r}", "expected a whole number from 1 on")
    return number


def wrong(message: str, help: str | None = None) -> Error:  # noqa: A002
    """An error without a place."""
    text = f"error: {message}" + (f"\n  = help: {help}" if help else "")
    return Error(text, message, help)
