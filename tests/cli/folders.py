#!/usr/bin/python3
"""folders.py links|stranger FOLDER WORK COMMAND...: a command over a copy of FOLDER in which a link takes the place of a
name, for each name that the command reads or writes there; or over a copy that belongs to somebody else. "@" in COMMAND is
the copy, "%" a place for what it writes elsewhere.

Names are those of the folder, and all that the command asks the kernel for (strace), whether they exist or not. What a
link leads to must stay as it is, to the byte and the nanosecond; nothing may be made beside it. In what belongs to somebody
else nothing may change, and the program that it names may not run (WORK/executed)."""
import hashlib, os, re, shutil, subprocess, sys

RUN = r'\d{8}T\d{6}Z-[0-9a-f]{8}'
CALL = re.compile(r'^\d* *\w+\((.*)')
AT = re.compile(r'(?:AT_FDCWD|\d+)<([^>]*)>, "((?:[^"\\]|\\.)*)"|"((?:[^"\\]|\\.)*)"')


def listing(top):
    """What is below a folder: kind, mode, owner, time and content of each entry."""
    seen = {}
    for folder, folders, files in os.walk(top):
        for name in ['.', *folders, *files]:
            path = os.path.join(folder, name)
            st = os.lstat(path)
            content = os.readlink(path) if os.path.islink(path) else hashlib.sha256(open(path, 'rb').read()).hexdigest() if os.path.isfile(path) else ''
            seen[os.path.relpath(path, top)] = st.st_mode, st.st_uid, st.st_mtime_ns, st.st_ino, content
    return seen


def differences(before, after):
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


class Bench:
    def __init__(self, folder, work, words):
        self.folder, self.work, self.words = folder, work, words
        self.copy, self.out, self.outside = (os.path.join(work, name) for name in ('copy', 'out', 'outside'))

    def fresh(self):
        for path in (self.copy, self.out, self.outside):
            shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(self.folder, self.copy, symlinks=True)
        os.mkdir(self.outside)

    def command(self):
        return [word.replace('@', self.copy).replace('%', self.out) for word in self.words]

    def run(self, before=()):
        with subprocess.Popen([*before, *self.command()], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              start_new_session=True, cwd=self.work) as p:
            try:
                return p.communicate(timeout=60)[0], p.returncode
            except subprocess.TimeoutExpired:
                os.killpg(p.pid, 9)
                return p.communicate()[0], 'too long'

    def asked_for(self):
        """Names below the copy that the command asked the kernel for."""
        log = os.path.join(self.work, 'strace')
        self.fresh()
        self.run(['strace', '-f', '-qq', '-y', '-s', '4096', '-e', 'trace=%file', '-e', 'signal=none', '-o', log])
        names = set()
        for line in open(log, errors='replace'):
            call = CALL.match(line)
            for folder, name, plain in AT.findall(call[1] if call else ''):
                path = os.path.normpath(os.path.join(folder or self.work, name or plain))
                if path.startswith(self.copy + '/'):
                    names.add(os.path.relpath(path, self.copy))
        return names

    def names(self):
        # What gets a new name in each run is not met again.
        asked = {n for n in self.asked_for() if not re.search(RUN, n) or os.path.lexists(os.path.join(self.folder, n))}
        names = asked | {os.path.relpath(os.path.join(d, f), self.folder) for d, folders, files in os.walk(self.folder) for f in folders + files}
        # One of several runs will do.
        return sorted({re.sub(f'^.*{RUN}', 'RUN', name): name for name in sorted(names)}.values())

    def put_link(self, name, target):
        """In place of the name in the copy; what was there is outside now, where the link leads."""
        path, to = os.path.join(self.copy, name), os.path.join(self.outside, target)
        if os.path.lexists(path):
            shutil.move(path, to)
        elif target == 'folder':
            os.mkdir(to)
            open(os.path.join(to, 'kept'), 'w').write('kept\n')
        elif target == 'file':
            open(to, 'w').write('kept\n')
        parent = os.path.dirname(path)
        if not os.path.isdir(parent):
            try:
                os.makedirs(parent)
            except OSError:
                return False
        os.symlink(to, path)
        return True

    def links(self):
        names, bad = self.names(), 0
        for name in names:
            there = os.path.lexists(os.path.join(self.folder, name))
            for target in ('there',) if there else ('file', 'folder', 'nothing'):
                self.fresh()
                if not self.put_link(name, target):
                    continue
                before = listing(self.outside)
                said, status = self.run()
                changed = differences(before, listing(self.outside))
                if changed or status == 'too long' or (isinstance(status, int) and status < 0):
                    bad += 1
                    print(f'{name} -> {target}: status {status}, changed: {changed}\n{said.decode(errors="replace")}')
        print(f'{len(names)} names, {bad} bad')
        return bad or not names

    def stranger(self):
        self.fresh()
        for folder, folders, files in os.walk(self.copy):
            for name in ['.', *folders, *files]:
                os.chown(os.path.join(folder, name), 65534, 65534, follow_symlinks=False)
        before = listing(self.copy)
        said, status = self.run()
        changed = differences(before, listing(self.copy))
        ran = os.path.exists(os.path.join(self.work, 'executed'))
        print(f'status {status}, changed: {changed}, ran: {ran}\n{said.decode(errors="replace")}')
        return changed or ran or status == 'too long' or status < 0


what, folder, work, *words = sys.argv[1:]
sys.exit(1 if getattr(Bench(folder, work, words), what)() else 0)
