//! `JMeter`'s objects, over the host.

use crate::common::{TestHost, beanshell, groovy, run_in};
use brunt_groovy::{Dialect, LogLevel, Script, Stop};

fn after(source: &str, dialect: Dialect) -> TestHost {
    let mut host = TestHost::default();
    if let Err(error) = run_in(&mut host, source, dialect) {
        panic!("{error}\n{source}");
    }
    host
}

#[test]
fn variables_and_properties() {
    let host = after(
        "vars.put('a', '1'); vars['b'] = 'x'; vars.c = vars.get('a') + vars.b; props.put('p', 'q')\nvars.putObject('o', [1, 2])\nvars.put('n', \"${vars.getObject('o').size()}\")\nvars.remove('b')\nvars.put('d', props.getProperty('none', 'default'))",
        Dialect::Groovy,
    );
    let named = |name: &str| host.variables.get(name).map(String::as_str);
    assert_eq!(
        (named("a"), named("b"), named("c"), named("n"), named("d")),
        (Some("1"), None, Some("1x"), Some("2"), Some("default"))
    );
    assert_eq!(host.properties["p"], "q");
    let text_after_object =
        "vars.putObject('o', [1]); vars.put('o', 'text'); vars.getObject('o') + vars.get('o')";
    assert_eq!(groovy(text_after_object), "texttext");
    let builder_after_object =
        "vars.putObject('o', [1]); vars.put('o', new StringBuilder('b').toString()); vars['o']";
    assert_eq!(groovy(builder_after_object), "b");
    assert_eq!(
        groovy("vars.put('o', 'text'); vars.putObject('o', [1]); vars.getObject('o')"),
        "[1]"
    );
    assert_eq!(
        groovy("vars.putObject('o', [1]); vars.put('o', null); vars.getObject('o')"),
        "null"
    );
    assert_eq!(
        groovy("try { vars.put('a', 1) } catch (MissingMethodException e) { 'refused' }"),
        "refused"
    );
}

#[test]
fn samples() {
    assert_eq!(
        groovy(
            "new groovy.json.JsonSlurper().parseText(prev.getResponseDataAsString()).items*.name.join()"
        ),
        "ab"
    );
    assert_eq!(
        groovy(
            "\"${prev.responseCode} ${prev.time} ${prev.latency} ${prev.successful} ${prev.URL.path} ${prev.sampleLabel}\""
        ),
        "200 120 80 true /items items"
    );
    let host = after(
        "prev.setSuccessful(false); prev.responseCode = '500'; prev.setResponseMessage('no'); prev.setResponseData('x', 'UTF-8'); prev.setIgnore(); SampleResult.setSampleLabel('l')",
        Dialect::Groovy,
    );
    assert_eq!(
        (
            host.sample.success,
            &*host.sample.code,
            &*host.sample.message,
            &host.sample.body[..],
            &*host.sample.label,
            host.sample.ignored
        ),
        (false, "500", "no", &b"x"[..], "l", true)
    );
}

#[test]
fn assertions() {
    let host = after(
        "if (!prev.responseDataAsString.contains('zzz')) { AssertionResult.setFailure(true); AssertionResult.setFailureMessage('no zzz') }",
        Dialect::Groovy,
    );
    assert_eq!((host.failure, &*host.failure_message), (true, "no zzz"));
    let host = after(
        "String r = new String(ResponseData); if (ResponseCode.equals(\"200\")) { Failure = true; FailureMessage = \"was \" + r.length(); }",
        Dialect::BeanShell,
    );
    assert_eq!((host.failure, &*host.failure_message), (true, "was 89"));
}

#[test]
fn context_and_thread() {
    assert_eq!(
        groovy(
            "ctx.getThreadNum() + ctx.threadGroup.name + ctx.getThreadGroup().getNumThreads() + vars.getIteration()"
        ),
        "2Shoppers104"
    );
    assert_eq!(beanshell("return ctx.getVariables().get(\"x\") == null;"), "true");
    let host = after(
        "ctx.getEngine().askThreadsToStop(); SampleResult.setStopThread(true); sleep(50); Thread.sleep(25)",
        Dialect::Groovy,
    );
    assert_eq!((host.stops, host.paused), (vec![Stop::Test, Stop::Thread], 75));
}

#[test]
fn requests() {
    let host = after(
        "sampler.addArgument('a', 'b'); sampler.setPath('/other'); sampler.method = 'POST'\nsampler.addNonEncodedArgument('', '{}', ''); sampler.setPostBodyRaw(true)\nimport org.apache.jmeter.protocol.http.control.Header\nsampler.getHeaderManager().add(new Header('X-A', 'v'))\nvars.put('u', sampler.getUrl().toString())",
        Dialect::Groovy,
    );
    assert_eq!(host.request.parts["Path"], "/other");
    assert_eq!(
        (host.request.arguments.len(), host.request.arguments[1].value.as_str(), host.request.raw),
        (2, "{}", true)
    );
    assert_eq!(host.request.headers[0].name, "X-A");
    assert_eq!(host.variables["u"], "http://localhost:8080/other");
}

#[test]
fn logging() {
    let host = after(
        "log.info('a {} {}', 1, 'b'); log.warn('w'); OUT.println('o'); println 'p'; log.error('e', new Exception('x'))",
        Dialect::Groovy,
    );
    let lines: Vec<&str> = host.logs.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(lines, ["a 1 b", "w", "o", "p", "e: java.lang.Exception: x"]);
    assert_eq!(host.logs[1].0, LogLevel::Warn);
}

#[test]
fn jmeter_classes() {
    assert_eq!(
        groovy(
            "import org.apache.jmeter.util.JMeterUtils\n JMeterUtils.setProperty('k', 'v'); JMeterUtils.getPropDefault('k', 'd') + JMeterUtils.getPropDefault('z', 5)"
        ),
        "v5"
    );
    assert_eq!(
        groovy("org.apache.jmeter.services.FileServer.getFileServer().getBaseDir()"),
        "/plans"
    );
    assert_eq!(groovy("args[1] + Parameters + Label"), "twoone twoscript");
}

#[test]
fn unknown_classes_are_found_without_running() {
    let script = Script::parse(
        "import com.acme.Foo\nimport java.util.UUID\ndef x = new Bar()\nUUID u = UUID.randomUUID()",
        Dialect::Groovy,
    )
    .expect("it parses");
    let found: Vec<String> =
        script.unsupported().into_iter().map(|(line, what)| format!("{line} {what}")).collect();
    assert_eq!(found, ["1 import of com.acme.Foo", "3 class Bar"]);
}

#[test]
fn argument_lists_of_a_script_are_independent() {
    let source = "sampler.addArgument('a', '1')\ndef list = new org.apache.jmeter.config.Arguments()\nlist.addArgument('b', sampler.arguments.getArgument(0).value + '2')\nassert list.argumentCount == 1 && sampler.arguments.argumentCount == 1\nlist.getArgument(0).setValue('x' + list.getArgument(0).value)\nsampler.setArguments(list)";
    let host = after(source, Dialect::Groovy);
    let sent: Vec<_> =
        host.request.arguments.iter().map(|one| (one.name.as_str(), one.value.as_str())).collect();
    assert_eq!(sent, [("b", "x12")]);
}

#[test]
fn properties_of_the_sampler_are_objects() {
    assert_eq!(
        groovy(
            "sampler.path = '/p'\nsampler.addArgument('a', '1')\n\"${sampler.getProperty('HTTPSampler.path').stringValue} ${sampler.getProperty('HTTPSampler.path')} ${sampler.getProperty('HTTPsampler.Arguments').objectValue.argumentCount} ${sampler.getProperty('HTTPSampler.cookie_manager').objectValue.cookieCount}\""
        ),
        "/p /p 1 0"
    );
}
