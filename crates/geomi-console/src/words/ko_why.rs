//! Why a crawl or a site stands as it does, in Korean.

use geomi_engine::explain::{Advice, Held, NextKind, NextStep, Reason, RobotsStanding};
use geomi_engine::{LeftGroup, LeftReason};
use geomi_refresh::upkeep::RefreshDrive;

use super::{ko, look_up};
use crate::pages::format::{bytes, count, moment};

/// Why a crawl stands as it does.
pub(super) fn reason(reason: &Reason) -> String {
    match reason {
        Reason::Paused => "수집이 일시 정지되어 있습니다.".to_owned(),
        Reason::Stopping => {
            "수집을 멈추는 중입니다. 진행 중인 요청만 마치고 새 요청은 보내지 않습니다.".to_owned()
        }
        Reason::NotBegun => "수집을 아직 시작하지 않았습니다.".to_owned(),
        Reason::Gone => {
            "이 수집을 실행하는 프로세스가 없습니다. 마지막 프로세스가 정상적으로 끝나지 않았습니다.".to_owned()
        }
        Reason::Incomplete { urls, sites } => match sites {
            Some(sites) => format!(
                "수집이 끝나지 않았습니다. 사이트 {}곳의 URL {}개가 남아 있습니다.",
                count(*sites),
                count(*urls)
            ),
            None => format!("수집이 끝나지 않았습니다. URL {}개가 남아 있습니다.", count(*urls)),
        },
        Reason::Left(group) => left(group),
        Reason::NothingSaved => "저장한 페이지가 없습니다.".to_owned(),
        Reason::SitesFailing { sites } => {
            let sites = sites.iter();
            let sites = sites.map(|(site, failures)| format!("{site} ({failures}번)"));
            let sites: Vec<String> = sites.collect();
            format!("최근 요청이 연속으로 실패한 사이트: {}", sites.join(", "))
        }
        Reason::RobotsUnreachable { visits } => format!(
            "robots.txt 요청에 오류(429 또는 5xx)가 돌아와 페이지 {}개를 요청하지 않았습니다.",
            count(*visits)
        ),
        Reason::Drained => "수집이 끝났습니다. 대기 중인 주소가 없습니다.".to_owned(),
        Reason::SeedsFailed => "시작 주소를 모두 가져오지 못했습니다.".to_owned(),
        Reason::TooManyFailures { failed } => format!(
            "페이지 {}개가 실패해 crawl.max_failures를 넘었습니다.",
            count(*failed)
        ),
        Reason::PageLimit { saved } => format!(
            "crawl.max_pages에 도달했습니다. 페이지 {}개를 저장했습니다.",
            count(*saved)
        ),
        Reason::ByteLimit { bytes: sent } => format!(
            "crawl.max_bytes에 도달했습니다. {}를 받았습니다.",
            bytes(*sent as f64)
        ),
        Reason::TimeLimit { seconds } => {
            format!("{seconds:.0}초가 지나 crawl.max_time에 도달했습니다.")
        }
        Reason::DiskFull { free, min } => format!(
            "디스크에 {}가 남았습니다. {} 아래로 내려가면 수집을 멈춥니다(output.min_free).",
            bytes(*free as f64),
            bytes(*min as f64)
        ),
        Reason::Stopped => "사용자가 수집을 멈췄습니다.".to_owned(),
        Reason::DiskLow { free, min } => format!(
            "디스크에 {}가 남아 output.min_free({})보다 적습니다.",
            bytes(*free as f64),
            bytes(*min as f64)
        ),
        Reason::AwaitingSeeds => "시작 주소 목록을 아직 다 읽지 못했습니다.".to_owned(),
        Reason::Running {
            pages_per_s,
            requests,
        } => format!(
            "실행 중입니다. 초당 {pages_per_s:.1}페이지를 저장하고, 요청 {}개를 보내고 있습니다.",
            count(*requests)
        ),
        Reason::KeptFresh(refresh) => {
            let by = match refresh.drive {
                RefreshDrive::Plan => format!("{} 정책에 따라", refresh.policy),
                RefreshDrive::Rounds => "차례로 돌아가며".to_owned(),
                RefreshDrive::Table => "일정표에 따라".to_owned(),
            };
            let next = refresh.next_due.as_ref();
            let next = next.map_or(String::new(), |next| format!(" 다음 방문: {}.", moment(next)));
            format!(
                "페이지 {}개를 {by} 하루 {:.1}번 요청해 최신으로 유지합니다.{next}",
                count(refresh.pages),
                refresh.requests_per_day
            )
        }
        Reason::AllWait { sites, seconds, at } => format!(
            "사이트 {}개가 모두 기다리는 중입니다. 첫 요청은 {seconds:.1}초 뒤({})에 보냅니다.",
            count(*sites),
            moment(at)
        ),
        Reason::SitesHeld {
            sites,
            of,
            held: why,
            example,
        } => format!(
            "사이트 {}개 중 {}개: {} (예: {example})",
            count(*of),
            count(*sites),
            held(why)
        ),
        Reason::OneSite {
            site,
            urls,
            rest_s,
            least_s,
        } => format!(
            "{site} 한 곳에만 주소 {}개가 남았습니다. 응답을 받을 때마다 {rest_s:.1}초씩 쉬므로 적어도 {least_s:.0}초가 걸립니다.",
            count(*urls)
        ),
        Reason::SiteRetired { site, reason, why } => {
            let why = reason.map_or_else(|| why.clone(), |reason| left_why(reason).to_owned());
            format!("{site}: 이번 실행에서 제외했습니다. ({why})")
        }
        Reason::RobotsRefused { urls } => {
            format!("robots.txt가 주소 {}개를 막았습니다.", count(*urls))
        }
        Reason::ScopeRefused { links, rule } => {
            format!("범위 규칙이 링크 {}개를 제외했습니다. ({rule})", count(*links))
        }
        Reason::TooDeep { links } => format!(
            "링크 {}개가 scope.depth로 정한 깊이보다 깊습니다.",
            count(*links)
        ),
        Reason::AddressesRefused { urls } => {
            format!("주소 제한 규칙이 URL {}개를 막았습니다.", count(*urls))
        }
        Reason::NoAddress { visits } => format!(
            "이름에 해당하는 주소를 찾지 못해 방문 {}번이 실패했습니다. (noIP)",
            count(*visits)
        ),
        Reason::NothingFetched { states } => {
            let states = states.iter();
            let states: Vec<String> = states
                .map(|(state, n)| format!("{} {}", look_up(ko::WORDS.network, state), count(*n)))
                .collect();
            format!("페이지를 하나도 가져오지 못했습니다: {}", states.join(", "))
        }
    }
}

/// URLs that a run left, for one reason.
fn left(group: &LeftGroup) -> String {
    let why = left_why(group.reason);
    let example = group.example.as_ref();
    let example = example.map_or(String::new(), |site| format!(" (예: {site})"));
    let until = group.until.as_ref();
    let until = until.map_or(String::new(), |until| {
        format!(" 대기 종료: {}.", moment(until))
    });
    format!(
        "사이트 {}곳의 URL {}개{example}: {why}.{until}",
        count(group.sites),
        count(group.urls)
    )
}

/// Why URLs are left.
const fn left_why(reason: LeftReason) -> &'static str {
    match reason {
        LeftReason::TrapGuard => "끝없이 늘어나는 부분으로 보여 미뤄 두었습니다",
        LeftReason::LongWait => {
            "사이트가 politeness.max_wait보다 오래 기다려 달라고 했습니다 (429 또는 503)"
        }
        LeftReason::LongDelay => "사이트의 요청 간격이 politeness.max_wait보다 깁니다",
        LeftReason::SiteFailing => "사이트가 연속으로 너무 많이 실패했습니다",
        LeftReason::RobotsElsewhere => "robots.txt가 요청할 수 없는 다른 사이트로 연결됩니다",
        LeftReason::SitePageLimit => "[[site]]의 max_pages에 이르렀습니다",
        LeftReason::Queued => "대기열에 남아 있습니다",
    }
}

/// What to do about it.
pub(super) fn advice(advice: Advice) -> String {
    match advice {
        Advice::Resume => "geomi resume DIR로 계속하세요",
        Advice::GiveSeeds => "시작 주소를 하나 이상 넣어 geomi crawl -o DIR을 실행하세요",
        Advice::RunAgainSafely => {
            "같은 명령을 다시 실행하세요. 멈춘 곳에서 이어지며, 잃는 것은 없습니다"
        }
        Advice::RunAgain => "같은 명령을 다시 실행하면 이어집니다",
        Advice::RaiseMaxWait => "나중에 다시 실행하거나 politeness.max_wait를 늘리세요",
        Advice::LookAtSeeds => {
            "`geomi explain DIR URL`로 시작 주소를 확인하고, 문제를 고친 뒤 다시 실행하세요"
        }
        Advice::RaisePages => "한도(-n)를 늘려 다시 실행하세요",
        Advice::RaiseBytes => "한도(--max-bytes)를 늘려 다시 실행하세요",
        Advice::RaiseTime => "한도(--max-time)를 늘려 다시 실행하세요",
        Advice::MakeRoomAndRun => "공간을 확보하고 같은 명령을 다시 실행하세요. 잃는 것은 없습니다",
        Advice::MakeRoom => "공간을 확보하세요. 그러지 않으면 수집이 정상 절차로 멈춥니다",
        Advice::ClosePipe => "시작 주소가 들어오는 파이프를 닫거나 `geomi stop DIR`을 실행하세요",
        Advice::LookAtScope => "설정의 [scope]를 확인하세요",
        Advice::SeeReasons => "아래 이유와 각각의 해결 방법을 확인하세요",
        Advice::TurnTrapGuardOff => {
            "geomi crawl -o DIR --trap-guard off 명령을 실행하면 가져옵니다"
        }
        Advice::RaiseSitePages => "[[site]]의 max_pages를 늘리세요",
        Advice::RunAgainLater => "나중에 다시 실행하세요",
        Advice::RaiseDepth => "-d 값을 늘려 다시 실행하세요",
        Advice::LookAtNameServer => "이름 서버(fetch.name_servers)를 확인하세요",
        Advice::AllowPrivate => "직접 관리하는 주소라면 --allow-private로 허용하세요",
    }
    .to_owned()
}

/// What a site waits for.
pub(super) fn held(held: &Held) -> String {
    match held {
        Held::Unknown => "이 사이트의 주소는 대기열에 들어온 적이 없습니다".to_owned(),
        Held::AddressRefused { why } => format!("이 주소에는 접속할 수 없습니다 ({why})"),
        Held::NoAddress { why } => format!("사이트의 주소를 찾지 못했습니다 ({why})"),
        Held::Ready => "빈 연결이 생기면 바로 요청합니다".to_owned(),
        Held::Drained => "대기 중인 주소가 없습니다".to_owned(),
        Held::Busy => "진행 중인 요청을 기다립니다. 허용된 연결을 모두 쓰고 있거나, 다음 페이지가 더 깊은 단계에 있습니다 (crawl.page_order)".to_owned(),
        Held::Lookup => "이름을 찾는 중입니다".to_owned(),
        Held::LookupFailed { times } => format!("이름을 {times}번 연속 찾지 못했습니다"),
        Held::Robots => "robots.txt를 받는 중입니다".to_owned(),
        Held::AddressLimit { address } => {
            format!("서버 {address}에 허용된 연결을 모두 쓰고 있습니다")
        }
        Held::Delay { seconds } => format!("응답을 받을 때마다 {seconds:.1}초 쉽니다"),
        Held::CrawlDelay { seconds } => {
            format!("robots.txt가 {seconds}초의 Crawl-delay를 요구합니다")
        }
        Held::Throttled => "사이트가 잠시 요청하지 말라고 했습니다 (429 또는 503)".to_owned(),
        Held::BackOff { failures } => format!("{failures}번 연속 실패해 잠시 쉬고 있습니다"),
        Held::Retry => "재시도할 주소만 남았고, 아직 때가 되지 않았습니다".to_owned(),
        Held::Turn => {
            "crawl.sites_in_memory만큼의 사이트를 이미 수집하고 있어 차례를 기다립니다".to_owned()
        }
        Held::Retired { reason, .. } => {
            format!("이번 실행에서 제외했습니다 ({})", left_why(*reason))
        }
    }
}

/// What is known of a robots.txt.
pub(super) fn robots(robots: &RobotsStanding) -> String {
    match robots {
        RobotsStanding::Ignored => "robots.txt를 무시합니다 (fetch.robots)".to_owned(),
        RobotsStanding::NotAsked => "robots.txt를 아직 요청하지 않았습니다".to_owned(),
        RobotsStanding::NoAnswer { state, why } => format!(
            "robots.txt에 응답이 없어 페이지를 요청하지 않습니다 ({}: {why})",
            look_up(ko::WORDS.network, state)
        ),
        RobotsStanding::Unreachable { why } => {
            format!("robots.txt를 가져올 수 없어 페이지를 요청하지 않습니다 ({why})")
        }
        RobotsStanding::Missing { code } => {
            format!("robots.txt가 없어({code}) 모든 페이지를 요청할 수 있습니다")
        }
        RobotsStanding::Read {
            is_start_allowed: true,
        } => "robots.txt를 읽었고, 첫 페이지를 요청할 수 있습니다".to_owned(),
        RobotsStanding::Read {
            is_start_allowed: false,
        } => "robots.txt를 읽었고, 첫 페이지는 요청할 수 없습니다".to_owned(),
    }
}

/// What happens to a URL next. Its details (a rule, an error) stand beside it.
pub(super) fn next(step: &NextStep) -> String {
    let words = match step.code {
        NextKind::Queued => "사이트의 대기열에서 차례를 기다리고 있습니다",
        NextKind::Deferred => {
            "끝없이 늘어나는 부분으로 의심되어 미뤄 두었습니다. --trap-guard off로 다시 실행하면 가져옵니다"
        }
        NextKind::Postponed => {
            "새 페이지이며, 새 페이지에 쓸 수 있는 요청 수가 생기기를 기다립니다"
        }
        NextKind::OnItsWay => "지금 방문하고 있거나 대기열로 들어가는 중입니다",
        NextKind::Planned => "최신으로 유지하는 페이지라서 다시 방문할 예정입니다",
        NextKind::Visited => "이미 방문했습니다. 수집은 한 주소를 한 번만 방문합니다",
        NextKind::GivenUp => "여러 번 시도했지만 실패해 포기했습니다",
        NextKind::Refused => "규칙에 따라 방문하지 않습니다",
        NextKind::TooDeep => "시드에서 너무 깊은 곳에 있어 대기열에 넣지 않았습니다",
        NextKind::OutOfScope => "수집 범위 밖의 주소입니다",
        NextKind::NotQueued => "이 주소로 가는 링크를 따라간 적이 없습니다",
        NextKind::Unknown => return step.text.clone(),
    };
    match &step.at {
        Some(at) => format!("{words} ({} 이후)", moment(at)),
        None => words.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_a_site_was_left_alone_is_told_in_korean() {
        let why = "its robots.txt redirects to a site that is left alone".to_owned();
        let told = reason(&Reason::SiteRetired {
            site: "e.com".to_owned(),
            reason: Some(LeftReason::RobotsElsewhere),
            why: why.clone(),
        });
        assert!(
            told.contains("다른 사이트") && !told.contains(&why),
            "{told}"
        );
        let told = held(&Held::Retired {
            reason: LeftReason::SiteFailing,
            why: why.clone(),
        });
        assert!(
            told.contains("실패했습니다") && !told.contains(&why),
            "{told}"
        );
    }
}
