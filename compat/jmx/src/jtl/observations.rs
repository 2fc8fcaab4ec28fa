//! Reads result files as a trial of an analysis: the row of JMeter for `brunt analyse`.

use super::{JtlSettings, for_each_sample, is_result_file};
use brunt_model::{Observations, SampleRecord};
use brunt_store::foreign::{File, RequestSample, ResultReader, SampleRows, TimeResolution};
use std::collections::HashSet;

/// The formats of results that JMeter writes.
pub const RESULT_READERS: &[ResultReader] =
    &[ResultReader { about: "JMeter's JTL, CSV or XML", matches: is_result_file, read }];

const NOTES: [&str; 2] = [
    "JMeter's elapsed time begins when a request is sent, and a thread waits for its reply: a queue before the server is \
     not seen (coordinated omission)",
    "the load is the number of JMeter's threads that asked; how long they thought in between is not known",
];

fn read(file: &File) -> Result<Observations, String> {
    let mut rows = SampleRows::default();
    let mut threads: HashSet<String> = HashSet::new();
    let mut transactions = 0_u64;
    let settings = JtlSettings::default();
    let unreadable = for_each_sample(file.text.as_bytes(), &settings, |record| {
        // The requests of a transaction have samples of their own.
        if record.is_transaction {
            transactions += 1;
            return;
        }
        rows.samples.push(sample(record));
        if !record.thread_name.is_empty() && !threads.contains(&record.thread_name) {
            threads.insert(record.thread_name.clone());
        }
    })
    .map_err(|error| error.to_string())?;
    let mut all = rows.observations(file, TimeResolution::Millisecond, "", &NOTES)?;
    all.observations[0].load = threads.len().max(1) as f64;
    if threads.is_empty() {
        all.notes.push(
            "the file has no threadName: the number of threads is unknown; 1 is assumed".into(),
        );
    }
    if transactions > 0 {
        let note = format!(
            "{transactions} transaction samples are left out: the file also has their requests"
        );
        all.notes.push(note.into());
    }
    all.notes.extend(unreadable.map(|unreadable| unreadable.to_string().into()));
    Ok(all)
}

fn sample(record: &SampleRecord) -> RequestSample {
    let seconds = record.elapsed_millis as f64 / 1e3;
    RequestSample {
        start: record.start_unix_millis as f64 / 1e3,
        duration: seconds,
        // JMeter writes a sentence in place of the status code if there was no reply.
        completed: match record.code.trim() {
            "" => record.success,
            code => code.parse::<u16>().is_ok(),
        },
        good: record.success,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_store::foreign;
    use std::fmt::Write;

    const HEADER: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,\
                          sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n";

    fn one(text: &str) -> Observations {
        let file = File { name: "result.jtl".into(), text: text.into() };
        foreign::read(&[file], RESULT_READERS).expect("a result file")
    }

    fn rows() -> String {
        let mut csv = String::new();
        for n in 0..200_u64 {
            let code =
                if n == 7 { "Non HTTP response code: java.net.SocketException" } else { "200" };
            writeln!(
                csv,
                "{},20,\"a, b\",{code},OK,Users 1-{},text,{},,1,1,2,2,http://h/,20,0,0",
                1_700_000_000_000 + n * 10,
                n % 2 + 1,
                n != 7
            )
            .expect("a text");
        }
        csv
    }

    #[test]
    fn files_of_either_format_are_a_trial() {
        let transaction = "1700000000000,2000,all,200,\"Number of samples in transaction : 2, number of failing samples : 0\",Users 1-1,,\
                           true,,1,1,2,2,null,0,0,0\n";
        let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testResults version=\"1.2\">\n"
            .to_owned();
        for row in rows().lines() {
            let cells: Vec<&str> = row.split(',').collect();
            writeln!(
                xml,
                "<httpSample t=\"20\" ts=\"{}\" s=\"{}\" rc=\"{}\" tn=\"{}\"><httpSample t=\"1\" ts=\"1\" s=\"true\" rc=\"200\" tn=\"x\"/></httpSample>",
                cells[0], cells[8], cells[4], cells[6]
            )
            .expect("a text");
        }
        xml.push_str("</testResults>\n");
        // Without a header, the columns are those that JMeter writes by default.
        for text in [format!("{HEADER}{}{transaction}", rows()), rows(), xml] {
            let all = one(&text);
            let trial = &all.observations[0];
            assert_eq!((trial.load, trial.errors), (2.0, Some(0.005)));
            assert!(trial.mean.is_some_and(|mean| (mean - 0.02).abs() < 1e-9));
            assert!((trial.achieved - 199.0 / 2.01).abs() < 1e-6, "{}", trial.achieved);
            assert_eq!(trial.blocks.iter().map(|block| block.completed).sum::<u64>(), 199);
        }
    }

    #[test]
    fn each_readable_sample_counts_and_the_others_are_told() {
        let rows = rows();
        let (first, second) = rows.split_at(rows.len() / 2);
        let first = first.replacen("20,0,0\n", "20,-5,0\n", 1);
        let start = second.find('\n').map_or(0, |end| end + 1);
        let header = format!(
            "label,elapsed,timeStamp,responseCode,threadName,success\nc,5,1700000001000,200,Users 1-1,true\n{HEADER}"
        );
        let text = format!(
            "{HEADER}{first}\n1700000000000,x,a,200,OK,t,,true,,1,1,2,2,,1,0,0\n{header}{}1700000002000,20,\"a",
            &second[start..]
        );
        let all = one(&text);
        let note = all.notes.iter().find(|note| note.contains("left out")).expect("a note");
        assert!(
            note.starts_with("samples left out because they cannot be read: 3; the first: line "),
            "{note}"
        );
        // One of 200 rows was torn, and the row of the other header was added.
        let completed: u64 = all.observations[0].blocks.iter().map(|block| block.completed).sum();
        assert_eq!(completed, 199);
        // An XML file of a run that was killed.
        let sample = |t: &str| {
            format!(
                "<sample t=\"{t}\" it=\"-3\" ts=\"1700000000000\" s=\"true\" rc=\"200\" tn=\"a\"/>\n"
            )
        };
        let torn = format!(
            "<testResults>\n{}{}{}<sample t=\"5\" ts=\"17",
            sample("5"),
            sample("x"),
            sample("7")
        );
        let all = one(&torn);
        assert_eq!(all.observations[0].mean, Some(0.006));
        assert!(
            all.notes
                .iter()
                .any(|note| note
                    .contains("cannot be read: 2; the first: line 3: attribute `t` is `x`")),
            "{:?}",
            all.notes
        );
    }
}
