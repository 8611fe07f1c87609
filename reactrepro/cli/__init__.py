"""The command line: parse, call runs, echo. Errors become exit codes here and nowhere else."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence

import click

from .. import __version__
from ..errors import ReactReproError
from ..report.text import problems
from . import prompts, record, replay, wiki

INTERRUPTED = 130
BROKEN_PIPE = 141

_EPILOG = """\b
Exit codes: 0 all is well; 1 a recording exists but differs; 2 usage;
3 a recording or page is absent; 4 provider or network; 5 a file is corrupt,
unsafe or of a newer format; 6 stopped by a budget; 130 interrupted.
With several problems: the highest of 1 to 6, all of them listed.
"""


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, epilog=_EPILOG)
@click.version_option(__version__, prog_name="reactrepro")
def cli() -> None:
    """Replay ReAct evaluations offline, to the byte, from recorded fixtures.

    Start with: reactrepro replay hotpotqa 0
    """


for command in (replay.replay, record.record, replay.check, replay.listing, prompts.prompts, wiki.wiki):
    cli.add_command(command)


def run(arguments: Sequence[str]) -> int:
    """Run the command line on *arguments*; return the exit code. A bug keeps its traceback."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError):  # a console that lacks a character gets another, never an exception
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        code = cli.main(list(arguments), prog_name="reactrepro", standalone_mode=False)
        sys.stdout.flush()
    except ReactReproError as error:
        for message in problems([error]):
            click.echo(f"error: {message}", err=True)
        return error.exit_code
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted.", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has gone (`| head`); what is still buffered must not raise once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    return code if isinstance(code, int) else 0
