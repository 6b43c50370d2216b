//! The command line.

/// What `--help` prints.
pub(crate) const USAGE: &str = "\
usage: cargo run --example tour [-- --uri mongodb://HOST/DATABASE]

  --uri URI   run on the server at URI instead of in memory; the database must be empty or missing,
              and is dropped at the end
  --help      print this";

/// What was asked for.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Arguments {
    pub(crate) uri: Option<String>,
    pub(crate) help: bool,
}

impl Arguments {
    /// Reads the arguments behind the program's name.
    pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut arguments = arguments;
        let mut parsed = Self::default();
        while let Some(argument) = arguments.next() {
            let value = match argument.split_once('=') {
                Some(("--uri", value)) => Some(value.to_owned()),
                _ if argument == "--uri" => arguments.next(),
                _ if argument == "--help" || argument == "-h" => {
                    parsed.help = true;
                    continue;
                }
                _ => return Err(complaint(&format!("unknown argument `{argument}`"))),
            };
            let uri = value.ok_or_else(|| complaint("`--uri` needs a value"))?;
            if !uri.starts_with("mongodb://") && !uri.starts_with("mongodb+srv://") {
                return Err(complaint(
                    "the URI must begin with mongodb:// or mongodb+srv://",
                ));
            }
            if parsed.uri.replace(uri).is_some() {
                return Err(complaint("`--uri` is given twice"));
            }
        }
        Ok(parsed)
    }
}

fn complaint(what: &str) -> String {
    format!("{what}\n{USAGE}")
}

#[cfg(test)]
mod tests {
    use super::Arguments;

    fn parse(line: &str) -> Result<Arguments, String> {
        Arguments::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn a_uri_is_read_in_both_spellings() {
        for line in ["--uri mongodb://a/b", "--uri=mongodb://a/b"] {
            assert_eq!(parse(line).unwrap().uri.as_deref(), Some("mongodb://a/b"));
        }
        assert_eq!(parse("").unwrap(), Arguments::default());
        assert!(parse("--help").unwrap().help);
    }

    #[test]
    fn anything_else_is_refused_with_the_usage() {
        for (line, what) in [
            ("--url x", "unknown argument `--url`"),
            ("--uri", "needs a value"),
            ("--uri localhost", "must begin with mongodb://"),
            ("--uri mongodb://a --uri mongodb://b", "given twice"),
        ] {
            let message = parse(line).unwrap_err();
            assert!(
                message.contains(what) && message.contains("usage:"),
                "{message}"
            );
        }
    }
}
