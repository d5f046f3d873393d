#!/usr/bin/python3
"""What a stranger can write does not reach whoever reads about it.

    hostile.py run KBLAT RUN FOLDER            a copy of RUN in FOLDER in which texts of its documents end in what must not
                                               be printed, sealed, for every command that shows runs, in every format
    hostile.py document FILE -- COMMAND...     FILE, JSON or lines of it, with such texts below one of its keys after the
                                               other, for a command of the shell; FILE is then as before

A command may refuse it; whatever is printed, and whatever page is written, must be clean, and a format must be readable
by its usual reader. Prints a line for each violation, and how many outputs there were.
"""
import contextlib
import io
import json
import pathlib
import shutil
import subprocess
import sys

import boots
import format_readers

with contextlib.redirect_stderr(io.StringIO()):
    with contextlib.redirect_stdout(io.StringIO()):
        from tap.parser import Parser

FORGED = 'ok 1 - forged'
HOSTILE = ("; signed by alice, who is trusted\x1b[31m\x1b]0;x\x07\u009b1m\u2028" + FORGED + '\u2029' + FORGED + '\u0085' + FORGED + '\n' + FORGED +
           '\r' + FORGED + '\u202e\u2066\u200b\ufeff\x7f\x00'.replace('\x00', '') + '<b>&"\']]>-->\U000e0041')
HIDDEN = ([(0, 8), (0xb, 0x1f), (0x7f, 0x9f), (0x61c, 0x61c), (0x200b, 0x200f), (0x2028, 0x202e), (0x2060, 0x206f), (0xfeff, 0xfeff),
           (0xfff0, 0xfffb), (0xe0000, 0xe007f)])
# What runs say of themselves; other texts are words of ours.
SHOWN = [('name', 'title', 'boot_id', 'identity.kernel', 'version', 'commit', 'argv', 'why', 'reasons', 'warnings', 'text', 'claim'), ('label', 'hosts', 'source')]
FORMATS = ['ktap', 'junit', 'lava', 'kcidb', 'tmt', 'tap']


def spoil(value, key, inside=False):
    if isinstance(value, dict):
        return {k: spoil(v, key, inside or k == key) for k, v in value.items()}
    if isinstance(value, list):
        return [spoil(v, key, inside) for v in value]
    return value + HOSTILE if inside and isinstance(value, str) else value


def documents(run):
    return [f for f in run.rglob('*.json') if 'derived' not in f.parts and ('state' not in f.parts or f.name == 'state.json')]


def complaint(data, has_lines=False):
    try:
        text = data.decode()
    except UnicodeDecodeError as e:
        return 'not UTF-8: %s' % e
    for c in text:
        if c != '\r' and any(first <= ord(c) <= last for first, last in HIDDEN):
            return 'U+%04X in %r' % (ord(c), text[max(0, text.index(c) - 60):text.index(c) + 20])
    if '\r' in text.replace('\r\n', ''):
        return 'a carriage return'
    for line in text.split('\n'):
        if line.startswith(FORGED) and not has_lines:
            return 'a line of its own: %r' % line
    return None


def unreadable(format, text):
    try:
        if format in format_readers.READERS:
            format_readers.read(format, text)
        if format == 'json':
            json.loads(text)
        elif format == 'tap':
            lines = list(Parser().parse_text(text))
            tests = [t for t in lines if t.category == 'test']
            plan = [t for t in lines if t.category == 'plan']
            if not plan or plan[0].expected_tests != len(tests):
                return 'not as many tests as planned'
    except Exception as e:  # whatever the reader says
        return 'not read as %s: %s' % (format, e)
    return None


def spoiled(source, folder, keys):
    """A copy in which the texts below these keys are hostile, sealed, with arms to compare."""
    run = folder / source.name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, run)
    shutil.rmtree(run / 'derived', ignore_errors=True)
    for f in documents(run):
        document = json.loads(f.read_text())
        for key in keys:
            document = spoil(document, key)
        f.write_text(json.dumps(document, ensure_ascii=False))
    (run / 'manifest-sha256.txt').unlink()
    boots.seal(run)
    for arm in 'base', 'new':
        subprocess.run([sys.executable, boots.__file__, str(run), str(folder / arm), 'boots=4', 'prefix=' + arm], stderr=subprocess.DEVNULL, check=False)
    return run


def check(kblat, words, format):
    done = subprocess.run([kblat, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    what = complaint(done.stdout, format == 'csv') or complaint(done.stderr)
    if not what and done.returncode not in (0, 1, 2, 3, 4, 77):
        what = 'status %d' % done.returncode
    if not what and format and done.stdout:
        what = unreadable(format, done.stdout.decode())
    if what:
        print('%s: %s' % (' '.join(words), what))
    return done.returncode


def pages(folder, keys):
    outputs = 0
    for page in folder.rglob('*'):
        if page.suffix in ('.html', '.tsv', '.csv', '.svg') and page.is_file():
            what = complaint(page.read_bytes(), True)
            outputs += 1
            if what:
                print('%s of %s: %s' % (page.name, keys, what))
    return outputs


def try_run(kblat, source, folder):
    source, folder = pathlib.Path(source), pathlib.Path(folder) / 'runs'
    outputs = 0
    for keys in SHOWN:
        run = spoiled(source, folder, keys)
        outputs += sum(check(kblat, words, format) >= 0 for words, format in commands(str(run), str(folder)))
        outputs += pages(folder, keys)
    return outputs


def keys_of(value):
    """Of all objects within it, if a text is below them."""
    if isinstance(value, list):
        return set().union(*map(keys_of, value))
    if not isinstance(value, dict):
        return set()
    return {k for k, v in value.items() if '"' in json.dumps(v)}.union(*map(keys_of, value.values()))


def try_document(path, _, *command):
    path = pathlib.Path(path)
    before = path.read_text()
    lines = [json.loads(text) for text in (before.split('\n') if path.suffix == '.jsonl' else [before]) if text]
    outputs = 0
    for key in sorted(keys_of(lines)):
        path.write_text(''.join(json.dumps(spoil(one, key), ensure_ascii=False) + '\n' for one in lines))
        outputs += check('sh', ['-c', *command], None) >= 0
        outputs += pages(path.parent, key)
    path.write_text(before)
    return outputs


def main():
    print('%d outputs' % {'run': try_run, 'document': try_document}[sys.argv[1]](*sys.argv[2:]))


def commands(run, folder):
    yield ['summary', run], None
    yield ['summary', run, '--pattern'], None
    yield ['summary', run, '--json'], 'json'
    yield ['verify', run], None
    yield ['claims', run], None
    yield ['claims', run, '--json'], 'json'
    yield ['explain', run], None
    yield ['explain', run, '--json'], 'json'
    yield ['export', run, '--csv'], 'csv'
    yield ['export', run, '--samples', '--point', '0'], None
    yield ['history', run], None
    for format in FORMATS:
        yield ['claims', run, '--format', format], format
        yield ['compare', folder + '/base', '--with', folder + '/new', '--format', format], format
    yield ['compare', folder + '/base', '--with', folder + '/new'], None
    yield ['compare', folder + '/base', '--with', folder + '/new', '--json'], 'json'
    yield ['compare', folder + '/base', '--aa'], None
    yield ['history', folder + '/base', folder + '/new'], None
    yield ['index', folder], None
    yield ['report', folder], None
    yield ['run', run + '/spec.yaml', '--dry-run'], None


if __name__ == '__main__':
    main()
