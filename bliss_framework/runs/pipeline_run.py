"""Running a pipeline: its settings and inputs are checked, it runs once for each repeat, and results are written."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from bliss_framework.compute.processes import one_blas_thread
from bliss_framework.errors import BlissError, PluginError, RunError, SettingsError, UnknownNameError
from bliss_framework.estimator.component_tables import fill_defaults
from bliss_framework.extension.components import component_name, resolve
from bliss_framework.extension.contracts import Pipeline
from bliss_framework.extension.loading.isolation import describe
from bliss_framework.extension.loading.plugins import Plugins
from bliss_framework.extension.naming import nearest
from bliss_framework.extension.pipeline_report import PipelineReport, check_report
from bliss_framework.extension.registry import Registry
from bliss_framework.faults import is_fault
from bliss_framework.runs.evaluation.measures import summary
from bliss_framework.runs.evaluation.plan import DEFAULT_SEED, check_seed
from bliss_framework.runs.events import PipelineStarted, RunFinished, StageReached, Tell
from bliss_framework.runs.folder.atomic import plain
from bliss_framework.runs.folder.checkpoint import Checkpoint, Piece
from bliss_framework.runs.folder.run_folder import RunFolder
from bliss_framework.runs.folder.start import FORMAT, RunResult, Start, start
from bliss_framework.runs.prepared import Prepared, prepare, record_of
from bliss_framework.runs.settings.records import RunSettings
from bliss_framework.runs.shapes import ShapeError, anything, list_of, number, record, share, table_of, text, truth
from bliss_framework.version import __version__


def _measure(value: Any, at: str) -> None:
    """A share, or shares by class."""
    (table_of(share) if isinstance(value, Mapping) else share)(value, at)


METHOD = record({"name": text, "measures": table_of(_measure, 1), "seconds": number, "ceiling": truth})
PIECE = record(
    {"methods": list_of(METHOD, 1), "notes": list_of(text), "details": table_of(anything), "files": list_of(text)}
)


@frozen(eq=False)
class PreparedPipeline:
    """A pipeline whose settings and inputs are checked; nothing has been computed.

    Attributes:
        settings: of the run.
        pipeline: the component.
        data: what it says of its inputs.
        plugins: knows who ships it, and its parameters.
    """

    settings: RunSettings = field()
    pipeline: Pipeline = field()
    data: Mapping[str, Any] = field()
    plugins: Plugins = field()

    @property
    def name(self) -> str:
        """What results call this experiment."""
        return self.settings.name or component_name(self.settings.pipeline)

    @property
    def seed(self) -> int:
        """The random state of the first repeat."""
        return int(self.settings.bliss["random_state"])

    def document(self, folder: Path | None = None) -> dict[str, Any]:
        """Everything that decides the result, for run.toml and result.json; a pipeline names its files itself."""
        settings = self.settings
        return {
            **({} if settings.name is None else {"name": settings.name}),
            "pipeline": fill_defaults("pipeline", settings.pipeline, self.plugins.registry),
            "evaluation": {"repeats": settings.evaluation.repeats, "random_state": self.seed},
        }

    def record(self) -> dict[str, Any]:
        """What run.toml notes down: the digest of the inputs, and versions."""
        origin = self.plugins.registry.record([("pipeline", component_name(self.settings.pipeline))])
        return {**record_of(str(self.data["sha256"]), self.plugins), "components": origin}


def prepare_any(settings: RunSettings, plugins: Plugins, data_dirs: Sequence[Path]) -> Prepared | PreparedPipeline:
    """Prepare what the settings name: a pipeline, or data for a fit of BLISS.

    Raises:
        BlissError: whatever is wrong with settings, names or data.
    """
    spec = _pipeline_spec(settings, plugins.registry)
    if spec is None:
        return _prepare_data(settings, plugins, data_dirs)
    return _prepare(evolve(settings, pipeline=spec), plugins)


def _prepare_data(settings: RunSettings, plugins: Plugins, data_dirs: Sequence[Path]) -> Prepared:
    try:
        return prepare(settings, plugins, data_dirs)
    except UnknownNameError as error:
        near = nearest(settings.data.source, plugins.registry.names("pipeline"))
        raise UnknownNameError(f'{error} There is a pipeline "{near}".' if near else str(error)) from None


def _pipeline_spec(settings: RunSettings, registry: Registry) -> Any:
    """Return what names a pipeline, or None. A file or a data set of the name that is asked for comes first."""
    source, spec = settings.data.source, settings.pipeline
    named = source in registry.names("pipeline") and source not in registry.names("dataset")
    if source and (not named or Path(source).is_file()):
        if spec is not None:
            raise SettingsError(f'"{source}" is no pipeline, so it has no parameters to set with --set pipeline.')
        return None
    if not source:
        return spec
    return source if spec is None else {"name": source, **spec}


def _prepare(settings: RunSettings, plugins: Plugins) -> PreparedPipeline:
    name = component_name(settings.pipeline)
    given = {"random_state": DEFAULT_SEED, **settings.bliss}
    others = [key for key in given if key != "random_state"] + (["cv"] if settings.evaluation.cv is not None else [])
    if others:
        raise SettingsError(
            f'The pipeline "{name}" takes no {", ".join(others)}; of these options only repeats and random_state are '
            f"for pipelines. Its own parameters are set by --set pipeline.PARAMETER=VALUE."
        )
    check_seed(given["random_state"])
    settings = evolve(settings, bliss=given)
    pipeline: Pipeline = resolve("pipeline", settings.pipeline, plugins.registry)
    if settings.folder is not None:
        pipeline = pipeline.located(settings.folder.absolute())
    data = _checked(lambda: pipeline.check(), name, plugins.registry)
    if not isinstance(data, Mapping) or not {"name", "sha256"} <= set(data):
        raise PluginError(f'The check of the pipeline "{name}" must return a mapping with "name" and "sha256".')
    return PreparedPipeline(settings, pipeline, data, plugins)


def run_pipeline(prepared: PreparedPipeline, tell: Tell, folder: RunFolder | None = None) -> RunResult:
    """Run a pipeline once for each repeat, the first one with the random state of the run, the next with one more.

    Args:
        prepared: the experiment.
        tell: called with each event, in this process.
        folder: where results and finished repeats are kept.

    Raises:
        BlissError: the folder cannot be used, or the pipeline says what is wrong.
        PluginError: the pipeline broke its contract.
    """
    with start(folder, prepared.document(), prepared.record(), tell, files_of) as begun:
        if begun.finished is None:
            return _run(prepared, begun, folder)
        if folder is not None and begun.missing:
            _make_again(prepared, begun, folder)
        return begun.finished


def files_of(document: Mapping[str, Any]) -> list[str]:
    """Return the files that lie beside the result of a pipeline."""
    return [str(name) for name in document.get("files", ())]


def _make_again(prepared: PreparedPipeline, begun: Start, folder: RunFolder) -> None:
    """Run the first repeat once more, for the files of it that are missing."""
    report = _run_once(prepared, 0, begun.tell)
    folder.keep({name: content for name, content in report.files.items() if name in begun.missing})


def _run(prepared: PreparedPipeline, begun: Start, folder: RunFolder | None) -> RunResult:
    started = time.perf_counter()
    checkpoint, tell = begun.checkpoint, begun.tell
    repeats = prepared.settings.evaluation.repeats
    tell(PipelineStarted(prepared.name, str(prepared.data["name"]), repeats))
    pieces: list[Piece] = []
    for repeat in range(repeats):
        first = pieces[0] if pieces else None
        pieces.append(_piece(prepared, repeat, first, checkpoint, folder, tell))
        if _shown(pieces[-1]) != _shown(pieces[0]):
            raise RunError(
                f"The pieces in {checkpoint.folder} are of other methods or measures than this pipeline reports. "
                f"Delete that folder and go on with --resume."
            )
    document = {**_document(prepared, pieces), **begun.remarks()}
    document["seconds"] = {"total": time.perf_counter() - started}
    document = plain(document)
    if folder is not None:
        document = folder.conclude(document)
    tell(RunFinished(prepared.name, document["seconds"]["total"]))
    notes = (*begun.notes, *checkpoint.notes, *document["notes"])
    return RunResult(document, notes, None if folder is None else folder.path)


def _piece(
    prepared: PreparedPipeline,
    repeat: int,
    first: Piece | None,
    checkpoint: Checkpoint,
    folder: RunFolder | None,
    tell: Tell,
) -> Piece:
    key = f"repeat{repeat + 1}"
    kept = checkpoint.load(key, partial(_checked_piece, first=first))
    if kept is not None and (folder is None or not folder.missing(kept["files"])):
        return kept
    report = _run_once(prepared, repeat, tell)
    if folder is not None and repeat == 0:
        folder.keep(report.files)
    methods = [
        {"name": one.name, "measures": one.measures, "seconds": one.seconds, "ceiling": one.ceiling}
        for one in report.methods
    ]
    piece = {"methods": methods, "notes": list(report.notes), "details": report.details}
    return checkpoint.save(key, {**piece, "files": list(report.files) if repeat == 0 else []})


def _run_once(prepared: PreparedPipeline, repeat: int, tell: Tell) -> PipelineReport:
    name = component_name(prepared.settings.pipeline)

    def run_once() -> Any:
        # The number of BLAS threads changes the last bits, and a bit can flip a tie.
        with one_blas_thread():
            return prepared.pipeline.run(prepared.seed + repeat, lambda stage: tell(StageReached(repeat, stage)))

    report = _checked(run_once, name, prepared.plugins.registry)
    check_report(report, name)
    assert isinstance(report, PipelineReport)
    return report


def _checked_piece(piece: Piece, first: Piece | None) -> Piece:
    """Return a repeat that was kept, or raise where it is none, or of other methods than the first one."""
    PIECE(piece, "")
    measures = [shown for _, shown in _shown(piece)]
    if any(one != measures[0] for one in measures):
        raise ShapeError("its methods have different measures")
    if first is not None and _shown(piece) != _shown(first):
        raise ShapeError("it has other methods or measures than the first repeat")
    return piece


def _shown(piece: Piece) -> list[Any]:
    """Return which methods a repeat has, and which measures of each."""
    return [(one["name"], {key: _classes(value) for key, value in one["measures"].items()}) for one in piece["methods"]]


def _classes(value: Any) -> set[str] | None:
    return set(value) if isinstance(value, Mapping) else None


def _checked(call: Callable[[], Any], name: str, registry: Registry) -> Any:
    try:
        return call()
    except BlissError:
        raise
    except Exception as error:
        if is_fault(error):
            raise
        origin = registry.registration("pipeline", name).origin() if name in registry.names("pipeline") else "Python"
        raise PluginError(f'The pipeline "{name}" of {origin} broke: {describe(error)}. Tell its authors.') from error


def _document(prepared: PreparedPipeline, pieces: Sequence[Piece]) -> dict[str, Any]:
    rows = [_method(number, pieces) for number in range(len(pieces[0]["methods"]))]
    own, *others = rows
    evaluation = {"repeats": len(pieces), **own, "baselines": others}
    notes = list(dict.fromkeys(note for piece in pieces for note in piece["notes"]))
    compared = [row for row in others if not row["ceiling"]]
    if compared:
        measure = next(iter(pieces[0]["methods"][0]["measures"]))
        evaluation["baseline"] = max(compared, key=lambda row: _overall(row[measure]))
        notes += _comparison(own, evaluation["baseline"], measure)
    return {
        "format": FORMAT,
        "name": prepared.name,
        "bliss_framework": __version__,
        "settings": prepared.document(),
        "data": dict(prepared.data),
        "inference": pieces[0]["details"],
        "evaluation": evaluation,
        "notes": notes,
        "files": pieces[0]["files"],
    }


def _method(number: int, pieces: Sequence[Piece]) -> dict[str, Any]:
    reports = [piece["methods"][number] for piece in pieces]
    first = reports[0]
    measures = {name: _summary([one["measures"][name] for one in reports]) for name in first["measures"]}
    seconds = summary([one["seconds"] for one in reports])
    return {"name": first["name"], "ceiling": first["ceiling"], "seconds": seconds, **measures}


def _summary(values: Sequence[Any]) -> dict[str, Any]:
    if isinstance(values[0], Mapping):
        return {key: summary([value[key] for value in values]) for key in values[0]}
    return summary(values)


def _overall(value: Mapping[str, Any]) -> float:
    return float(value["mean"]) if "runs" in value else sum(one["mean"] for one in value.values()) / len(value)


def _comparison(own: Mapping[str, Any], best: Mapping[str, Any], measure: str) -> list[str]:
    mean, other = _overall(own[measure]), _overall(best[measure])
    if other <= mean:
        return []
    noise = " One repeat does not say whether that is beyond noise." if _n_repeats(own[measure]) == 1 else ""
    return [f'"{best["name"]}" is ahead of "{own["name"]}" here: {measure} {other:.3f} against {mean:.3f}.{noise}']


def _n_repeats(value: Mapping[str, Any]) -> int:
    """Return in how many repeats a measure was taken, which may be one of several by class."""
    return len((value if "runs" in value else next(iter(value.values())))["runs"])
