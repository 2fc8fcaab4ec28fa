//! The table of element kinds. A row has, in this order: variant, name in JMeter's menus, role, tier, names of its class, names
//! of its GUI class, and its properties: those that brunt reads, and (`without`) those that it ignores.
//!
//! A property that brunt reads is a field of a struct with the name of the kind: `field: Type "path" "label"`. After `new` comes
//! its value in a new element, after `absent` the value that an absent or empty property has. An ignored property has the reason.
//! A notice names it if its value is not that after `unless`. `as` another kind: the properties are those of that kind.

use super::{ElementRow, Role, Tier};
use crate::fields::{
    AppliesTo, Code, Decimal, Field, Fields, Flag, IgnoredProperty, Language, Lines, ListItem,
    MeasuredField, Method, Mode, Number, OnError, PropertyForm, PropertyPlace, PropertyRow,
    PropertySource, Records, ReplyField, Rows, ShareMode, Source, Table, Template, TemplateLines,
    TestedField, Text, TextList, TextWriter, Value, ValueLines, ValueNumber, written,
};
use crate::markup::Prop;
use crate::property::Property;
use brunt_script::BeforeRun;

macro_rules! optional {
    () => {
        None
    };
    ($value:literal) => {
        Some($value)
    };
}

macro_rules! text {
    () => {
        ""
    };
    ($value:literal) => {
        $value
    };
}

macro_rules! properties {
    ($kind:ident) => {
        None
    };
    ($kind:ident as $base:ident $($bare:ident)?) => {
        Some(<$base as Fields>::PROPERTIES)
    };
    ($kind:ident { $($property:tt)* }) => {
        Some(<$kind as Fields>::PROPERTIES)
    };
}

macro_rules! is_present {
    () => {
        false
    };
    ($bare:ident) => {
        true
    };
}

/// Generates the struct of a kind's properties.
macro_rules! fields {
    (
        $name:ident $doc:expr,
        { $($field:ident: $type:ident $path:literal $label:literal $(new $new:literal)? $(absent $absent:literal)?;)* }
        { $($ignored:literal $title:literal $form:ident $(new $initial:literal)? $(unless $harmless:literal)?: $reason:literal;)* }
    ) => {
        #[doc = $doc]
        #[derive(Debug, Clone, PartialEq)]
        pub(crate) struct $name {
            $(pub(crate) $field: <$type as Field>::Value,)*
        }

        impl Fields for $name {
            const PROPERTIES: &'static [PropertyRow] = &[
                $(PropertyRow {
                    path: $path,
                    label: $label,
                    tag: <$type as Field>::TAG,
                    form: <$type as Field>::FORM,
                    initial: optional!($($new)?),
                    absent: text!($($absent)?),
                    ignored: None,
                },)*
                $(PropertyRow {
                    path: $ignored,
                    label: $title,
                    tag: <$form as Field>::TAG,
                    form: <$form as Field>::FORM,
                    initial: optional!($($initial)?),
                    absent: "",
                    ignored: Some(IgnoredProperty { reason: $reason, harmless: optional!($($harmless)?) }),
                },)*
            ];

            fn read(before: &BeforeRun, source: &PropertySource<'_>) -> Result<Self, String> {
                let mut rows = Rows::of::<Self>();
                _ = (&mut rows, before, source);
                Ok(Self { $($field: <$type as Field>::read(&PropertyPlace { before, source, row: rows.take() })?,)* })
            }

            fn write(self, writer: &mut dyn TextWriter) -> Vec<(&'static str, Prop)> {
                let mut rows = Rows::of::<Self>();
                let fields: Vec<Option<(&str, Prop)>> = vec![$(written::<$type>(self.$field, rows.take(), writer),)*];
                _ = (&mut rows, writer);
                fields.into_iter().flatten().chain(rows.initial()).collect()
            }
        }
    };
}

macro_rules! kinds {
    ($(
        $kind:ident $title:literal $role:ident $tier:ident [$($class:literal),+ $(,)?] $([$($guiclass:literal),+])?
        $(as $base:ident $($bare:ident)?)? $({ $($property:tt)* } $(without { $($ignored:tt)* })?)?;
    )*) => {
        /// Kinds of test elements that brunt knows. [`title`](ElementKind::title) returns the
        /// name in JMeter's menus.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum ElementKind {
            $(#[doc = concat!("`", $title, "`")] $kind,)*
        }

        /// One row for each kind, in the order of the variants.
        pub(super) static ROWS: &[ElementRow] = &[$(ElementRow {
            kind: ElementKind::$kind,
            title: $title,
            role: Role::$role,
            tier: Tier::$tier,
            classes: &[$($class),+],
            guiclasses: &[$($($guiclass),+)?],
            properties: properties!($kind $(as $base $($bare)?)? $({ $($property)* })?),
            is_bare: is_present!($($($bare)?)?),
        },)*];

        $($(fields! {
            $kind concat!("Properties of `", $title, "`."),
            { $($property)* }
            { $($($ignored)*)? }
        })?)*
    };
}

/// Structs of the items of lists: class, and properties as in the table of kinds. Those of pairs are the name, the value, then
/// others.
macro_rules! items {
    ($(
        $item:ident $class:literal $($pair:ident)? { $($property:tt)* } without { $($ignored:tt)* };
    )*) => {
        $(
            fields! { $item concat!("Properties of `", $class, "` in a list."), { $($property)* } { $($ignored)* } }

            impl ListItem for $item {
                const CLASS: &'static str = $class;
                const IS_PAIR: bool = is_present!($($pair)?);
            }
        )*
    };
}

#[rustfmt::skip]
kinds! {
    TestPlan "Test Plan" Plan Runs ["TestPlan"] ["TestPlanGui"] {
        variables: Variables "TestPlan.user_defined_variables/Arguments.arguments" "User Defined Variables" new "";
        is_serialized: Flag "TestPlan.serialize_threadgroups" "Run Thread Groups consecutively" new "false";
        tears_down: Flag "TestPlan.tearDown_on_shutdown" "Run tearDown Thread Groups after shutdown" new "true";
    } without {
        "TestPlan.functional_mode" "Functional Test Mode" Flag new "false" unless "false": "replies are not saved";
        "TestPlan.user_define_classpath" "Add directory or jar to classpath" Text unless "": "brunt runs no Java classes";
        "TestPlan.comments" "Comments" Lines: "a comment";
    };
    WorkBench "WorkBench" Plan Accepted ["WorkBench"];
    TestFragment "Test Fragment" Controller Runs ["TestFragmentController"];
    Recorder "HTTP(S) Test Script Recorder" Plan Accepted [
        "ProxyControl",
        "com.blazemeter.jmeter.correlation.CorrelationProxyControl",
    ];
    MirrorServer "HTTP Mirror Server" Plan Accepted ["HttpMirrorControl"];
    ThreadGroup "Thread Group" ThreadGroup Runs ["ThreadGroup"] ["ThreadGroupGui"] {
        on_error: OnError "ThreadGroup.on_sample_error" "Action to be taken after a Sampler error" new "continue";
        threads: ValueNumber "ThreadGroup.num_threads" "Number of Threads (users)" new "1";
        ramp: ValueNumber "ThreadGroup.ramp_time" "Ramp-up period (seconds)" new "1";
        loops: ValueNumber "ThreadGroup.main_controller/LoopController.loops" "Loop Count (-1: infinite)" new "1";
        continues_forever: Flag "ThreadGroup.main_controller/LoopController.continue_forever" "Continue forever" new "false" absent "true";
        is_same_user: Flag "ThreadGroup.same_user_on_next_iteration" "Same user on each iteration" new "true" absent "true";
        is_scheduled: Flag "ThreadGroup.scheduler" "Specify Thread lifetime" new "false";
        duration: ValueNumber "ThreadGroup.duration" "Duration (seconds)" new "";
        delay: ValueNumber "ThreadGroup.delay" "Startup delay (seconds)" new "";
    } without {
        "ThreadGroup.delayedStart" "Delay Thread creation until needed" Flag: "users need no resources before they start";
    };
    SetupThreadGroup "setUp Thread Group" ThreadGroup Runs ["SetupThreadGroup"] ["SetupThreadGroupGui"] as ThreadGroup;
    TearDownThreadGroup "tearDown Thread Group" ThreadGroup Runs ["PostThreadGroup"] ["PostThreadGroupGui"] as ThreadGroup;
    OpenModelThreadGroup "Open Model Thread Group" ThreadGroup Runs ["OpenModelThreadGroup"] ["OpenModelThreadGroupGui"] {
        on_error: OnError "ThreadGroup.on_sample_error" "Action to be taken after a Sampler error" new "continue";
        schedule: ValueLines "OpenModelThreadGroup.schedule" "Schedule" new "rate(1/sec) random_arrivals(10 min)";
    } without {
        "OpenModelThreadGroup.random_seed" "Random Seed" Number new "" unless "": "the run has a seed, --seed";
    };
    UltimateThreadGroup "jp@gc - Ultimate Thread Group" ThreadGroup Runs ["kg.apc.jmeter.threads.UltimateThreadGroup"] {
        on_error: OnError "ThreadGroup.on_sample_error" "Action to be taken after a Sampler error" new "continue";
        rows: Table "ultimatethreadgroupdata" "Threads Schedule" new "";
    };
    SteppingThreadGroup "jp@gc - Stepping Thread Group" ThreadGroup Runs ["kg.apc.jmeter.threads.SteppingThreadGroup"] {
        on_error: OnError "ThreadGroup.on_sample_error" "Action to be taken after a Sampler error" new "continue";
        threads: Decimal "ThreadGroup.num_threads" "This group will start" new "100" absent "1";
        delay: Decimal "Threads initial delay" "First, wait for (seconds)" new "0";
        burst: Decimal "Start users count burst" "Then start (threads)" new "0";
        start_count: Decimal "Start users count" "Next, add (threads)" new "10" absent "1";
        start_period: Decimal "Start users period" "threads every (seconds)" new "30";
        ramp: Decimal "rampUp" "using ramp-up (seconds)" new "5";
        hold: Decimal "flighttime" "Then hold load for (seconds)" new "60" absent "60";
        stop_count: Decimal "Stop users count" "Finally, stop (threads)" new "5" absent "1";
        stop_period: Decimal "Stop users period" "threads every (seconds)" new "1";
    };
    ConcurrencyThreadGroup "bzm - Concurrency Thread Group" ThreadGroup Runs [
        "com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup",
    ] {
        on_error: OnError "ThreadGroup.on_sample_error" "Action to be taken after a Sampler error" new "continue";
        target: Decimal "TargetLevel" "Target Concurrency" new "1" absent "1";
        ramp: Decimal "RampUp" "Ramp Up Time" new "0";
        steps: Decimal "Steps" "Ramp-Up Steps Count" new "0";
        hold: Decimal "Hold" "Hold Target Rate Time" new "1";
        unit: Value "Unit" "Time Unit" new "M";
        iterations: Decimal "Iterations" "Thread Iterations Limit" new "";
    } without {
        "LogFilename" "Log Threads Status into File" Text unless "": "no such file is written";
    };
    ArrivalsThreadGroup "bzm - Arrivals Thread Group" ThreadGroup Runs [
        "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup",
    ] {
        on_error: OnError "ThreadGroup.on_sample_error" "Action to be taken after a Sampler error" new "continue";
        target: Decimal "TargetLevel" "Target Rate (arrivals)" new "1" absent "1";
        ramp: Decimal "RampUp" "Ramp Up Time" new "0";
        steps: Decimal "Steps" "Ramp-Up Steps Count" new "0";
        hold: Decimal "Hold" "Hold Target Rate Time" new "1";
        unit: Value "Unit" "Time Unit" new "M";
        limit: Decimal "ConcurrencyLimit" "Concurrency Limit" new "";
    } without {
        "Iterations" "Thread Iterations Limit" Number unless "": "each arrival is one iteration";
        "LogFilename" "Log Threads Status into File" Text unless "": "no such file is written";
    };
    FreeFormArrivalsThreadGroup "bzm - Free-Form Arrivals Thread Group" ThreadGroup Runs [
        "com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup",
    ] {
        on_error: OnError "ThreadGroup.on_sample_error" "Action to be taken after a Sampler error" new "continue";
        rows: Table "Schedule" "Threads Schedule" new "";
        unit: Value "Unit" "Time Unit" new "M";
        limit: Decimal "ConcurrencyLimit" "Concurrency Limit" new "";
    } without {
        "Iterations" "Thread Iterations Limit" Number unless "": "each arrival is one iteration";
        "LogFilename" "Log Threads Status into File" Text unless "": "no such file is written";
    };
    LoopController "Loop Controller" Controller Runs ["LoopController"] ["LoopControlPanel"] {
        loops: Number "LoopController.loops" "Loop Count (-1: infinite)" new "1";
        continues_forever: Flag "LoopController.continue_forever" "Continue forever" new "true" absent "true";
    };
    SimpleController "Simple Controller" Controller Runs ["GenericController"] ["LogicControllerGui"] {};
    RecordingController "Recording Controller" Controller Runs ["RecordingController"] ["RecordController"] {};
    OnceOnlyController "Once Only Controller" Controller Runs ["OnceOnlyController"] ["OnceOnlyControllerGui"] {};
    IfController "If Controller" Controller Runs ["IfController"] ["IfControllerPanel"] {
        condition: TemplateLines "IfController.condition" "Expression (must evaluate to true or false)" new "";
        is_expression: Flag "IfController.useExpression" "Interpret Condition as Variable Expression" new "true";
        evaluates_all: Flag "IfController.evaluateAll" "Evaluate for all children" new "false";
    };
    WhileController "While Controller" Controller Runs ["WhileController"] ["WhileControllerGui"] {
        condition: TemplateLines "WhileController.condition" "Condition (function or variable)" new "";
    };
    ForeachController "ForEach Controller" Controller Runs ["ForeachController"] ["ForeachControlPanel"] {
        input: Text "ForeachController.inputVal" "Input variable prefix" new "";
        after: Number "ForeachController.startIndex" "Start index (exclusive)";
        last: Number "ForeachController.endIndex" "End index (inclusive)";
        variable: Value "ForeachController.returnVal" "Output variable name" new "";
        has_separator: Flag "ForeachController.useSeparator" "Add \"_\" before number" new "true" absent "true";
    };
    SwitchController "Switch Controller" Controller Runs ["SwitchController"] ["SwitchControllerGui"] {
        value: Template "SwitchController.value" "Switch Value" new "";
    };
    RandomController "Random Controller" Controller Runs ["RandomController"] ["RandomControlGui"] {
        style: Code "InterleaveControl.style" "Ignore sub-controller blocks (0: yes, 1: no)" new "1";
    };
    RandomOrderController "Random Order Controller" Controller Runs ["RandomOrderController"] ["RandomOrderControllerGui"] {};
    InterleaveController "Interleave Controller" Controller Runs ["InterleaveControl"] ["InterleaveControlGui"] {
        style: Code "InterleaveControl.style" "Ignore sub-controller blocks (0: yes, 1: no)" new "1";
        is_shared: Flag "InterleaveControl.accrossThreads" "Interleave across threads" new "false";
    };
    ThroughputController "Throughput Controller" Controller Runs ["ThroughputController"] ["ThroughputControllerGui"] {
        style: Code "ThroughputController.style" "Based on (0: total executions, 1: percent)" new "1";
        percent: Text "ThroughputController.percentThroughput" "Throughput (percent)" new "100";
        executions: Text "ThroughputController.maxThroughput" "Throughput (executions)" new "1";
        is_per_user: Flag "ThroughputController.perThread" "Per User" new "false";
    };
    RuntimeController "Runtime Controller" Controller Runs ["RunTime"] ["RunTimeGui"] {
        seconds: Number "RunTime.seconds" "Runtime (seconds)" new "1";
    };
    CriticalSectionController "Critical Section Controller" Controller Runs ["CriticalSectionController"] ["CriticalSectionControllerGui"] {
        lock: Text "CriticalSectionController.lockName" "Lock name" new "global_lock";
    };
    ModuleController "Module Controller" Controller Runs ["ModuleController"];
    IncludeController "Include Controller" Controller Runs ["IncludeController"] ["IncludeControllerGui"] {
        file: Value "IncludeController.includepath" "Filename" new "";
    };
    TransactionController "Transaction Controller" Controller Runs ["TransactionController"] ["TransactionControllerGui"] {
        has_parent: Flag "TransactionController.parent" "Generate parent sample" new "false";
        includes_timers: Flag "TransactionController.includeTimers" "Include duration of timers and processors" new "false" absent "true";
    };
    ParallelController "bzm - Parallel Controller" Controller Runs ["com.blazemeter.jmeter.controller.ParallelSampler"] {
        is_limited: Flag "LIMIT_MAX_THREAD_NUMBER" "Limit max thread number" new "false";
        most: Decimal "MAX_THREAD_NUMBER" "Max threads" new "6" absent "6";
    } without {
        "PARENT_SAMPLE" "Generate parent sample" Flag new "false" unless "false": "its requests are listed separately";
    };
    WeightedSwitchController "bzm - Weighted Switch Controller" Controller Runs [
        "com.blazemeter.jmeter.control.WeightedSwitchController",
        "com.blazemeter.jmeter.controller.WeightedSwitchController",
        "WeightedSwitchController",
    ] {
        weights: Table "weights" "Weights" new "";
        is_random: Flag "randomChoice" "Random choice" new "false";
    };
    ParameterizedController "jp@gc - Parameterized Controller" Controller Runs [
        "kg.apc.jmeter.control.ParameterizedController",
    ] {
        variables: Variables "VariablesContainer/Arguments.arguments" "User Defined Variables";
        older: Variables "Arguments.arguments/Arguments.arguments" "User Defined Variables (older plans)";
    };
    WeightedDistributionController "Weighted Distribution Controller" Controller Unsupported [
        "WeightedDistributionController",
    ];
    HttpSampler "HTTP Request" Sampler Runs [
        "HTTPSamplerProxy",
        "HTTPSampler",
        "HTTPSampler2",
        "HTTPSampler_",
        "HTTPSampler2_",
    ] ["HttpTestSampleGui"] {
        protocol: Template "HTTPSampler.protocol" "Protocol";
        host: Template "HTTPSampler.domain" "Server Name or IP";
        port: Template "HTTPSampler.port" "Port Number";
        method: Method "HTTPSampler.method" "Method" new "GET";
        path: Template "HTTPSampler.path" "Path" new "/";
        arguments: Parameters "HTTPsampler.Arguments/Arguments.arguments" "Parameters" new "";
        files: Uploads "HTTPsampler.Files/HTTPFileArgs.files" "Files";
        is_raw: Flag "HTTPSampler.postBodyRaw" "Send the body data as it is";
        follows: Flag "HTTPSampler.follow_redirects" "Follow Redirects" new "true";
        follows_automatically: Flag "HTTPSampler.auto_redirects" "Redirect Automatically" new "false";
        keeps_alive: Flag "HTTPSampler.use_keepalive" "Use KeepAlive" new "true";
        is_multipart: Flag "HTTPSampler.DO_MULTIPART_POST" "Use multipart/form-data";
        connect_timeout: Number "HTTPSampler.connect_timeout" "Connect timeout (milliseconds)";
        response_timeout: Number "HTTPSampler.response_timeout" "Response timeout (milliseconds)";
        has_elements: Flag "HTTPSampler.image_parser" "Retrieve All Embedded Resources";
        is_parallel: Flag "HTTPSampler.concurrentDwn" "Parallel downloads";
        pool: ValueNumber "HTTPSampler.concurrentPool" "Number of parallel downloads";
        only: Value "HTTPSampler.embedded_url_re" "URLs must match";
        never: Value "HTTPSampler.embedded_url_exclude_re" "URLs must not match";
    } without {
        "HTTPSampler.contentEncoding" "Content encoding" Text: "forms are in UTF-8";
        "HTTPSampler.BROWSER_COMPATIBLE_MULTIPART" "Browser-compatible headers" Flag: "parts have the headers of browsers";
        "HTTPSampler.implementation" "Client implementation" Text: "brunt has one implementation";
    };
    GraphQlSampler "GraphQL HTTP Request" Sampler Runs [
        "HTTPSamplerProxy",
        "HTTPSampler",
        "HTTPSampler2",
        "HTTPSampler_",
        "HTTPSampler2_",
    ] ["GraphQLHTTPSamplerGui"] as HttpSampler;
    FlowControlAction "Flow Control Action" Sampler Runs ["TestAction"] ["TestActionGui"] {
        action: Code "ActionProcessor.action" "Action (0: stop, 1: pause, 2: stop now, 3: next loop, 4: next iteration, 5: break)" new "1";
        target: Code "ActionProcessor.target" "Target (0: current thread, 2: all threads)" new "0";
        duration: Number "ActionProcessor.duration" "Duration (milliseconds)" new "0";
    };
    SetVariablesAction "jp@gc - Set Variables Action" Sampler Runs [
        "kg.apc.jmeter.control.sampler.SetVariablesAction",
        "kg.apc.jmeter.samplers.SetVariablesAction",
    ] {
        variables: Variables "SetVariablesAction/Arguments.arguments" "User Defined Variables";
        older: Variables "Arguments.arguments" "User Defined Variables (older plans)";
    };
    DummySampler "jp@gc - Dummy Sampler" Sampler Runs ["kg.apc.jmeter.samplers.DummySampler"] {
        success: Flag "SUCCESFULL" "Successful sample" new "true" absent "true";
        code: Text "RESPONSE_CODE" "Response Code" new "200";
        message: Text "RESPONSE_MESSAGE" "Response Message" new "OK";
        body: Lines "RESPONSE_DATA" "Response Data" new "";
        elapsed: Number "RESPONSE_TIME" "Response Time (milliseconds)" new "0";
        latency: Number "LATENCY" "Latency (milliseconds)" new "0";
        connect: Number "CONNECT" "Connect Time (milliseconds)" new "0";
        waits: Flag "WAITING" "Simulate Response Time (sleep)" new "true" absent "true";
    } without {
        "REQUEST_DATA" "Request Data" Lines: "reports do not show it";
        "RESULT_CLASS" "Sample Class" Text: "the class of the sample changes no figure";
    };
    DebugSampler "Debug Sampler" Sampler Runs ["DebugSampler"] ["TestBeanGUI"] {} without {
        "displayJMeterVariables" "JMeter Variables" Flag new "true" unless "true": "it lists the variables";
        "displayJMeterProperties" "JMeter Properties" Flag new "false" unless "false": "it lists the variables alone";
        "displaySystemProperties" "System Properties" Flag new "false" unless "false": "it lists the variables alone";
    };
    Jsr223Sampler "JSR223 Sampler" Sampler Runs ["JSR223Sampler"] ["TestBeanGUI"] {
        language: Language "scriptLanguage" "Language" new "groovy";
        source: Source "script" "Script" new "";
        parameters: Text "parameters" "Parameters" new "";
        file: Value "filename" "Script file" new "";
    } without {
        "cacheKey" "Cache compiled script" Text new "true": "brunt compiles a script once";
    };
    BeanShellSampler "BeanShell Sampler" Sampler Runs ["BeanShellSampler"] ["BeanShellSamplerGui"] {
        source: Source "BeanShellSampler.query" "Script" new "";
        parameters: Text "BeanShellSampler.parameters" "Parameters" new "";
        file: Value "BeanShellSampler.filename" "Script file" new "";
    } without {
        "BeanShellSampler.resetInterpreter" "Reset bsh.Interpreter before each call" Flag new "false": "scripts of elements share no variables";
    };
    BsfSampler "BSF Sampler" Sampler Runs ["BSFSampler"] ["BSFSamplerGui"] {
        language: Language "BSFSampler.language" "Language" new "groovy";
        source: Source "BSFSampler.query" "Script" new "";
        parameters: Text "BSFSampler.parameters" "Parameters" new "";
        file: Value "BSFSampler.filename" "Script file" new "";
    };
    SoapSampler "SOAP/XML-RPC Request" Sampler Unsupported ["SoapSampler", "WebServiceSampler"];
    AccessLogSampler "Access Log Sampler" Sampler Unsupported ["AccessLogSampler"];
    AjpSampler "AJP/1.3 Sampler" Sampler Unsupported ["AjpSampler"];
    Http2Sampler "bzm - HTTP2 Sampler" Sampler Runs ["com.blazemeter.jmeter.http2.sampler.HTTP2Sampler"] as HttpSampler;
    Http2Request "bzm - HTTP2 Request" Sampler Unsupported ["com.blazemeter.jmeter.http2.sampler.HTTP2Request"];
    JavaSampler "Java Request" Sampler Runs ["JavaSampler"] ["JavaTestSamplerGui"] {
        class: Value "classname" "Classname" new "org.apache.jmeter.protocol.java.test.JavaTest";
        arguments: Variables "arguments/Arguments.arguments" "Send Parameters With the Request" new "";
    };
    JunitSampler "JUnit Request" Sampler Unsupported ["JUnitSampler"];
    SystemSampler "OS Process Sampler" Sampler Unsupported ["SystemSampler"];
    JdbcSampler "JDBC Request" Sampler Unsupported ["JDBCSampler"];
    JmsPublisher "JMS Publisher" Sampler Unsupported ["PublisherSampler"];
    JmsSubscriber "JMS Subscriber" Sampler Unsupported ["SubscriberSampler"];
    JmsSampler "JMS Point-to-Point" Sampler Unsupported ["JMSSampler"];
    LdapSampler "LDAP Request" Sampler Unsupported ["LDAPSampler"];
    LdapExtendedSampler "LDAP Extended Request" Sampler Unsupported ["LDAPExtSampler"];
    FtpSampler "FTP Request" Sampler Unsupported ["FTPSampler"];
    TcpSampler "TCP Sampler" Sampler Unsupported ["TCPSampler"];
    SmtpSampler "SMTP Sampler" Sampler Unsupported ["SmtpSampler"];
    MailReaderSampler "Mail Reader Sampler" Sampler Unsupported ["MailReaderSampler"];
    MongoSampler "MongoDB Script" Sampler Unsupported ["MongoScriptSampler"];
    BoltSampler "Bolt Request" Sampler Unsupported ["BoltSampler"];
    WebSocketSampler "WebSocket Sampler" Sampler Runs [
        "eu.luminis.jmeter.wssampler.RequestResponseWebSocketSampler",
        "eu.luminis.jmeter.wssampler.OpenWebSocketSampler",
        "eu.luminis.jmeter.wssampler.CloseWebSocketSampler",
        "eu.luminis.jmeter.wssampler.SingleReadWebSocketSampler",
        "eu.luminis.jmeter.wssampler.SingleWriteWebSocketSampler",
        "eu.luminis.jmeter.wssampler.PingPongSampler",
        "JMeter.plugins.functional.samplers.websocket.WebSocketSampler",
    ];
    GrpcSampler "gRPC Request" Sampler Runs ["vn.zalopay.benchmark.GRPCSampler"];
    MqttSampler "MQTT Sampler" Sampler Unsupported [
        "net.xmeter.samplers.ConnectSampler",
        "net.xmeter.samplers.PubSampler",
        "net.xmeter.samplers.SubSampler",
        "net.xmeter.samplers.DisConnectSampler",
    ];
    WebDriverSampler "jp@gc - WebDriver Sampler" Sampler Unsupported [
        "com.googlecode.jmeter.plugins.webdriver.sampler.WebDriverSampler",
    ];
    UdpSampler "jp@gc - UDP Request" Sampler Unsupported ["kg.apc.jmeter.samplers.UDPSampler"];
    RawRequestSampler "jp@gc - HTTP Raw Request" Sampler Unsupported ["kg.apc.jmeter.samplers.HTTPRawSampler"];
    Config "Simple Config Element" Config Unsupported ["ConfigTestElement"];
    HttpDefaults "HTTP Request Defaults" Config Runs ["ConfigTestElement"] ["HttpDefaultsGui", "UrlConfigGui", "MultipartUrlConfigGui", ""] as HttpSampler bare;
    PropertyDisplay "Property Display" Plan Accepted ["Property", "PropertyControl", "ConfigTestElement"] ["PropertyControlGui"];
    SimpleConfig "Simple Config Element" Config Accepted ["ConfigTestElement"] ["SimpleConfigGui"];
    LoginConfig "Login Config Element" Config Accepted ["LoginConfig", "ConfigTestElement"] ["LoginConfigGui"];
    FtpDefaults "FTP Request Defaults" Config Accepted ["ConfigTestElement"] ["FtpConfigGui"];
    TcpDefaults "TCP Sampler Config" Config Accepted ["ConfigTestElement"] ["TCPConfigGui"];
    LdapDefaults "LDAP Request Defaults" Config Accepted ["ConfigTestElement"] ["LdapConfigGui"];
    LdapExtendedDefaults "LDAP Extended Request Defaults" Config Accepted ["ConfigTestElement"] ["LdapExtConfigGui"];
    JavaDefaults "Java Request Defaults" Config Accepted ["JavaConfig"];
    UserVariables "User Defined Variables" Config Runs ["Arguments"] ["ArgumentsPanel"] {
        variables: Variables "Arguments.arguments" "User Defined Variables" new "";
    };
    HeaderManager "HTTP Header Manager" Config Runs ["HeaderManager"] ["HeaderPanel"] {
        headers: Headers "HeaderManager.headers" "Headers" new "";
    };
    CookieManager "HTTP Cookie Manager" Config Runs ["CookieManager"] ["CookiePanel"] {
        cookies: Cookies "CookieManager.cookies" "User-Defined Cookies" new "";
        clears: Flag "CookieManager.clearEachIteration" "Clear cookies each iteration" new "false";
        is_by_group: Flag "CookieManager.controlledByThreadGroup" "Use Thread Group configuration" new "false";
        policy: Value "CookieManager.policy" "Cookie Policy";
    };
    CacheManager "HTTP Cache Manager" Config Runs ["CacheManager"] ["CacheManagerGui"] {
        clears: Flag "clearEachIteration" "Clear cache each iteration" new "false";
        uses_expires: Flag "useExpires" "Use Cache-Control/Expires header" new "true";
        is_by_group: Flag "CacheManager.controlledByThread" "Use Thread Group configuration" new "false";
    } without {
        "maxSize" "Max Number of elements in cache" Number unless "5000": "each user keeps all pages of its cache";
    };
    AuthManager "HTTP Authorization Manager" Config Runs ["AuthManager"] ["AuthPanel"] {
        entries: Authorizations "AuthManager.auth_list" "Passwords" new "";
    } without {
        "AuthManager.clearEachIteration" "Clear auth on each iteration" Flag: "each request has its own credentials";
        "AuthManager.controlledByThreadGroup" "Use Thread Group configuration" Flag new "false": "each request has its own credentials";
    };
    DnsCacheManager "DNS Cache Manager" Config Unsupported ["DNSCacheManager"];
    CsvDataSet "CSV Data Set Config" Config Runs ["CSVDataSet"] ["TestBeanGUI"] {
        file: Value "filename" "Filename" new "";
        encoding: Value "fileEncoding" "File encoding" new "UTF-8";
        names: Value "variableNames" "Variable Names (comma-delimited)" new "";
        skips_first: Flag "ignoreFirstLine" "Ignore first line" new "false";
        delimiter: Value "delimiter" "Delimiter" new "," absent ",";
        is_quoted: Flag "quotedData" "Allow quoted data" new "false";
        recycles: Flag "recycle" "Recycle on EOF" new "true" absent "true";
        stops: Flag "stopThread" "Stop thread on EOF" new "false";
        share_mode: ShareMode "shareMode" "Sharing mode" new "shareMode.all";
    };
    RandomCsvDataSet "bzm - Random CSV Data Set Config" Config Runs ["com.blazemeter.jmeter.RandomCSVDataSetConfig"] {
        file: Value "filename" "Filename" new "";
        encoding: Value "fileEncoding" "File encoding" new "UTF-8";
        names: Value "variableNames" "Variable names" new "";
        skips_first: Flag "ignoreFirstLine" "First line is CSV header" new "false";
        delimiter: Value "delimiter" "Delimiter" new "," absent ",";
        is_random: Flag "randomOrder" "Random order" new "true" absent "true";
        recycles: Flag "rewindOnTheEndOfList" "Rewind on end of list" new "true" absent "true";
        is_per_user: Flag "independentListPerThread" "Independent list per thread" new "false";
    };
    RandomVariable "Random Variable" Config Runs ["RandomVariableConfig"] ["TestBeanGUI"] {
        variable: Value "variableName" "Variable Name" new "number";
        format: Text "outputFormat" "Output Format" new "";
        least: Number "minimumValue" "Minimum Value" new "1";
        most: Number "maximumValue" "Maximum Value" new "100";
    } without {
        "randomSeed" "Seed for Random function" Text new "" unless "": "the run has a seed, --seed";
        "perThread" "Per Thread (User)" Flag new "false": "each user draws its own numbers";
    };
    Counter "Counter" Config Runs ["CounterConfig"] ["CounterConfigGui"] {
        variable: Value "CounterConfig.name" "Exported Variable Name" new "counter";
        start: Number "CounterConfig.start" "Starting value" new "1" absent "0";
        step: Number "CounterConfig.incr" "Increment" new "1";
        end: Number "CounterConfig.end" "Maximum value";
        format: Text "CounterConfig.format" "Number format";
        is_per_user: Flag "CounterConfig.per_user" "Track counter independently for each user" new "false";
        resets: Flag "CounterConfig.reset_on_tg_iteration" "Reset counter on each Thread Group iteration" new "false";
    };
    KeystoreConfig "Keystore Configuration" Config Accepted ["KeystoreConfig"];
    JdbcConnection "JDBC Connection Configuration" Config Accepted ["JDBCDataSource"];
    MongoSource "MongoDB Source Config" Config Accepted ["MongoSourceElement"];
    BoltConnection "Bolt Connection Configuration" Config Accepted ["BoltConnectionElement"];
    VariablesFromCsv "jp@gc - Variables From CSV File" Config Runs ["kg.apc.jmeter.config.VariablesFromCSV"] {
        file: Source "filename" "Path to CSV file" new "";
        prefix: Source "variablesPrefix" "Prefix for variables" new "";
        delimiter: Source "delimiter" "Delimiter" new ",";
        skipped: Source "skipLines" "Skip initial lines" new "0";
    } without {
        "storeSysProp" "Also store as system properties" Flag unless "false": "functions do not read such properties";
    };
    FrameFilter "WebSocket Text Frame Filter" Config Runs ["eu.luminis.jmeter.wssampler.TextFrameFilter"];
    BinaryFrameFilter "WebSocket Binary Frame Filter" Config Unsupported ["eu.luminis.jmeter.wssampler.BinaryFrameFilter"];
    PingFrameFilter "WebSocket Ping/Pong Frame Filter" Config Accepted ["eu.luminis.jmeter.wssampler.PingFrameFilter"];
    LockFile "jp@gc - Lock File Config" Config Accepted ["kg.apc.jmeter.config.LockFile"];
    ConstantTimer "Constant Timer" Timer Runs ["ConstantTimer"] ["ConstantTimerGui"] {
        delay: Number "ConstantTimer.delay" "Thread Delay (milliseconds)" new "300";
    };
    GaussianTimer "Gaussian Random Timer" Timer Runs ["GaussianRandomTimer"] ["GaussianRandomTimerGui"] {
        range: Number "RandomTimer.range" "Deviation (milliseconds)" new "100.0";
        delay: Number "ConstantTimer.delay" "Constant Delay Offset (milliseconds)" new "300";
    };
    UniformTimer "Uniform Random Timer" Timer Runs ["UniformRandomTimer"] ["UniformRandomTimerGui"] {
        range: Number "RandomTimer.range" "Random Delay Maximum (milliseconds)" new "100.0";
        delay: Number "ConstantTimer.delay" "Constant Delay Offset (milliseconds)" new "0";
    };
    PoissonTimer "Poisson Random Timer" Timer Runs ["PoissonRandomTimer"] ["PoissonRandomTimerGui"] {
        range: Number "RandomTimer.range" "Lambda (milliseconds)" new "100";
        delay: Number "ConstantTimer.delay" "Constant Delay Offset (milliseconds)" new "300";
    };
    ConstantThroughputTimer "Constant Throughput Timer" Timer Runs ["ConstantThroughputTimer"] ["TestBeanGUI"] {
        per_minute: Text "throughput" "Target throughput (samples per minute)" new "60";
        mode: Mode "calcMode" "Calculate Throughput based on (0: this thread only … 4)" new "0";
    };
    PreciseThroughputTimer "Precise Throughput Timer" Timer Runs [
        "PreciseThroughputTimer",
        "org.apache.jmeter.timers.poissonarrivals.PreciseThroughputTimer",
    ] ["TestBeanGUI"] {
        throughput: Decimal "throughput" "Target throughput (samples per throughput period)" new "100" absent "100";
        period: Decimal "throughputPeriod" "Throughput period (seconds)" new "3600" absent "3600";
    } without {
        "duration" "Test duration (seconds)" Number new "3600": "arrivals do not depend on the length of the test";
        "batchSize" "Number of threads in the batch (threads)" Number new "1" unless "1": "arrivals have no batches";
        "batchThreadDelay" "Delay between threads in the batch (ms)" Number new "0": "arrivals have no batches";
        "randomSeed" "Random seed (change from 0 to random)" Number new "0": "arrivals are evenly spaced";
        "exactLimit" "Batch of samples that must be exact" Number: "arrivals are evenly spaced";
        "allowedThroughputSurplus" "Allowed throughput surplus (percent)" Text: "arrivals are evenly spaced";
    };
    ThroughputShapingTimer "jp@gc - Throughput Shaping Timer" Timer Runs ["kg.apc.jmeter.timers.VariableThroughputTimer"] {
        rows: Table "load_profile" "Requests Per Second (RPS) Schedule" new "";
    };
    SynchronizingTimer "Synchronizing Timer" Timer Runs ["SyncTimer"] ["TestBeanGUI"] {
        users: Number "groupSize" "Number of Simulated Users to Group by" new "0" absent "0";
        timeout: Number "timeoutInMs" "Timeout in milliseconds" new "0" absent "0";
    };
    Jsr223Timer "JSR223 Timer" Timer Runs ["JSR223Timer"] ["TestBeanGUI"] as Jsr223Sampler;
    BeanShellTimer "BeanShell Timer" Timer Runs ["BeanShellTimer"] ["TestBeanGUI"] {
        source: Source "script" "Script" new "";
        parameters: Text "parameters" "Parameters" new "";
        file: Value "filename" "Script file" new "";
    } without {
        "resetInterpreter" "Reset bsh.Interpreter before each call" Flag new "false": "scripts of elements share no variables";
    };
    BsfTimer "BSF Timer" Timer Runs ["BSFTimer"] ["TestBeanGUI"] as Jsr223Sampler;
    UserParameters "User Parameters" PreProcessor Runs ["UserParameters"] ["UserParametersGui"] {
        names: TextList "UserParameters.names" "Names" new "";
        values: Table "UserParameters.thread_values" "Values of each user" new "";
    } without {
        "UserParameters.per_iteration" "Update Once Per Iteration" Flag new "false": "values of a user do not change";
    };
    Jsr223PreProcessor "JSR223 PreProcessor" PreProcessor Runs ["JSR223PreProcessor"] ["TestBeanGUI"] as Jsr223Sampler;
    BeanShellPreProcessor "BeanShell PreProcessor" PreProcessor Runs ["BeanShellPreProcessor"] ["TestBeanGUI"] as BeanShellTimer;
    BsfPreProcessor "BSF PreProcessor" PreProcessor Runs ["BSFPreProcessor"] ["TestBeanGUI"] as Jsr223Sampler;
    LinkParser "HTML Link Parser" PreProcessor Runs ["AnchorModifier"] ["AnchorModifierGui"] {};
    UrlRewriting "HTTP URL Re-writing Modifier" PreProcessor Runs ["URLRewritingModifier"] ["URLRewritingModifierGui"] {
        argument: Text "argument_name" "Session Argument Name" new "";
        is_in_path: Flag "path_extension" "Path Extension (use \";\" as separator)" new "false";
        is_without_equals: Flag "path_extension_no_equals" "Do not use equals in path extension" new "false";
        is_without_question_mark: Flag "path_extension_no_questionmark" "Do not use questionmark in path extension" new "false";
        is_kept: Flag "cache_value" "Cache Session Id?" new "false" absent "true";
        encodes: Flag "encode" "URL Encode" new "false";
    };
    RegexUserParameters "RegEx User Parameters" PreProcessor Runs ["RegExUserParameters"] ["RegExUserParametersGui"] {
        variable: Text "RegExUserParameters.regex_ref_name" "Regular Expression Reference Name" new "";
        name_group: Number "RegExUserParameters.param_names_gr_nr" "Parameter names regexp group number" new "";
        value_group: Number "RegExUserParameters.param_values_gr_nr" "Parameter values regex group number" new "";
    };
    SampleTimeout "Sample Timeout" PreProcessor Runs ["SampleTimeout"] ["SampleTimeoutGui"] {
        timeout: ValueNumber "InterruptTimer.timeout" "Sample Timeout (milliseconds)" new "10000";
    };
    UserParameterModifier "HTTP User Parameter Modifier" PreProcessor Unsupported ["UserParameterModifier", "ParamModifier"];
    JdbcPreProcessor "JDBC PreProcessor" PreProcessor Unsupported ["JDBCPreProcessor"];
    FifoPop "jp@gc - Inter-Thread Communication PreProcessor" PreProcessor Runs [
        "kg.apc.jmeter.modifiers.FifoPopPreProcessor",
    ] {
        queue: Text "FifoName" "Queue name" new "FIFO";
        variable: Value "Variable" "Variable to store" new "";
        older: Value "variable" "Variable to store (older plans)";
    } without {
        "timeout" "Timeout (seconds)" Number: "a user waits for a value";
    };
    RegexExtractor "Regular Expression Extractor" PostProcessor Runs ["RegexExtractor"] ["RegexExtractorGui"] {
        variable: Text "RegexExtractor.refname" "Name of created variable" new "name";
        pattern: Text "RegexExtractor.regex" "Regular Expression" new "(.*)";
        template: Template "RegexExtractor.template" "Template ($i$ where i is capturing group number)" new "$1$" absent "$1$";
        number: ValueNumber "RegexExtractor.match_number" "Match No. (0 for Random)" new "1";
        default: Text "RegexExtractor.default" "Default Value" new "";
        is_default_empty: Flag "RegexExtractor.default_empty_value" "Use empty default value" new "false";
        field: ReplyField "RegexExtractor.useHeaders" "Field to check" new "false";
        scope: AppliesTo "Sample.scope" "Apply to";
        source: Value "Scope.variable" "Variable to apply to";
    };
    JsonExtractor "JSON Extractor" PostProcessor Runs ["JSONPostProcessor"] ["JSONPostProcessorGui"] {
        names: Value "JSONPostProcessor.referenceNames" "Names of created variables" new "name";
        paths: Text "JSONPostProcessor.jsonPathExprs" "JSON Path expressions" new "$.id";
        numbers: Value "JSONPostProcessor.match_numbers" "Match No. (0 for Random)" new "";
        defaults: Text "JSONPostProcessor.defaultValues" "Default Values" new "";
        joins: Flag "JSONPostProcessor.compute_concat" "Compute concatenation var (suffix _ALL)";
        scope: AppliesTo "Sample.scope" "Apply to";
        source: Value "Scope.variable" "Variable to apply to";
    };
    JmesPathExtractor "JSON JMESPath Extractor" PostProcessor Runs ["JMESPathExtractor"] ["JMESPathExtractorGui"] {
        variable: Text "JMESExtractor.referenceName" "Name of created variable" new "name";
        path: Text "JMESExtractor.jmesPathExpr" "JMESPath expressions" new "id";
        number: ValueNumber "JMESExtractor.matchNumber" "Match No. (0 for Random)" new "1";
        default: Text "JMESExtractor.defaultValue" "Default Value" new "";
        scope: AppliesTo "Sample.scope" "Apply to";
        source: Value "Scope.variable" "Variable to apply to";
    };
    BoundaryExtractor "Boundary Extractor" PostProcessor Runs ["BoundaryExtractor"] ["BoundaryExtractorGui"] {
        variable: Text "BoundaryExtractor.refname" "Name of created variable" new "name";
        left: Text "BoundaryExtractor.lboundary" "Left Boundary" new "";
        right: Text "BoundaryExtractor.rboundary" "Right Boundary" new "";
        number: ValueNumber "BoundaryExtractor.match_number" "Match No. (0 for Random)" new "1";
        default: Text "BoundaryExtractor.default" "Default Value" new "";
        is_default_empty: Flag "BoundaryExtractor.default_empty_value" "Use empty default value" new "false";
        field: ReplyField "BoundaryExtractor.useHeaders" "Field to check" new "false";
        scope: AppliesTo "Sample.scope" "Apply to";
        source: Value "Scope.variable" "Variable to apply to";
    };
    HtmlExtractor "CSS Selector Extractor" PostProcessor Runs ["HtmlExtractor"] ["HtmlExtractorGui"] {
        variable: Text "HtmlExtractor.refname" "Name of created variable" new "name";
        selector: Text "HtmlExtractor.expr" "CSS Selector expression" new "a";
        attribute: Text "HtmlExtractor.attribute" "Attribute" new "";
        number: ValueNumber "HtmlExtractor.match_number" "Match No. (0 for Random)" new "1";
        default: Text "HtmlExtractor.default" "Default Value" new "";
        is_default_empty: Flag "HtmlExtractor.default_empty_value" "Use empty default value" new "false";
        scope: AppliesTo "Sample.scope" "Apply to";
        source: Value "Scope.variable" "Variable to apply to";
    } without {
        "HtmlExtractor.extractor_impl" "CSS Selector Extractor Implementation" Text new "": "brunt has one implementation";
    };
    XpathExtractor "XPath Extractor" PostProcessor Runs ["XPathExtractor"] ["XPathExtractorGui"] {
        variable: Value "XPathExtractor.refname" "Name of created variable" new "name";
        path: Text "XPathExtractor.xpathQuery" "XPath query" new "//a";
        number: ValueNumber "XPathExtractor.matchNumber" "Match No. (0 for Random)" new "-1" absent "-1";
        default: Text "XPathExtractor.default" "Default Value" new "";
        scope: AppliesTo "Sample.scope" "Apply to";
        source: Value "Scope.variable" "Variable to apply to";
    } without {
        "XPathExtractor.tolerant" "Use Tidy (tolerant parser)" Flag new "true": "brunt reads XML as XML, and HTML like a browser";
        "XPathExtractor.validate" "Validate XML" Flag new "false" unless "false": "documents are not validated";
        "XPathExtractor.namespace" "Use Namespaces" Flag new "false" unless "false": "names match with any namespace";
        "XPathExtractor.fragment" "Return entire XPath fragment instead of text content" Flag unless "false": "the text is returned";
    };
    Xpath2Extractor "XPath2 Extractor" PostProcessor Runs ["XPath2Extractor"] ["XPath2ExtractorGui"] {
        variable: Value "XPathExtractor2.refname" "Name of created variable" new "name";
        path: Text "XPathExtractor2.xpathQuery" "XPath query" new "//a";
        namespaces: Lines "XPathExtractor2.namespaces" "Namespaces aliases list (prefix=full namespace, 1 per line)" new "";
        number: ValueNumber "XPathExtractor2.matchNumber" "Match No. (0 for Random)" new "-1" absent "-1";
        default: Text "XPathExtractor2.default" "Default Value" new "";
        scope: AppliesTo "Sample.scope" "Apply to";
        source: Value "Scope.variable" "Variable to apply to";
    } without {
        "XPathExtractor2.fragment" "Return entire XPath fragment instead of text content" Flag new "false" unless "false": "the text is returned";
    };
    Jsr223PostProcessor "JSR223 PostProcessor" PostProcessor Runs ["JSR223PostProcessor"] ["TestBeanGUI"] as Jsr223Sampler;
    BeanShellPostProcessor "BeanShell PostProcessor" PostProcessor Runs ["BeanShellPostProcessor"] ["TestBeanGUI"] as BeanShellTimer;
    BsfPostProcessor "BSF PostProcessor" PostProcessor Runs ["BSFPostProcessor"] ["TestBeanGUI"] as Jsr223Sampler;
    DebugPostProcessor "Debug PostProcessor" PostProcessor Accepted ["DebugPostProcessor"];
    ResultAction "Result Status Action Handler" PostProcessor Runs ["ResultAction"] ["ResultActionGui"] {
        action: Code "OnError.action" "Action after a Sampler error (0: continue, 1: stop thread, 2: stop test, 3: stop test now, 4: next thread loop, 5: next iteration, 6: break)" new "0";
    };
    JdbcPostProcessor "JDBC PostProcessor" PostProcessor Unsupported ["JDBCPostProcessor"];
    JsonPathExtractorPlugin "jp@gc - JSON Path Extractor" PostProcessor Runs [
        "com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.JSONPathExtractor",
    ] {
        variable: Value "VAR" "Destination Variable Name" new "name";
        path: Text "JSONPATH" "JSONPath Expression" new "$.id";
        default: Text "DEFAULT" "Default Value" new "";
        subject: Value "SUBJECT" "Apply to (BODY, VAR)" new "BODY";
        source: Value "SRC_VARNAME" "Variable to apply to" new "";
    };
    JsonFormatter "jp@gc - JSON Format Post Processor" PostProcessor Accepted [
        "com.atlantbh.jmeter.plugins.jsonutils.jsonformatter.JSONFormatter",
    ];
    XmlFormatter "jp@gc - XML Format Post Processor" PostProcessor Accepted [
        "com.atlantbh.jmeter.plugins.xmlformatter.XMLFormatPostProcessor",
    ];
    FifoPut "jp@gc - Inter-Thread Communication PostProcessor" PostProcessor Runs [
        "kg.apc.jmeter.modifiers.FifoPutPostProcessor",
    ] {
        queue: Text "FifoName" "Queue name" new "FIFO";
        value: Text "Value" "Value to put" new "";
    };
    ResponseAssertion "Response Assertion" Assertion Runs ["ResponseAssertion"] ["AssertionGui"] {
        patterns: TextList "Asserion.test_strings" "Patterns to Test" new "";
        kind: Code "Assertion.test_type" "Pattern Matching Rules (1: matches, 2: contains, 8: equals, 16: substring; + 4: not, + 32: or)" new "16" absent "2";
        field: TestedField "Assertion.test_field" "Field to Test" new "Assertion.response_data";
        ignores_status: Flag "Assertion.assume_success" "Ignore status" new "false";
        message: Text "Assertion.custom_message" "Custom failure message" new "";
        scope: AppliesTo "Assertion.scope" "Apply to";
        source: Value "Scope.variable" "Variable to apply to";
    };
    DurationAssertion "Duration Assertion" Assertion Runs ["DurationAssertion"] ["DurationAssertionGui"] {
        millis: Number "DurationAssertion.duration" "Duration in milliseconds" new "1000";
    } without {
        "Assertion.scope" "Apply to" AppliesTo unless "main": "it applies to the main sample";
    };
    SizeAssertion "Size Assertion" Assertion Runs ["SizeAssertion"] ["SizeAssertionGui"] {
        bytes: Number "SizeAssertion.size" "Size in bytes" new "0";
        operator: Code "SizeAssertion.operator" "Type of Comparison (1: =, 2: !=, 3: >, 4: <, 5: >=, 6: <=)" new "1" absent "1";
        field: MeasuredField "Assertion.test_field" "Response Size Field to Test" new "SizeAssertion.response_network_size";
    } without {
        "Assertion.scope" "Apply to" AppliesTo unless "main": "it applies to the main sample";
    };
    JsonAssertion "JSON Assertion" Assertion Runs [
        "JSONPathAssertion",
        "com.atlantbh.jmeter.plugins.jsonutils.jsonpathassertion.JSONPathAssertion",
    ] ["JSONPathAssertionGui"] {
        path: Text "JSON_PATH" "Assert JSON Path exists" new "$.";
        has_value: Flag "JSONVALIDATION" "Additionally assert value" new "false";
        is_pattern: Flag "ISREGEX" "Match as regular expression" new "true" absent "true";
        value: Text "EXPECTED_VALUE" "Expected Value" new "";
        is_null: Flag "EXPECT_NULL" "Expect null" new "false";
        is_inverted: Flag "INVERT" "Invert assertion" new "false";
    };
    JmesPathAssertion "JSON JMESPath Assertion" Assertion Runs ["JMESPathAssertion"] ["JMESPathAssertionGui"] {
        path: Text "JMES_PATH" "Assert JMESPath exists" new "";
        has_value: Flag "JSONVALIDATION" "Additionally assert value" new "false";
        is_pattern: Flag "ISREGEX" "Match as regular expression" new "true" absent "true";
        value: Text "EXPECTED_VALUE" "Expected Value" new "";
        is_null: Flag "EXPECT_NULL" "Expect null" new "false";
        is_inverted: Flag "INVERT" "Invert assertion" new "false";
    };
    XpathAssertion "XPath Assertion" Assertion Runs ["XPathAssertion"] ["XPathAssertionGui"] {
        path: Text "XPath.xpath" "XPath Assertion" new "/";
        is_inverted: Flag "XPath.negate" "Invert assertion (will fail if above conditions met)" new "false";
    } without {
        "XPath.tolerant" "Use Tidy (tolerant parser)" Flag new "true": "brunt reads XML as XML, and HTML like a browser";
        "XPath.validate" "Validate XML" Flag new "false" unless "false": "documents are not validated";
        "XPath.whitespace" "Ignore Whitespace" Flag new "false": "white space changes no path";
        "XPath.namespace" "Use Namespaces" Flag new "false" unless "false": "names match with any namespace";
        "Assertion.scope" "Apply to" AppliesTo unless "main": "it applies to the main sample";
    };
    Xpath2Assertion "XPath2 Assertion" Assertion Runs ["XPath2Assertion"] ["XPath2AssertionGui"] {
        path: Text "XPath.xpath" "XPath2 Assertion" new "/";
        namespaces: Lines "XPath.namespaces" "Namespaces aliases list (prefix=full namespace, 1 per line)" new "";
        is_inverted: Flag "XPath.negate" "Invert assertion (will fail if above conditions met)" new "false";
    } without {
        "Assertion.scope" "Apply to" AppliesTo unless "main": "it applies to the main sample";
    };
    XmlAssertion "XML Assertion" Assertion Runs ["XMLAssertion"] ["XMLAssertionGui"] {};
    XmlSchemaAssertion "XML Schema Assertion" Assertion Unsupported ["XMLSchemaAssertion"];
    HtmlAssertion "HTML Assertion" Assertion Unsupported ["HTMLAssertion"];
    Md5Assertion "MD5Hex Assertion" Assertion Runs ["MD5HexAssertion"] ["MD5HexAssertionGUI"] {
        sum: Text "MD5HexAssertion.size" "MD5Hex" new "";
    };
    CompareAssertion "Compare Assertion" Assertion Unsupported ["CompareAssertion"];
    SmimeAssertion "SMIME Assertion" Assertion Unsupported ["SMIMEAssertion", "SMIMEAssertionTestElement"];
    Jsr223Assertion "JSR223 Assertion" Assertion Runs ["JSR223Assertion"] ["TestBeanGUI"] as Jsr223Sampler;
    BeanShellAssertion "BeanShell Assertion" Assertion Runs ["BeanShellAssertion"] ["BeanShellAssertionGui"] {
        source: Source "BeanShellAssertion.query" "Script" new "";
        parameters: Text "BeanShellAssertion.parameters" "Parameters" new "";
        file: Value "BeanShellAssertion.filename" "Script file" new "";
    } without {
        "BeanShellAssertion.resetInterpreter" "Reset bsh.Interpreter before each call" Flag new "false": "scripts of elements share no variables";
    };
    BsfAssertion "BSF Assertion" Assertion Runs ["BSFAssertion"] ["TestBeanGUI"] as Jsr223Sampler;
    ResultCollector "Listener" Listener Accepted ["ResultCollector"];
    ViewResultsTree "View Results Tree" Listener Accepted ["ResultCollector"] ["ViewResultsFullVisualizer"];
    SummaryReport "Summary Report" Listener Accepted ["ResultCollector"] ["SummaryReport"];
    AggregateReport "Aggregate Report" Listener Accepted ["ResultCollector"] ["StatVisualizer"];
    AggregateGraph "Aggregate Graph" Listener Accepted ["ResultCollector"] ["StatGraphVisualizer"];
    ResultsTable "View Results in Table" Listener Accepted ["ResultCollector"] ["TableVisualizer"];
    ResultsGraph "Graph Results" Listener Accepted ["ResultCollector"] ["GraphVisualizer"];
    ResponseTimeGraph "Response Time Graph" Listener Accepted ["ResultCollector"] ["RespTimeGraphVisualizer"];
    SimpleDataWriter "Simple Data Writer" Listener Accepted ["ResultCollector"] ["SimpleDataWriter"];
    AssertionResults "Assertion Results" Listener Accepted ["ResultCollector"] ["AssertionVisualizer"];
    ComparisonVisualizer "Comparison Assertion Visualizer" Listener Accepted ["ResultCollector"] ["ComparisonVisualizer"];
    Summariser "Generate Summary Results" Listener Accepted ["Summariser"];
    ResultSaver "Save Responses to a file" Listener Accepted ["ResultSaver"];
    MailResults "Mailer Visualizer" Listener Accepted ["MailerResultCollector"];
    BackendListener "Backend Listener" Listener Accepted ["BackendListener"];
    Jsr223Listener "JSR223 Listener" Listener Runs ["JSR223Listener"] ["TestBeanGUI"] as Jsr223Sampler;
    BeanShellListener "BeanShell Listener" Listener Runs ["BeanShellListener"] ["TestBeanGUI"] as BeanShellTimer;
    BsfListener "BSF Listener" Listener Accepted ["BSFListener"];
    PrometheusListener "Prometheus Listener" Listener Accepted [
        "com.github.johrstrom.listener.PrometheusListener",
        "com.github.johrstrom.listener.PrometheusMetricsConfig",
    ];
    PluginResults "jp@gc - Graph" Listener Accepted [
        "kg.apc.jmeter.vizualizers.CorrectedResultCollector",
        "kg.apc.jmeter.reporters.FlexibleFileWriter",
        "kg.apc.jmeter.reporters.ConsoleStatusLogger",
        "kg.apc.jmeter.reporters.LoadosophiaUploader",
        "com.blazemeter.jmeter.reporters.FlushingResultCollector",
        "com.blazemeter.jmeter.reporters.ConsoleStatusLogger",
        "com.blazemeter.api.BlazeMeterUploader",
    ];
    PerfMon "jp@gc - PerfMon Metrics Collector" Listener Accepted ["kg.apc.jmeter.perfmon.PerfMonCollector"];
    AutoStop "jp@gc - AutoStop Listener" Listener Unsupported ["kg.apc.jmeter.reporters.AutoStop"];
}

#[rustfmt::skip]
items! {
    Variable "Argument" pair {
        name: Source "Argument.name" "Name";
        value: Source "Argument.value" "Value";
    } without {
        "Argument.metadata" "Sign" Text new "=": "it shows between name and value";
    };
    Parameter "HTTPArgument" pair {
        name: Template "Argument.name" "Name";
        value: Template "Argument.value" "Value";
        needs_encoding: Flag "HTTPArgument.always_encode" "URL Encode?" new "true";
        has_equals: Flag "HTTPArgument.use_equals" "Include Equals?" new "true" absent "true";
    } without {
        "Argument.metadata" "Sign" Text new "=": "it shows between name and value";
        "HTTPArgument.content_type" "Content-Type" Text: "parts have the type of browsers";
    };
    Upload "HTTPFileArg" {
        path: Value "File.path" "File Path";
        field: Template "File.paramname" "Parameter Name";
        media_type: Template "File.mimetype" "MIME Type";
    } without {};
    Header "Header" pair {
        name: Value "Header.name" "Name";
        value: Template "Header.value" "Value";
    } without {};
    Cookie "Cookie" {
        name: Value "@name" "Name";
        value: Template "Cookie.value" "Value";
        domain: Value "Cookie.domain" "Domain";
        path: Value "Cookie.path" "Path";
    } without {};
    Authorization "Authorization" {
        url: Value "Authorization.url" "Base URL" new "";
        user: Text "Authorization.username" "Username" new "";
        password: Text "Authorization.password" "Password" new "";
        realm: Value "Authorization.realm" "Realm" new "";
        mechanism: Value "Authorization.mechanism" "Mechanism" new "BASIC";
    } without {
        "Authorization.domain" "Domain" Text new "": "only NTLM has it";
    };
}

pub(crate) type Parameters = Records<Parameter>;
pub(crate) type Uploads = Records<Upload>;
pub(crate) type Headers = Records<Header>;
pub(crate) type Cookies = Records<Cookie>;
pub(crate) type Authorizations = Records<Authorization>;

/// Names and values of an `Arguments` element.
pub(crate) struct Variables;

impl Variables {
    /// Names and unevaluated values of the items of a list, without those that have an empty name.
    pub(crate) fn pairs<'d>(
        items: impl Iterator<Item = Property<'d>>,
    ) -> impl Iterator<Item = (String, String)> {
        let [name, value, ..] = Variable::PROPERTIES else { unreachable!("a name and a value") };
        items.filter_map(|item| {
            let properties = item.properties();
            let name = properties.text(name.path)?.trim().to_owned();
            let value = properties.text(value.path).unwrap_or_default().into_owned();
            (!name.is_empty()).then_some((name, value))
        })
    }
}

impl Field for Variables {
    type Value = Vec<(String, String)>;
    const TAG: &'static str = Records::<Variable>::TAG;
    const FORM: PropertyForm = Records::<Variable>::FORM;

    fn read(property: &PropertyPlace<'_>) -> Result<Self::Value, String> {
        Ok(Self::pairs(property.items()).collect())
    }

    fn write(value: Self::Value, name: &str, writer: &mut dyn TextWriter) -> Prop {
        let variables = value.into_iter().map(|(name, value)| Variable { name, value });
        Records::write(variables.collect(), name, writer)
    }
}
