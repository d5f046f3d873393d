"""Text of the programs' tables as roff (man(7))."""
import itertools
import re

QUOTED = re.compile(r"`([^`]+)`")


def escape(text):
    """Nothing in it is a request or an escape; a hyphen is one that can be copied and searched."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return "\\&" + text if text.startswith(".") else text


def text(words):
    """Prose in a line, with `commands` and --flags in bold."""
    parts = QUOTED.split(words)
    return "".join(rf"\fB{escape(p)}\fR" if i % 2 else bold_flags(escape(p)) for i, p in enumerate(parts))


def bold_flags(escaped):
    return re.sub(r"(^|[\s(\"])(\\-\\-[a-z][a-z\\-]*[a-z])", r"\1\\fB\2\\fR", escaped)


def is_acronym(words):
    return len(words) > 1 and words[:2].isupper()


def phrase(words):
    """A summary as it stands after a page's name: its first sentence, without a capital and a full stop."""
    words = words.split(". ")[0].rstrip(".")
    first = words if is_acronym(words) else words[:1].lower() + words[1:]
    return text(first.replace("\n", " "))


def sentence(words):
    words = words[:1].upper() + words[1:]
    return text(words if words[-1:] in ".?" else words + ".")


def items(rows):
    """Pairs of tag and text, both of them roff."""
    return "\n".join(f".TP\n{tag}\n{body}" for tag, body in rows)


def paragraphs(words):
    """Empty lines divide paragraphs; a line that begins with a blank stays as it is."""
    out = []
    for paragraph in words.strip("\n").split("\n\n"):
        lines = paragraph.split("\n")
        kept = [line for line in lines if line.startswith(" ")]
        if kept:
            out.append(".nf\n" + "\n".join(escape(line) for line in lines) + "\n.fi")
        else:
            out.append(text(" ".join(lines)))
    return "\n.PP\n".join(out)


def split_details(details):
    """A subcommand's details, and what they say of its exit status."""
    rest, statuses = [], []
    for paragraph in details.split("\n\n"):
        m = re.match(r"Exit status:? ?(.*)", paragraph, re.S)
        (statuses if m else rest).append(m.group(1) if m else paragraph)
    return "\n\n".join(rest).strip("\n"), "\n\n".join(statuses)


def synopsis(line):
    """Flags bold, what stands for a value in italics."""
    escaped = escape(line)
    escaped = re.sub(r"(\\-\\-[a-z][a-z\\-]*[a-z])", r"\\fB\1\\fR", escaped)
    return re.sub(r"\b([A-Z]{2,}(?:=[A-Z]+)?|[A-Z])\b(?!\\fR)", r"\\fI\1\\fR", escaped)


def flag_tag(f):
    tag = rf"\fB\-\-{escape(f['name'])}\fR"
    return tag + (rf" \fI{escape(f['metavar'])}\fR" if f["metavar"] else "")


def flag_range(f):
    return f" ({f['min']} to {f['max']})" if "min" in f else ""


def flags(rows):
    """Below their headings."""
    first = sum("heading" not in f for f in rows)
    rows = rows[:first] + [{"name": "help", "metavar": None, "help": "show a short help"}] + rows[first:]
    out = []
    for heading, group in itertools.groupby(rows, lambda f: f.get("heading")):
        out += [f".SS {text(heading)}"] if heading else []
        out.append(items((flag_tag(f), sentence(f["help"] + flag_range(f))) for f in group))
    return "\n".join(out)


def settings(options):
    """Rows of an option table, as in `kblat list`."""
    return items((rf"\fB{escape(o['name'])}\fR=\fI{escape(o['usage'].split('=', 1)[1])}\fR",
                  f"{text(o['help'])} ({escape(o['limits'])})") for o in options)
