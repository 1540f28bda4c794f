"""Optuna: the page has the recipe, which is run as it stands; here, that trials have the numbers of evaluate."""

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


def test_a_trial_without_an_anomaly_fails_by_name():
    study = optuna.create_study(direction="maximize")
    with pytest.raises(dqeval.UndefinedError, match="has no anomaly"):
        study.optimize(lambda trial: dqeval.dqe_score([0, 0, 0], [1, 2, 3]), n_trials=1)
