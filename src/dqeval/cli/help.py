"""What ``--help`` prints: usage, arguments, options without their types, commands, and examples as they are typed."""

from __future__ import annotations

import os
import shutil
import textwrap
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from dqeval.cli.examples import EXAMPLES
from dqeval.support.hints import know_options

WIDEST = 100  # characters of a line: longer ones are hard to read
NAMES = 28  # characters of the column of names, at most

HelpRow = tuple[str, str]


class Command(TyperCommand):
    """A command with our help."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        formatter.write(page(self, ctx))

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        know_options(option for parameter in self.params for option in parameter.opts)
        try:
            return super().invoke(ctx)
        finally:
            know_options(None)


class Group(TyperGroup):
    """A group of commands with our help."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        formatter.write(page(self, ctx))


class App(typer.Typer):
    """An application all of whose commands have our help."""

    def __init__(self, **options: Any) -> None:
        super().__init__(cls=Group, **options)

    def command(self, name: str | None = None, **options: Any) -> Callable[[Any], Any]:
        """Return a decorator that makes a function a command."""
        return super().command(name, cls=Command, **options)


def page(command: Any, context: Any) -> str:
    """Return the help of a command."""
    width = min(shutil.get_terminal_size().columns, WIDEST)
    sections = [
        ("Arguments", argument_rows(command, context)),
        ("Options", option_rows(command, context)),
        ("Commands", command_rows(command)),
    ]
    parts = [textwrap.fill(f"Usage: {usage(command, context)}", width, subsequent_indent="  ")]
    parts += [textwrap.fill(paragraph, width) for paragraph in (command.help or "").split("\n\n")]
    parts += [_section(title, _columns(rows, width)) for title, rows in sections if rows]
    shown = example_lines(context.command_path)
    return "\n\n".join([*parts, *([_section("Examples", [f"  {line}" for line in shown])] if shown else [])]) + "\n"


def usage(command: Any, context: Any) -> str:
    """Return the usage line of a command."""
    arguments = [_argument_name(parameter) for parameter in _parameters(command, context, "argument")]
    rest = ["COMMAND [ARGS]..."] if hasattr(command, "commands") else arguments
    return " ".join([context.command_path, "[OPTIONS]", *rest])


def argument_rows(command: Any, context: Any) -> list[HelpRow]:
    """Return the arguments of a command, and what they are."""
    return [(parameter.metavar, parameter.help) for parameter in _parameters(command, context, "argument")]


def option_rows(command: Any, context: Any) -> list[HelpRow]:
    """Return the options of a command, and what they do."""
    return [
        (_option_names(parameter), _option_help(parameter)) for parameter in _parameters(command, context, "option")
    ]


def command_rows(command: Any) -> list[HelpRow]:
    """Return the commands of a group, and what each does, in its first sentence."""
    found = getattr(command, "commands", {})
    return [(name, each.help.partition("\n\n")[0].replace("\n", " ")) for name, each in found.items()]


def example_lines(path: str) -> list[str]:
    """Return the examples of a command, with what each does in a comment."""
    found = EXAMPLES.get(path.rpartition("dqeval")[2].strip(), ())
    widest = max((len(command) for command, _ in found), default=0)
    return [f"{command:<{widest}}  # {comment}" for command, comment in found]


def _parameters(command: Any, context: Any, kind: str) -> list[Any]:
    return [
        each for each in command.get_params(context) if each.param_type_name == kind and not getattr(each, "hidden", 0)
    ]


def _argument_name(argument: Any) -> str:
    name = argument.metavar if argument.required else f"[{argument.metavar}]"
    return f"{name}..." if argument.nargs == -1 else name


def _option_names(option: Any) -> str:
    """Return the names of an option, the short one first, and the placeholder of its value."""
    names = ", ".join(sorted(option.opts, key=len))
    return names if option.is_flag else f"{names} {option.metavar}"


def _option_help(option: Any) -> str:
    """Return the help of an option, whether it is required, and its default."""
    notes = []
    if option.required:
        notes.append("required")
    elif isinstance(option.show_default, str):
        notes.append(f"default: {option.show_default}")
    elif option.default is not None and not option.is_flag:
        notes.append(f"default: {option.default.value if isinstance(option.default, Enum) else option.default}")
    if option.envvar:
        notes.append(f"environment: {option.envvar}")
    return f"{option.help} [{'; '.join(notes)}]" if notes else str(option.help)


def _section(title: str, lines: Sequence[str]) -> str:
    heading = title if os.environ.get("NO_COLOR") else typer.style(title, bold=True)
    return "\n".join([heading, *lines])


def _columns(rows: Sequence[HelpRow], width: int) -> list[str]:
    left = min(max(len(name) for name, _ in rows), NAMES)
    return [line for name, text in rows for line in _row(name, text, left, width)]


def _row(name: str, text: str, left: int, width: int) -> Iterator[str]:
    """Yield the lines of a row; a long name has a line of its own."""
    first, *others = textwrap.wrap(text, max(width - left - 4, 20), break_on_hyphens=False)
    if len(name) > left:
        yield f"  {name}"
        name = ""
    yield f"  {name:<{left}}  {first}".rstrip()
    yield from (f"  {'':<{left}}  {line}" for line in others)
