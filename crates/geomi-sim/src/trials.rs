//! Trials on every core. What they bring does not depend on how many there are.

/// Runs trials on every core, and gives what they brought in their order.
pub(crate) fn in_parallel<T: Send>(trials: u64, run: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let workers = cores.min(trials).max(1);
    let mut brought: Vec<(u64, T)> = std::thread::scope(|scope| {
        let run = &run;
        let worker = |first: u64| {
            let own = (first..trials).step_by(workers as usize);
            move || own.map(|trial| (trial, run(trial))).collect::<Vec<_>>()
        };
        let started: Vec<_> = (0..workers)
            .map(|first| scope.spawn(worker(first)))
            .collect();
        let joined = started.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined
            .flat_map(|brought| brought.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    brought.sort_by_key(|(trial, _)| *trial);
    brought.into_iter().map(|(_, brought)| brought).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_trials_bring_comes_in_their_order() {
        assert_eq!(
            in_parallel(7, |trial| trial * 10),
            [0, 10, 20, 30, 40, 50, 60]
        );
        assert!(in_parallel(0, |trial| trial).is_empty());
    }
}
