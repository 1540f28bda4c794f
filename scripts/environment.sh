# shellcheck shell=bash
# Sourced by the scripts beside it: a virtual environment in the checkout, with the package installed in it.
# PYTHON chooses the interpreter (python3 by default).

say() { if [ -t 1 ]; then printf '\033[1m== %s\033[0m\n' "$*"; else printf '== %s\n' "$*"; fi; }

python=${PYTHON:-python3}
venv=.venv

# Without compiled files, every test process and every program that a test starts would compile all modules again.
unset PYTHONDONTWRITEBYTECODE

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
    say "Installing dqeval${1:+ with what its $1 needs}: downloads packages and compiles the kernels; a minute or two, longer on a busy machine"
    # The environment of the tests has many packages, for which pip takes five times as long as uv.
    if [ "$1" = test ] && [ ! -x "$venv/bin/uv" ]; then pip_install uv || true; fi
    install_packages -e ".${1:+[$1]}"
    touch "$stamp"
}

version_of() { "$1" -c 'import sys; print(sys.version_info[:2])'; }

install_packages() { # with uv where it is there; with pip where uv fails, since the two read different settings
    if [ -x "$venv/bin/uv" ]; then
        # Anew, because uv does not notice that a kernel, or how it is to be compiled, has changed.
        quietly "$venv/bin/uv" pip install --python "$venv/bin/python" --reinstall-package dqeval "$@" && return
        say "uv could not: trying pip"
    fi
    pip_install "$@"
}

export UV_NATIVE_TLS=1 # uv takes the certificates that the system trusts, as pip does

pip_install() { # modules are compiled when they are first imported, which most never are
    quietly "$venv/bin/python" -m pip install --disable-pip-version-check --progress-bar off --no-compile "$@"
}

quietly() { # quietly COMMAND...: quiet but for a sign of life; its output is shown only if it fails
    local log status=0
    log=$(mktemp "$venv/log.XXXXXX") # of its own: several may run at once
    show_progress "$log" &
    local watcher=$!
    "$@" >"$log" 2>&1 || status=$?
    kill "$watcher" 2>/dev/null || true
    wait "$watcher" 2>/dev/null || true
    if [ "$status" != 0 ]; then cat "$log" >&2; fi
    rm -f "$log"
    return "$status"
}

show_progress() { # show_progress LOG: every few seconds, how long it has taken and the last line of a log
    local seconds=0 pause=${DQEVAL_SIGN_OF_LIFE:-10}
    while sleep 1 && kill -0 $$ 2>/dev/null; do # no longer than the script itself, also where that is interrupted
        seconds=$((seconds + 1))
        if [ $((seconds % pause)) = 0 ]; then
            printf '   %s s: %s\n' "$seconds" "$(tail -n 1 "$1" | cut -c 1-70 | sed 's/^ *//; s/: started$//')"
        fi
    done
}

is_current() { # is_current STAMP PATH...: the stamp exists, and nothing under the paths is newer
    local stamp=$1
    shift
    [ -e "$stamp" ] && [ -z "$(find "$@" -name '*.py' -newer "$stamp" -o -name '*.toml' -newer "$stamp")" ]
}

make_tools() { # an environment in $tools with what looks at the repository and at what is released; not at the code
    uv=$venv/bin/uv
    tools=build/tools
    export UV_NATIVE_TLS=1 # the certificates that the system trusts, as pip does
    if is_current "$tools/.stamp" pyproject.toml; then return; fi
    say "Making an environment with the tools that check releases"
    "$uv" venv --quiet --clear --python "$python" "$tools"
    "$uv" pip install --quiet --python "$tools/bin/python" --group pyproject.toml:ship
    touch "$tools/.stamp"
}
