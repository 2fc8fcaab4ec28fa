use super::settings::AssertionResults;
use super::*;
use brunt_java::date::DatePattern;
use brunt_model::{AssertionRecord, DataType, RecordDetails};
use proptest::prelude::*;

const FIELDS: [Field; 27] = [
    Field::Elapsed,
    Field::Label,
    Field::Code,
    Field::Message,
    Field::ThreadName,
    Field::DataType,
    Field::Success,
    Field::FailureMessage,
    Field::Bytes,
    Field::SentBytes,
    Field::ThreadCounts,
    Field::Url,
    Field::Filename,
    Field::Latency,
    Field::Encoding,
    Field::SampleCount,
    Field::Hostname,
    Field::IdleTime,
    Field::ConnectTime,
    Field::RequestHeaders,
    Field::ResponseHeaders,
    Field::SamplerData,
    Field::ResponseData,
    Field::ResponseDataOnError,
    Field::SubResults,
    Field::Assertions,
    Field::FieldNames,
];

fn record() -> SampleRecord {
    SampleRecord {
        start_unix_millis: 1_709_212_025_042,
        elapsed_millis: 120,
        label: "login, \"go\"".into(),
        code: "200".into(),
        message: "OK".into(),
        thread_name: "users 1-1".into(),
        data_type: DataType::Text,
        success: true,
        bytes: 1024,
        sent_bytes: 100,
        group_threads: 1,
        all_threads: 2,
        url: Some("http://127.0.0.1/a?b=1".into()),
        latency_millis: 100,
        connect_millis: 5,
        sample_count: 1,
        is_http: true,
        ..SampleRecord::default()
    }
}

fn csv(settings: &JtlSettings, records: &[SampleRecord], start: FileStart) -> String {
    let mut writer = CsvWriter::new(Vec::new(), settings.clone(), start).unwrap();
    for record in records {
        writer.write(record).unwrap();
    }
    String::from_utf8(writer.finish().unwrap()).unwrap()
}

fn xml(settings: &JtlSettings, records: &[SampleRecord]) -> String {
    let mut writer = XmlWriter::new(Vec::new(), settings.clone(), FileStart::New).unwrap();
    for record in records {
        writer.write(record).unwrap();
    }
    String::from_utf8(writer.finish().unwrap()).unwrap()
}

fn all(text: &str, settings: &JtlSettings) -> Result<Vec<SampleRecord>, JmxError> {
    read(text.as_bytes(), settings)?.collect()
}

#[test]
fn a_default_file_equals_that_of_jmeter() {
    let failed = SampleRecord {
        failure_message: Some("a\nb".into()),
        success: false,
        url: None,
        ..record()
    };
    let expected = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,\
         grpThreads,allThreads,URL,Latency,IdleTime,Connect\n\
         1709212025042,120,\"login, \"\"go\"\"\",200,OK,users 1-1,text,true,,1024,100,1,2,http://127.0.0.1/a?b=1,100,0,5\n\
         1709212025042,120,\"login, \"\"go\"\"\",200,OK,users 1-1,text,false,\"a\nb\",1024,100,1,2,null,100,0,5\n";
    let settings = JtlSettings::default();
    assert_eq!(csv(&settings, &[record(), failed.clone()], FileStart::New), expected);
    let rows = expected.split_once('\n').unwrap().1;
    assert_eq!(csv(&settings, &[record(), failed], FileStart::Append), rows);
}

#[test]
fn all_columns_are_in_the_order_of_jmeter() {
    let properties = |name: &str| match name {
        "jmeter.save.saveservice.filename" | "jmeter.save.saveservice.encoding" => {
            Some("true".to_owned())
        }
        "jmeter.save.saveservice.sample_count" | "jmeter.save.saveservice.hostname" => {
            Some("TRUE".to_owned())
        }
        "jmeter.save.saveservice.default_delimiter" => Some("\\t".to_owned()),
        "jmeter.save.saveservice.timestamp_format" => Some("yyyy/MM/dd HH:mm:ss".to_owned()),
        "jmeter.save.saveservice.assertion_results" => Some("first".to_owned()),
        "sample_variables" => Some("user, id".to_owned()),
        _ => None,
    };
    let settings = JtlSettings::from_properties(properties).unwrap();
    assert_eq!(settings.assertion_results, AssertionResults::First);
    let record = SampleRecord {
        variables: vec!["ann".into(), "a\tb".into()],
        error_count: 3,
        hostname: "h".into(),
        ..record()
    };
    assert_eq!(
        csv(&settings, std::slice::from_ref(&record), FileStart::New).replace('\t', "|"),
        "timeStamp|elapsed|label|responseCode|responseMessage|threadName|dataType|success|failureMessage|bytes|sentBytes|\
         grpThreads|allThreads|URL|Filename|Latency|Encoding|SampleCount|ErrorCount|Hostname|IdleTime|Connect|\"user\"|\"id\"\n\
         2024/02/29 13:07:05|120|\"login, \"\"go\"\"\"|200|OK|users 1-1|text|true||1024|100|1|2|http://127.0.0.1/a?b=1||100||1|3|h|\
         0|5|ann|\"a|b\"\n"
    );
}

#[test]
fn wrong_settings_name_their_property() {
    for (name, value) in
        [("default_delimiter", "ab"), ("default_delimiter", "a"), ("timestamp_format", "JJ")]
    {
        let name = format!("jmeter.save.saveservice.{name}");
        let error = JtlSettings::from_properties(|asked| (asked == name).then(|| value.to_owned()))
            .unwrap_err()
            .to_string();
        assert!(error.contains(&name) && error.contains(value), "{error}");
    }
}

#[test]
fn headers_are_found_in_any_order_and_with_any_delimiter() {
    let expected = SampleRecord {
        label: "a".into(),
        elapsed_millis: 7,
        error_count: 1,
        sample_count: 1,
        ..SampleRecord::default()
    };
    let expected = SampleRecord { variables: vec!["v".into()], ..expected };
    for text in [
        "\u{FEFF}label;success;elapsed;extra\r\na;FALSE;7;v\r\n",
        "elapsed\tsuccess\t\"extra\"\tlabel\n7\tfalse\tv\ta",
    ] {
        assert_eq!(
            all(text, &JtlSettings::default()).unwrap(),
            std::slice::from_ref(&expected),
            "{text}"
        );
    }
}

#[test]
fn files_without_header_have_the_columns_of_the_settings() {
    let mut settings = JtlSettings::default();
    settings.save(Field::FieldNames, false);
    let text = csv(&settings, &[record()], FileStart::New);
    assert_eq!(all(&text, &settings).unwrap(), [SampleRecord { is_http: false, ..record() }]);
}

#[test]
fn dates_are_read_as_numbers_and_as_text() {
    let starts = |text: &str| all(text, &JtlSettings::default()).unwrap()[0].start_unix_millis;
    assert_eq!(starts("timeStamp,label\n2024/02/29 13:07:05.042,a\n"), 1_709_212_025_042);
    assert_eq!(starts("timeStamp,label\n02/29/24 13:07:05,a\n"), 1_709_212_025_000);
}

#[test]
fn errors_of_rows_name_their_line() {
    let text = "timeStamp,elapsed,label\n1,2,\"a\nb\"\n1,x,c\n1,2\n3,4,d\n";
    let records: Vec<_> = read(text.as_bytes(), &JtlSettings::default()).unwrap().collect();
    assert_eq!(records[0].as_ref().unwrap().label, "a\nb");
    let message = |at: usize| records[at].as_ref().unwrap_err().to_string();
    assert_eq!(message(1), "line 4: column `elapsed` is `x`; expected a whole number, 0 or more");
    assert_eq!(message(2), "line 5: the row has 2 columns; expected 3");
    assert_eq!(records[3].as_ref().unwrap().label, "d");
}

#[test]
fn xml_files_equal_those_of_jmeter() {
    let mut settings = JtlSettings { format: JtlFormat::Xml, ..JtlSettings::default() };
    settings.save(Field::RequestHeaders, true);
    let assertion = AssertionRecord {
        name: "A".into(),
        failure: true,
        error: false,
        message: Some("no <b>".into()),
    };
    let details =
        RecordDetails { request_headers: Some(String::new()), ..RecordDetails::default() };
    let sub = SampleRecord { url: None, label: "sub".into(), is_http: false, ..record() };
    let plain = sub.clone();
    let whole =
        SampleRecord { assertions: vec![assertion], sub_results: vec![sub], details, ..record() };
    let common = "t=\"120\" it=\"0\" lt=\"100\" ct=\"5\" ts=\"1709212025042\" s=\"true\"";
    let rest = "rc=\"200\" rm=\"OK\" tn=\"users 1-1\" dt=\"text\" by=\"1024\" sby=\"100\" ng=\"1\" na=\"2\"";
    let expected = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testResults version=\"1.2\">\n\
         <httpSample {common} lb=\"login, &quot;go&quot;\" {rest}>\n  <assertionResult>\n    <name>A</name>\n    \
         <failure>true</failure>\n    <error>false</error>\n    <failureMessage>no &lt;b&gt;</failureMessage>\n  \
         </assertionResult>\n  <sample {common} lb=\"sub\" {rest}/>\n  <requestHeader class=\"java.lang.String\"/>\n  \
         <java.net.URL>http://127.0.0.1/a?b=1</java.net.URL>\n</httpSample>\n<sample {common} lb=\"sub\" {rest}/>\n</testResults>\n"
    );
    assert_eq!(xml(&settings, &[whole.clone(), plain.clone()]), expected);
    let read = all(&expected, &settings).unwrap();
    assert_eq!(read, [SampleRecord { failure_message: Some("no <b>".into()), ..whole }, plain]);
}

#[test]
fn files_are_appended_to() {
    let settings = JtlSettings::default();
    let mut file = xml(&settings, &[record()]).into_bytes();
    file.extend(b"\r\n");
    let footer = xml_writer::footer_length(&file).unwrap();
    file.truncate(file.len() - footer);
    let mut writer = XmlWriter::new(file, settings.clone(), FileStart::Append).unwrap();
    writer.write(&record()).unwrap();
    let file = String::from_utf8(writer.finish().unwrap()).unwrap();
    assert_eq!(file, xml(&settings, &[record(), record()]));
    assert_eq!(xml_writer::footer_length(b"<testResults>"), None);
}

#[test]
fn errors_of_xml_name_their_line() {
    let message = |text: &str| all(text, &JtlSettings::default()).unwrap_err().to_string();
    assert!(
        message("<testResults>\n<sample t=\"x\"/>")
            .contains("line 2: attribute `t` is `x`; expected a whole number")
    );
    assert!(
        message("<testResults>\n<sample/>\n")
            .contains("line 3: the result file ends before `</testResults>`")
    );
    assert!(message("<a/>").contains("the root element is `a`"));
    assert!(message("<testResults>\n\n</a>").starts_with("line 3: malformed XML"));
    let deep = format!("<testResults>{}", "<sample>".repeat(100_000));
    assert!(message(&deep).contains("nested deeper"));
}

#[test]
fn settings_of_listeners_are_applied() {
    let plan = "<jmeterTestPlan><hashTree><ResultCollector><objProp><name>saveConfig</name><value class='SampleSaveConfiguration'>\
        <time>false</time><timestamp>false</timestamp><xml>true</xml><hostname>true</hostname></value></objProp>\
        </ResultCollector></hashTree></jmeterTestPlan>";
    let document = crate::JmxDocument::parse(plan.as_bytes()).unwrap();
    let listener = document.test_elements().next().unwrap();
    let settings =
        JtlSettings::default().with_listener(&listener.properties().element("saveConfig").unwrap());
    assert_eq!((settings.format, settings.saves_timestamp()), (JtlFormat::Xml, false));
    assert!(
        !settings.saves(Field::Elapsed)
            && settings.saves(Field::Hostname)
            && settings.saves(Field::Label)
    );
}

/// A record in which fields that are not saved, and what CSV cannot hold, have their defaults.
fn projected(record: &SampleRecord, settings: &JtlSettings) -> SampleRecord {
    let kept = columns::columns(settings);
    let mut out = columns::blank();
    for column in &kept {
        column.read(&column.text(record, settings), &mut out, settings).unwrap();
    }
    columns::complete(&mut out, &kept);
    out
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z ]{0,6}", "[,;\"\r\n\t<>&'|é\u{1}a]{0,8}", any::<String>()]
}

fn records() -> impl Strategy<Value = SampleRecord> {
    let numbers = (
        0..4_000_000_000_000_u64,
        any::<u64>(),
        any::<u64>(),
        any::<u32>(),
        any::<u32>(),
        any::<bool>(),
    );
    let strings = prop::collection::vec(texts(), 8);
    let details = prop::collection::vec(prop::option::of(texts()), 9);
    (numbers, strings, details, any::<[bool; 3]>()).prop_map(
        |((start, elapsed, bytes, threads, errors, success), text, maybe, flags)| {
            let message = text[2].clone();
            SampleRecord {
                start_unix_millis: start,
                elapsed_millis: elapsed,
                label: text[0].clone(),
                code: text[1].clone(),
                message,
                thread_name: text[3].clone(),
                data_type: if flags[0] { DataType::Text } else { DataType::Binary },
                success,
                failure_message: maybe[0].clone().filter(|text| !text.is_empty()),
                bytes,
                sent_bytes: bytes / 2,
                group_threads: threads,
                all_threads: errors,
                url: maybe[1].clone().filter(|text| !["", "null"].contains(&text.as_str())),
                latency_millis: elapsed / 3,
                idle_millis: elapsed / 5,
                connect_millis: elapsed / 7,
                sample_count: threads,
                error_count: errors,
                hostname: text[4].clone(),
                encoding: text[5].clone(),
                filename: text[6].clone(),
                variables: vec![text[7].clone()],
                is_http: flags[1],
                details: RecordDetails {
                    method: maybe[2].clone(),
                    query: maybe[3].clone(),
                    cookies: maybe[4].clone(),
                    request_headers: maybe[5].clone(),
                    response_headers: maybe[6].clone(),
                    body: maybe[7].clone(),
                    redirect_location: maybe[8].clone(),
                },
                ..SampleRecord::default()
            }
        },
    )
}

proptest! {
    #[test]
    fn csv_is_read_back(
        list in prop::collection::vec(records(), 1..4), saved in prop::collection::vec(any::<bool>(), FIELDS.len()),
        delimiter in prop::sample::select(vec![b',', b';', b'\t', b'|', b' ']), dates in any::<bool>(),
    ) {
        let mut settings = JtlSettings { delimiter, sample_variables: vec!["a \"b\"".into()], ..JtlSettings::default() };
        if dates {
            settings.timestamp = TimestampFormat::Pattern(DatePattern::parse("yyyy-MM-dd HH:mm:ss.SSS").unwrap());
        }
        FIELDS.iter().zip(saved).for_each(|(&field, saved)| settings.save(field, saved));
        let text = csv(&settings, &list, FileStart::New);
        let expected: Vec<_> = list.iter().map(|record| projected(record, &settings)).collect();
        prop_assert_eq!(all(&text, &settings).unwrap(), expected, "{}", text);
    }

    #[test]
    fn xml_is_read_back(list in prop::collection::vec(records(), 0..4), inner in records()) {
        let mut settings = JtlSettings { sample_variables: vec!["v".into()], ..JtlSettings::default() };
        for field in FIELDS {
            settings.save(field, true);
        }
        let mut list = list;
        for record in &mut list {
            record.sub_results = vec![inner.clone()];
            record.is_transaction = record.message.starts_with(TRANSACTION_MESSAGE);
            record.failure_message = None;
            record.sub_results[0].failure_message = None;
        }
        let text = xml(&settings, &list);
        prop_assert_eq!(all(&text, &settings).unwrap(), list, "{}", text);
    }

    #[test]
    fn any_bytes_are_parsed_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300), text in "(<(/?(testResults|sample|name|assertionResult)|sample t='[0-9x]')/?>|[a,\"\n;]|label|&#?x?;){0,20}") {
        for input in [bytes.as_slice(), text.as_bytes()] {
            if let Ok(records) = read(input, &JtlSettings::default()) {
                prop_assert!(records.count() <= 400);
            }
        }
    }
}
