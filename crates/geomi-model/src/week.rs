//! Days and hours of a week, as tables and settings name them.

/// Hours of a week.
pub const HOURS: usize = 7 * 24;
/// The days. A week begins on Sunday at midnight.
pub const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

/// The hour of the week that a day, of which three letters will do, and an hour
/// name.
pub fn hour_of(day: &str, hour: &str) -> Result<usize, String> {
    let is_day =
        |name: &&str| day.len() >= 3 && name.to_lowercase().starts_with(&day.to_lowercase());
    let Some(day) = DAYS.iter().position(is_day) else {
        return Err(format!("{day:?} is no day: write Sunday to Saturday"));
    };
    match hour.parse::<usize>() {
        Ok(hour) if hour < 24 => Ok(day * 24 + hour),
        _ => Err(format!("{hour:?} is no hour: write 0 to 23")),
    }
}
