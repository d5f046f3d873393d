"""Completions for bash and zsh: subcommands, their flags and first words, settings and their values from the programs'
tables; run directories, experiments, profiles and devices from where they are when <Tab> is pressed.
"""
import os
import re
import string

HERE = os.path.dirname(os.path.abspath(__file__))
SHELLS = ("bash", "zsh")

# What a flag's value or an argument is, by its name in the synopsis. Anything else is completed by nothing.
KINDS = {
    "DIR": "directory", "CAMPAIGN": "directory", "A": "directory", "B": "directory",
    "RUN": "run", "BASE": "run", "NEW": "run",
    "SPEC": "experiment", "STUDY": "experiment", "CONFIG": "file", "FILE": "file",
    "PROFILE": "profile", "KNOB": "knob", "KEY=VALUE": "setting", "KEY": "key", "DEV": "device", "Q": "quantity",
    "COMMAND": "command", "CMD": "command",
}


def kind(metavar):
    return KINDS.get((metavar or "").rstrip("….").strip(), "nothing")


def without_flags(synopsis):
    """Only what may stand as an argument: optional flags, and flags with their values, are left out."""
    synopsis = re.sub(r"\[--[^\]]*\]…?", " ", synopsis)
    return re.sub(r"--[a-z-]+( [A-Z]+…?)?", " ", synopsis)


def first_words(synopsis):
    """list, create, destroy of "list | create NAME | destroy NAME"."""
    return re.findall(r"(?:^|\||\[)\s*([a-z][a-z-]+)(?=[\s|\]]|$)", without_flags(synopsis))


def argument_kinds(synopsis):
    """The kinds of the positional arguments, each once."""
    found = [kind(w) for w in re.findall(r"\b[A-Z]{1,}\b", without_flags(synopsis))]
    return sorted({k for k in found if k != "nothing"})


def setting_values(lists):
    """Each setting and the words that it may be: {"qp": ["rc", "uc", "ud"], "size": []}."""
    values = {"kernel": [k["name"] for k in lists["kernels"]], "transport": [t["name"] for t in lists["transports"]]}
    for table in lists["settings"] + lists["kernels"] + lists["transports"]:
        for o in table["options"]:
            known = values.setdefault(o["name"], [])
            words = o.get("choices") or (["yes", "no"] if o["type"] == "boolean" else [])
            known += [w for w in words if w not in known]
    return values


def quantities(lists):
    return [s["label"] for s in lists["statistics"] if not s["block"] and " " not in s["label"]]


def quote(words):
    """For single quotes of a shell."""
    return words.replace("'", "'\\''")


def bash_flags(c):
    """"run --out directory": a line a flag."""
    rows = c["flags"] + [{"name": "help", "metavar": None}]
    return [f"{c['name']} --{f['name']} {kind(f['metavar']) if f['metavar'] else '-'}" for f in rows]


def zsh_flag(f):
    help_text = quote(f["help"]).replace("[", r"\[").replace("]", r"\]").replace(":", r"\:")
    several = "*" if f["kind"] == "list" else ""
    name = f"{several}--{f['name']}"
    if not f["metavar"]:
        return f"'{name}[{help_text}]'"
    return f"'{name}=[{help_text}]:{quote(f['metavar']).replace(':', '')}:_kblat_{kind(f['metavar'])}'"


def zsh_command(c):
    words = [zsh_flag(f) for f in c["flags"]] + ["'--help[show a short help]'"]
    first, kinds = first_words(c["synopsis"]), argument_kinds(c["synopsis"])
    if first:
        words.append(f"'1:action:({' '.join(first)})'")
    if kinds:
        words.append("'*:argument:{" + "; ".join(f"_kblat_{k}" for k in kinds) + "}'")
    return f"\t{c['name']})\n\t\t_arguments " + " \\\n\t\t\t".join(words) + "\n\t\t;;"


def zsh_described(c):
    summary = quote(c["summary"]).replace(":", r"\:")
    return f"\t\t'{c['name']}:{summary}'"


def make(shell, program, lists):
    commands = program["commands"]
    fields = {
        "program": program["name"],
        "commands": " ".join(c["name"] for c in commands) + " help",
        "settings": "\n".join(" ".join([k, *v]) for k, v in setting_values(lists).items()),
        "quantities": " ".join(quantities(lists)),
        "flags": "\n".join(line for c in commands for line in bash_flags(c)),
        "arguments": "\n".join(" ".join([c["name"], ",".join(argument_kinds(c["synopsis"])) or "-",
                                         *first_words(c["synopsis"])]) for c in commands),
        "described": "\n".join(zsh_described(c) for c in commands),
        "cases": "\n".join(zsh_command(c) for c in commands),
    }
    with open(os.path.join(HERE, f"completion.{shell}.in")) as f:
        return string.Template(f.read().replace("$", "$$").replace("@@", "$")).substitute(fields)
