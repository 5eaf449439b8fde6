from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import click

from benchbrief.cli.run_options import (
    chosen_run,
    formats_of,
    open_results,
    out_option,
    require_libraries,
    run_argument,
)
from benchbrief.cli.terminal import Stop, fail, show, show_json, show_wrapped, warn
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.model.extension_spec import Format
from benchbrief.progress.finished_run import code_of_verdicts, result_lines

if TYPE_CHECKING:
    from benchbrief.model.plan import Plan, Report
    from benchbrief.reports.capsule.capsule_file import Sign
    from benchbrief.reports.claims_sheet import SheetRow
    from benchbrief.results.analysis.expectation_verdicts import ExpectVerdict
    from benchbrief.running.make_brief import Briefs


_SPDX = re.compile(r"[A-Za-z0-9.+-]{0,100}")


def _formats(_context: click.Context, _option: click.Parameter, value: str | None) -> tuple[str, ...]:
    """Split a list such as `pdf,html` into words, or return no words if the option was not given."""
    known = get_args(Format)
    found = tuple(word.strip().lower() for word in value.split(",")) if value else ()
    for word in found:
        if word not in known:
            meant = did_you_mean(word, known)
            hint = f"did you mean `{meant}`?" if meant else f"formats are {', '.join(known)}"
            raise click.BadParameter(f"there is no format `{word}`: {hint}")
    return tuple(dict.fromkeys(found))


@click.command(
    epilog="""
\b
Examples:
  bench report                               the last run's brief
  bench report 20260301 --to /tmp/brief
  bench report --language ja                 brief.ja.pdf, in Japanese
  bench report --spec brief.bench            as the spec's report is now
  bench report --format pdf --paper letter   the PDF alone, on US paper
  bench report --format html,markdown        for a web site
  bench report --format pptx,docx,xlsx       to edit in Office programs
  bench report --deposit archive --licence CC-BY-4.0
  bench report --sign ~/.ssh/id_ed25519      its capsule is signed

\b
Exit codes:
  0  done                     3  a figure could not be drawn, or an `expect`
  1  the spec is wrong           can't be known
  2  usage, or no such run    4  an `expect` does not hold
                              5  the disk is too full for the brief
"""
)
@run_argument
@out_option
@click.option("--spec", type=click.Path(path_type=Path), help="Take reports and metrics from this spec.")
@click.option("--language", metavar="LANGUAGE", help="Write it in `en` or `ja`, or with the words in a file (fr.toml).")
@click.option("--to", type=click.Path(path_type=Path), help="Folder for the brief; the run's own by default.")
@click.option("--deposit", type=click.Path(path_type=Path), help="New folder for briefs, data, citation and checksums.")
@click.option(
    "--sign",
    "key",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="KEY",
    help="Sign the capsule of each brief with this SSH key.",
)
@click.option("--licence", default="", metavar="SPDX", help="The licence of a deposit, such as CC-BY-4.0.")
@click.option("--format", "formats", callback=_formats, help=f"What to make, of {', '.join(get_args(Format))}.")
@click.option("--paper", type=click.Choice(("a4", "letter"), case_sensitive=False), help="The size of PDF pages.")
@click.option("--html-only", is_flag=True, help="The same as --format html.")
@click.option("--json", "as_json", is_flag=True, help="Print the result, the verdicts and the files' paths as JSON.")
def command(
    run: str | None,
    out: Path,
    spec: Path | None,
    language: str | None,
    to: Path | None,
    deposit: Path | None,
    key: Path | None,
    licence: str,
    formats: tuple[Format, ...],
    paper: Literal["a4", "letter"] | None,
    html_only: bool,
    as_json: bool,
) -> None:
    """Render the brief of RUN (the last one by default) as PDF and HTML from its stored results."""
    from benchbrief.cli.spec_options import with_reports_of
    from benchbrief.results.analysis.expectation_verdicts import evaluate
    from benchbrief.runners.journal.run_folder import keep_spec, load_plan
    from benchbrief.running.deposit import complete_deposit
    from benchbrief.running.make_brief import claims_of_briefs, making_brief, render_briefs, warn_of_holder

    to = _deposit_folder(deposit, to, licence)
    require_libraries(formats)
    run_dir = chosen_run(out, run)
    plan = load_plan(run_dir)
    own_languages = {report.name: report.language for report in plan.reports}
    newer = None
    if spec is not None:
        newer, plan = with_reports_of(spec, plan)
        with making_brief():
            keep_spec(run_dir, {**newer.spec.files, **newer.assets})
    if not plan.reports:
        raise fail(f"the spec of {run_dir.name} has no `report` block", "add one, then: bench report --spec FILE")
    require_libraries(() if html_only else formats or formats_of(plan))
    if language is not None:
        plan = plan.model_copy(update={"reports": _in_language(plan.reports, language)})
    warn_of_holder(plan)
    with open_results(run_dir) as results:
        verdicts, simulated = evaluate(plan, results), results.simulated
        briefs = render_briefs(
            run_dir,
            plan,
            results,
            to,
            formats=("html",) if html_only else formats,
            paper=paper,
            reports_from=newer.spec.files if newer else None,
            own_languages=own_languages if newer or language is not None else None,
            sign=_signing_by(key) if key else None,
        )
        added = list[Path]()
        if deposit is not None:
            with making_brief():
                added = complete_deposit(deposit, plan, results, briefs.results, licence)
        claims = claims_of_briefs(plan, results, briefs.judged)
    _show(plan, briefs, verdicts, claims, added, as_json=as_json)
    for verdict in verdicts:
        if verdict.holds is not True or verdict.decided is False:
            warn(verdict.of_simulated if simulated else verdict.warning)
    for row in claims:
        if row.is_withheld and not simulated:
            warn(row.warning)
    for text in briefs.undrawn:
        warn(f"missing from the brief: {text}")
    if briefs.undrawn:
        raise Stop(ExitCode.CELL_FAILED)
    # Simulated numbers do not affect the exit code.
    if not simulated and (code := code_of_verdicts((*verdicts, *claims))):
        raise Stop(code)


def _signing_by(key: Path) -> Sign:
    """Return a function that signs with this key."""
    from benchbrief.history.shared_store.signatures import sign

    return partial(sign, key=key)


def _deposit_folder(deposit: Path | None, to: Path | None, licence: str) -> Path | None:
    """Check that a deposit may be written there, and return the folder for the briefs."""
    if deposit is None:
        if licence:
            raise click.UsageError("--licence is that of a deposit: --deposit FOLDER")
        return to
    if to is not None:
        raise click.UsageError("--deposit is a folder of its own: leave --to out")
    if not _SPDX.fullmatch(licence):
        raise click.UsageError("--licence takes an SPDX identifier, such as CC-BY-4.0 or Apache-2.0")
    if deposit.is_symlink() or (deposit.exists() and (not deposit.is_dir() or any(deposit.iterdir()))):
        raise fail(f"{deposit} is there already", "name a new folder, or an empty one")
    if not licence:
        warn("the deposit states no licence, so nobody may use it: --licence CC-BY-4.0, say")
    return deposit


def _show(
    plan: Plan,
    briefs: Briefs,
    verdicts: Sequence[ExpectVerdict],
    claims: Sequence[SheetRow],
    deposited: Sequence[Path],
    *,
    as_json: bool,
) -> None:
    """Print the result on standard error, then the files. `deposited` are the files added beside the briefs."""
    if as_json:
        show_json(
            {
                "results": [said.as_dict(name) for name, said in briefs.results.items()],
                "expects": [verdict.as_dict() for verdict in verdicts],
                "claims": [row.document() for row in claims],
                "reports": {name: [str(path) for path in paths] for name, paths in briefs.files.items()},
                "deposit": list(map(str, deposited)),
                "undrawn": briefs.undrawn,
            }
        )
        return
    from benchbrief.running.make_brief import note_far_hosts

    for line in result_lines(briefs.results.values()):
        show_wrapped(line, indent=4, err=True)
    for paths in (*briefs.files.values(), deposited):
        for path in paths:
            show(path)
    note_far_hosts(plan, briefs.files)


def _in_language(reports: tuple[Report, ...], language: str) -> tuple[Report, ...]:
    """Return the reports in a shipped language, or with the words of a catalogue. Texts written by the author stay
    unchanged."""
    from benchbrief.cli.spec_options import show_diagnostics
    from benchbrief.compiler.briefs.word_catalogues import read_catalogue
    from benchbrief.compiler.problems import Findings
    from benchbrief.dsl.diagnostics.suggest import did_you_mean
    from benchbrief.model.extension_spec import LANGUAGES

    words = {}
    if language not in LANGUAGES:
        path = Path(language)
        if path.suffix != ".toml":
            guess = did_you_mean(language, LANGUAGES)
            hint = (
                f"did you mean `{guess}`?"
                if guess
                else f"there are `en` and `ja`; or name a catalogue: --language {language}.toml"
            )
            raise fail(f"there are no words for a brief in `{language}`", hint)
        findings = Findings()
        words = read_catalogue(path, None, findings)
        show_diagnostics(findings.diagnostics())
        if findings.failed:
            raise Stop(ExitCode.SPEC_WRONG)
        language = path.stem
    return tuple(report.model_copy(update={"language": language, "words": words}) for report in reports)
