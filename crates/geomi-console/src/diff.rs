//! Two texts, line by line: what went, what came, what stayed.
//!
//! The shortest edit between two lists of lines (Myers, "An O(ND) difference
//! algorithm", 1986), after the lines both begin and end with are set aside.
//! Work and memory grow with the square of the number of edits, so that number
//! is bounded: texts that differ more are told as one replaced by the other,
//! which is what a reader would say of them as well.

/// Lines taken of each text.
pub(crate) const LINES_MAX: usize = 20_000;
/// Edits looked for.
const EDITS_MAX: usize = 2_000;

/// What became of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    /// In both.
    Same,
    /// In the first only.
    Gone,
    /// In the second only.
    New,
}

/// The lines of both texts in one order.
pub(crate) fn lines<'a>(old: &'a str, new: &'a str) -> Vec<(Fate, &'a str)> {
    let old: Vec<&str> = old.lines().take(LINES_MAX).collect();
    let new: Vec<&str> = new.lines().take(LINES_MAX).collect();
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let pairs = old_rest.iter().rev().zip(new_rest.iter().rev());
    let tail = pairs.take_while(|(a, b)| a == b).count();
    let old_middle = &old_rest[..old_rest.len() - tail];
    let new_middle = &new_rest[..new_rest.len() - tail];
    let same = |lines: &[&'a str]| -> Vec<(Fate, &'a str)> {
        lines.iter().map(|line| (Fate::Same, *line)).collect()
    };
    let mut told = same(&old[..head]);
    told.extend(middle(old_middle, new_middle));
    told.extend(same(&old_rest[old_rest.len() - tail..]));
    told
}

fn middle<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(Fate, &'a str)> {
    match furthest(old, new) {
        Some(rounds) => walk_back(old, new, &rounds),
        None => replaced(old, new),
    }
}

fn replaced<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(Fate, &'a str)> {
    let gone = old.iter().map(|line| (Fate::Gone, *line));
    gone.chain(new.iter().map(|line| (Fate::New, *line)))
        .collect()
}

/// How far each diagonal came in a round, from `-edits` to `edits`.
struct Round(Vec<usize>);

impl Round {
    fn at(&self, diagonal: isize) -> Option<usize> {
        let edits = self.0.len() as isize / 2;
        let place = usize::try_from(diagonal + edits).ok()?;
        self.0.get(place).copied()
    }
}

/// The step onto a diagonal that came furthest in the round before: down takes
/// a line of the new text, right drops one of the old.
fn step(before: Option<&Round>, diagonal: isize, edits: isize) -> (bool, usize) {
    let Some(before) = before else {
        return (true, 0);
    };
    let (down, right) = (before.at(diagonal + 1), before.at(diagonal - 1));
    let is_down = diagonal == -edits || diagonal != edits && right < down;
    if is_down {
        (true, down.unwrap_or(0))
    } else {
        (false, right.unwrap_or(0) + 1)
    }
}

/// The rounds up to the one that reaches the end of both; `None` where it takes
/// too many.
fn furthest(old: &[&str], new: &[&str]) -> Option<Vec<Round>> {
    let mut rounds: Vec<Round> = Vec::new();
    for edits in 0..=EDITS_MAX.min(old.len() + new.len()) as isize {
        let mut reached = Vec::with_capacity(2 * edits as usize + 1);
        for diagonal in -edits..=edits {
            if (diagonal + edits) % 2 == 1 {
                // An odd number of edits ends on an odd diagonal: nobody asks for
                // the others.
                reached.push(0);
                continue;
            }
            let (_, mut x) = step(rounds.last(), diagonal, edits);
            let mut y = (x as isize - diagonal) as usize;
            while x < old.len() && y < new.len() && old[x] == new[y] {
                (x, y) = (x + 1, y + 1);
            }
            reached.push(x);
            if x >= old.len() && y >= new.len() {
                reached.resize(2 * edits as usize + 1, 0);
                rounds.push(Round(reached));
                return Some(rounds);
            }
        }
        rounds.push(Round(reached));
    }
    None
}

/// From the end back to the beginning, a round at a time.
fn walk_back<'a>(old: &[&'a str], new: &[&'a str], rounds: &[Round]) -> Vec<(Fate, &'a str)> {
    let (mut x, mut y) = (old.len(), new.len());
    let mut told = Vec::with_capacity(x.max(y));
    for edits in (0..rounds.len()).rev() {
        let before = edits.checked_sub(1).and_then(|at| rounds.get(at));
        let (is_down, from) = step(before, x as isize - y as isize, edits as isize);
        while x > from && y > 0 {
            (x, y) = (x - 1, y - 1);
            told.push((Fate::Same, old[x]));
        }
        if edits == 0 {
            break;
        }
        if is_down {
            y -= 1;
            told.push((Fate::New, new[y]));
        } else {
            x -= 1;
            told.push((Fate::Gone, old[x]));
        }
    }
    told.reverse();
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(old: &str, new: &str) -> String {
        let old = old.replace(' ', "\n");
        let new = new.replace(' ', "\n");
        let marked = lines(&old, &new)
            .into_iter()
            .map(|(fate, line)| match fate {
                Fate::Same => line.to_owned(),
                Fate::Gone => format!("-{line}"),
                Fate::New => format!("+{line}"),
            });
        marked.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn small_texts_are_told_with_the_fewest_edits() {
        assert_eq!(told("a b c", "a b c"), "a b c");
        assert_eq!(told("", "a"), "+a");
        assert_eq!(told("a", ""), "-a");
        assert_eq!(told("a b c", "a x c"), "a -b +x c");
        assert_eq!(told("a b c d", "b c d e"), "-a b c d +e");
        let edits = told("A B C A B B A", "C B A B A C");
        let count = edits.matches(['-', '+']).count();
        assert_eq!(count, 5, "{edits}");
    }

    #[test]
    fn both_texts_can_be_read_back_out_of_every_answer() {
        // A small generator of its own: the same texts on every run.
        let mut state = 7_u32;
        let mut text = |len: usize| {
            let words = std::iter::repeat_with(|| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                char::from(b'a' + (state >> 24) as u8 % 4).to_string()
            });
            words.take(len).collect::<Vec<_>>().join("\n")
        };
        for len in 0..60 {
            let (old, new) = (text(len), text(60 - len));
            let told = lines(&old, &new);
            let side = |other: Fate| -> Vec<&str> {
                let kept = told.iter().filter(|(fate, _)| *fate != other);
                kept.map(|(_, line)| *line).collect()
            };
            assert_eq!(side(Fate::New), old.lines().collect::<Vec<_>>());
            assert_eq!(side(Fate::Gone), new.lines().collect::<Vec<_>>());
        }
    }

    #[test]
    fn texts_with_nothing_in_common_are_replaced_and_bounded() {
        let many = |word: &str| {
            let lines: Vec<String> = (0..30_000).map(|n| format!("{word}{n}")).collect();
            lines.join(
                "
",
            )
        };
        let (old, new) = (many("a"), many("b"));
        let told = lines(&old, &new);
        assert_eq!(told.len(), 2 * LINES_MAX);
        assert!(
            told[..LINES_MAX]
                .iter()
                .all(|(fate, _)| *fate == Fate::Gone)
        );
    }
}
