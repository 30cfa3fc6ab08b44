//! What `docs/adr/0012-host-order.md` claims of the orders, held to.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

use geomi_frontier::HostOrder;
use geomi_sim::order::{Experiment, Figures, ModelWeb, Regime, Row, compare, html};

fn experiment(web: ModelWeb, regime: Regime, trials: u64) -> Experiment {
    Experiment {
        webs: vec![web],
        orders: HostOrder::ALL.to_vec(),
        regimes: vec![regime],
        seed: 1,
        trials,
    }
}

fn of(rows: &[Row], order: HostOrder) -> Figures {
    let mut rows = rows.iter();
    rows.find(|row| row.policy == order.as_str()).unwrap().mean
}

#[test]
fn where_connections_are_short_the_default_is_best_and_nobody_waits_thrice_as_long() {
    let rows = compare(&experiment(ModelWeb::Mixed, Regime::Many, 1));
    let default = of(&rows, HostOrder::default());
    for other in HostOrder::ALL
        .into_iter()
        .filter(|order| *order != HostOrder::default())
    {
        let other = of(&rows, other);
        assert!(default.pages_per_s > other.pages_per_s, "{rows:?}");
        assert!(default.t90_s < other.t90_s, "{rows:?}");
    }
    assert!(default.wait_to_round_robin < 3.0, "{default:?}");
}

#[test]
fn among_equal_sites_no_order_gains() {
    let rows = compare(&experiment(ModelWeb::Equal, Regime::Many, 1));
    let by_turns = of(&rows, HostOrder::RoundRobin);
    for row in &rows {
        assert!((row.mean.pages_per_s / by_turns.pages_per_s - 1.0).abs() < 0.01);
        assert!((row.mean.t90_s / by_turns.t90_s - 1.0).abs() < 0.01);
    }
}

#[test]
fn where_sites_are_few_the_order_makes_no_difference() {
    let rows = compare(&experiment(ModelWeb::Mixed, Regime::Few, 1));
    let by_turns = of(&rows, HostOrder::RoundRobin);
    for row in &rows {
        assert!(
            (row.mean.t90_s / by_turns.t90_s - 1.0).abs() < 0.01,
            "{rows:?}"
        );
        assert!(row.mean.longest_wait_s < 0.1, "{rows:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_figures_and_the_same_page() {
    let asked = experiment(ModelWeb::Tail, Regime::Few, 3);
    let (first, second) = (compare(&asked), compare(&asked));
    assert_eq!(html(&asked, &first), html(&asked, &second));
    assert_eq!(first, second);
    let other = Experiment { seed: 2, ..asked };
    assert_ne!(compare(&other), first);
    let page = html(&other, &first);
    assert_eq!(page.matches("<polyline").count(), 8);
    assert!(
        !page.contains("<script") && !page.contains("http"),
        "all inline"
    );
}
