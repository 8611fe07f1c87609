"""The command line: parse, call runs, echo. Errors become exit codes here and nowhere else."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence

import click

from .. import __version__
from ..errors import DiskError, ReactReproError
from ..report.text import problems
from . import accept, check, fetch, init, prompts, record, replay, score, sweep, wiki

INTERRUPTED = 130
BROKEN_PIPE = 141

_EPILOG = """\b
Exit codes: 0 all is well; 1 a recording exists but differs; 2 usage;
3 a recording or page is absent; 4 provider, network or disk; 5 a file is
corrupt, unsafe, of a newer format or holds a secret; 6 stopped by a budget;
130 interrupted; 141 nobody reads the output.
With several problems: the highest of 1 to 6, all of them listed.
"""


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, epilog=_EPILOG)
@click.version_option(__version__, prog_name="reactrepro")
def cli() -> None:
    """Replay ReAct evaluations offline, to the byte, from recorded fixtures.

    Start with: reactrepro replay hotpotqa 0
    """


for command in (
    *(replay.replay, record.record, check.check, accept.accept, replay.listing),
    *(score.score, score.compare, score.merge, sweep.sweep),
    *(prompts.prompts, wiki.wiki, fetch.fetch, init.init),
):
    cli.add_command(command)


def run(arguments: Sequence[str]) -> int:
    """Run the command line on *arguments*; return the exit code. A bug keeps its traceback."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError):  # a console that lacks a character gets another, never an exception
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        code = cli.main(list(arguments), prog_name="reactrepro", standalone_mode=False)
        if sys.stdout is not None:  # `>&-`
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
    except SystemExit:
        return BROKEN_PIPE  # click's word for a reader that has gone (`| head`)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is buffered must not raise once more
        return BROKEN_PIPE
    except OSError as error:
        # What a command reads and writes has errors of its own; here it is the output, or the current folder.
        with contextlib.suppress(OSError):
            click.echo(f"error: {error.filename or 'the output'}: {error.strerror or error}", err=True)
        with contextlib.suppress(OSError, AttributeError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DiskError.exit_code
    return code if isinstance(code, int) else 0
