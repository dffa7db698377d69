"""What goes wrong."""

from __future__ import annotations


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


def wrong(message: str, help: str | None = None) -> Error:  # noqa: A002
    """An error without a place."""
    text = f"error: {message}" + (f"\n  = help: {help}" if help else "")
    return Error(text, message, help)
