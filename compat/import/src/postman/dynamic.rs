//! Dynamic variables of Postman (`{{$randomFirstName}}`) as functions of the plan.
//!
//! Postman draws names and words from the lists of faker.js. Here, each has a short list.

use brunt_har::text::variable;

/// Names of dynamic variables without the dollar sign, and their texts in the plan.
const DYNAMIC: &[(&str, &str)] = &[
    ("guid", "${uuid()}"),
    ("randomUUID", "${uuid()}"),
    ("timestamp", "${time(/1000)}"),
    ("isoTimestamp", "${time(yyyy-MM-dd'T'HH:mm:ss.SSSXXX)}"),
    ("randomInt", "${random(0,1000)}"),
    ("randomAlphaNumeric", "${RandomString(1)}"),
    ("randomBoolean", "${chooseRandom(true,false,)}"),
    ("randomPassword", "${RandomString(15)}"),
    ("randomHexadecimal", "0x${RandomString(4,0123456789abcdef)}"),
    ("randomHexColor", "#${RandomString(6,0123456789abcdef)}"),
    ("randomColor", "${chooseRandom(red,green,blue,yellow,violet,orange,)}"),
    ("randomAbbreviation", "${chooseRandom(SQL,PCI,JSON,HTTP,RAM,)}"),
    ("randomIP", "${random(1,223)}.${random(0,255)}.${random(0,255)}.${random(1,254)}"),
    (
        "randomIPV6",
        "2001:db8::${RandomString(4,123456789abcdef)}:${RandomString(4,123456789abcdef)}",
    ),
    ("randomMACAddress", "02:00:00:${random(10,99)}:${random(10,99)}:${random(10,99)}"),
    ("randomPort", "${random(1024,65535)}"),
    ("randomProtocol", "${chooseRandom(http,https,)}"),
    ("randomSemver", "${random(0,9)}.${random(0,9)}.${random(0,9)}"),
    ("randomUserAgent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"),
    ("randomFirstName", FIRST_NAME),
    ("randomLastName", LAST_NAME),
    (
        "randomFullName",
        "${chooseRandom(Anna,Ben,Carla,David,Emma,Felix,Grace,Hugo,)} ${chooseRandom(Smith,Jones,Garcia,Miller,Novak,Rossi,Tanaka,Weber,)}",
    ),
    ("randomNamePrefix", "${chooseRandom(Dr.,Ms.,Mr.,Mrs.,)}"),
    ("randomNameSuffix", "${chooseRandom(I,II,III,PhD,MD,)}"),
    ("randomUserName", "user${random(1,999999)}"),
    ("randomEmail", "user${random(1,999999)}@example.com"),
    ("randomExampleEmail", "user${random(1,999999)}@example.com"),
    ("randomPhoneNumber", "${random(200,999)}-${random(200,999)}-${random(1000,9999)}"),
    (
        "randomPhoneNumberExt",
        "${random(10,99)}-${random(200,999)}-${random(200,999)}-${random(1000,9999)}",
    ),
    (
        "randomJobTitle",
        "${chooseRandom(Senior Engineer,Product Manager,Data Analyst,Team Assistant,)}",
    ),
    (
        "randomCompanyName",
        "${chooseRandom(Smith,Jones,Garcia,Miller,Novak,Rossi,)} ${chooseRandom(Group,Inc,LLC,and Sons,)}",
    ),
    ("randomDomainName", "host${random(1,9999)}.example.com"),
    ("randomUrl", "https://host${random(1,9999)}.example.com"),
    ("randomCity", "${chooseRandom(Berlin,Chicago,Lagos,Lima,Osaka,Oslo,Paris,Sydney,)}"),
    ("randomCountry", "${chooseRandom(Brazil,Canada,France,Germany,India,Japan,Kenya,Norway,)}"),
    ("randomCountryCode", "${chooseRandom(BR,CA,FR,DE,IN,JP,KE,NO,)}"),
    (
        "randomStreetName",
        "${chooseRandom(Mill,Park,Lake,Station,Church,)} ${chooseRandom(Street,Road,Avenue,)}",
    ),
    (
        "randomStreetAddress",
        "${random(1,9999)} ${chooseRandom(Mill,Park,Lake,Station,Church,)} ${chooseRandom(Street,Road,Avenue,)}",
    ),
    ("randomLatitude", "${random(-89,89)}.${random(1000,9999)}"),
    ("randomLongitude", "${random(-179,179)}.${random(1000,9999)}"),
    ("randomPrice", "${random(0,999)}.${random(10,99)}"),
    ("randomCurrencyCode", "${chooseRandom(USD,EUR,GBP,JPY,INR,BRL,)}"),
    ("randomBankAccount", "${random(10000000,99999999)}"),
    ("randomCreditCardMask", "${random(1000,9999)}"),
    ("randomProduct", PRODUCT),
    (
        "randomProductName",
        "${chooseRandom(Small,Handmade,Modern,Wooden,Soft,)} ${chooseRandom(Chair,Table,Lamp,Shirt,Shoes,Bike,)}",
    ),
    ("randomProductAdjective", "${chooseRandom(Small,Handmade,Modern,Wooden,Soft,)}"),
    ("randomDepartment", "${chooseRandom(Books,Garden,Music,Sports,Toys,)}"),
    ("randomWord", WORD),
    (
        "randomWords",
        "${chooseRandom(open,system,garden,silver,bridge,)} ${chooseRandom(open,system,garden,silver,bridge,)} ${chooseRandom(open,system,garden,silver,bridge,)}",
    ),
    ("randomLoremWord", LOREM),
    (
        "randomLoremWords",
        "${chooseRandom(lorem,ipsum,dolor,sit,amet,)} ${chooseRandom(lorem,ipsum,dolor,sit,amet,)} ${chooseRandom(lorem,ipsum,dolor,sit,amet,)}",
    ),
    (
        "randomLoremSlug",
        "${chooseRandom(lorem,ipsum,dolor,sit,amet,)}-${chooseRandom(lorem,ipsum,dolor,sit,amet,)}-${random(1,9999)}",
    ),
    ("randomLoremSentence", LOREM_SENTENCE),
    ("randomLoremSentences", LOREM_SENTENCE),
    ("randomLoremParagraph", LOREM_SENTENCE),
    ("randomLoremText", LOREM_SENTENCE),
    ("randomPhrase", LOREM_SENTENCE),
    ("randomFileName", "file${random(1,9999)}.txt"),
    ("randomFileExt", "${chooseRandom(txt,pdf,png,csv,)}"),
    ("randomMimeType", "${chooseRandom(text/plain,application/json,image/png,)}"),
    ("randomLocale", "${chooseRandom(en,de,fr,ja,pt,)}"),
    ("randomDatePast", "${RandomDate(yyyy-MM-dd,2020-01-01,2026-01-01,,)}"),
    ("randomDateRecent", "${time(yyyy-MM-dd'T'HH:mm:ssXXX)}"),
    ("randomDateFuture", "${RandomDate(yyyy-MM-dd,2030-01-01,2035-01-01,,)}"),
    ("randomWeekday", "${chooseRandom(Monday,Tuesday,Wednesday,Thursday,Friday,Saturday,Sunday,)}"),
    ("randomMonth", "${chooseRandom(January,March,May,July,September,November,)}"),
];

const FIRST_NAME: &str = "${chooseRandom(Anna,Ben,Carla,David,Emma,Felix,Grace,Hugo,)}";
const LAST_NAME: &str = "${chooseRandom(Smith,Jones,Garcia,Miller,Novak,Rossi,Tanaka,Weber,)}";
const PRODUCT: &str = "${chooseRandom(Chair,Table,Lamp,Shirt,Shoes,Bike,)}";
const WORD: &str = "${chooseRandom(open,system,garden,silver,bridge,)}";
const LOREM: &str = "${chooseRandom(lorem,ipsum,dolor,sit,amet,)}";
const LOREM_SENTENCE: &str = "Lorem ipsum dolor ${chooseRandom(lorem,ipsum,dolor,sit,amet,)} amet.";

/// Returns the text for a name such as `$randomFirstName`; None if it is none of Postman's.
pub(super) fn text(name: &str) -> Option<String> {
    let name = name.strip_prefix('$')?;
    let mut rest = DYNAMIC.iter().find(|row| row.0 == name)?.1;
    let mut text = String::new();
    while let Some((before, tail)) = rest.split_once("${") {
        let (function, after) = tail.split_once('}')?;
        text.push_str(before);
        text.push_str(&variable(function));
        rest = after;
    }
    Some(text + rest)
}
