//! Traps that show in one URL: paths that are too deep, or that repeat.
//!
//! A relative link on a page that answers at every path (`b/` on `/a/`, `/a/b/`,
//! `/a/b/b/` …) makes an endless site out of one page. Its mark is a segment, or
//! a run of segments, that stands many times in a row.

/// The segments of a path. The empty one after a final slash does not count.
fn segments(path: &str) -> impl Iterator<Item = &str> {
    let inner = path.strip_prefix('/').unwrap_or(path);
    let inner = inner.strip_suffix('/').unwrap_or(inner);
    // Splitting nothing would give one empty segment.
    let split = (!inner.is_empty()).then(|| inner.split('/'));
    split.into_iter().flatten()
}

/// Whether a path has more than `max` segments.
pub(crate) fn has_too_many_segments(path: &str, max: u16) -> bool {
    let max = usize::from(max);
    // Each segment takes a byte at least: short paths need no splitting.
    path.len() > max && segments(path).nth(max).is_some()
}

/// Whether some run of segments stands more than `max` times in a row.
pub(crate) fn repeats_itself(path: &str, max: u16) -> bool {
    let max = usize::from(max);
    // Most paths are too short to repeat anything: settle them without a list.
    if path.bytes().filter(|&byte| byte == b'/').count() <= max {
        return false;
    }
    let segments: Vec<&str> = segments(path).collect();
    let longest_run = segments.len() / (max + 1);
    (1..=longest_run).any(|run| longest_echo(&segments, run) >= run * max)
}

/// The most segments in a row that equal the one `run` segments later: `k`
/// copies of a run of `run` segments make `(k - 1) * run` of them.
fn longest_echo(segments: &[&str], run: usize) -> usize {
    let mut longest = 0;
    let mut current = 0;
    for (segment, later) in segments.iter().zip(&segments[run..]) {
        current = if segment == later { current + 1 } else { 0 };
        longest = longest.max(current);
    }
    longest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every start, every length, every copy compared.
    fn naive(path: &str, max: usize) -> bool {
        let all: Vec<&str> = segments(path).collect();
        (0..all.len()).any(|start| {
            (1..=all.len()).any(|run| {
                let end = start + run * (max + 1);
                end <= all.len()
                    && all[start..end]
                        .chunks(run)
                        .all(|copy| copy == &all[start..start + run])
            })
        })
    }

    #[test]
    fn repetition_is_counted_in_a_row() {
        assert!(repeats_itself("/a/b/a/b/a/b", 2));
        assert!(repeats_itself("/x/b/b/b/y.html", 2));
        assert!(repeats_itself("/x///", 1));
        assert!(!repeats_itself("/a/b/a/b/", 2));
        assert!(!repeats_itself("/2011/11/11/", 2));
        assert!(!repeats_itself("/a/x/a/y/a/z", 2));
        assert!(!repeats_itself("/", 0));
    }

    #[test]
    fn segments_are_counted_without_the_final_slash() {
        assert!(!has_too_many_segments("/", 0));
        assert!(!has_too_many_segments("/a/b/", 2));
        assert!(has_too_many_segments("/a/b/c", 2));
        assert!(has_too_many_segments("/a/b//c", 3));
    }

    proptest! {
        #[test]
        fn repetition_agrees_with_a_naive_search(path in "(/[ab]?){0,14}", max in 1u16..4) {
            prop_assert_eq!(repeats_itself(&path, max), naive(&path, usize::from(max)));
        }
    }
}
