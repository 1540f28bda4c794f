"""Write down the command line from the commands themselves: what ``docs/commands.md`` includes."""

from pathlib import Path

import typer

from dqeval.cli import help as helping
from dqeval.cli.app import app


def write(path: Path) -> None:
    """Write a section for each command: its usage, what it does, its arguments, its options and its examples."""
    root = typer.main.get_command(app)
    sections = [section(name, command) for name, command in leaves(root)]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(sections), encoding="utf-8")


def leaves(group, prefix: str = ""):
    """Yield the commands by their full names, those of groups too."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from leaves(command, f"{prefix}{name} ")
        elif not command.hidden:
            yield f"{prefix}{name}", command


def section(name: str, command) -> str:
    """Return the section of one command."""
    context = command.context_class(command, info_name=f"dqeval {name}")
    lines = [f"## dqeval {name}", "", *code(helping.usage(command, context)), command.help or "", ""]
    for kind, rows in (
        ("argument", helping.argument_rows(command, context)),
        ("option", helping.option_rows(command, context)),
    ):
        cells = [f"| `{cell(what)}` | {cell(help)} |" for what, help in rows]
        lines += [f"| {kind} | |", "|---|---|", *cells, ""] if cells else []
    return "\n".join([*lines, *code(*helping.example_lines(context.command_path))])


def code(*lines: str) -> list[str]:
    """Return lines as a block of text that is shown as it is."""
    return ["```text", *lines, "```", ""]


def cell(text: str) -> str:
    """Return the text as a cell of a table."""
    return " ".join(text.split()).replace("|", r"\|")
