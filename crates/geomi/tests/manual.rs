//! The command line told to shells, readers and editors.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::io::Write as _;
use std::process::{Command, Stdio};

use common::{Done, Workplace};

#[test]
fn bash_reads_the_completions() {
    let place = Workplace::new();
    let script = place.geomi(&["completions", "bash"]);
    assert_eq!(script.code, Some(0), "{script:#?}");
    let mut bash = Command::new("bash")
        .arg("-n")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = bash.stdin.take().unwrap();
    input.write_all(script.out.as_bytes()).unwrap();
    drop(input);
    let read = Done::from(bash.wait_with_output().unwrap());
    assert_eq!((read.code, read.err.as_str()), (Some(0), ""));
}

#[test]
fn completions_have_flags_and_no_hidden_commands() {
    let place = Workplace::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = place.geomi(&["completions", shell]).out;
        let has = |words: &[&str]| words.iter().any(|word| script.contains(word));
        assert!(has(&["site-delay"]) && has(&["verify"]), "{shell}");
        assert!(!has(&["serve-testweb", "serve__testweb"]), "{shell}");
    }
    place
        .geomi(&["completions", "tcsh"])
        .fails(2, &["bash", "zsh", "fish"]);
}

#[test]
fn man_pages_have_their_sections_and_variables() {
    let place = Workplace::new();
    for (words, name) in [
        (vec!["man"], "geomi"),
        (vec!["man", "crawl"], "geomi\\-crawl"),
    ] {
        let page = place.geomi(&words).out;
        assert!(page.contains(".SH NAME\n") && page.contains(".SH SYNOPSIS\n"));
        assert!(page.contains(&format!(".SH NAME\n{name} \\- ")), "{page}");
        assert!(page.contains("GEOMI_CONFIG"), "{page}");
        assert!(!page.contains("testweb"), "{page}");
    }
    place
        .geomi(&["man", "crowl"])
        .fails(2, &["no command \"crowl\"", "crawl, "]);
    let done = place.geomi(&["man", "--dir", "pages"]);
    assert_eq!(done.code, Some(0), "{done:#?}");
    for name in ["geomi.1", "geomi-crawl.1", "geomi-config.1"] {
        assert!(place.exists(&format!("pages/{name}")), "{name}");
    }
    assert!(!place.exists("pages/geomi-serve-testweb.1"));
}

#[test]
fn the_schema_is_one_json_value() {
    let done = Workplace::new().geomi(&["schema"]);
    let schema: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(
        schema["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    assert_eq!(schema["additionalProperties"], false);
    let presets = &schema["properties"]["preset"]["enum"];
    assert!(
        presets
            .as_array()
            .unwrap()
            .contains(&"robot-2003".to_owned().into())
    );
}

#[test]
fn the_help_leaves_colours_out_when_asked() {
    let place = Workplace::new();
    let help = |words: &[&str], variables: &[(&str, &str)]| {
        let mut command = place.command(words);
        command
            .env_remove("NO_COLOR")
            .env("CLICOLOR_FORCE", "1")
            .envs(variables.iter().copied());
        Done::from(command.output().unwrap()).out
    };
    for words in [&["--help"][..], &["crawl", "--help"]] {
        assert!(help(words, &[]).contains('\x1b'));
        assert!(!help(words, &[("NO_COLOR", "1")]).contains('\x1b'));
        assert!(!help(words, &[("GEOMI_COLOR", "never")]).contains('\x1b'));
        let never = [words, &["--color", "never"]].concat();
        assert!(!help(&never, &[]).contains('\x1b'));
    }
}

#[test]
fn variables_are_read_also_where_they_are_made() {
    let place = Workplace::new();
    let done = place
        .command(&["bench"])
        .env("GEOMI_BENCH_SITES", "0")
        .output()
        .unwrap();
    Done::from(done).fails(2, &["--sites", "0 is not in 1..=10000"]);
    let done = place
        .command(&["man"])
        .env("GEOMI_MAN_DIR", "there")
        .output()
        .unwrap();
    assert_eq!(Done::from(done).code, Some(0));
    assert!(place.exists("there/geomi.1"));
}
