# Sourced by the scripts beside it: a virtual environment in the checkout, with the package installed in it.
# PYTHON chooses the interpreter (python3 by default).

say() { if [ -t 1 ]; then printf '\033[1m== %s\033[0m\n' "$*"; else printf '== %s\n' "$*"; fi; }

python=${PYTHON:-python3}
venv=.venv

make_environment() { # make_environment EXTRA: install the package, editable, with an extra (or none: "")
    if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        echo "dqeval needs Python 3.11 or newer: '$python' is not. Set PYTHON to one that is." >&2
        exit 1
    fi
    if [ -x "$venv/bin/python" ] && [ "$(version_of "$venv/bin/python")" != "$(version_of "$python")" ]; then
        say "Removing $venv, which is of another Python"
        rm -rf "$venv" build
    fi
    if [ ! -x "$venv/bin/python" ]; then
        say "Making a virtual environment in $venv"
        "$python" -m venv "$venv"
    fi
    local stamp="$venv/installed${1:+-$1}"
    if is_current "$stamp" pyproject.toml setup.py src/dqeval/kernels; then return; fi
    say "Installing dqeval${1:+ with what its $1 needs}"
    pip_install -e ".${1:+[$1]}"
    touch "$stamp"
}

version_of() { "$1" -c 'import sys; print(sys.version_info[:2])'; }

pip_install() { # pip, quiet; its output is shown only if it fails
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@" 2>"$venv/pip.log" || {
        cat "$venv/pip.log" >&2
        return 1
    }
}

is_current() { # is_current STAMP PATH...: the stamp exists, and nothing under the paths is newer
    local stamp=$1
    shift
    [ -e "$stamp" ] && [ -z "$(find "$@" -name '*.py' -newer "$stamp" -o -name '*.toml' -newer "$stamp")" ]
}
