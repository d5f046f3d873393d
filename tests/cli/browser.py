#!/usr/bin/python3
"""browser.py [--open] CHROMIUM PAGE...: checks pages in a browser (--open: only that they open with little work, and that all figures can be drawn). Prints a line
for each error, with exit status 1.

Each page is opened with widths of 1300 and 400 pixels, in light and dark mode. There must be no
errors of scripts, and no requests except for the page itself; nothing may be wider than the window,
except for what scrolls by itself; text must contrast with its background; every table with a head
must be sortable in both directions; a link to something collapsed must expand it; every figure
must be drawn, within its frame, have an alternative text, and say the value below the pointer, and
to the arrow keys; headings must not skip a level; and the page must be printable. The time until a
page has loaded and its size are printed. With SCREENSHOTS=DIR in the environment, screenshots of
everything are saved there.
"""
import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time


class Browser:
    """Chromium's protocol over pipes: it reads from fd 3 and writes to 4."""

    def __init__(self, program, home):
        read, self.to = os.pipe()
        self.back, write = os.pipe()

        def place():
            high = os.dup(write)
            os.dup2(read, 3)
            os.dup2(high, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={home}",
             "--disable-background-networking", "--no-first-run"],
            pass_fds=(3, 4), preexec_fn=place, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": home, "TMPDIR": home})
        os.close(read)
        os.close(write)
        self.number, self.rest, self.events, self.session = 0, b"", [], None

    def receive(self):
        while b"\0" not in self.rest:
            more = os.read(self.back, 1 << 20)
            if not more:
                raise SystemExit("the browser ended")
            self.rest += more
        text, _, self.rest = self.rest.partition(b"\0")
        return json.loads(text)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            said = self.receive()
            if said.get("id") == self.number:
                if "error" in said:
                    raise SystemExit(f"{method}: {said['error']}")
                return said["result"]
            self.events.append(said)

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise SystemExit(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def open(self, url):
        self.events.clear()
        self.call("Page.navigate", url=url)
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.receive())

    def begin(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def end(self):
        """Ends it with its helpers, which would go on writing to its folder."""
        self.process.terminate()
        self.process.wait()
        for _ in range(100):
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                return
            time.sleep(0.1)


# The contrast of each text with its background (WCAG); without one, with that of the page.
CONTRAST = """(() => {
  const lum = c => { const [r, g, b] = c.match(/[\\d.]+/g).slice(0, 3).map(v => { v /= 255;
      return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
      if (!/, 0\\)$/.test(c)) return c; } return 'rgb(255,255,255)'; };
  let worst = 99;
  for (const e of document.querySelectorAll('h1,h2,h3,p,td,th,a,li,dt,dd,figcaption,.yes,.bad,.unsaid,code,pre,summary,svg text')) {
    if (!e.getClientRects().length) continue;
    const a = lum(getComputedStyle(e)[e.tagName === 'text' ? 'fill' : 'color']), b = lum(ground(e));
    worst = Math.min(worst, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)); }
  return worst; })()"""

# Cells that are so narrow that only a letter or two fit on a line.
SQUEEZED = """[...document.querySelectorAll('td,th')].filter(c => c.clientWidth && c.clientWidth < 60 &&
  c.clientHeight > 200 && c.textContent.length > 40).map(c => c.textContent.slice(0, 40))"""

# Columns that are not sorted by their numbers after a click, and in reverse after another one.
SORTING = """(() => {
  const faults = [];
  let columns = 0;
  const value = c => { if (!c) return null; if (c.dataset.sort) return +c.dataset.sort;
    const ns = c.querySelector('[title$=" ns"]'); if (ns) return parseFloat(ns.title);
    const n = parseFloat(c.textContent); return isNaN(n) ? null : n; };
  for (const table of document.querySelectorAll('table')) {
    if (!table.tHead) continue;
    for (const head of table.tHead.rows[0].cells) {
      const button = head.querySelector('button');
      if (!button) continue;
      columns++;
      for (const way of ['ascending', 'descending']) {
        button.click();
        if (head.getAttribute('aria-sort') !== way) faults.push(head.textContent + ' is not ' + way);
        if (!head.classList.contains('n')) continue;
        const units = table.tBodies.length > 1 ? [...table.tBodies].map(b => b.rows[0]) : [...table.tBodies[0].rows];
        const all = units.map(r => value(r.cells[head.cellIndex])), there = all.filter(v => v !== null);
        const wanted = [...there].sort((a, b) => way === 'ascending' ? a - b : b - a);
        if (there.some((v, i) => v !== wanted[i]) || all.slice(0, there.length).includes(null))
          faults.push(head.textContent + ' ' + way + ': ' + all);
      }
    }
  }
  if (!columns) faults.push('nothing can be sorted');
  return faults; })()"""

# Everything is unfolded, so that all figures are in sight, and drawn at once, as for printing.
DRAW = """(async () => {
  for (const d of document.querySelectorAll('details')) d.open = true;
  dispatchEvent(new Event('beforeprint'));
  await new Promise(done => setTimeout(done, 100)); })()"""

# Figures that are not drawn, whose drawings leave their frames, or in which there is nothing.
NOT_DRAWN = """(() => {
  const faults = [];
  for (const chart of document.querySelectorAll('.chart')) {
    const name = JSON.parse(chart.querySelector('script').textContent).alt.slice(0, 60), frame = chart.getBoundingClientRect();
    const svgs = [...chart.querySelectorAll('.panels svg')];
    if (!svgs.length) faults.push('it has no drawing: ' + name);
    for (const svg of svgs) {
      const [, , width, height] = svg.getAttribute('viewBox').split(' ').map(Number), box = svg.getBoundingClientRect();
      if (svg.querySelectorAll('path:not(.grid):not(.frame)').length < 1) faults.push('it shows nothing: ' + name);
      if (/NaN|undefined|Infinity/.test(svg.outerHTML)) faults.push('it has numbers that are none: ' + name);
      for (const e of svg.querySelectorAll('path,text')) {
        const at = e.getBoundingClientRect();
        if (at.left < box.left - 2 || at.right > box.right + 2 || at.top < box.top - 2 || at.bottom > box.bottom + 2)
          faults.push('something leaves the drawing: ' + (e.textContent || e.getAttribute('class')) + ' in ' + name);
      }
      const scrolls = svg.parentElement;
      if (box.width > frame.width && getComputedStyle(scrolls).overflowX !== 'auto') faults.push('it is wider than its frame: ' + name);
    }
  }
  return faults; })()"""

# What is said below the pointer, and to the keys.
HOVER = """(() => {
  const faults = [];
  for (const svg of document.querySelectorAll('.panels svg')) {
    const tip = svg.closest('.chart').querySelector('.tip'), name = svg.getAttribute('aria-label').slice(0, 60);
    svg.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'}));
    if (tip.hidden || !/\\d/.test(tip.textContent)) { faults.push('no value by the keys: ' + name); continue; }
    const here = svg.querySelector('.here').getBoundingClientRect(), said = tip.textContent;
    if (tip.getBoundingClientRect().right > document.documentElement.clientWidth + 1) faults.push('a value is off the screen: ' + name);
    svg.dispatchEvent(new PointerEvent('pointerleave'));
    if (!tip.hidden) faults.push('a value stays: ' + name);
    svg.dispatchEvent(new PointerEvent('pointermove', {clientX: here.left + here.width / 2, clientY: here.top + here.height / 2}));
    if (tip.hidden || !/\\d/.test(tip.textContent)) faults.push('no value below the pointer: ' + name);
    svg.dispatchEvent(new PointerEvent('pointerleave'));
  }
  return faults; })()"""

# On paper nothing is cut off. A page is laid out for printing after its script was asked to draw, and it is not asked again.
PAPER = """(() => {
  const faults = [];
  for (const box of document.querySelectorAll('.panels,.wide,.tall,pre')) {
    if (!box.getClientRects().length) continue;
    const o = getComputedStyle(box);
    if ((o.overflowX !== 'visible' || o.overflowY !== 'visible') && (box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1))
      faults.push('cut off on paper: ' + box.textContent.slice(0, 60));
  }
  for (const svg of document.querySelectorAll('.panels svg'))
    if (svg.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
      faults.push('wider than the paper: ' + svg.getAttribute('aria-label').slice(0, 60));
  if (getComputedStyle(document.body).backgroundColor !== 'rgb(255, 255, 255)') faults.push('paper is white');
  return faults; })()"""

HEADINGS = """(() => {
  const faults = [], levels = [...document.querySelectorAll('h1,h2,h3,h4')].map(h => +h.tagName[1]);
  if (levels.filter(l => l === 1).length !== 1 || levels[0] !== 1) faults.push('not one h1 at the top');
  levels.forEach((l, i) => { if (i && l > levels[i - 1] + 1) faults.push('a heading of level ' + l + ' after ' + levels[i - 1]); });
  if (document.images.length) faults.push('there is an image');
  for (const e of document.querySelectorAll('svg:not([aria-hidden])')) {
    const text = e.getAttribute('aria-label');
    if (!text || !/\\d/.test(text)) faults.push('a drawing without numbers in its text: ' + text);
  }
  const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
  if (new Set(ids).size !== ids.length) faults.push('an id is there twice');
  return faults; })()"""

UNFOLD = """(async () => {
  for (const d of document.querySelectorAll('details')) d.open = false;
  const link = [...document.querySelectorAll('a[href^="#"]')].pop();
  if (!link) return [];
  link.click();
  await new Promise(done => setTimeout(done, 100));
  for (let e = document.querySelector(link.getAttribute('href')); e; e = e.parentElement)
    if (e.tagName === 'DETAILS' && !e.open) return ['a link to ' + link.hash + ' does not unfold it'];
  return document.querySelector(link.getAttribute('href')) ? [] : ['a link leads nowhere: ' + link.hash]; })()"""


def look(browser, url, width, scheme):
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
    browser.call("Emulation.setEmulatedMedia", media="", features=[{"name": "prefers-color-scheme", "value": scheme}])
    began = time.monotonic()
    browser.open(url)
    if (width, scheme) == (1300, "light"):
        print(f"{os.path.getsize(url[len('file://'):]) / 1e6:.2f} MB, loaded in {time.monotonic() - began:.2f} s: {url.split('/', 3)[3]}")
    browser.evaluate(DRAW)
    wide = browser.evaluate("document.documentElement.scrollWidth")
    if wide > width:
        yield f"the page is {wide} pixels wide"
    for text in browser.evaluate(SQUEEZED):
        yield f"a cell is too narrow for its text: {text}"
    for text in browser.evaluate(NOT_DRAWN):
        yield f"a figure: {text}"
    contrast = browser.evaluate(CONTRAST)
    if contrast < 4.5:
        yield f"a text has a contrast of {contrast:.1f} only"
    shots = os.environ.get("SCREENSHOTS")
    if shots:
        png = browser.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        name = "-".join((os.path.basename(os.path.dirname(os.path.dirname(url))), os.path.basename(url), str(width), scheme))
        with open(os.path.join(shots, name + ".png"), "wb") as f:
            f.write(base64.b64decode(png))


def faults_of(browser, url):
    for event in browser.events:
        method, params = event.get("method"), event.get("params", {})
        if method in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"):
            yield f"{method}: {json.dumps(params)[:300]}"
        if method == "Network.requestWillBeSent" and not params["request"]["url"].startswith((url, "data:")):
            yield f"a request for {params['request']['url'][:200]}"


# What a page makes the browser do until it can be read. How long that takes depends on the machine and on what else it does, so the work is
# limited and not the time. The limits are about twice what the largest page needs, that of the thesis' 27 experiments; a page that draws all of
# its figures at once, measures each row of a table, or has its tables twice is far beyond them.
WORK = {
    "elements": (40000, "document.querySelectorAll('*').length", "each has to be made, styled and placed"),
    "figures drawn": (16, "document.querySelectorAll('.drawing').length", "others are drawn when they come near the window"),
    "layouts": (60, "LayoutCount", "one for the page, some for each figure that is drawn; not one for each row"),
    "bytes of script and style": (50000, "[...document.querySelectorAll('script:not([type]),style')].reduce((n, e) => n + e.textContent.length, 0)",
                                  "read and compiled before anything is shown"),
    "bytes of tables that are there twice": (20000, """(() => { const seen = new Set(); let twice = 0;
        for (const t of document.querySelectorAll('script[type="text/tab-separated-values"]'))
          if (seen.has(t.textContent)) twice += t.textContent.length; else seen.add(t.textContent);
        return twice; })()""", "a figure's data are embedded once"),
}


def open_page(browser, url):
    browser.call("Performance.enable")
    browser.call("Emulation.setDeviceMetricsOverride", width=1300, height=900, deviceScaleFactor=1, mobile=False)
    began = time.monotonic()
    browser.open(url)
    seconds = time.monotonic() - began
    browser.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
    metrics = {m["name"]: m["value"] for m in browser.call("Performance.getMetrics")["metrics"]}
    work = {name: int(metrics[of] if of in metrics else browser.evaluate(of)) for name, (_, of, _) in WORK.items()}
    print(f"{os.path.getsize(url[len('file://'):]) / 1e6:.2f} MB, loaded in {seconds:.2f} s: {os.path.basename(url)}; "
          + ", ".join(f"{n} {name}" for name, n in work.items()))
    for name, n in work.items():
        if n > WORK[name][0]:
            yield f"{n} {name}, at most {WORK[name][0]}: {WORK[name][2]}"
    browser.evaluate(DRAW)
    for text in browser.evaluate(NOT_DRAWN):
        yield f"a figure: {text}"
    yield from faults_of(browser, url)


def printed(browser):
    """In dark mode; A4 within its margins has 688 pixels."""
    browser.evaluate(DRAW)
    browser.evaluate("sized.disconnect()")
    browser.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    browser.call("Emulation.setDeviceMetricsOverride", width=688, height=1020, deviceScaleFactor=1, mobile=False)
    yield from browser.evaluate(PAPER)
    contrast = browser.evaluate(CONTRAST)
    if contrast < 4.5:
        yield f"a text has a contrast of {contrast:.1f} only on paper"
    if len(browser.call("Page.printToPDF")["data"]) < 1000:
        yield "it does not print"


def use(browser, url):
    yield from browser.evaluate(HEADINGS)
    yield from browser.evaluate(HOVER)
    yield from browser.evaluate(SORTING)
    yield from browser.evaluate(UNFOLD)
    yield from printed(browser)
    yield from faults_of(browser, url)


def remove(folder):
    """Processes that were killed may still be about to end."""
    for _ in range(100):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.exists(folder):
            return
        time.sleep(0.1)
    raise SystemExit(f"{folder}: cannot remove it")


def main():
    only_open = sys.argv[1] == "--open"
    program, *pages = sys.argv[1 + only_open:]
    faults = 0
    home = tempfile.mkdtemp()
    browser = Browser(program, home)
    try:
        browser.begin()
        for page in pages:
            url = "file://" + os.path.realpath(page)
            if only_open:
                for fault in open_page(browser, url):
                    faults += 1
                    print(f"{page}: {fault}")
                continue
            for width in (1300, 400):
                for scheme in ("light", "dark"):
                    for fault in look(browser, url, width, scheme):
                        faults += 1
                        print(f"{page} at {width} pixels, {scheme}: {fault}")
            for fault in use(browser, url):
                faults += 1
                print(f"{page}: {fault}")
    finally:
        browser.end()
        remove(home)
    print(f"{len(pages)} pages looked at")
    sys.exit(1 if faults else 0)


main()
