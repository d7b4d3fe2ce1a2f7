"""The command `config`."""

import json
from configparser import Error as ParserError
from pathlib import Path
from typing import Annotated, Any

import typer
from spacy.schemas import ConfigSchemaInit, ConfigSchemaTraining
from spacy.training.initialize import get_sourced_components
from spacy.util import (
    load_config,
    load_config_from_str,
    load_model_from_config,
    registry,
    walk_dict,
)
from thinc.api import Config, ConfigValidationError
from thinc.config import VARIABLE_RE

from ..util.files import write_whole
from .options import clear_errors

ORIGIN = {"factory", "source"}  # where a component comes from
SOURCED = {"source", "component", "replace_listeners"}  # settings beside a source


def config_cli(
    files: Annotated[
        list[str],
        typer.Argument(
            help="The base config, then variants: files, or names of files beside the "
            "base without .cfg. Settings may follow, as for `spacy train`"
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File for the merged config")
    ],
) -> None:
    """Merge a base config with variants, fill in defaults and check the result.

    A later file overrides the settings of an earlier one. A section that names another
    registered function replaces the earlier section, and so does a component with
    `factory` or `source`. A setting given on the command line whose value is a
    variable, such as `--training.max_steps`, sets what the variable refers to.
    """
    start = next((i for i, word in enumerate(files) if word[:2] == "--"), len(files))
    if not start:
        raise typer.BadParameter("Name the base config first.")
    overrides = _parse_overrides(files[start:])
    folder = Path(files[0]).parent
    paths = [
        Path(name) if Path(name).suffix else folder / f"{name}.cfg"
        for name in files[:start]
    ]
    with clear_errors():
        config = make_config(paths, overrides)
        with write_whole(output) as path:
            config.to_disk(path, interpolate=False)
    typer.echo(f"Merged {' + '.join(path.stem for path in paths)} into {output}")


def _parse_overrides(words: list[str]) -> dict[str, Any]:
    """Parse --section.name VALUE and --section.name=VALUE."""
    parts = [part for word in words for part in _split_option(word)]
    names, values = parts[::2], parts[1::2]
    for name in names:
        if name[:2] != "--" or "." not in name:
            raise typer.BadParameter(f"No such option: {name}")
    if len(names) > len(values):
        raise typer.BadParameter(f"{names[-1]} needs a value.")
    return {name[2:]: _parse_value(value) for name, value in zip(names, values)}


def _split_option(word: str) -> list[str]:
    return word.split("=", 1) if word.startswith("--") else [word]


def _parse_value(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value


def make_config(paths: list[Path], overrides: dict[str, Any] | None = None) -> Config:
    """Merge a base config with variants, fill in defaults and check the result.

    paths (List[Path]): The base config, then its variants.
    overrides (Optional[Dict[str, Any]]): Single settings, by their dotted names.
    RETURNS (Config): The merged config, not interpolated.
    RAISES (ValueError): If a setting is unknown or has a wrong value.
    """
    overrides = overrides or {}
    configs = {path: _read(path) for path in paths}
    try:
        merged = _merge(list(configs.values()), overrides)
        filled = _fill(merged)
        _check(merged, filled)
    except ConfigValidationError as error:
        settings = {str(path): _list_settings(each) for path, each in configs.items()}
        settings["command line"] = list(overrides)
        raise ValueError(_explain(error, settings)) from None
    except (ParserError, ValueError) as error:
        raise ValueError(f"{' + '.join(map(str, paths))}: {error}") from None
    return filled


def _read(path: Path) -> Config:
    try:
        return load_config(path)
    except (ParserError, ConfigValidationError) as error:
        raise ValueError(f"{path}: {' '.join(str(error).split())}") from None


def _merge(configs: list[Config], overrides: dict[str, Any]) -> Config:
    merged = configs[0].copy()
    for config in configs[1:]:
        for name, component in config.get("components", {}).items():
            if ORIGIN & component.keys():
                merged["components"].pop(name, None)
        merged = merged.merge(config)
    overrides = {
        _follow(merged, name, overrides): overrides[name] for name in overrides
    }
    merged = load_config_from_str(merged.to_str(interpolate=False), overrides)
    if "nlp.lang" in overrides and "nlp.tokenizer" not in overrides:
        merged["nlp"].pop("tokenizer", None)  # each language fills in its own
    for name in merged["components"].keys() - {*merged["nlp"]["pipeline"]}:
        del merged["components"][name]
    return Config(_sort(merged, configs[0]), is_interpolated=False)


def _follow(config: Config, name: str, overrides: dict[str, Any]) -> str:
    """Find the setting that a setting refers to: itself, if its value is no variable or
    if both are overridden."""
    values = {".".join(keys): value for keys, value in walk_dict(config)}
    variable = VARIABLE_RE.fullmatch(str(values.get(name)))
    target = variable[0][2:-1].replace(":", ".") if variable else name
    return target if target in values and target not in overrides else name


def _sort(block: dict[str, Any], base: dict[str, Any]) -> dict[str, Any]:
    """Order settings as in the base: `Config.merge` puts those of a variant first."""
    return {
        key: _sort(block[key], base[key])
        if isinstance(block[key], dict) and isinstance(base.get(key), dict)
        else block[key]
        for key in {**base, **block}
        if key in block
    }


def _fill(config: Config) -> Config:
    """Do what `spacy init fill-config` does. Sourced components keep their source."""
    for name, component in get_sourced_components(config.interpolate()).items():
        if component["source"] is None:
            source = config["components"][name]["source"]
            raise ValueError(f"[components.{name}] source: {source} is not set.")
        if component.keys() - SOURCED:
            raise ValueError(
                f"[components.{name}] has a source and takes no settings: put the file "
                "with the source last."
            )
    filled = config
    for _ in range(2):  # components may register functions that are filled in only then
        filled = load_model_from_config(filled, auto_fill=True, validate=False).config
    filled["components"].update(get_sourced_components(config))
    return filled


def _check(merged: Config, filled: Config) -> None:
    """Do what `spacy debug config` does, but accept paths that are not set yet and
    reject the unknown settings that spaCy drops silently."""
    known = {*_list_settings(filled)}
    lost = [name for name in _list_settings(merged) if name not in known]
    if lost:
        errors = [{"loc": [name], "msg": "no such setting"} for name in lost]
        raise ConfigValidationError(errors=errors)
    unnamed = [name for name, path in filled["paths"].items() if path is None]
    paths = {f"paths.{name}": name for name in unnamed}
    config = load_config_from_str(filled.to_str(interpolate=False), paths, True)
    registry.resolve({"corpora": config["corpora"]})
    registry.resolve(config["initialize"], schema=ConfigSchemaInit)
    registry.resolve(config["training"], schema=ConfigSchemaTraining)


def _list_settings(config: dict[str, Any]) -> list[str]:
    return [".".join(keys) for keys, _ in walk_dict(config)]


def _explain(error: ConfigValidationError, settings: dict[str, list[str]]) -> str:
    """Name the setting, and the last file that gives it."""
    reasons = [error.desc.strip()] if error.desc else []
    for each in error.errors or []:
        # spaCy gives only the end of the dotted name.
        end = ".".join(str(part) for part in each["loc"])
        places = [
            (file, f"{start}.{end}".strip("."))
            for file, names in settings.items()
            for name in names
            for start, found, _ in [f".{name}.".partition(f".{end}.")]
            if found
        ]
        file, name = places[-1] if places else (error.title, end)
        section, _, key = name.rpartition(".")
        reasons.append(f"{file}: [{section}] {key}: {each['msg']}")
    return "; ".join(reasons)
