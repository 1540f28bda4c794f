"""Optuna: the page has the recipe, which is run as it stands; here, that trials have the numbers of evaluate."""

import numpy as np
import pytest

import dqeval

optuna = pytest.importorskip("optuna")

SERIES = dqeval.datasets.demo()


def found_with(window):
    scores = dqeval.detect(SERIES, "sub_lof", window=window)
    return dqeval.evaluate(SERIES.labels, scores, values=SERIES.values)


def test_the_best_trial_is_the_one_with_the_highest_dqe():
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    windows = [8, 32, 64]
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.GridSampler({"window": windows}))
    study.optimize(lambda trial: found_with(trial.suggest_int("window", 8, 64)).dqe)
    values = {trial.params["window"]: trial.value for trial in study.trials}
    assert values == {window: found_with(window).dqe for window in windows}
    assert study.best_params["window"] == max(values, key=values.get)


@pytest.mark.filterwarnings("ignore::dqeval.UndefinedWarning")
@pytest.mark.parametrize("undefined", ["nan", "raise"])
def test_a_study_goes_on_after_a_trial_without_a_score(undefined):
    def objective(trial):
        labels = [0, 0, 0] if trial.number == 0 else [0, 1, 0]
        return dqeval.dqe_score(labels, [1, 3, 2], undefined=undefined)

    study = optuna.create_study(direction="maximize")
    study.optimize(objective, n_trials=2, catch=(dqeval.UndefinedError,) if undefined == "raise" else ())
    assert [trial.state.name for trial in study.trials] == ["FAIL", "COMPLETE"]
    assert study.best_value == dqeval.dqe_score([0, 1, 0], [1, 3, 2])


def test_values_that_are_missing():
    values = SERIES.values.copy()
    values[5] = np.nan
    with pytest.raises(ValueError, match="values must be finite"):
        dqeval.detect(values, "sub_lof", window=8)
    assert dqeval.evaluate(SERIES.labels, SERIES.scores["late"], values=values).near == 24


def test_a_trial_without_an_anomaly_fails_by_name():
    study = optuna.create_study(direction="maximize")
    with pytest.raises(dqeval.UndefinedError, match="has no anomaly"):
        study.optimize(lambda trial: dqeval.dqe_score([0, 0, 0], [1, 2, 3]), n_trials=1)
