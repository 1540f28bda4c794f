"""MLflow: the recipe of the page logs every metric, and nothing that is undefined."""

import doctest
from pathlib import Path

import numpy as np
import pytest

import dqeval

mlflow = pytest.importorskip("mlflow")

PAGE = Path(__file__).parents[2] / "docs" / "adapters" / "mlflow.md"
SERIES = dqeval.datasets.demo()


@pytest.fixture
def log_result(tmp_path, monkeypatch):
    """Return the function that the page defines, with a store of its own."""
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri("sqlite:///mlflow.db")
    (recipe,) = [
        each for each in doctest.DocTestParser().get_examples(PAGE.read_text()) if "def log_result" in each.source
    ]
    names = {"mlflow": mlflow, "dqeval": dqeval}
    exec(recipe.source, names)
    return names["log_result"]


def test_every_metric_is_logged(log_result):
    panel = dqeval.panel(SERIES.labels, SERIES.scores["late"], period=48)
    with mlflow.start_run() as run:
        log_result(panel)
        text = mlflow.artifacts.load_text(f"{run.info.artifact_uri}/events.txt")
    logged = mlflow.get_run(run.info.run_id).data
    parts = {part: getattr(panel.dqe, part) for part in ("capture", "near_miss", "false_alarm")}
    assert logged.metrics == pytest.approx({**panel.values, **parts}, abs=0)
    assert logged.params == {"near": "24.0"}
    assert text == str(panel.dqe)


def test_a_panel_without_dqe_is_logged_too(log_result):
    panel = dqeval.panel(SERIES.labels, SERIES.scores["late"], metrics=["auc_roc"], near=4)
    with mlflow.start_run() as run:
        log_result(panel)
    assert mlflow.get_run(run.info.run_id).data.metrics == {"auc_roc": panel["auc_roc"]}


def test_what_is_undefined_is_not_logged(log_result):
    panel = dqeval.panel(np.ones(40), np.arange(40), metrics=["dqe", "auc_roc"], near=4)
    assert np.isnan(panel["auc_roc"])
    with mlflow.start_run() as run:
        log_result(panel)
    assert "auc_roc" not in mlflow.get_run(run.info.run_id).data.metrics
