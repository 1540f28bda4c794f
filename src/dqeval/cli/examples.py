"""Examples of every command, as ``--help`` shows them: what to type, and what it does.

They work with the files that `dqeval demo -o scores.csv` and `dqeval datasets generate -o series` write, and with
files of your own: scores with times (cpu.csv), incidents (down.csv), alerts (paged.csv) and a long table (hosts.csv).
"""

Examples = tuple[tuple[str, str], ...]

EXAMPLES: dict[str, Examples] = {
    "": (
        ("dqeval demo -o scores.csv", "write a sample file"),
        ("dqeval score scores.csv", "many metrics of every detector"),
        ("dqeval compare scores.csv", "which detector is best, and where"),
        ("dqeval --install-completion", "complete names with the Tab key"),
    ),
    "demo": (
        ("dqeval demo", "results of three detectors"),
        ("dqeval demo -o scores.csv", "write the series and its scores"),
    ),
    "score": (
        ("dqeval score scores.csv", "the default metrics"),
        ("dqeval score scores.csv --metrics dqe,vus_pr", "only these"),
        ("dqeval score scores.csv --metrics events", "a group of metrics"),
        ("dqeval score scores.csv --score late --per-event", "one detector"),
        ("dqeval score scored/", "files, and means"),
        ("dqeval score scores.csv --fail-under dqe=0.5", "a gate for CI"),
        ("dqeval score cpu.csv --incidents down.csv", "incidents for labels"),
        ("dqeval score --incidents down.csv --alerts paged.csv", "alerts for scores"),
        ("dqeval score scores.csv --format json -o receipt.json", "for verify"),
    ),
    "compare": (
        ("dqeval compare scores.csv", "all detectors of a file"),
        ("dqeval compare scores.csv --score sharp,late", "two of them"),
        ("dqeval compare scored/", "every file, and a summary"),
        ("dqeval compare cpu.csv --incidents down.csv", "with incidents for labels"),
    ),
    "diff": (
        ("dqeval diff old.csv new.csv", "same series, other scores"),
        ("dqeval diff old.csv new.csv --fail-on-loss", "a gate for CI"),
        ("dqeval diff main.json scored/ --html diff.html", "also as a page"),
        ("dqeval diff run-1 run-2 --format markdown", "two benchmark runs"),
    ),
    "rank": (
        ("dqeval rank results.csv", "a column per detector"),
        ("dqeval rank results.csv --group recordings.csv", "copies count once"),
        ("dqeval rank uni_vus_pr.csv --dataset file", "a table of TSB-AD"),
        ("dqeval rank results.csv --format latex -o table.tex", "for a paper"),
    ),
    "explain": (
        ("dqeval explain scores.csv --score late", "one detector in plain words"),
        ("dqeval explain scored/ --score sub_lof", "in each file of a folder"),
        ("dqeval explain cpu.csv --incidents down.csv", "with incidents for labels"),
    ),
    "near": (
        ("dqeval near scores.csv", "periods, and DQE by near range"),
        ("dqeval near scored/", "of each file in a folder"),
        ("dqeval near cpu.csv --incidents down.csv", "with incidents for labels"),
    ),
    "stress": (
        ("dqeval stress scores.csv --metrics dqe,vus_pr", "how much they move"),
        ("dqeval stress scores.csv --kinds lag,jitter", "with some changes"),
        ("dqeval stress scores.csv --html stress.html", "also as a page"),
        ("dqeval stress scored/ --metrics dqe --draws 5", "means over files"),
    ),
    "report": (
        ("dqeval report scores.csv -o report.html", "one page"),
        ("dqeval report scored/ -o pages", "a page per file"),
        ("dqeval report cpu.csv --incidents down.csv -o report.html", "incidents"),
    ),
    "plot": (
        ("dqeval plot scores.csv -o figure.pdf", "one figure"),
        ("dqeval plot scored/ -o figures --format svg", "a figure per file"),
    ),
    "check": (
        ("dqeval check scores.csv", "one file"),
        ("dqeval check scored/", "every file of a folder"),
        ("dqeval check cpu.csv --incidents down.csv", "do incidents fit the clock?"),
    ),
    "verify": (
        ("dqeval verify receipt.json scores.csv", "the same file, the same numbers?"),
        ("dqeval verify site/receipt.json", "the site of a benchmark run"),
    ),
    "metrics": (
        ("dqeval metrics", "all of them"),
        ("dqeval metrics events", "those of a group"),
        ("dqeval metrics --format csv", "as a table"),
    ),
    "properties": (
        ("dqeval properties dqe", "one metric"),
        ("dqeval properties --html matrix.html", "the matrix of all, as a page"),
        ("dqeval properties auc_pr --question order", "one property"),
    ),
    "detect": (
        ("dqeval detect series/ --detector sub_lof,fft -o scored", "two detectors"),
        ("dqeval detect series/ --detector all -o everything", "all that can run"),
        ("dqeval detect scores.csv --detector sr -o scored_demo", "on one file"),
    ),
    "detectors": (("dqeval detectors", "all of them"),),
    "datasets": (("dqeval datasets generate -o series", "generate sample series"),),
    "datasets list": (
        ("dqeval datasets list series/", "every series of a folder"),
        ("dqeval datasets list scores.csv --format json", "one file, as JSON"),
        ("dqeval datasets list hosts.csv --series host", "many series in one table"),
    ),
    "datasets generate": (
        ("dqeval datasets generate -o series", "six series"),
        ("dqeval datasets generate -o long --count 2 --points 20000", "two long ones"),
    ),
    "bench": (
        ("dqeval bench init", "write plan.toml, ready to run"),
        ("dqeval bench run plan.toml -o runs/today", "run it, or resume it"),
        ("dqeval bench rank runs/today", "rank the detectors"),
    ),
    "bench init": (
        ("dqeval bench init", "plan.toml, with generated series"),
        ("dqeval bench init mine.toml --data series/", "with series of your own"),
    ),
    "bench run": (
        ("dqeval bench run plan.toml -o runs/today", "run it, or resume it"),
        ("dqeval bench run plan.toml -o runs/part1 --shard 1/2", "the first half"),
        ("dqeval bench run plan.toml -o runs/part2 --shard 2/2", "the second half"),
    ),
    "bench retry": (("dqeval bench retry runs/today --workers 2", "re-run failed and pending jobs"),),
    "bench status": (("dqeval bench status runs/today", "done, failed, left"),),
    "bench failures": (
        ("dqeval bench failures runs/today", "failures and their reasons"),
        ("dqeval bench failures runs/today --format json", "with tracebacks"),
    ),
    "bench rank": (
        ("dqeval bench rank runs/today", "by series"),
        ("dqeval bench rank runs/today --by event", "by event"),
        ("dqeval bench rank runs/today --format latex -o table.tex", "for a paper"),
    ),
    "bench export": (("dqeval bench export runs/today -o all.csv", "every number, as a table"),),
    "bench merge": (("dqeval bench merge runs/part1 runs/part2 -o runs/whole", "two shards"),),
    "bench report": (("dqeval bench report runs/today -o bench.html", "the page, and its folder"),),
    "bench site": (
        ("dqeval bench site runs/today -o site", "open site/index.html"),
        ("dqeval bench site runs/today -o site --pages 20", "with explorer pages"),
    ),
    "reproduce": (
        ("dqeval reproduce", "list the experiments"),
        ("dqeval reproduce cases", "Tables 1 to 6"),
        ("dqeval reproduce rankings --data TSB-AD-U/ --subset 40", "needs the archive"),
    ),
}
