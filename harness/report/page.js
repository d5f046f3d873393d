'use strict';
// The only script of a page: it draws the figures, sorts tables, unfolds what a link leads to, and shows what is in titles to those
// who have no mouse. A figure is drawn as SVG, at the width that there is, from the table and the variables of its gnuplot script.

const NS = new DOMParser().parseFromString('<svg></svg>', 'text/html').body.firstChild.namespaceURI;

function add(to, tag, attributes = {}, text) {
	const e = tag === 'svg' || to.namespaceURI === NS ? document.createElementNS(NS, tag) : document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
	if (text !== undefined) e.textContent = text;
	to.append(e);
	return e;
}

// -- numbers --

const known = v => v === v && v !== null;
const UNITS = [[1, 'ns'], [1e3, 'us'], [1e6, 'ms'], [1e9, 's']];
const unitOf = ns => UNITS.filter(u => Math.abs(ns) >= 0.9995 * u[0]).pop() || UNITS[0];

function time(ns) {
	const [size, name] = unitOf(ns), v = ns / size, places = size === 1 || Math.abs(v) >= 99.95 ? 0 : Math.abs(v) >= 9.995 ? 1 : 2;
	return `${v.toFixed(places)} ${name}`;
}
const plain = v => String(+v.toPrecision(4));
const tick = ns => ns ? `${plain(ns / unitOf(ns)[0])} ${unitOf(ns)[1]}` : '0';
const count = n => n >= 1e6 ? `${plain(n / 1e6)}M` : n >= 1e3 ? `${plain(n / 1e3)}k` : plain(n);
const percent = v => `${plain(v)} %`;
const signed = v => `${v > 0 ? '+' : ''}${plain(v)} %`;
const quantity = unit => unit === 'share' || unit === '%' ? v => percent(100 * v) : UNITS.some(u => u[1] === unit) ? time : v => `${plain(v)} ${unit}`;
const tickOf = unit => quantity(unit) === time ? tick : quantity(unit);
const least = values => values.reduce((a, b) => Math.min(a, b), Infinity);
const most = values => values.reduce((a, b) => Math.max(a, b), -Infinity);
const split = (n, room) => (s, of = n) => (s - (of - 1) / 2) * Math.min(room, 0.8 / of);

// -- axes --

// An axis: from, to, log or f (what is linear along it), at (labels and where), text (of a value), name, and whether its labels are
// names (which are turned, and cut, if there is no room).
function place(a, v) {
	const f = a.f || (a.log ? v => Math.log10(Math.max(0, v)) : v => v), from = f(a.from), to = f(a.to);
	return Math.max(0, Math.min(1, to === from ? 0.5 : (f(v) - from) / (to - from)));
}

function logarithmicTicks(a, room) {
	const decades = Math.log10(a.to / a.from), each = Math.max(1, Math.ceil(decades / room)), found = [];
	const steps = decades < 1 && room > 5 ? [1, 2, 3, 4, 5, 7] : 3 * decades < room ? [1, 2, 5] : [1];
	for (let d = Math.floor(Math.log10(a.from)); d <= Math.log10(a.to); d++)
		for (const step of d % each ? [] : steps) found.push(step * 10 ** d);
	return found.filter(v => v >= a.from * 0.999 && v <= a.to * 1.001);
}

function linearTicks(a, room) {
	const raw = (a.to - a.from) / Math.max(2, room), scale = 10 ** Math.floor(Math.log10(raw));
	const step = scale * ([1, 2, 5].find(s => s * scale >= raw) || 10), found = [];
	for (let v = Math.ceil(a.from / step - 1e-9); v * step <= a.to + step * 1e-9 && found.length < 99; v++) found.push(v * step);
	return found;
}

function ticks(a, room) {
	return a.at || (a.log ? logarithmicTicks : linearTicks)(a, room).map(v => [v, a.text(v)]);
}

const LETTER = 0.58, WIDE_LETTER = 0.63;
const CUT = 30;
const longest = labels => labels.reduce((most, l) => Math.max(most, l.length), 0);

// -- panels --

const SHAPES = [
	(x, y, r) => `M${x - r},${y}a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0`,
	(x, y, r) => `M${x - r},${y - r}h${2 * r}v${2 * r}h${-2 * r}z`,
	(x, y, r) => `M${x},${y - 1.2 * r}l${1.2 * r},${2 * r}h${-2.4 * r}z`,
	(x, y, r) => `M${x},${y - 1.3 * r}l${1.3 * r},${1.3 * r}l${-1.3 * r},${1.3 * r}l${-1.3 * r},${-1.3 * r}z`,
];
const CROSS = (x, y, r) => `M${x - r},${y - r}l${2 * r},${2 * r}m0,${-2 * r}l${-2 * r},${2 * r}`;
const ink = s => typeof s === 'string' ? s : `i${1 + s % 8}`;
const round = v => Math.round(v * 10) / 10;

class Panel {
	constructor(f, o) {
		this.em = f.em;
		this.x = {...o.x};
		this.y = {...o.y};
		this.spots = [];
		this.wide = Math.max((f.width - (f.across - 1) * f.em) / f.across, o.least || 0);
		this.measure(o);
		this.svg = add(f.panels, 'svg', {viewBox: `0 0 ${round(this.wide)} ${round(this.high)}`, width: round(this.wide),
			height: round(this.high), role: 'img', 'aria-label': f.alt});
		this.axes(o.head);
		f.listen(this);
	}

	measure(o) {
		const em = this.em, rows = ticks(this.y, o.tall / 2.4);
		this.y.ticks = rows.map(([v, text]) => [v, text.slice(0, CUT)]);
		this.left = em * (LETTER * longest(this.y.ticks.map(t => t[1])) + 0.7 + (this.y.name ? 1.5 : 0));
		this.right = this.wide - em * 0.8;
		this.top = em * (o.head ? 1.8 : 0.7);
		this.bottom = this.top + o.tall * em;
		const room = this.right - this.left, names = ticks(this.x, room / em / 4.5), length = longest(names.map(t => t[1]));
		const lines = names.map(t => t[1].split('\n')), each = this.x.names ? room / names.length : 0;
		this.turned = this.x.names && longest(lines.flat()) * LETTER * em + 4 > each;
		this.x.ticks = names;
		let below = most(lines.map(l => l.length)) * 1.2 + 0.4;
		if (this.turned) {
			const every = Math.ceil(1.25 * em / each);
			this.x.ticks = names.filter((t, i) => i % every === 0).map(([v, text]) => [v, text.replace(/\n/g, ', ').slice(0, CUT)]);
			below = Math.min(length, CUT) * WIDE_LETTER + 0.6;
		}
		this.high = this.bottom + em * (below + (this.x.name ? 1.5 : 0.2));
	}

	X(v) { return round(this.left + place(this.x, v) * (this.right - this.left)); }
	Y(v) { return round(this.bottom - place(this.y, v) * (this.bottom - this.top)); }

	text(x, y, text, style = 'soft', anchor = 'start', turn) {
		const at = {x: round(x), y: round(y), class: style, 'text-anchor': anchor};
		if (turn) at.transform = `rotate(-90 ${round(x)} ${round(y)})`;
		if (text) add(this.svg, 'text', at, text);
	}

	path(d, style) { if (d) add(this.svg, 'path', {d, class: style}); }

	axes(head) {
		const {em, left, right, top, bottom} = this;
		this.path(this.y.ticks.map(t => `M${round(left)},${this.Y(t[0])}H${round(right)}`).join(''), 'grid');
		if (!this.x.names) this.path(this.x.ticks.map(t => `M${this.X(t[0])},${round(top)}V${round(bottom)}`).join(''), 'grid');
		this.path(`M${round(left)},${round(top)}V${round(bottom)}H${round(right)}`, 'frame');
		for (const [v, text] of this.y.ticks) this.text(left - 0.4 * em, this.Y(v) + 0.33 * em, text, 'soft', 'end');
		let free = 0;
		for (const [v, text] of this.x.ticks) {
			const x = this.X(v), half = text.length * LETTER * em / 2;
			if (this.turned) this.text(x + 0.35 * em, bottom + 0.4 * em, text, 'soft', 'end', true);
			else if (this.x.names || x - half > free) {
				text.split('\n').forEach((line, i) => this.text(Math.min(x, this.wide - (this.x.names ? 0 : half + 0.3 * em)),
					bottom + (1.2 + 1.2 * i) * em, line, 'soft', 'middle'));
				free = x + half + 0.4 * em;
			}
		}
		if (this.x.name) this.text((left + right) / 2, this.high - 0.4 * em, this.x.name, 'soft', 'middle');
		if (this.y.name) this.text(em, (top + bottom) / 2, this.y.name, 'soft', 'middle', true);
		if (head) this.text(left, top - 0.5 * em, head, 'head');
	}

	spot(x, y, ...lines) { this.spots.push([this.X(x), this.Y(y), lines]); }

	line(points, s, style = '') {
		let d = '', pen = 'M';
		for (const [x, y] of points)
			if (known(x) && known(y)) {
				d += `${pen}${this.X(x)},${this.Y(y)}`;
				pen = 'L';
			} else pen = 'M';
		this.path(d, `line ${ink(s)} ${style}`);
	}

	dots(points, s, r = 0.28, shape = s) {
		const draw = shape === 'cross' ? CROSS : SHAPES[shape === 'ring' ? 0 : shape === 'box' ? 1 : typeof shape === 'number' ? shape % 4 : 0];
		const hollow = shape === 'cross' || shape === 'ring' || shape === 'box' || typeof shape === 'number' && shape % 2;
		this.path(points.filter(p => known(p[0]) && known(p[1])).map(([x, y]) => draw(this.X(x), this.Y(y), round(r * this.em))).join(''),
			`${hollow ? 'hollow' : 'full'} ${ink(s)}`);
	}

	// Upright bars from low to high, with or without ends.
	bars(spans, s, ends = 0.25, style = '') {
		const w = round(ends * this.em);
		this.path(spans.filter(p => p.every(known)).map(([x, low, high]) => `M${this.X(x)},${this.Y(low)}V${this.Y(high)}` +
			(w ? `M${this.X(x) - w},${this.Y(low)}h${2 * w}M${this.X(x) - w},${this.Y(high)}h${2 * w}` : '')).join(''), `line ${ink(s)} ${style}`);
	}

	boxes(rectangles, s, style = 'light') {
		this.path(rectangles.filter(r => r.every(known)).map(([x, y, right, top]) =>
			`M${this.X(x)},${this.Y(y)}V${this.Y(top)}H${this.X(right)}V${this.Y(y)}z`).join(''), `${style} ${ink(s)}`);
	}

	band(points, s) {
		const all = points.filter(p => p.every(known)), at = ([x, y]) => `${this.X(x)},${this.Y(y)}`;
		if (all.length)
			this.path(`M${all.map(p => at([p[0], p[2]])).join('L')}L${all.reverse().map(p => at([p[0], p[1]])).join('L')}z`, `light ${ink(s)}`);
	}

	across(y, style) { this.path(`M${round(this.left)},${this.Y(y)}H${round(this.right)}`, style); }
	upright(x, style) { this.path(`M${this.X(x)},${round(this.top)}V${round(this.bottom)}`, style); }

	zone(from, to, upright) {
		if (!known(from) || !known(to)) return;
		const [x, X, y, Y] = upright ? [this.X(from), this.X(to), this.bottom, this.top] : [this.left, this.right, this.Y(from), this.Y(to)];
		this.path(`M${round(x)},${round(y)}V${round(Y)}H${round(X)}V${round(y)}z`, 'zone');
	}
}

const categories = (labels, name) => ({from: 0.4, to: labels.length + 0.6, names: true, name, at: labels.map((l, i) => [i + 1, l])});
const some = (list, f) => list.map((v, i) => [v, i]).filter(p => p[0]).map(([v, i]) => f(v, i));

// -- what kinds of figures there are: as plots/KIND.gp --

// Latencies from `low` to `high`: logarithmic if they are far apart.
const latencies = (low, high, name = 'latency') =>
	low > 0 && high > 8 * low ? {from: low * 0.85, to: high * 1.2, log: true, text: tick, name} : {from: Math.min(0, low * 1.1), to: high * 1.08 || 1, text: tick, name};

// Boots and builds, whose values are near each other as a rule. `above`: room there, in tenths of their range.
function levels(all, unit, above = 1) {
	const low = least(all), high = most(all), room = 0.1 * (high - low) || 0.01 * Math.abs(high) || 1, text = tickOf(unit);
	return low > 0 && high > 8 * low ? {...latencies(low, high, ''), text} : {from: low - room, to: high + above * room, text};
}

function heat(f, columns, rows, cells, side) {
	const all = cells.map(c => c.value).filter(known), low = least(all), high = most(all), log = low > 0 && high > 8 * low;
	const shade = {from: low, to: high, log}, up = {from: rows.length + 0.5, to: 0.5, at: rows.map((l, i) => [i + 1, l])};
	const p = f.panel({tall: Math.max(8, Math.min(44, rows.length * side)), x: {...categories(columns), from: 0.5, to: columns.length + 0.5}, y: up});
	const room = (p.right - p.left) / columns.length;
	for (const c of cells) {
		const [x, y] = [p.X(c.x - 0.5), p.Y(c.y - 0.5)], [X, Y] = [p.X(c.x + 0.5), p.Y(c.y + 0.5)];
		if (known(c.value)) add(p.svg, 'path', {d: `M${x},${y}H${X}V${Y}H${x}z`, class: 'heat i1', 'fill-opacity': round(10 * (0.06 + 0.44 * place(shade, c.value))) / 10});
		const says = known(c.value) && room > 4.4 * f.em && Y - y > 1.2 * f.em;
		if (c.mark) p.dots([[says ? c.x - 0.42 : c.x, c.y]], 'red', 0.4, 'cross'); // beside the text
		if (says) p.text((x + X) / 2, (y + Y) / 2 + 0.33 * f.em, time(c.value), 'head', 'middle');
		p.spot(c.x, c.y, ...c.tip, known(c.value) ? time(c.value) : 'not measured');
	}
}

// Rows of bars, whose names stand above them.
function rowsOf(f, labels, x, each) {
	const n = labels.length, p = f.panel({tall: n * 3.2, x, y: {from: n + 0.5, to: 0.5, at: []}}), fit = Math.floor((p.right - p.left) / f.em / LETTER);
	labels.forEach((label, i) => {
		each(p, i);
		p.text(p.left + 2, p.Y(i + 1) - 0.7 * f.em, label.length > fit ? label.slice(0, fit - 1) + '\u2026' : label, 'head');
	});
	return p;
}

const kinds = {
	histogram(f) {
		f.rows.forEach((r, i) => { if (i && !known(r[0])) r[0] = f.rows[i - 1][1]; }); // that begins where the one before it ends
		const {v} = f, bins = f.rows.filter(r => known(r[0]) && known(r[1])), peak = most(bins.flatMap(r => r.slice(2)));
		if (v.invalid) f.note(v.invalid.replace(/\n/g, ' '), 'bad');
		f.key(v.series.map((name, s) => [s, name, s ? 'swatch open' : 'swatch']));
		const p = f.panel({tall: 19, x: {from: v.logarithmic ? Math.max(1, least(bins.map(r => r[0]).filter(b => b > 0))) : v.low, to: v.high, log: v.logarithmic, text: tick, name: 'latency'},
			y: {from: 0.8, to: Math.max(10, peak) * 2, log: true, text: count, name: v.logarithmic ? 'messages per bin' : `messages per bin of ${v.bin_text}`}});
		for (let s = v.series.length - 1; s >= 0; s--) {
			let d = '', end;
			for (const r of bins.filter(r => r[2 + s] > 0)) {
				if (end !== r[0]) d += `${d ? `V${p.Y(0.8)}` : ''}M${p.X(r[0])},${p.Y(0.8)}`;
				d += `V${p.Y(r[2 + s])}H${p.X(r[1])}`;
				end = r[1];
			}
			p.path(d && `${d}V${p.Y(0.8)}`, s ? `light ${ink(s)}` : `full ${ink(s)}`);
		}
		if (v.limit > p.x.from && v.limit < v.high) {
			p.upright(v.limit, 'dashed');
			const late = place(p.x, v.limit) > 0.5;
			p.text(p.X(v.limit) + (late ? -4 : 4), p.bottom - 0.5 * f.em, `limit ${v.limit_text}`, 'halo', late ? 'end' : 'start');
		}
		v.median.forEach((m, s) => {
			if (!known(m) || m < p.x.from || m >= v.high) return;
			const late = place(p.x, m) > 0.5;
			p.upright(m, `line ${s ? ink(s) + ' dashes' : 'red'}`);
			p.text(p.X(m) + (late ? -4 : 4), p.top + (1 + 1.25 * s) * f.em, `median ${v.median_text[s]}`, 'halo', late ? 'end' : 'start');
		});
		for (const r of bins)
			if (most(r.slice(2)) > 0)
				p.spot(v.logarithmic ? Math.sqrt(Math.max(1, r[0]) * r[1]) : (r[0] + r[1]) / 2, most(r.slice(2)), `${tick(r[0])} to ${tick(r[1])}`,
					...some(r.slice(2), (n, s) => `${v.series[s]}: ${n}`));
		f.note(v.notes);
	},

	percentiles(f) {
		const {v} = f, of = v.lines.map((name, s) => f.rows.filter(r => r[0] === s + 1).map(r => [r[1], r[1] / v.counts[s], r[2]])), all = f.rows.map(r => r[2]), rare = 1 / most(v.counts);
		const far = {from: 1, to: Math.min(rare, 0.1)}, above = all.filter(a => a > 0);
		const name = q => `p${+(100 - 100 * q).toFixed(Math.max(0, Math.ceil(-Math.log10(q)) - 1))}`;
		const draw = (p, x, y) => of.forEach((rows, s) => {
			p.line(rows.map(r => [r[x], r[y]]), s);
			for (const r of rows) p.spot(r[x], r[y], v.lines[s], `${r[0]} of ${v.counts[s]} took at least ${time(r[2])}`, `${percent(100 * r[1])}; ${name(r[1])}`);
		});
		f.key(v.lines.map((name, s) => [s, name, 'stroke']));
		f.across = f.width > 46 * f.em ? 2 : 1;
		const shares = [1, 0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8].filter(q => q >= far.to);
		draw(f.panel({tall: 17, head: 'by percentile', x: {...far, f: q => -Math.log10(q), at: shares.map(q => [q, q === 1 ? '0' : name(q).slice(1)]), name: 'percentile'},
			y: least(all) > 0 && most(all) > 8 * least(all) ? latencies(least(all), most(all)) : {from: Math.min(0, least(all)), to: most(all) * 1.05, text: tick, name: 'latency'}}), 1, 2);
		if (above.length)
			draw(f.panel({tall: 17, head: 'at least this slow', x: {from: least(above) * 0.9, to: most(above) * 1.1, log: true, text: tick, name: 'latency'},
				y: {from: far.to * 0.8, to: 1.2, log: true, text: q => percent(100 * q), name: 'share of the messages'}}), 2, 1);
	},

	overview(f) {
		const {v, rows} = f, n = v.lines.length, shift = split(n, 0.34), cell = (r, s) => r.slice(2 + 4 * s, 6 + 4 * s);
		const all = rows.flatMap(r => r.slice(2, 2 + 4 * n)).filter(a => a > 0), bad = rows.filter(r => r[1] === 0);
		f.key([...v.lines.map((name, s) => [s, name, 'dot']), ...(bad.length ? [['red', 'not valid', 'cross']] : [])]);
		const labels = v.labels.map(l => l.replace(/%%/g, '%'));
		const p = f.panel({tall: 20, least: rows.length * Math.max(0.5, 0.3 * n) * f.em, x: categories(labels), y: latencies(least(all), most(all))});
		for (let s = 0; s < n; s++) {
			const at = r => r[0] + shift(s), half = Math.min(0.15, 0.4 / n);
			p.bars(rows.map(r => [at(r), cell(r, s)[1], cell(r, s)[3]]), s, 0);
			p.boxes(rows.map(r => [at(r) - half, known(cell(r, s)[0]) ? cell(r, s)[0] : cell(r, s)[1], at(r) + half, cell(r, s)[2]]), s);
			p.dots(rows.map(r => [at(r), cell(r, s)[1]]), s, (p.right - p.left) / rows.length / n < 0.7 * f.em ? 0.14 : 0.25);
			for (const r of rows)
				if (known(cell(r, s)[1]))
					p.spot(at(r), cell(r, s)[1], labels[r[0] - 1].replace(/\n/g, ', '), v.lines[s],
						...cell(r, s).map((q, i) => known(q) ? `${['P10', 'median', 'P90', 'p99'][i]} ${time(q)}` : '').filter(t => t), r[1] ? '' : 'not valid');
		}
		p.dots(bad.map(r => [r[0], p.y.from]), 'red', 0.35, 'cross');
	},

	axis(f) {
		const {v, rows} = f, n = v.lines.length, shift = split(n, 0.14), values = rows.flatMap(r => r.slice(4, 7)).filter(a => a > 0);
		const bad = rows.filter(r => r[3] === 0), paced = rows.some(r => known(r[7]));
		const heads = v.panels.map((head, k) => [head, rows.filter(r => r[0] === k + 1 && (known(r[4]) || known(r[7])))]).filter(p => p[1].length), panels = heads.length;
		f.key([...(n > 1 ? v.lines.map((name, s) => [s, name, 'dot']) : []), ...(bad.length ? [['red', 'not valid', 'cross']] : [])]);
		f.across = f.width > panels * 20 * f.em ? panels : 1;
		const x = categories(v.labels, v.axis_name), y = latencies(least(values), most(values));
		heads.forEach(([head, mine]) => {
			if (!mine.some(r => known(r[4]))) return;
			const at = r => r[2] + shift(r[1] - 1), p = f.panel({tall: 18, head, x, y});
			for (let s = 0; s < n; s++) {
				const line = mine.filter(r => r[1] === s + 1);
				p.bars(line.map(r => [at(r), known(r[5]) ? r[5] : r[4], known(r[6]) ? r[6] : r[4]]), s);
				p.line(line.map(r => [at(r), r[4]]), s, `d${s % 4}`);
				p.dots(line.map(r => [at(r), r[4]]), s);
				for (const r of line)
					p.spot(at(r), r[4], `${v.axis_name} ${v.labels[r[2] - 1]}`, v.lines[s], `median ${time(r[4])}`, known(r[5]) && known(r[6]) ? `P10 ${time(r[5])}, P90 ${time(r[6])}` : '',
						known(r[7]) ? `steps missed ${percent(100 * r[7])}, not sent ${percent(100 * r[8])}` : '', r[3] ? '' : 'not valid');
			}
			p.dots(mine.filter(r => r[3] === 0).map(r => [at(r), r[4]]), 'red', 0.4, 'cross');
		});
		if (!paced) return;
		heads.forEach(([head, all]) => {
			const mine = all.filter(r => known(r[7])), top = Math.max(0.01, most(rows.map(r => r[7] + r[8]).filter(known)));
			if (!mine.length) return;
			const p = f.panel({tall: 5, head: `${head ? `${head}: ` : ''}steps missed (filled) and not sent`, x, y: {from: 0, to: 100 * top, text: percent}}), wide = Math.min(0.14, 0.8 / n) * 0.8;
			for (let s = 0; s < n; s++) {
				const line = mine.filter(r => r[1] === s + 1), at = r => r[2] + shift(s);
				p.boxes(line.map(r => [at(r) - wide / 2, 0, at(r) + wide / 2, 100 * (r[7] + r[8])]), s);
				p.boxes(line.map(r => [at(r) - wide / 2, 0, at(r) + wide / 2, 100 * r[7]]), s, 'full');
			}
			for (const r of mine) p.spot(r[2] + shift(r[1] - 1), 100 * (r[7] + r[8]), v.lines[r[1] - 1], `missed ${percent(100 * r[7])}`, `not sent ${percent(100 * r[8])}`);
		});
	},

	claim(f) {
		const {v, rows} = f, n = v.lines.length, shift = split(n, 0.1), clip = y => Math.min(y, v.top);
		f.key([...(n > 1 ? v.lines.map((name, s) => [s, name, 'dot']) : []), ...(rows.some(r => r[5] === 0) ? [['red', 'fails', 'cross']] : []),
			...(rows.some(r => !known(r[5])) ? [['soft', 'not decided', 'ring']] : [])]);
		const p = f.panel({tall: 17, x: categories(v.labels, v.axis_name), y: {from: 0, to: v.top, text: plain, name: 'ratio'}}), at = r => r[1] + shift(r[0] - 1);
		p.zone(v.bound_least, v.bound_most);
		p.across(1, 'frame');
		p.text(p.left + 4, p.Y(v.bound_most) + 1.1 * f.em, v.wanted, 'soft');
		for (let s = 0; s < n; s++) {
			const line = rows.filter(r => r[0] === s + 1);
			p.bars(line.map(r => [at(r), r[3], clip(r[4])]), s);
			p.line(line.map(r => [at(r), r[2]]), s);
			p.dots(line.map(r => [at(r), r[2]]), s);
		}
		p.dots(rows.filter(r => r[5] === 0).map(r => [at(r), r[2]]), 'red', 0.45, 'cross');
		p.dots(rows.filter(r => !known(r[5])).map(r => [at(r), r[2]]), 'soft', 0.5, 'ring');
		for (const r of rows) p.spot(at(r), r[2], r[6], `ratio ${plain(r[2])}`, `from ${plain(r[3])} to ${plain(r[4])}`, r[5] ? r[5] === 1 ? 'holds' : 'not decided' : 'fails');
	},

	rate(f) {
		const {v, rows} = f, n = v.lines.length;
		f.key(n > 1 ? v.lines.map((name, s) => [s, name, 'dot']).filter(k => k[1]) : []);
		const p = f.panel({tall: 19, x: {from: v.x_least, to: v.x_most, log: true, text: count, name: v.x_label, ...(v.tics ? {at: v.tic_labels.map((l, i) => [v.tic_at[i], l])} : {})},
			y: {from: v.bottom, to: v.top, log: true, text: plain, name: v.y_label}});
		for (let s = 0; s < n; s++) {
			const of = mark => rows.filter(r => r[0] === s + 1 && r[4] === mark).map(r => [r[1], r[2]]);
			p.line(of(0), s);
			p.dots(of(0), s, 0.22);
			p.dots(of(1), s, 0.6, 'ring');
			p.dots(of(2), s, 0.4, 'box');
		}
		p.dots(rows.filter(r => r[3] === 0).map(r => [r[1], r[2]]), 'red', 0.4, 'cross');
		for (const r of rows) {
			p.spot(r[1], r[2], v.lines[r[0] - 1], r[5], `${v.x_label}: ${plain(r[1])}`, `${v.y_label}: ${plain(r[2])}`, ['', 'the peak', 'half of the peak'][r[4]]);
			if (r[4] === 2) p.text(p.X(r[1]) + 0.6 * f.em, p.Y(r[2]) + 0.8 * f.em, r[5], 'halo');
		}
	},

	shares(f) {
		const {v, rows} = f;
		f.key(v.lines.map((name, s) => [s, name, 'stroke']).filter(k => k[1]));
		const p = f.panel({tall: 17, x: {from: 0, to: 100, text: percent, name: 'time in which all flows were under way'}, y: {from: 0, to: 100, text: percent, name: 'share of the bytes'}});
		p.across(100 * v.fair, 'dashed');
		some(v.lines, (name, s) => {
			const line = rows.filter(r => r[0] === s + 1);
			p.band(line.map(r => [r[1], 100 * r[3], 100 * r[4]]), s);
			p.line(line.map(r => [r[1], 100 * r[2]]), s);
			for (const r of line) p.spot(r[1], 100 * r[2], name, `${percent(100 * r[2])} of the bytes`, `from ${percent(100 * r[3])} to ${percent(100 * r[4])}`);
		});
	},

	stages(f) {
		const {v, rows} = f, total = r => r.slice(1).reduce((a, b) => a + b, 0);
		f.key(v.lines.map((name, s) => [s, name, 'swatch']));
		rowsOf(f, v.labels, {from: 0, to: most(rows.map(total)) * 1.05, text: tick, name: 'latency'}, (p, i) => {
			let from = 0;
			rows[i].slice(1).forEach((part, s) => {
				p.boxes([[from, i + 1 - 0.02, from + part, i + 1.4]], s, 'full');
				p.spot(from + part / 2, i + 1.2, v.labels[i], `${v.lines[s]}: ${time(part)}`, `of ${time(total(rows[i]))}`);
				from += part;
			});
		});
	},

	surface(f) {
		const {v} = f;
		heat(f, v.x_labels.map(l => `${l}`), v.y_labels, f.rows.map(r => ({x: r[0], y: r[1], value: r[3], mark: r[2] === 0 || r[4] + r[5] >= v.steps_share,
			tip: [`${v.x_name} ${v.x_labels[r[0] - 1]}, ${v.y_name} ${v.y_labels[r[1] - 1]}`, known(r[4]) ? `steps missed or not sent ${percent(100 * (r[4] + r[5]))}` : '', r[2] === 0 ? 'not valid' : '']})), 3);
		f.note(`Across: ${v.x_name}. Down: ${v.y_name}. ${v.min_text}, ${v.max_text}.`);
	},

	pairs(f) {
		const {v, rows} = f, names = v.name_count ? v.names : Array.from({length: v.hosts}, (x, i) => String(i + 1));
		heat(f, names, names, rows.map(r => ({x: r[0], y: r[1], value: r[2], mark: r[3] > 0, tip: [`${r[4]} to ${r[5]}`, r[3] > 0 ? 'stands out' : '']})), 1.6);
	},

	tail(f) {
		const {v, rows} = f;
		f.key(some(v.causes, (name, c) => [c, name, 'dot']));
		const p = f.panel({tall: 19, x: {from: 0.8, to: 1.25 * v.count, log: true, text: count, name: 'messages at least this slow'},
			y: {from: v.bottom * v.unit_ns, to: v.top * v.unit_ns, log: true, text: tick, name: v.series}});
		for (let c = 0; c < 8; c++) p.dots(rows.filter(r => r[2] === c + 1).map(r => [r[0], r[1]]), c, 0.22);
		for (const r of rows) p.spot(r[0], r[1], time(r[1]), `rank ${r[0]} of ${v.count}`, r[3]);
	},

	timeline(f) {
		const {v, rows} = f, lane = side => 0.06 + 0.24 * side;
		f.key(some(v.causes, (name, c) => [c, name, 'swatch']));
		const p = rowsOf(f, v.took.slice(0, v.messages).map((took, m) => `${took}: ${v.which[m]}`), {from: -v.around, to: 100 + v.around, text: percent, name: 'time in flight; above the source, below the sink'}, (p, m) => {
			for (const side of [0, 1]) {
				const y = m + 1 + lane(side);
				p.boxes([[-v.around, y, 100 + v.around, y + 0.18]], 'soft', v.known[2 * m + side] ? 'track' : 'light');
				for (const r of rows.filter(r => r[0] === m + 1 && r[1] === side + 1)) {
					p.boxes([[r[2], y, r[3], y + 0.18]], r[4] - 1, 'full');
					p.spot((r[2] + r[3]) / 2, y + 0.09, r[7], `on the CPU of the ${side ? 'sink' : 'source'} for ${time(r[6])}`, `from ${time(r[5])} after it was sent`);
				}
			}
		});
		p.upright(0, 'dashed');
		p.upright(100, 'dashed');
	},

	sequence(f) {
		const {v, rows} = f, begin = [1, v.typical + 1, v.worst + 1], end = [v.count, v.typical + v.length, v.worst + v.length];
		const [low, high] = [v.bottom * v.unit_ns, v.top * v.unit_ns];
		['the whole repetition', 'a typical stretch', 'the worst stretch'].forEach((head, i) => {
			const mine = rows.filter(r => r[0] === i + 1), p = f.panel({tall: 8, head, x: {from: begin[i], to: end[i], text: plain, name: i < 2 ? '' : 'message of the repetition'},
				y: {from: low, to: high, text: tick, name: v.series}});
			for (let at = begin[i] - 0.5 + v.period; i && at < end[i]; at += v.period) p.upright(at, 'dashed');
			if (i) p.line(mine.map(r => [r[1], r[2]]), 0, 'thin');
			p.dots(mine.map(r => [r[1], r[2]]), 0, 0.1);
			for (const r of mine) p.spot(r[1], r[2], `message ${r[1]}`, time(r[2]));
		});
	},

	fold(f) {
		const {v, rows} = f, of = out => rows.filter(r => Math.sign(r[4]) === out).map(r => [r[0], r[2]]), r = v.period > 256 ? 0.12 : 0.22;
		const p = f.panel({tall: 14, x: {from: 0.4, to: v.period + 0.6, text: plain, name: `message in a period of ${v.period}`},
			y: {from: v.bottom * v.unit_ns, to: v.top * v.unit_ns, text: tick, name: v.series}});
		p.across(v.base, 'dashed');
		p.bars(rows.map(r => [r[0], r[1], r[3]]), 0, 0, 'thin');
		p.dots(of(0), 0, r);
		p.dots(of(1), 'red', r * 1.4, 3);
		p.dots(of(-1), 2, r, 'ring');
		for (const r of rows) p.spot(r[0], r[2], `message ${r[0]}`, `median ${time(r[2])}`, `P10 ${time(r[1])}, P90 ${time(r[3])}`);
	},

	boots(f) {
		const {v, rows} = f, say = quantity(v.unit);
		const names = [v.base_name, v.with_name];
		f.key(names.map((name, s) => [s, name, 'dot']));
		const p = f.panel({tall: 15, x: {from: 0.4, to: v.points + 0.6, text: plain, name: `${v.what}s in order of time`},
			y: levels(rows.map(r => r[3]), v.unit)});
		p.across(v.base_level, 'line i1 dashes');
		p.across(v.with_level, 'line i2 dashes');
		for (const s of [0, 1]) {
			const mine = rows.filter(r => r[1] === s + 1);
			p.dots(mine.map(r => [r[0], r[3]]), s, 0.12, 0);
			p.dots(mine.map(r => [r[0], r[2]]), s, 0.32);
			for (const r of mine) p.spot(r[0], r[2], names[s], `${v.what} ${r[0]}: ${say(r[2])}`);
		}
	},

	shift(f) {
		const {v, rows} = f, sure = r => r[2] > 0 || r[3] < 0, end = d => Math.abs(d) >= 1e6 ? 'unbounded' : signed(d);
		f.key([['soft', '0 is in the interval', 'ring'], ['red', '0 is not', 'dot'], ['zone', 'margin of each quantile that is judged', 'swatch']]);
		f.note(v.subtitle);
		const p = f.panel({tall: 18, x: categories(v.labels, 'quantile'), y: {from: v.bottom, to: v.top, text: signed, name: 'change from BASE to NEW'}});
		v.margins.forEach((m, q) => p.boxes([[q + 0.55, -m, q + 1.45, m]], 'zone', 'area'));
		p.across(0, 'frame');
		p.line(rows.map(r => [r[0], r[1]]), 0, 'dashes');
		p.bars(rows.map(r => [r[0], r[2], r[3]]), 0);
		p.dots(rows.filter(r => !sure(r)).map(r => [r[0], r[1]]), 0, 0.35, 'ring');
		p.dots(rows.filter(sure).map(r => [r[0], r[1]]), 'red', 0.35, 0);
		for (const r of rows) p.spot(r[0], r[1], `${v.labels[r[0] - 1]}: ${signed(r[1])}`, `from ${end(r[2])} to ${end(r[3])}`, known(v.margins[r[0] - 1]) ? `margin ${percent(v.margins[r[0] - 1])}` : 'not judged');
	},

	history(f) {
		const {v, rows} = f, say = quantity(v.unit);
		f.key([[0, 'build', 'dot'], [0, 'level', 'stroke'], ...(v.changes ? [['red', 'change of the level', 'stroke']] : [])]);
		const p = f.panel({tall: 17, head: v.changes ? ' ' : '', x: {...categories(v.labels), from: 0.4, to: v.points + 0.6},
			y: levels(rows.map(r => r[1]).filter(known), v.unit, 2)});
		for (let i = 0; i < v.changes; i++) {
			p.upright(v.change_at[i], 'line red dashes');
			p.text(p.X(v.change_at[i]), p.top - 0.5 * f.em, v.change_text[i], 'bad', 'middle');
		}
		p.line(rows.flatMap((r, i) => [...(i && rows[i - 1][2] !== r[2] ? [[NaN, NaN]] : []), [r[0] - 0.5, r[2]], [r[0] + 0.5, r[2]]]), 0, 'thick');
		p.dots(rows.map(r => [r[0], r[1]]), 0);
		for (const r of rows) if (known(r[1])) p.spot(r[0], r[1], r[3], say(r[1]), `level ${say(r[2])}`, r[5]);
	},

	knobs(f) {
		const {v, rows} = f, clip = x => Math.max(-v.reach, Math.min(v.reach, x)), names = ['alone', 'left out'];
		f.key([...names.map((name, s) => [s, name, 'dot']), ['zone', 'margin', 'swatch']]);
		const p = rowsOf(f, v.labels, {from: -v.reach, to: v.reach, text: signed, name: 'change of latency'}, (p, i) => {
			for (const s of [0, 1]) {
				const [effect, low, high, joint] = rows[i].slice(1 + 4 * s, 5 + 4 * s), y = i + 1.08 + 0.22 * s;
				if (!known(effect)) continue;
				p.line([[clip(low), y], [clip(high), y]], s, joint ? '' : 'thin dashes');
				p.dots([[clip(effect), y]], s);
				p.spot(clip(effect), y, v.labels[i], `${names[s]}: ${signed(effect)}`, `from ${signed(low)} to ${signed(high)}`);
			}
		});
		p.zone(-v.margin, v.margin, true);
		p.upright(0, 'frame');
	},
};
kinds.overlay = kinds.histogram;

// -- figures --

class Figure {
	constructor(box) { this.box = box; }

	// What it is drawn from is read once, when it comes into sight.
	read() {
		const [data, table] = [...this.box.querySelectorAll('script')].map(s => s.textContent);
		Object.assign(this, JSON.parse(data));
		this.v = this.variables;
		for (const name in this.v) if (Array.isArray(this.v[name])) this.v[name] = this.v[name].map(x => x === null ? NaN : x);
		this.rows = table.replace(/\\u003c/g, '<').split('\n').slice(1).filter(line => line)
			.map(line => line.split('\t').map(cell => cell === '' ? NaN : !isNaN(cell) ? +cell : /^-?nan$/i.test(cell) ? NaN : cell));
		this.tip = add(this.box, 'div', {class: 'tip', role: 'status', hidden: ''});
	}

	draw() {
		const width = this.box.clientWidth;
		if (!width || width === this.drawn) return;
		if (!this.drawn) this.read();
		this.drawn = width;
		for (const old of this.box.querySelectorAll('.drawing')) old.remove();
		this.tip.hidden = true;
		this.em = parseFloat(getComputedStyle(this.box).fontSize);
		this.across = 1;
		this.drawing = add(this.box, 'div', {class: 'drawing'});
		this.width = this.drawing.clientWidth;
		if (this.v.title) add(this.drawing, 'p', {class: 'title'}, this.v.title);
		this.keys = add(this.drawing, 'ul', {class: 'key'});
		this.panels = add(this.drawing, 'div', {class: 'panels'});
		kinds[this.kind](this);
		if (!this.keys.childNodes.length) this.keys.remove();
	}

	key(entries) {
		for (const [s, name, mark] of entries) {
			const item = add(this.keys, 'li');
			const sign = add(item, 'svg', {viewBox: '0 0 14 12', class: 'sign', 'aria-hidden': true});
			if (mark === 'dot' || mark === 'cross' || mark === 'ring')
				Panel.prototype.dots.call({X: x => x, Y: y => y, em: 14, path: (d, style) => add(sign, 'path', {d, class: style})}, [[7, 6]], s, 0.28, mark === 'dot' ? typeof s === 'string' ? 0 : s : mark);
			else add(sign, 'path', mark === 'stroke' ? {d: 'M0,6h14', class: `line thick ${ink(s)}`} : {d: 'M1,1h12v10h-12z', class: `${s === 'zone' ? 'area' : mark === 'swatch' ? 'full' : 'light'} ${ink(s)}`});
			add(item, 'span', {}, name);
		}
	}

	note(text, style = 'soft') { if (text) add(this.drawing, 'p', {class: `note ${style}`}, text); }
	panel(o) { return new Panel(this, o); }

	// The nearest value, for a pointer, a finger, and the arrow keys.
	listen(p) {
		let at = -1;
		p.svg.addEventListener('pointermove', e => this.near(p, e));
		p.svg.addEventListener('pointerdown', e => this.near(p, e));
		p.svg.addEventListener('pointerleave', () => this.hide());
		p.svg.setAttribute('tabindex', 0);
		p.svg.addEventListener('blur', () => this.hide());
		p.svg.addEventListener('keydown', e => {
			const step = {ArrowRight: 1, ArrowLeft: -1}[e.key];
			if (!step || !p.spots.length) return;
			e.preventDefault();
			at = (at + step + p.spots.length) % p.spots.length;
			this.show(p, p.spots[at]);
		});
	}

	near(p, e) {
		const box = p.svg.getBoundingClientRect(), scale = box.width / p.wide, x = (e.clientX - box.left) / scale, y = (e.clientY - box.top) / scale;
		let found, nearest = Infinity;
		for (const spot of p.spots) {
			const distance = Math.hypot(2 * (spot[0] - x), spot[1] - y);
			if (distance < nearest) [found, nearest] = [spot, distance];
		}
		if (found && nearest < 12 * this.em) this.show(p, found);
		else this.hide();
	}

	show(p, [x, y, lines]) {
		const box = this.box.getBoundingClientRect(), svg = p.svg.getBoundingClientRect();
		this.hide();
		this.at = add(p.svg, 'circle', {cx: x, cy: y, r: 0.5 * this.em, class: 'here'});
		this.tip.replaceChildren();
		for (const line of lines) if (line) add(this.tip, 'div', {}, line);
		this.tip.hidden = false;
		const left = svg.left - box.left + x, wide = this.tip.offsetWidth;
		this.tip.style.left = `${Math.max(0, Math.min(box.width - wide, left + (left > box.width / 2 ? -wide - 14 : 14)))}px`;
		this.tip.style.top = `${svg.top - box.top + Math.max(0, y - this.tip.offsetHeight - 8)}px`;
	}

	hide() {
		if (this.at) this.at.remove();
		this.tip.hidden = true;
	}
}

const figures = new Map([...document.querySelectorAll('.chart')].map(box => [box, new Figure(box)]));
const draw = box => figures.get(box).draw();
const seen = new IntersectionObserver(entries => entries.forEach(e => e.isIntersecting && draw(e.target)), {rootMargin: '600px'});
const sized = new ResizeObserver(entries => entries.forEach(e => figures.get(e.target).drawn && draw(e.target)));
for (const box of figures.keys()) {
	seen.observe(box);
	sized.observe(box);
}
addEventListener('beforeprint', () => [...figures.keys()].forEach(draw));

// -- tables --

// If a table has several bodies, these are sorted, so that the rows of a point stay together. What is not a number, or has no cell, comes
// last in either order.
function keyOf(unit, i) {
	const cell = (unit.rows ? unit.rows[0] : unit).cells[i];
	if (!cell) return null;
	if (cell.dataset.sort) return +cell.dataset.sort;
	const ns = cell.querySelector('[title$=" ns"]');
	if (ns) return parseFloat(ns.title);
	const text = cell.textContent.trim(), number = parseFloat(text);
	if (!text || text === '\u2013') return null;
	return cell.className === 'n' || String(number) === text ? number : text;
}

function order(a, b) {
	if (a === null || b === null) return 0;
	return typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en', {numeric: true});
}

function sort(table, head, i) {
	const up = head.getAttribute('aria-sort') !== 'ascending', many = table.tBodies.length > 1;
	for (const h of head.parentNode.cells) h.removeAttribute('aria-sort');
	head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
	const keyed = [...(many ? table.tBodies : table.tBodies[0].rows)].map(unit => [keyOf(unit, i), unit]);
	keyed.sort((a, b) => (a[0] === null) - (b[0] === null) || (up ? 1 : -1) * order(a[0], b[0]));
	(many ? table : table.tBodies[0]).append(...keyed.map(k => k[1]));
}

for (const table of document.querySelectorAll('table'))
	for (const head of table.tHead && table.tBodies.length ? table.tHead.rows[0].cells : []) {
		if (!head.textContent.trim() || head.classList.contains('plain')) continue;
		const button = document.createElement('button');
		button.type = 'button';
		button.append(...head.childNodes);
		head.append(button);
		button.addEventListener('click', () => sort(table, head, head.cellIndex));
	}

// -- links, and titles --

function unfold() {
	const at = location.hash && document.getElementById(location.hash.slice(1));
	for (let e = at; e; e = e.parentElement) if (e.tagName === 'DETAILS') e.open = true;
	if (at) at.scrollIntoView();
}
addEventListener('hashchange', unfold);
unfold();

// A title is also shown by a tap, and by the keys.
const hint = add(document.body, 'div', {class: 'tip', role: 'status', hidden: ''});
addEventListener('click', e => {
	const of = e.target.closest('td [title],td[title]');
	hint.hidden = !of;
	if (!of) return;
	const box = of.getBoundingClientRect();
	hint.textContent = of.title;
	hint.style.left = `${Math.max(0, Math.min(box.left + scrollX, document.documentElement.clientWidth - hint.offsetWidth - 4))}px`;
	hint.style.top = `${box.bottom + scrollY + 4}px`;
});
