// Answers lines of numbers; each seventh by an exception.
function deep(n, depth) {
	if (depth === 0) {
		if (n % 7 === 3)
			throw new Error(`refused ${n}`);
		return n;
	}
	return deep(n, depth - 1) + depth;
}

require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
	const n = parseInt(line, 10), table = {};
	for (let i = 0; i < n % 20; i++)
		table["key" + i] = i;
	try {
		process.stdout.write(`${deep(n, n % 40)} ${Object.keys(JSON.parse(JSON.stringify(table))).sort().length}\n`);
	} catch (e) {
		process.stdout.write(`${e.message}\n`);
	}
});
