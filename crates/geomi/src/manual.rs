//! `geomi completions` and `geomi man`: the command line for shells and readers,
//! made from its own description.

use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use clap::Command;
use clap_mangen::Man;

use crate::Exit;
use crate::args::{CompletionsArgs, ManArgs};
use crate::command::visible;
use crate::config::Problems;
use crate::terminal::print;

/// Prints a completion script.
pub(crate) fn complete(args: &CompletionsArgs) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut visible(), "geomi", &mut script);
    print(String::from_utf8(script)?.trim_end())?;
    Ok(Exit::Done)
}

/// Prints a man page, or writes all of them.
pub(crate) fn explain(args: &ManArgs) -> anyhow::Result<Exit> {
    let mut whole = visible();
    // Gives the commands below their whole names, and the global flags.
    whole.build();
    if let Some(dir) = &args.dir {
        std::fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
        let pages = write_pages(&whole, dir)?;
        print(&format!("wrote {pages} pages into {}", dir.display()))?;
        return Ok(Exit::Done);
    }
    let page = render(find(&whole, &args.command)?)?;
    print(String::from_utf8(page)?.trim_end())?;
    Ok(Exit::Done)
}

fn find<'a>(whole: &'a Command, words: &[String]) -> Result<&'a Command, Problems> {
    let mut found = whole;
    for word in words {
        let Some(sub) = found.find_subcommand(word) else {
            let names: Vec<&str> = found.get_subcommands().map(Command::get_name).collect();
            let names = names.join(", ");
            let mut problems = Problems::default();
            problems.add_general(format!("there is no command {word:?}; there are {names}"));
            return Err(problems);
        };
        found = sub;
    }
    Ok(found)
}

/// Writes the pages of a command and of those below it; says how many.
fn write_pages(command: &Command, dir: &Path) -> anyhow::Result<usize> {
    let path = dir.join(format!("{}.1", name_of(command)));
    let page = render(command)?;
    let mut file = std::fs::File::create(&path)
        .with_context(|| format!("cannot create {}", path.display()))?;
    file.write_all(&page)
        .with_context(|| format!("cannot write {}", path.display()))?;
    let mut pages = 1;
    for sub in command.get_subcommands() {
        pages += write_pages(sub, dir)?;
    }
    Ok(pages)
}

/// `geomi-crawl`, as its page is called.
fn name_of(command: &Command) -> &str {
    command.get_display_name().unwrap_or(command.get_name())
}

fn render(command: &Command) -> anyhow::Result<Vec<u8>> {
    let mut page = Vec::new();
    let man = Man::new(command.clone()).title(name_of(command));
    man.render(&mut page)?;
    Ok(page)
}
