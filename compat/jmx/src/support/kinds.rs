//! The table of element kinds: variant, title, role, tier, and the names of its class in plans.

use super::{Role, Row, Tier};

macro_rules! kinds {
    ($($kind:ident $title:literal $role:ident $tier:ident [$($name:literal),* $(,)?];)*) => {
        /// Kinds of test elements that brunt knows. [`title`](ElementKind::title) returns the
        /// name in JMeter's menus.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum ElementKind {
            $(#[doc = concat!("`", $title, "`")] $kind,)*
        }

        /// One row for each kind, in the order of the variants.
        pub(super) const ROWS: &[Row] = &[
            $(Row { kind: ElementKind::$kind, title: $title, role: Role::$role, tier: Tier::$tier },)*
        ];

        /// Names of classes. A kind without a name is identified by its GUI class ([`BY_FORM`]).
        pub(super) const NAMES: &[(ElementKind, &[&str])] = &[$((ElementKind::$kind, &[$($name),*]),)*];
    };
}

#[rustfmt::skip]
kinds! {
    TestPlan "Test Plan" Plan Runs ["TestPlan"];
    WorkBench "WorkBench" Plan Accepted ["WorkBench"];
    TestFragment "Test Fragment" Controller Runs ["TestFragmentController"];
    Recorder "HTTP(S) Test Script Recorder" Plan Accepted [
        "ProxyControl",
        "com.blazemeter.jmeter.correlation.CorrelationProxyControl",
    ];
    MirrorServer "HTTP Mirror Server" Plan Accepted ["HttpMirrorControl"];
    PropertyDisplay "Property Display" Plan Accepted ["Property", "PropertyControl"];
    ThreadGroup "Thread Group" ThreadGroup Runs ["ThreadGroup"];
    SetupThreadGroup "setUp Thread Group" ThreadGroup Runs ["SetupThreadGroup"];
    TearDownThreadGroup "tearDown Thread Group" ThreadGroup Runs ["PostThreadGroup"];
    OpenModelThreadGroup "Open Model Thread Group" ThreadGroup Runs ["OpenModelThreadGroup"];
    UltimateThreadGroup "jp@gc - Ultimate Thread Group" ThreadGroup Runs ["kg.apc.jmeter.threads.UltimateThreadGroup"];
    SteppingThreadGroup "jp@gc - Stepping Thread Group" ThreadGroup Runs ["kg.apc.jmeter.threads.SteppingThreadGroup"];
    ConcurrencyThreadGroup "bzm - Concurrency Thread Group" ThreadGroup Runs [
        "com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup",
    ];
    ArrivalsThreadGroup "bzm - Arrivals Thread Group" ThreadGroup Runs [
        "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup",
    ];
    FreeFormArrivalsThreadGroup "bzm - Free-Form Arrivals Thread Group" ThreadGroup Runs [
        "com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup",
    ];
    LoopController "Loop Controller" Controller Runs ["LoopController"];
    SimpleController "Simple Controller" Controller Runs ["GenericController"];
    RecordingController "Recording Controller" Controller Runs ["RecordingController"];
    OnceOnlyController "Once Only Controller" Controller Runs ["OnceOnlyController"];
    IfController "If Controller" Controller Runs ["IfController"];
    WhileController "While Controller" Controller Runs ["WhileController"];
    ForeachController "ForEach Controller" Controller Runs ["ForeachController"];
    SwitchController "Switch Controller" Controller Runs ["SwitchController"];
    RandomController "Random Controller" Controller Runs ["RandomController"];
    RandomOrderController "Random Order Controller" Controller Runs ["RandomOrderController"];
    InterleaveController "Interleave Controller" Controller Runs ["InterleaveControl"];
    ThroughputController "Throughput Controller" Controller Runs ["ThroughputController"];
    RuntimeController "Runtime Controller" Controller Runs ["RunTime"];
    CriticalSectionController "Critical Section Controller" Controller Runs ["CriticalSectionController"];
    ModuleController "Module Controller" Controller Runs ["ModuleController"];
    IncludeController "Include Controller" Controller Runs ["IncludeController"];
    TransactionController "Transaction Controller" Controller Runs ["TransactionController"];
    ParallelController "bzm - Parallel Controller" Controller Runs ["com.blazemeter.jmeter.controller.ParallelSampler"];
    WeightedSwitchController "bzm - Weighted Switch Controller" Controller Runs [
        "com.blazemeter.jmeter.control.WeightedSwitchController",
        "com.blazemeter.jmeter.controller.WeightedSwitchController",
        "WeightedSwitchController",
    ];
    ParameterizedController "jp@gc - Parameterized Controller" Controller Runs [
        "kg.apc.jmeter.control.ParameterizedController",
    ];
    WeightedDistributionController "Weighted Distribution Controller" Controller Unsupported [
        "WeightedDistributionController",
    ];
    HttpSampler "HTTP Request" Sampler Runs [
        "HTTPSamplerProxy",
        "HTTPSampler",
        "HTTPSampler2",
        "HTTPSampler_",
        "HTTPSampler2_",
    ];
    GraphQlSampler "GraphQL HTTP Request" Sampler Runs [];
    FlowControlAction "Flow Control Action" Sampler Runs ["TestAction"];
    SetVariablesAction "jp@gc - Set Variables Action" Sampler Runs [
        "kg.apc.jmeter.control.sampler.SetVariablesAction",
        "kg.apc.jmeter.samplers.SetVariablesAction",
    ];
    DummySampler "jp@gc - Dummy Sampler" Sampler Runs ["kg.apc.jmeter.samplers.DummySampler"];
    DebugSampler "Debug Sampler" Sampler Runs ["DebugSampler"];
    Jsr223Sampler "JSR223 Sampler" Sampler Runs ["JSR223Sampler"];
    BeanShellSampler "BeanShell Sampler" Sampler Runs ["BeanShellSampler"];
    BsfSampler "BSF Sampler" Sampler Runs ["BSFSampler"];
    SoapSampler "SOAP/XML-RPC Request" Sampler Unsupported ["SoapSampler", "WebServiceSampler"];
    AccessLogSampler "Access Log Sampler" Sampler Unsupported ["AccessLogSampler"];
    AjpSampler "AJP/1.3 Sampler" Sampler Unsupported ["AjpSampler"];
    Http2Sampler "bzm - HTTP2 Sampler" Sampler Runs ["com.blazemeter.jmeter.http2.sampler.HTTP2Sampler"];
    Http2Request "bzm - HTTP2 Request" Sampler Unsupported ["com.blazemeter.jmeter.http2.sampler.HTTP2Request"];
    JavaSampler "Java Request" Sampler Runs ["JavaSampler"];
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
    HttpDefaults "HTTP Request Defaults" Config Runs [];
    SimpleConfig "Simple Config Element" Config Accepted [];
    LoginConfig "Login Config Element" Config Accepted ["LoginConfig"];
    FtpDefaults "FTP Request Defaults" Config Accepted [];
    TcpDefaults "TCP Sampler Config" Config Accepted [];
    LdapDefaults "LDAP Request Defaults" Config Accepted [];
    LdapExtendedDefaults "LDAP Extended Request Defaults" Config Accepted [];
    JavaDefaults "Java Request Defaults" Config Accepted ["JavaConfig"];
    UserVariables "User Defined Variables" Config Runs ["Arguments"];
    HeaderManager "HTTP Header Manager" Config Runs ["HeaderManager"];
    CookieManager "HTTP Cookie Manager" Config Runs ["CookieManager"];
    CacheManager "HTTP Cache Manager" Config Runs ["CacheManager"];
    AuthManager "HTTP Authorization Manager" Config Runs ["AuthManager"];
    DnsCacheManager "DNS Cache Manager" Config Unsupported ["DNSCacheManager"];
    CsvDataSet "CSV Data Set Config" Config Runs ["CSVDataSet"];
    RandomCsvDataSet "bzm - Random CSV Data Set Config" Config Runs ["com.blazemeter.jmeter.RandomCSVDataSetConfig"];
    RandomVariable "Random Variable" Config Runs ["RandomVariableConfig"];
    Counter "Counter" Config Runs ["CounterConfig"];
    KeystoreConfig "Keystore Configuration" Config Accepted ["KeystoreConfig"];
    JdbcConnection "JDBC Connection Configuration" Config Accepted ["JDBCDataSource"];
    MongoSource "MongoDB Source Config" Config Accepted ["MongoSourceElement"];
    BoltConnection "Bolt Connection Configuration" Config Accepted ["BoltConnectionElement"];
    VariablesFromCsv "jp@gc - Variables From CSV File" Config Runs ["kg.apc.jmeter.config.VariablesFromCSV"];
    FrameFilter "WebSocket Text Frame Filter" Config Runs ["eu.luminis.jmeter.wssampler.TextFrameFilter"];
    BinaryFrameFilter "WebSocket Binary Frame Filter" Config Unsupported [
        "eu.luminis.jmeter.wssampler.BinaryFrameFilter",
    ];
    PingFrameFilter "WebSocket Ping/Pong Frame Filter" Config Accepted ["eu.luminis.jmeter.wssampler.PingFrameFilter"];
    LockFile "jp@gc - Lock File Config" Config Accepted ["kg.apc.jmeter.config.LockFile"];
    ConstantTimer "Constant Timer" Timer Runs ["ConstantTimer"];
    GaussianTimer "Gaussian Random Timer" Timer Runs ["GaussianRandomTimer"];
    UniformTimer "Uniform Random Timer" Timer Runs ["UniformRandomTimer"];
    PoissonTimer "Poisson Random Timer" Timer Runs ["PoissonRandomTimer"];
    ConstantThroughputTimer "Constant Throughput Timer" Timer Runs ["ConstantThroughputTimer"];
    PreciseThroughputTimer "Precise Throughput Timer" Timer Runs [
        "PreciseThroughputTimer",
        "org.apache.jmeter.timers.poissonarrivals.PreciseThroughputTimer",
    ];
    ThroughputShapingTimer "jp@gc - Throughput Shaping Timer" Timer Runs [
        "kg.apc.jmeter.timers.VariableThroughputTimer",
    ];
    SynchronizingTimer "Synchronizing Timer" Timer Runs ["SyncTimer"];
    Jsr223Timer "JSR223 Timer" Timer Runs ["JSR223Timer"];
    BeanShellTimer "BeanShell Timer" Timer Runs ["BeanShellTimer"];
    BsfTimer "BSF Timer" Timer Runs ["BSFTimer"];
    UserParameters "User Parameters" PreProcessor Runs ["UserParameters"];
    Jsr223PreProcessor "JSR223 PreProcessor" PreProcessor Runs ["JSR223PreProcessor"];
    BeanShellPreProcessor "BeanShell PreProcessor" PreProcessor Runs ["BeanShellPreProcessor"];
    BsfPreProcessor "BSF PreProcessor" PreProcessor Runs ["BSFPreProcessor"];
    LinkParser "HTML Link Parser" PreProcessor Runs ["AnchorModifier"];
    UrlRewriting "HTTP URL Re-writing Modifier" PreProcessor Runs ["URLRewritingModifier"];
    RegexUserParameters "RegEx User Parameters" PreProcessor Runs ["RegExUserParameters"];
    SampleTimeout "Sample Timeout" PreProcessor Runs ["SampleTimeout"];
    UserParameterModifier "HTTP User Parameter Modifier" PreProcessor Unsupported [
        "UserParameterModifier",
        "ParamModifier",
    ];
    JdbcPreProcessor "JDBC PreProcessor" PreProcessor Unsupported ["JDBCPreProcessor"];
    FifoPop "jp@gc - Inter-Thread Communication PreProcessor" PreProcessor Runs [
        "kg.apc.jmeter.modifiers.FifoPopPreProcessor",
    ];
    RegexExtractor "Regular Expression Extractor" PostProcessor Runs ["RegexExtractor"];
    JsonExtractor "JSON Extractor" PostProcessor Runs ["JSONPostProcessor"];
    JmesPathExtractor "JSON JMESPath Extractor" PostProcessor Runs ["JMESPathExtractor"];
    BoundaryExtractor "Boundary Extractor" PostProcessor Runs ["BoundaryExtractor"];
    HtmlExtractor "CSS Selector Extractor" PostProcessor Runs ["HtmlExtractor"];
    XpathExtractor "XPath Extractor" PostProcessor Runs ["XPathExtractor"];
    Xpath2Extractor "XPath2 Extractor" PostProcessor Runs ["XPath2Extractor"];
    Jsr223PostProcessor "JSR223 PostProcessor" PostProcessor Runs ["JSR223PostProcessor"];
    BeanShellPostProcessor "BeanShell PostProcessor" PostProcessor Runs ["BeanShellPostProcessor"];
    BsfPostProcessor "BSF PostProcessor" PostProcessor Runs ["BSFPostProcessor"];
    DebugPostProcessor "Debug PostProcessor" PostProcessor Accepted ["DebugPostProcessor"];
    ResultAction "Result Status Action Handler" PostProcessor Runs ["ResultAction"];
    JdbcPostProcessor "JDBC PostProcessor" PostProcessor Unsupported ["JDBCPostProcessor"];
    JsonPathExtractorPlugin "jp@gc - JSON Path Extractor" PostProcessor Runs [
        "com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.JSONPathExtractor",
    ];
    JsonFormatter "jp@gc - JSON Format Post Processor" PostProcessor Accepted [
        "com.atlantbh.jmeter.plugins.jsonutils.jsonformatter.JSONFormatter",
    ];
    XmlFormatter "jp@gc - XML Format Post Processor" PostProcessor Accepted [
        "com.atlantbh.jmeter.plugins.xmlformatter.XMLFormatPostProcessor",
    ];
    FifoPut "jp@gc - Inter-Thread Communication PostProcessor" PostProcessor Runs [
        "kg.apc.jmeter.modifiers.FifoPutPostProcessor",
    ];
    ResponseAssertion "Response Assertion" Assertion Runs ["ResponseAssertion"];
    DurationAssertion "Duration Assertion" Assertion Runs ["DurationAssertion"];
    SizeAssertion "Size Assertion" Assertion Runs ["SizeAssertion"];
    JsonAssertion "JSON Assertion" Assertion Runs [
        "JSONPathAssertion",
        "com.atlantbh.jmeter.plugins.jsonutils.jsonpathassertion.JSONPathAssertion",
    ];
    JmesPathAssertion "JSON JMESPath Assertion" Assertion Runs ["JMESPathAssertion"];
    XpathAssertion "XPath Assertion" Assertion Runs ["XPathAssertion"];
    Xpath2Assertion "XPath2 Assertion" Assertion Runs ["XPath2Assertion"];
    XmlAssertion "XML Assertion" Assertion Runs ["XMLAssertion"];
    XmlSchemaAssertion "XML Schema Assertion" Assertion Unsupported ["XMLSchemaAssertion"];
    HtmlAssertion "HTML Assertion" Assertion Unsupported ["HTMLAssertion"];
    Md5Assertion "MD5Hex Assertion" Assertion Runs ["MD5HexAssertion"];
    CompareAssertion "Compare Assertion" Assertion Unsupported ["CompareAssertion"];
    SmimeAssertion "SMIME Assertion" Assertion Unsupported ["SMIMEAssertion", "SMIMEAssertionTestElement"];
    Jsr223Assertion "JSR223 Assertion" Assertion Runs ["JSR223Assertion"];
    BeanShellAssertion "BeanShell Assertion" Assertion Runs ["BeanShellAssertion"];
    BsfAssertion "BSF Assertion" Assertion Runs ["BSFAssertion"];
    ResultCollector "Listener" Listener Accepted ["ResultCollector"];
    ViewResultsTree "View Results Tree" Listener Accepted [];
    SummaryReport "Summary Report" Listener Accepted [];
    AggregateReport "Aggregate Report" Listener Accepted [];
    AggregateGraph "Aggregate Graph" Listener Accepted [];
    ResultsTable "View Results in Table" Listener Accepted [];
    ResultsGraph "Graph Results" Listener Accepted [];
    ResponseTimeGraph "Response Time Graph" Listener Accepted [];
    SimpleDataWriter "Simple Data Writer" Listener Accepted [];
    AssertionResults "Assertion Results" Listener Accepted [];
    ComparisonVisualizer "Comparison Assertion Visualizer" Listener Accepted [];
    Summariser "Generate Summary Results" Listener Accepted ["Summariser"];
    ResultSaver "Save Responses to a file" Listener Accepted ["ResultSaver"];
    MailResults "Mailer Visualizer" Listener Accepted ["MailerResultCollector"];
    BackendListener "Backend Listener" Listener Accepted ["BackendListener"];
    Jsr223Listener "JSR223 Listener" Listener Runs ["JSR223Listener"];
    BeanShellListener "BeanShell Listener" Listener Runs ["BeanShellListener"];
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

/// Kinds that share a class, distinguished by the GUI
/// class: `ConfigTestElement` with `HttpDefaultsGui`.
pub(super) const BY_FORM: &[(ElementKind, &str, ElementKind)] = &[
    (ElementKind::HttpSampler, "GraphQLHTTPSamplerGui", ElementKind::GraphQlSampler),
    (ElementKind::Config, "HttpDefaultsGui", ElementKind::HttpDefaults),
    (ElementKind::Config, "UrlConfigGui", ElementKind::HttpDefaults),
    (ElementKind::Config, "MultipartUrlConfigGui", ElementKind::HttpDefaults),
    // Without a GUI class the element was written by hand, and only request defaults make sense.
    (ElementKind::Config, "", ElementKind::HttpDefaults),
    (ElementKind::Config, "SimpleConfigGui", ElementKind::SimpleConfig),
    (ElementKind::Config, "PropertyControlGui", ElementKind::PropertyDisplay),
    (ElementKind::Config, "LoginConfigGui", ElementKind::LoginConfig),
    (ElementKind::Config, "FtpConfigGui", ElementKind::FtpDefaults),
    (ElementKind::Config, "TCPConfigGui", ElementKind::TcpDefaults),
    (ElementKind::Config, "LdapConfigGui", ElementKind::LdapDefaults),
    (ElementKind::Config, "LdapExtConfigGui", ElementKind::LdapExtendedDefaults),
    (ElementKind::ResultCollector, "ViewResultsFullVisualizer", ElementKind::ViewResultsTree),
    (ElementKind::ResultCollector, "SummaryReport", ElementKind::SummaryReport),
    (ElementKind::ResultCollector, "StatVisualizer", ElementKind::AggregateReport),
    (ElementKind::ResultCollector, "StatGraphVisualizer", ElementKind::AggregateGraph),
    (ElementKind::ResultCollector, "TableVisualizer", ElementKind::ResultsTable),
    (ElementKind::ResultCollector, "GraphVisualizer", ElementKind::ResultsGraph),
    (ElementKind::ResultCollector, "RespTimeGraphVisualizer", ElementKind::ResponseTimeGraph),
    (ElementKind::ResultCollector, "SimpleDataWriter", ElementKind::SimpleDataWriter),
    (ElementKind::ResultCollector, "AssertionVisualizer", ElementKind::AssertionResults),
    (ElementKind::ResultCollector, "ComparisonVisualizer", ElementKind::ComparisonVisualizer),
];
