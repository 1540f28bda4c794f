"""Write down the command line from the commands themselves: what ``docs/commands.md`` includes."""

from pathlib import Path

import typer

from dqeval.cli import app


def write(path: Path) -> None:
    """Write a section for each command: its usage, what it does, its arguments and its options."""
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
    usage = command.get_usage(context).removeprefix("Usage: ")
    lines = [f"## dqeval {name}", "", "```text", usage, "```", "", command.help or "", ""]
    for kind in ("argument", "option"):
        records = [p.get_help_record(context) for p in command.params if p.param_type_name == kind]
        rows = [f"| `{cell(what)}` | {cell(help)} |" for what, help in filter(None, records)]
        if rows:
            lines += [f"| {kind} | |", "|---|---|", *rows, ""]
    return "\n".join(lines)


def cell(text: str) -> str:
    """Return the text as a cell of a table."""
    return " ".join(text.split()).replace("|", r"\|")
