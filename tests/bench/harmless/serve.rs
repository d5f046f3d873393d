// Answers lines of numbers; each seventh by a panic that is caught, after several frames with destructors.
use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::panic;

#[inline(never)]
fn deep(n: i64, depth: i64) -> i64 {
    let kept = vec![n; depth as usize + 1];
    if depth == 0 {
        if n % 7 == 3 {
            panic!("refused {}", n);
        }
        return n;
    }
    deep(n, depth - 1) + kept[0] - n + depth
}

#[inline(never)]
fn answer(n: i64) -> String {
    let mut table = BTreeMap::new();
    for i in 0..n % 20 {
        table.insert(format!("key{}", i), i);
    }
    match panic::catch_unwind(|| deep(n, n % 40)) {
        Ok(sum) => format!("{} {}", sum, table.len()),
        Err(_) => format!("refused {}", n),
    }
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let (input, mut output) = (io::stdin(), io::stdout());
    for line in input.lock().lines() {
        let n: i64 = line.unwrap().parse().unwrap();
        writeln!(output, "{}", answer(n)).unwrap();
        output.flush().unwrap();
    }
}
