use super::*;
use proptest::prelude::*;
use std::collections::HashSet;

fn parsed(line: &str) -> Result<CliOptions, String> {
    CliOptions::parse(line.split_whitespace().map(str::to_owned)).map_err(|error| error.to_string())
}

#[test]
fn a_typical_command_line_is_parsed() {
    let line = "-n -t plan.jmx -l out.jtl -j run.log -e -o report -f -Jusers=10 -Jempty -Dx=y=z -L jmeter.http=DEBUG -LINFO \
                -q a.properties -Gg=1 -Gfile.properties -R h1,h2 -X -H proxy -P 3128 -N a|b -u me -a pw -E http -d /opt -i log.xml \
                -p base.properties -S sys.properties";
    let options = parsed(line).unwrap();
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(options.mode, JmeterMode::NonGui);
    assert_eq!(
        (options.plan, options.result_file, options.log_file),
        (text("plan.jmx"), text("out.jtl"), text("run.log"))
    );
    assert!(options.report_at_end && options.force_delete && options.exit_remote);
    assert_eq!(options.report_folder, text("report"));
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let ((users, ten), (empty, none), (x, yz), (g, one)) =
        (pair("users", "10"), pair("empty", ""), pair("x", "y=z"), pair("g", "1"));
    assert_eq!(
        options.properties,
        [
            PropertyArgument::Jmeter(users, ten),
            PropertyArgument::Jmeter(empty, none),
            PropertyArgument::System(x, yz),
            PropertyArgument::File("a.properties".into()),
            PropertyArgument::Global(g, one),
            PropertyArgument::GlobalFile("file.properties".into()),
            PropertyArgument::SystemFile("sys.properties".into()),
        ]
    );
    assert_eq!(options.log_levels, [(text("jmeter.http"), "DEBUG".into()), (None, "INFO".into())]);
    assert_eq!(options.remote, RemoteServers::Hosts(vec!["h1".into(), "h2".into()]));
    let proxy = ProxyOptions {
        scheme: text("http"),
        host: text("proxy"),
        port: Some(3128),
        except: text("a|b"),
        user: text("me"),
        password: text("pw"),
    };
    assert_eq!(options.proxy, proxy);
    assert_eq!(
        (options.home, options.log_config, options.property_file),
        (text("/opt"), text("log.xml"), text("base.properties"))
    );
}

#[test]
fn spellings_of_an_option_are_equivalent() {
    let expected = parsed("-n -t plan.jmx -l out.jtl -Ja=1").unwrap();
    for line in [
        "-n -tplan.jmx -lout.jtl -J a=1",
        "-nt plan.jmx -l=out.jtl --jmeterproperty a=1",
        "--nongui --testfile=plan.jmx --logfile out.jtl --jmeterproperty=a=1",
    ] {
        assert_eq!(parsed(line).unwrap(), expected, "{line}");
    }
}

#[test]
fn modes_follow_from_the_options() {
    for (line, mode) in [
        ("", JmeterMode::Gui),
        ("-t LAST", JmeterMode::Gui),
        ("-s", JmeterMode::Server),
        ("-g a.jtl -o out", JmeterMode::Report),
        ("-g a.jtl -v", JmeterMode::Version),
        ("-?", JmeterMode::Options),
        ("-e --help", JmeterMode::Help),
    ] {
        assert_eq!(parsed(line).unwrap().mode, mode, "{line}");
    }
    assert_eq!(parsed("-g a.jtl").unwrap().result_file, Some("a.jtl".into()));
    assert_eq!(parsed("-n -t a -r").unwrap().remote, RemoteServers::Configured);
}

#[test]
fn options_of_brunt_are_returned() {
    let options =
        parsed("-n --brunt-require=p99<50ms --brunt-out a.json -t plan.jmx --brunt-quiet").unwrap();
    let expected = [("brunt-require", "p99<50ms"), ("brunt-out", "a.json"), ("brunt-quiet", "")];
    assert_eq!(options.brunt, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
}

#[test]
fn errors_name_the_mistake() {
    let cases = [
        ("-n", "`-n` (`--nongui`) needs `-t` (`--testfile`); write `-t plan.jmx`"),
        (
            "-n -t a -e",
            "`-e` (`--reportatendofloadtests`) needs `-l` (`--logfile`); write `-l results.jtl`",
        ),
        ("-g a -n", "`-g` (`--reportonly`) excludes `-n` (`--nongui`)"),
        ("-g a -l b", "`-g` (`--reportonly`) excludes `-l` (`--logfile`)"),
        ("-r", "`-r` (`--runremote`) needs `-n` (`--nongui`)"),
        ("-o out", "needs `-e` (`--reportatendofloadtests`) or `-g` (`--reportonly`)"),
        ("-n -t a -t b", "`-t` (`--testfile`) is given twice"),
        ("-t", "`-t` (`--testfile`) needs a value; write `-t plan.jmx`"),
        ("--testfile=", "has an empty value"),
        ("--nongui=1", "`--nongui` takes no value"),
        ("--testplan x", "unknown option `--testplan`; did you mean `--testfile`?"),
        ("--xyz", "unknown option `--xyz`; `-?` lists all"),
        ("-nz", "unknown option `-z` in `-nz`"),
        ("plan.jmx", "unexpected argument `plan.jmx`; a plan is named with `-t plan.jmx`"),
        (
            "-H a -P 0",
            "`-P` (`--proxyPort`) is `0`; expected a port from 1 to 65535, such as `-P 3128`",
        ),
        ("-J =1", "expected `name=value`, such as `-J users=10`"),
        ("-L x=", "expected `level` or `category=level`"),
        ("-n -t a -R a,,b", "expected hosts"),
    ];
    for (line, expected) in cases {
        let error = parsed(line).unwrap_err();
        assert!(error.contains(expected), "{line}\n  is: {error}\n  not: {expected}");
    }
}

#[test]
fn similar_names_are_distinguished() {
    let names: HashSet<_> = OPTIONS.iter().map(|row| row.short).collect();
    let long: HashSet<_> = OPTIONS.iter().map(|row| row.long).collect();
    assert_eq!((names.len(), long.len()), (OPTIONS.len(), OPTIONS.len()));
}

proptest! {
    #[test]
    fn any_arguments_are_parsed_or_refused(arguments in prop::collection::vec("-{0,2}[a-zA-Z?=,é]{0,4}|-J.{0,5}|\\PC{0,6}", 0..6)) {
        let _ = CliOptions::parse(arguments);
    }
}
