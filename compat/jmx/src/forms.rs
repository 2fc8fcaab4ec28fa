//! Forms of test elements: the properties that an editor shows, with the names that they have in `JMeter`, and the markup of a
//! new element.

use crate::support::ElementKind;

/// The form of a kind of element.
#[derive(Debug, Clone, Copy)]
pub struct ElementRow {
    /// Kind of the element.
    pub kind: ElementKind,
    /// Class of the element, which is its tag.
    pub class: &'static str,
    /// Class of its form in `JMeter`.
    pub guiclass: &'static str,
    /// Markup of the properties of a new element, on one line.
    pub content: &'static str,
    /// Its properties.
    pub properties: &'static [PropertyRow],
}

/// A property in a form.
#[derive(Debug, Clone, Copy)]
pub struct PropertyRow {
    /// Names of the property and of the elements around it, with `/` between them.
    pub path: &'static str,
    /// Name in `JMeter`'s window.
    pub label: &'static str,
    /// Form of the value.
    pub form: PropertyForm,
}

/// The form of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropertyForm {
    /// A text.
    Text,
    /// A text that may have several lines.
    Lines,
    /// True or false.
    Flag,
    /// A number, or an expression.
    Number,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list of texts.
    List,
    /// Elements with a name and a value each.
    Pairs(PairForm),
}

/// The markup of elements with a name and a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairForm {
    /// Class of the elements.
    pub class: &'static str,
    /// Property with the name.
    pub name: &'static str,
    /// Property with the value.
    pub value: &'static str,
    /// Markup of the other properties of a new element.
    pub others: &'static str,
}

const ARGUMENTS: PairForm = PairForm {
    class: "Argument",
    name: "Argument.name",
    value: "Argument.value",
    others: "<stringProp name=\"Argument.metadata\">=</stringProp>",
};

const PARAMETERS: PairForm = PairForm {
    class: "HTTPArgument",
    others: "<boolProp name=\"HTTPArgument.always_encode\">true</boolProp>\
             <stringProp name=\"Argument.metadata\">=</stringProp>\
             <boolProp name=\"HTTPArgument.use_equals\">true</boolProp>",
    ..ARGUMENTS
};

const HEADERS: PairForm =
    PairForm { class: "Header", name: "Header.name", value: "Header.value", others: "" };

const METHODS: PropertyForm = PropertyForm::Choice(&[
    "GET",
    "POST",
    "PUT",
    "PATCH",
    "DELETE",
    "HEAD",
    "OPTIONS",
    "TRACE",
    "PROPFIND",
    "PROPPATCH",
    "MKCOL",
    "COPY",
    "MOVE",
    "LOCK",
    "UNLOCK",
    "REPORT",
    "MKCALENDAR",
    "SEARCH",
]);
const ON_ERROR: PropertyForm =
    PropertyForm::Choice(&["continue", "startnextloop", "stopthread", "stoptest", "stoptestnow"]);
const LANGUAGES: PropertyForm = PropertyForm::Choice(&["groovy", "javascript", "beanshell"]);
const FIELDS: PropertyForm = PropertyForm::Choice(&[
    "false",
    "unescaped",
    "as_document",
    "true",
    "request_headers",
    "URL",
    "code",
    "message",
]);
const SCOPES: PropertyForm = PropertyForm::Choice(&["all", "children", "variable"]);
const SHARING: PropertyForm =
    PropertyForm::Choice(&["shareMode.all", "shareMode.group", "shareMode.thread"]);
const TESTED_FIELDS: PropertyForm = PropertyForm::Choice(&[
    "Assertion.response_data",
    "Assertion.response_data_as_document",
    "Assertion.response_code",
    "Assertion.response_message",
    "Assertion.response_headers",
    "Assertion.request_headers",
    "Assertion.sample_label",
    "Assertion.request_data",
]);

/// Properties of scripts.
macro_rules! script {
    () => {
        &[
            row("scriptLanguage", "Language", LANGUAGES),
            row("script", "Script", PropertyForm::Lines),
            row("parameters", "Parameters", PropertyForm::Text),
            row("filename", "Script file", PropertyForm::Text),
            row("cacheKey", "Cache compiled script", PropertyForm::Text),
        ]
    };
}

const SCRIPT_CONTENT: &str = "<stringProp name=\"scriptLanguage\">groovy</stringProp>\
    <stringProp name=\"parameters\"></stringProp><stringProp name=\"filename\"></stringProp>\
    <stringProp name=\"cacheKey\">true</stringProp><stringProp name=\"script\"></stringProp>";

const THREADS_CONTENT: &str = "<stringProp name=\"ThreadGroup.on_sample_error\">continue</stringProp>\
    <elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\" guiclass=\"LoopControlPanel\" \
    testclass=\"LoopController\" enabled=\"true\"><boolProp name=\"LoopController.continue_forever\">false</boolProp>\
    <stringProp name=\"LoopController.loops\">1</stringProp></elementProp>\
    <stringProp name=\"ThreadGroup.num_threads\">1</stringProp>\
    <stringProp name=\"ThreadGroup.ramp_time\">1</stringProp>\
    <boolProp name=\"ThreadGroup.scheduler\">false</boolProp>\
    <stringProp name=\"ThreadGroup.duration\"></stringProp><stringProp name=\"ThreadGroup.delay\"></stringProp>\
    <boolProp name=\"ThreadGroup.same_user_on_next_iteration\">true</boolProp>";

const THREADS: &[PropertyRow] = &[
    row("ThreadGroup.num_threads", "Number of Threads (users)", PropertyForm::Number),
    row("ThreadGroup.ramp_time", "Ramp-up period (seconds)", PropertyForm::Number),
    row(
        "ThreadGroup.main_controller/LoopController.loops",
        "Loop Count (-1: infinite)",
        PropertyForm::Number,
    ),
    row(
        "ThreadGroup.same_user_on_next_iteration",
        "Same user on each iteration",
        PropertyForm::Flag,
    ),
    row("ThreadGroup.delayedStart", "Delay Thread creation until needed", PropertyForm::Flag),
    row("ThreadGroup.scheduler", "Specify Thread lifetime", PropertyForm::Flag),
    row("ThreadGroup.duration", "Duration (seconds)", PropertyForm::Number),
    row("ThreadGroup.delay", "Startup delay (seconds)", PropertyForm::Number),
    row("ThreadGroup.on_sample_error", "Action to be taken after a Sampler error", ON_ERROR),
];

const HTTP: &[PropertyRow] = &[
    row("HTTPSampler.protocol", "Protocol", PropertyForm::Text),
    row("HTTPSampler.domain", "Server Name or IP", PropertyForm::Text),
    row("HTTPSampler.port", "Port Number", PropertyForm::Number),
    row("HTTPSampler.method", "Method", METHODS),
    row("HTTPSampler.path", "Path", PropertyForm::Text),
    row("HTTPsampler.Arguments/Arguments.arguments", "Parameters", PropertyForm::Pairs(PARAMETERS)),
    row("HTTPSampler.postBodyRaw", "Send the body data as it is", PropertyForm::Flag),
    row("HTTPSampler.contentEncoding", "Content encoding", PropertyForm::Text),
    row("HTTPSampler.follow_redirects", "Follow Redirects", PropertyForm::Flag),
    row("HTTPSampler.auto_redirects", "Redirect Automatically", PropertyForm::Flag),
    row("HTTPSampler.use_keepalive", "Use KeepAlive", PropertyForm::Flag),
    row("HTTPSampler.DO_MULTIPART_POST", "Use multipart/form-data", PropertyForm::Flag),
    row("HTTPSampler.connect_timeout", "Connect timeout (milliseconds)", PropertyForm::Number),
    row("HTTPSampler.response_timeout", "Response timeout (milliseconds)", PropertyForm::Number),
    row("HTTPSampler.image_parser", "Retrieve All Embedded Resources", PropertyForm::Flag),
    row("HTTPSampler.concurrentDwn", "Parallel downloads", PropertyForm::Flag),
    row("HTTPSampler.concurrentPool", "Number of parallel downloads", PropertyForm::Number),
    row("HTTPSampler.embedded_url_re", "URLs must match", PropertyForm::Text),
    row("HTTPSampler.embedded_url_exclude_re", "URLs must not match", PropertyForm::Text),
];

const fn row(path: &'static str, label: &'static str, form: PropertyForm) -> PropertyRow {
    PropertyRow { path, label, form }
}

macro_rules! forms {
    ($($kind:ident $class:literal $guiclass:literal $content:expr => $properties:expr;)*) => {
        static ROWS: &[ElementRow] = &[$(ElementRow {
            kind: ElementKind::$kind,
            class: $class,
            guiclass: $guiclass,
            content: $content,
            properties: $properties,
        },)*];
    };
}

#[rustfmt::skip]
forms! {
    TestPlan "TestPlan" "TestPlanGui" "" => &[
        row("TestPlan.comments", "Comments", PropertyForm::Lines),
        row("TestPlan.user_defined_variables/Arguments.arguments", "User Defined Variables", PropertyForm::Pairs(ARGUMENTS)),
        row("TestPlan.serialize_threadgroups", "Run Thread Groups consecutively", PropertyForm::Flag),
        row("TestPlan.tearDown_on_shutdown", "Run tearDown Thread Groups after shutdown", PropertyForm::Flag),
        row("TestPlan.functional_mode", "Functional Test Mode", PropertyForm::Flag),
    ];
    ThreadGroup "ThreadGroup" "ThreadGroupGui" THREADS_CONTENT => THREADS;
    SetupThreadGroup "SetupThreadGroup" "SetupThreadGroupGui" THREADS_CONTENT => THREADS;
    TearDownThreadGroup "PostThreadGroup" "PostThreadGroupGui" THREADS_CONTENT => THREADS;
    OpenModelThreadGroup "OpenModelThreadGroup" "OpenModelThreadGroupGui" "<stringProp name=\"OpenModelThreadGroup.schedule\">rate(1/sec) random_arrivals(10 min)</stringProp>" => &[
        row("OpenModelThreadGroup.schedule", "Schedule", PropertyForm::Lines),
    ];
    HttpSampler "HTTPSamplerProxy" "HttpTestSampleGui" "<elementProp name=\"HTTPsampler.Arguments\" elementType=\"Arguments\" guiclass=\"HTTPArgumentsPanel\" testclass=\"Arguments\" enabled=\"true\"><collectionProp name=\"Arguments.arguments\"/></elementProp><stringProp name=\"HTTPSampler.path\">/</stringProp><stringProp name=\"HTTPSampler.method\">GET</stringProp><boolProp name=\"HTTPSampler.follow_redirects\">true</boolProp><boolProp name=\"HTTPSampler.use_keepalive\">true</boolProp>" => HTTP;
    HttpDefaults "ConfigTestElement" "HttpDefaultsGui" "<elementProp name=\"HTTPsampler.Arguments\" elementType=\"Arguments\" guiclass=\"HTTPArgumentsPanel\" testclass=\"Arguments\" enabled=\"true\"><collectionProp name=\"Arguments.arguments\"/></elementProp>" => HTTP;
    FlowControlAction "TestAction" "TestActionGui" "<intProp name=\"ActionProcessor.action\">1</intProp><intProp name=\"ActionProcessor.target\">0</intProp><stringProp name=\"ActionProcessor.duration\">0</stringProp>" => &[
        row("ActionProcessor.action", "Action (0: stop, 1: pause, 2: stop now, 3: next loop, 4: next iteration, 5: break)", PropertyForm::Number),
        row("ActionProcessor.target", "Target (0: current thread, 2: all threads)", PropertyForm::Number),
        row("ActionProcessor.duration", "Duration (milliseconds)", PropertyForm::Number),
    ];
    DebugSampler "DebugSampler" "TestBeanGUI" "<boolProp name=\"displayJMeterProperties\">false</boolProp><boolProp name=\"displayJMeterVariables\">true</boolProp><boolProp name=\"displaySystemProperties\">false</boolProp>" => &[
        row("displayJMeterVariables", "JMeter Variables", PropertyForm::Flag),
        row("displayJMeterProperties", "JMeter Properties", PropertyForm::Flag),
        row("displaySystemProperties", "System Properties", PropertyForm::Flag),
    ];
    Jsr223Sampler "JSR223Sampler" "TestBeanGUI" SCRIPT_CONTENT => script!();
    Jsr223PreProcessor "JSR223PreProcessor" "TestBeanGUI" SCRIPT_CONTENT => script!();
    Jsr223PostProcessor "JSR223PostProcessor" "TestBeanGUI" SCRIPT_CONTENT => script!();
    Jsr223Assertion "JSR223Assertion" "TestBeanGUI" SCRIPT_CONTENT => script!();
    Jsr223Timer "JSR223Timer" "TestBeanGUI" SCRIPT_CONTENT => script!();
    SimpleController "GenericController" "LogicControllerGui" "" => &[];
    TransactionController "TransactionController" "TransactionControllerGui" "<boolProp name=\"TransactionController.parent\">false</boolProp><boolProp name=\"TransactionController.includeTimers\">false</boolProp>" => &[
        row("TransactionController.parent", "Generate parent sample", PropertyForm::Flag),
        row("TransactionController.includeTimers", "Include duration of timers and processors", PropertyForm::Flag),
    ];
    LoopController "LoopController" "LoopControlPanel" "<stringProp name=\"LoopController.loops\">1</stringProp>" => &[
        row("LoopController.loops", "Loop Count (-1: infinite)", PropertyForm::Number),
    ];
    OnceOnlyController "OnceOnlyController" "OnceOnlyControllerGui" "" => &[];
    IfController "IfController" "IfControllerPanel" "<stringProp name=\"IfController.condition\"></stringProp><boolProp name=\"IfController.evaluateAll\">false</boolProp><boolProp name=\"IfController.useExpression\">true</boolProp>" => &[
        row("IfController.condition", "Expression (must evaluate to true or false)", PropertyForm::Lines),
        row("IfController.useExpression", "Interpret Condition as Variable Expression", PropertyForm::Flag),
        row("IfController.evaluateAll", "Evaluate for all children", PropertyForm::Flag),
    ];
    WhileController "WhileController" "WhileControllerGui" "<stringProp name=\"WhileController.condition\"></stringProp>" => &[
        row("WhileController.condition", "Condition", PropertyForm::Lines),
    ];
    ForeachController "ForeachController" "ForeachControlPanel" "<stringProp name=\"ForeachController.inputVal\"></stringProp><stringProp name=\"ForeachController.returnVal\"></stringProp><boolProp name=\"ForeachController.useSeparator\">true</boolProp>" => &[
        row("ForeachController.inputVal", "Input variable prefix", PropertyForm::Text),
        row("ForeachController.startIndex", "Start index (exclusive)", PropertyForm::Number),
        row("ForeachController.endIndex", "End index (inclusive)", PropertyForm::Number),
        row("ForeachController.returnVal", "Output variable name", PropertyForm::Text),
        row("ForeachController.useSeparator", "Add \"_\" before number", PropertyForm::Flag),
    ];
    SwitchController "SwitchController" "SwitchControllerGui" "<stringProp name=\"SwitchController.value\"></stringProp>" => &[
        row("SwitchController.value", "Switch Value", PropertyForm::Text),
    ];
    RandomController "RandomController" "RandomControlGui" "" => &[];
    RandomOrderController "RandomOrderController" "RandomOrderControllerGui" "" => &[];
    InterleaveController "InterleaveControl" "InterleaveControlGui" "<intProp name=\"InterleaveControl.style\">1</intProp>" => &[];
    ThroughputController "ThroughputController" "ThroughputControllerGui" "<intProp name=\"ThroughputController.style\">1</intProp><boolProp name=\"ThroughputController.perThread\">false</boolProp><FloatProperty><name>ThroughputController.percentThroughput</name><value>100.0</value><savedValue>0.0</savedValue></FloatProperty>" => &[
        row("ThroughputController.style", "Based on (0: total executions, 1: percent)", PropertyForm::Number),
        row("ThroughputController.percentThroughput", "Throughput (percent)", PropertyForm::Text),
        row("ThroughputController.maxThroughput", "Throughput (executions)", PropertyForm::Text),
        row("ThroughputController.perThread", "Per User", PropertyForm::Flag),
    ];
    RuntimeController "RunTime" "RunTimeGui" "<stringProp name=\"RunTime.seconds\">1</stringProp>" => &[
        row("RunTime.seconds", "Runtime (seconds)", PropertyForm::Number),
    ];
    CriticalSectionController "CriticalSectionController" "CriticalSectionControllerGui" "<stringProp name=\"CriticalSectionController.lockName\">global_lock</stringProp>" => &[
        row("CriticalSectionController.lockName", "Lock name", PropertyForm::Text),
    ];
    IncludeController "IncludeController" "IncludeControllerGui" "<stringProp name=\"IncludeController.includepath\"></stringProp>" => &[
        row("IncludeController.includepath", "Filename", PropertyForm::Text),
    ];
    UserVariables "Arguments" "ArgumentsPanel" "<collectionProp name=\"Arguments.arguments\"/>" => &[
        row("Arguments.arguments", "User Defined Variables", PropertyForm::Pairs(ARGUMENTS)),
    ];
    HeaderManager "HeaderManager" "HeaderPanel" "<collectionProp name=\"HeaderManager.headers\"/>" => &[
        row("HeaderManager.headers", "Headers", PropertyForm::Pairs(HEADERS)),
    ];
    CookieManager "CookieManager" "CookiePanel" "<collectionProp name=\"CookieManager.cookies\"/><boolProp name=\"CookieManager.clearEachIteration\">false</boolProp><boolProp name=\"CookieManager.controlledByThreadGroup\">false</boolProp>" => &[
        row("CookieManager.clearEachIteration", "Clear cookies each iteration", PropertyForm::Flag),
        row("CookieManager.controlledByThreadGroup", "Use Thread Group configuration", PropertyForm::Flag),
        row("CookieManager.policy", "Cookie Policy", PropertyForm::Text),
    ];
    CacheManager "CacheManager" "CacheManagerGui" "<boolProp name=\"clearEachIteration\">false</boolProp><boolProp name=\"useExpires\">true</boolProp><boolProp name=\"CacheManager.controlledByThread\">false</boolProp>" => &[
        row("clearEachIteration", "Clear cache each iteration", PropertyForm::Flag),
        row("useExpires", "Use Cache-Control/Expires header", PropertyForm::Flag),
        row("maxSize", "Max Number of elements in cache", PropertyForm::Number),
    ];
    CsvDataSet "CSVDataSet" "TestBeanGUI" "<stringProp name=\"delimiter\">,</stringProp><stringProp name=\"fileEncoding\">UTF-8</stringProp><stringProp name=\"filename\"></stringProp><boolProp name=\"ignoreFirstLine\">false</boolProp><boolProp name=\"quotedData\">false</boolProp><boolProp name=\"recycle\">true</boolProp><stringProp name=\"shareMode\">shareMode.all</stringProp><boolProp name=\"stopThread\">false</boolProp><stringProp name=\"variableNames\"></stringProp>" => &[
        row("filename", "Filename", PropertyForm::Text),
        row("fileEncoding", "File encoding", PropertyForm::Text),
        row("variableNames", "Variable Names (comma-delimited)", PropertyForm::Text),
        row("ignoreFirstLine", "Ignore first line", PropertyForm::Flag),
        row("delimiter", "Delimiter", PropertyForm::Text),
        row("quotedData", "Allow quoted data", PropertyForm::Flag),
        row("recycle", "Recycle on EOF", PropertyForm::Flag),
        row("stopThread", "Stop thread on EOF", PropertyForm::Flag),
        row("shareMode", "Sharing mode", SHARING),
    ];
    RandomVariable "RandomVariableConfig" "TestBeanGUI" "<stringProp name=\"maximumValue\">100</stringProp><stringProp name=\"minimumValue\">1</stringProp><stringProp name=\"outputFormat\"></stringProp><boolProp name=\"perThread\">false</boolProp><stringProp name=\"randomSeed\"></stringProp><stringProp name=\"variableName\">number</stringProp>" => &[
        row("variableName", "Variable Name", PropertyForm::Text),
        row("outputFormat", "Output Format", PropertyForm::Text),
        row("minimumValue", "Minimum Value", PropertyForm::Number),
        row("maximumValue", "Maximum Value", PropertyForm::Number),
        row("randomSeed", "Seed for Random function", PropertyForm::Text),
        row("perThread", "Per Thread (User)", PropertyForm::Flag),
    ];
    Counter "CounterConfig" "CounterConfigGui" "<stringProp name=\"CounterConfig.start\">1</stringProp><stringProp name=\"CounterConfig.end\"></stringProp><stringProp name=\"CounterConfig.incr\">1</stringProp><stringProp name=\"CounterConfig.name\">counter</stringProp><stringProp name=\"CounterConfig.format\"></stringProp><boolProp name=\"CounterConfig.per_user\">false</boolProp>" => &[
        row("CounterConfig.start", "Starting value", PropertyForm::Number),
        row("CounterConfig.incr", "Increment", PropertyForm::Number),
        row("CounterConfig.end", "Maximum value", PropertyForm::Number),
        row("CounterConfig.format", "Number format", PropertyForm::Text),
        row("CounterConfig.name", "Exported Variable Name", PropertyForm::Text),
        row("CounterConfig.per_user", "Track counter independently for each user", PropertyForm::Flag),
        row("CounterConfig.reset_on_tg_iteration", "Reset counter on each Thread Group iteration", PropertyForm::Flag),
    ];
    ConstantTimer "ConstantTimer" "ConstantTimerGui" "<stringProp name=\"ConstantTimer.delay\">300</stringProp>" => &[
        row("ConstantTimer.delay", "Thread Delay (milliseconds)", PropertyForm::Number),
    ];
    UniformTimer "UniformRandomTimer" "UniformRandomTimerGui" "<stringProp name=\"ConstantTimer.delay\">0</stringProp><stringProp name=\"RandomTimer.range\">100.0</stringProp>" => &[
        row("RandomTimer.range", "Random Delay Maximum (milliseconds)", PropertyForm::Number),
        row("ConstantTimer.delay", "Constant Delay Offset (milliseconds)", PropertyForm::Number),
    ];
    GaussianTimer "GaussianRandomTimer" "GaussianRandomTimerGui" "<stringProp name=\"ConstantTimer.delay\">300</stringProp><stringProp name=\"RandomTimer.range\">100.0</stringProp>" => &[
        row("RandomTimer.range", "Deviation (milliseconds)", PropertyForm::Number),
        row("ConstantTimer.delay", "Constant Delay Offset (milliseconds)", PropertyForm::Number),
    ];
    PoissonTimer "PoissonRandomTimer" "PoissonRandomTimerGui" "<stringProp name=\"ConstantTimer.delay\">300</stringProp><stringProp name=\"RandomTimer.range\">100</stringProp>" => &[
        row("RandomTimer.range", "Lambda (milliseconds)", PropertyForm::Number),
        row("ConstantTimer.delay", "Constant Delay Offset (milliseconds)", PropertyForm::Number),
    ];
    ConstantThroughputTimer "ConstantThroughputTimer" "TestBeanGUI" "<intProp name=\"calcMode\">0</intProp><stringProp name=\"throughput\">60</stringProp>" => &[
        row("throughput", "Target throughput (samples per minute)", PropertyForm::Text),
        row("calcMode", "Calculate Throughput based on (0: this thread only … 4)", PropertyForm::Number),
    ];
    SynchronizingTimer "SyncTimer" "TestBeanGUI" "<intProp name=\"groupSize\">0</intProp><longProp name=\"timeoutInMs\">0</longProp>" => &[
        row("groupSize", "Number of Simulated Users to Group by", PropertyForm::Number),
        row("timeoutInMs", "Timeout in milliseconds", PropertyForm::Number),
    ];
    RegexExtractor "RegexExtractor" "RegexExtractorGui" "<stringProp name=\"RegexExtractor.useHeaders\">false</stringProp><stringProp name=\"RegexExtractor.refname\">name</stringProp><stringProp name=\"RegexExtractor.regex\">(.*)</stringProp><stringProp name=\"RegexExtractor.template\">$1$</stringProp><stringProp name=\"RegexExtractor.default\"></stringProp><stringProp name=\"RegexExtractor.match_number\">1</stringProp>" => &[
        row("RegexExtractor.useHeaders", "Field to check", FIELDS),
        row("RegexExtractor.refname", "Name of created variable", PropertyForm::Text),
        row("RegexExtractor.regex", "Regular Expression", PropertyForm::Text),
        row("RegexExtractor.template", "Template ($i$ where i is capturing group number)", PropertyForm::Text),
        row("RegexExtractor.match_number", "Match No. (0 for Random)", PropertyForm::Number),
        row("RegexExtractor.default", "Default Value", PropertyForm::Text),
        row("Sample.scope", "Apply to", SCOPES),
    ];
    JsonExtractor "JSONPostProcessor" "JSONPostProcessorGui" "<stringProp name=\"JSONPostProcessor.referenceNames\">name</stringProp><stringProp name=\"JSONPostProcessor.jsonPathExprs\">$.id</stringProp><stringProp name=\"JSONPostProcessor.match_numbers\"></stringProp>" => &[
        row("JSONPostProcessor.referenceNames", "Names of created variables", PropertyForm::Text),
        row("JSONPostProcessor.jsonPathExprs", "JSON Path expressions", PropertyForm::Text),
        row("JSONPostProcessor.match_numbers", "Match No. (0 for Random)", PropertyForm::Text),
        row("JSONPostProcessor.compute_concat", "Compute concatenation var (suffix _ALL)", PropertyForm::Flag),
        row("JSONPostProcessor.defaultValues", "Default Values", PropertyForm::Text),
        row("Sample.scope", "Apply to", SCOPES),
    ];
    BoundaryExtractor "BoundaryExtractor" "BoundaryExtractorGui" "<stringProp name=\"BoundaryExtractor.useHeaders\">false</stringProp><stringProp name=\"BoundaryExtractor.refname\">name</stringProp><stringProp name=\"BoundaryExtractor.lboundary\"></stringProp><stringProp name=\"BoundaryExtractor.rboundary\"></stringProp><stringProp name=\"BoundaryExtractor.default\"></stringProp><stringProp name=\"BoundaryExtractor.match_number\">1</stringProp>" => &[
        row("BoundaryExtractor.useHeaders", "Field to check", FIELDS),
        row("BoundaryExtractor.refname", "Name of created variable", PropertyForm::Text),
        row("BoundaryExtractor.lboundary", "Left Boundary", PropertyForm::Text),
        row("BoundaryExtractor.rboundary", "Right Boundary", PropertyForm::Text),
        row("BoundaryExtractor.match_number", "Match No. (0 for Random)", PropertyForm::Number),
        row("BoundaryExtractor.default", "Default Value", PropertyForm::Text),
    ];
    HtmlExtractor "HtmlExtractor" "HtmlExtractorGui" "<stringProp name=\"HtmlExtractor.refname\">name</stringProp><stringProp name=\"HtmlExtractor.expr\">a</stringProp><stringProp name=\"HtmlExtractor.attribute\"></stringProp><stringProp name=\"HtmlExtractor.default\"></stringProp><stringProp name=\"HtmlExtractor.match_number\">1</stringProp>" => &[
        row("HtmlExtractor.refname", "Name of created variable", PropertyForm::Text),
        row("HtmlExtractor.expr", "CSS Selector expression", PropertyForm::Text),
        row("HtmlExtractor.attribute", "Attribute", PropertyForm::Text),
        row("HtmlExtractor.match_number", "Match No. (0 for Random)", PropertyForm::Number),
        row("HtmlExtractor.default", "Default Value", PropertyForm::Text),
    ];
    ResponseAssertion "ResponseAssertion" "AssertionGui" "<collectionProp name=\"Asserion.test_strings\"/><stringProp name=\"Assertion.custom_message\"></stringProp><stringProp name=\"Assertion.test_field\">Assertion.response_data</stringProp><boolProp name=\"Assertion.assume_success\">false</boolProp><intProp name=\"Assertion.test_type\">16</intProp>" => &[
        row("Assertion.test_field", "Field to Test", TESTED_FIELDS),
        row("Assertion.test_type", "Pattern Matching Rules (1: matches, 2: contains, 8: equals, 16: substring; + 4: not, + 32: or)", PropertyForm::Number),
        row("Asserion.test_strings", "Patterns to Test", PropertyForm::List),
        row("Assertion.custom_message", "Custom failure message", PropertyForm::Text),
        row("Assertion.assume_success", "Ignore status", PropertyForm::Flag),
        row("Assertion.scope", "Apply to", SCOPES),
    ];
    DurationAssertion "DurationAssertion" "DurationAssertionGui" "<stringProp name=\"DurationAssertion.duration\">1000</stringProp>" => &[
        row("DurationAssertion.duration", "Duration in milliseconds", PropertyForm::Number),
    ];
    JsonAssertion "JSONPathAssertion" "JSONPathAssertionGui" "<stringProp name=\"JSON_PATH\">$.</stringProp><stringProp name=\"EXPECTED_VALUE\"></stringProp><boolProp name=\"JSONVALIDATION\">false</boolProp><boolProp name=\"EXPECT_NULL\">false</boolProp><boolProp name=\"INVERT\">false</boolProp><boolProp name=\"ISREGEX\">true</boolProp>" => &[
        row("JSON_PATH", "Assert JSON Path exists", PropertyForm::Text),
        row("JSONVALIDATION", "Additionally assert value", PropertyForm::Flag),
        row("ISREGEX", "Match as regular expression", PropertyForm::Flag),
        row("EXPECTED_VALUE", "Expected Value", PropertyForm::Text),
        row("EXPECT_NULL", "Expect null", PropertyForm::Flag),
        row("INVERT", "Invert assertion", PropertyForm::Flag),
    ];
}

/// Elements within the properties of others: name, class, class of the form.
const INNER: [(&str, &str, &str); 3] = [
    ("ThreadGroup.main_controller", "LoopController", "LoopControlPanel"),
    ("HTTPsampler.Arguments", "Arguments", "HTTPArgumentsPanel"),
    ("TestPlan.user_defined_variables", "Arguments", "ArgumentsPanel"),
];

/// Markup of a property that is an element with this content. None if its class is unknown.
pub(crate) fn within(name: &str, content: &str) -> Option<String> {
    let (_, class, guiclass) = INNER.iter().find(|(known, ..)| *known == name)?;
    Some(format!(
        "<elementProp name=\"{name}\" elementType=\"{class}\" guiclass=\"{guiclass}\" testclass=\"{class}\" enabled=\"true\">{content}</elementProp>"
    ))
}

/// Forms of all kinds that have one, in the order of `JMeter`'s menus.
pub fn forms() -> &'static [ElementRow] {
    ROWS
}

/// The form of a kind; None if it has only the properties in its file.
pub fn form(kind: ElementKind) -> Option<&'static ElementRow> {
    ROWS.iter().find(|row| row.kind == kind)
}

/// Markup of a new element with this name and an empty tree.
pub fn markup(row: &ElementRow) -> String {
    let ElementRow { class, guiclass, content, .. } = row;
    let testname = row.kind.title();
    format!(
        "<{class} guiclass=\"{guiclass}\" testclass=\"{class}\" testname=\"{testname}\" enabled=\"true\">{content}</{class}>\n<hashTree/>"
    )
}
