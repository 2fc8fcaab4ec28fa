//! Descriptions of interfaces: what is sent satisfies its schema, by another validator; the styles of parameters
//! are those of the specification's examples.

use super::formats::{options, requests};
use brunt_import::{ImportFormat, ImportOptions, import};
use brunt_model::Body;
use brunt_tests::schema::SchemaValidator;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Requests of a description with these paths.
fn sent(paths: &Value, further: &Value) -> Vec<(String, Body)> {
    let mut api =
        json!({"openapi": "3.1.0", "servers": [{"url": "http://127.0.0.1"}], "paths": paths});
    for (name, value) in further.as_object().expect("a map") {
        api[name] = value.clone();
    }
    requests(ImportFormat::Openapi, &api.to_string())
}

fn body_of(schema: &Value, components: &Value) -> Value {
    let paths = json!({"/a": {"post": {"requestBody": {"content": {"application/json": {"schema": schema}}}}}});
    let requests = sent(&paths, &json!({"components": {"schemas": components}}));
    match &requests[0].1 {
        Body::Text(text) => serde_json::from_str(text.as_ref()).expect("JSON"),
        other => panic!("{other:?}"),
    }
}

/// The examples of OAS 3.0.3, section "XML Object".
#[test]
fn bodies_in_xml_follow_the_xml_keys_of_the_schema() {
    let xml = |schema: Value| {
        let pets = json!({"Person": schema});
        let body = json!({"content": {"application/xml": {"schema": {"$ref": "#/components/schemas/Person"}}}});
        let paths = json!({"/a": {"post": {"requestBody": body}}});
        match &sent(&paths, &json!({"components": {"schemas": pets}}))[0].1 {
            Body::Text(text) => text.split_once("?>").expect("a declaration").1.to_owned(),
            other => panic!("{other:?}"),
        }
    };
    let text = json!({"type": "string", "example": "a<b"});
    let list = |of_list: Value, of_item: Value| {
        let items = json!({"type": "string", "example": "v", "xml": of_item});
        json!({"type": "object", "properties": {"animals": {"type": "array", "items": items, "xml": of_list}}})
    };
    for (schema, expected) in [
        (
            json!({"type": "object", "properties": {"name": text}}),
            "<Person><name>a&lt;b</name></Person>",
        ),
        (
            json!({"type": "object", "xml": {"name": "p"}, "properties": {
                "id": {"type": "integer", "example": 5, "xml": {"attribute": true}},
                "name": {"type": "string", "example": "n", "xml": {"namespace": "http://x/s", "prefix": "s"}}}}),
            "<p id=\"5\"><s:name xmlns:s=\"http://x/s\">n</s:name></p>",
        ),
        (list(json!({}), json!({})), "<Person><animals>v</animals></Person>"),
        (
            list(json!({"name": "aliens"}), json!({"name": "animal"})),
            "<Person><animal>v</animal></Person>",
        ),
        (
            list(json!({"wrapped": true}), json!({})),
            "<Person><animals><animals>v</animals></animals></Person>",
        ),
        (
            list(json!({"name": "aliens", "wrapped": true}), json!({"name": "animal"})),
            "<Person><aliens><animal>v</animal></aliens></Person>",
        ),
        (
            list(json!({"name": "aliens", "wrapped": true}), json!({})),
            "<Person><aliens><aliens>v</aliens></aliens></Person>",
        ),
    ] {
        assert_eq!(xml(schema.clone()), expected, "{schema}");
    }
}

#[test]
fn a_closed_schema_forbids_the_properties_of_others() {
    let schema = json!({"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}}],
        "properties": {"b": {"type": "string"}}, "additionalProperties": false});
    let body = body_of(&schema, &json!({}));
    assert!(body.get("a").is_none() && body.get("b").is_some(), "{body}");
}

/// A schema that some value satisfies.
fn schema() -> impl Strategy<Value = Value> {
    let bounds = (-1000i64..1000, 0i64..50, 1i64..7);
    let texts = prop_oneof![
        (0usize..30, 0usize..30)
            .prop_map(|(least, more)| json!({"minLength": least, "maxLength": least + more})),
        prop_oneof![
            Just("^[a-z]{3,8}$"),
            Just(r"^\d{4}-[A-F]{2}(-x)?$"),
            Just(r"[\w.-]+@[a-z]+\.(com|org)"),
            Just("^$|^id_[0-9a-f]{24}$"),
        ]
        .prop_map(|pattern| json!({"pattern": pattern})),
        prop_oneof![
            Just("date"),
            Just("date-time"),
            Just("uuid"),
            Just("email"),
            Just("ipv4"),
            Just("ipv6"),
            Just("uri"),
        ]
        .prop_map(|format| json!({"format": format})),
        Just(json!({"minLength": 1, "pattern": "^(a|bc)*$"})),
    ]
    .prop_map(|mut schema| {
        schema["type"] = json!("string");
        schema
    });
    let leaf = prop_oneof![
        bounds.clone().prop_map(|(least, more, step)| {
            json!({"type": "integer", "minimum": least, "maximum": least + more + step, "multipleOf": step})
        }),
        bounds.clone().prop_map(|(least, more, _)| {
            json!({"type": "integer", "exclusiveMinimum": least, "exclusiveMaximum": least + more + 2})
        }),
        bounds.prop_map(|(least, more, _)| {
            json!({"type": "number", "exclusiveMinimum": least, "maximum": least + more + 1})
        }),
        texts,
        Just(json!({"type": "boolean"})),
        Just(json!({"enum": [3, "x", null]})),
        Just(json!({"const": {"a": [1]}})),
        Just(json!({"type": ["null", "string"], "example": "stated"})),
        // The example does not satisfy the schema.
        Just(json!({"type": "integer", "minimum": 5, "example": "many"})),
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        prop_oneof![
            (inner.clone(), 0usize..4, any::<bool>()).prop_map(|(item, least, more)| {
                json!({"type": "array", "items": item, "minItems": least, "maxItems": least + usize::from(more)})
            }),
            (1usize..4).prop_map(|least| {
                json!({"type": "array", "items": {"type": "string"}, "minItems": least, "uniqueItems": true})
            }),
            (prop::collection::vec(inner.clone(), 1..4), any::<bool>(), any::<u8>()).prop_map(
                |(parts, is_closed, required)| {
                    let name = |number: usize| format!("p{number}");
                    let properties: serde_json::Map<String, Value> =
                        parts.into_iter().enumerate().map(|(n, part)| (name(n), part)).collect();
                    let required: Vec<String> =
                        (0..properties.len()).filter(|n| required >> n & 1 == 1).map(name).collect();
                    json!({"type": "object", "properties": properties, "required": required,
                        "additionalProperties": !is_closed})
                }
            ),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| {
                json!({"allOf": [
                    {"type": "object", "properties": {"a": a}, "required": ["a"]},
                    {"type": "object", "properties": {"b": b, "id": {"type": "integer", "readOnly": true}}},
                ]})
            }),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| {
                let option = |kind: &str, inner: Value| {
                    json!({"type": "object", "properties": {"kind": {"const": kind}, "value": inner},
                        "required": ["kind", "value"]})
                };
                json!({"oneOf": [option("a", a), option("b", b)]})
            }),
            (inner.clone(), inner).prop_map(|(a, b)| json!({"anyOf": [a, b]})),
            (2usize..6).prop_map(|least| json!({"type": "object", "minProperties": least})),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn what_is_sent_satisfies_its_schema(schema in schema()) {
        let body = body_of(&schema, &json!({}));
        // With the defaults of 2020-12, the validator does not check formats.
        let checked = SchemaValidator::new(schema.clone()).check(&body);
        prop_assert!(checked.is_ok(), "{schema}\n{body}\n{}", checked.unwrap_err());
    }
}

#[test]
fn components_name_themselves_in_their_discriminator() {
    let components = json!({
        "Pet": {"type": "object", "required": ["kind"], "properties": {"kind": {"type": "string"}},
            "discriminator": {"propertyName": "kind", "mapping": {"dog": "#/components/schemas/Dog"}}},
        "Dog": {"allOf": [{"$ref": "#/components/schemas/Pet"}, {"properties": {"bark": {"type": "boolean"}}}]},
        "Cat": {"allOf": [{"$ref": "#/components/schemas/Pet"}, {"required": ["lives"]}]},
    });
    let body =
        |name: &str| body_of(&json!({"$ref": format!("#/components/schemas/{name}")}), &components);
    assert_eq!(body("Dog"), json!({"kind": "dog", "bark": true}));
    assert_eq!(body("Cat"), json!({"kind": "Cat", "lives": "lives"}));
    let one = json!({"oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}]});
    // An example of Cat would be one of Dog, too.
    assert_eq!(body_of(&one, &components)["kind"], "dog");
}

#[test]
fn fields_of_replies_are_not_sent() {
    let schema = json!({"type": "object", "required": ["id", "name"],
        "properties": {"id": {"type": "integer", "readOnly": true}, "name": {"type": "string"}},
        "example": {"id": 1, "name": "ann"}});
    assert_eq!(body_of(&schema, &json!({})), json!({"name": "ann"}));
    let list = json!({"type": "array", "items": {"enum": ["x"]}, "minItems": 0});
    assert_eq!(body_of(&list, &json!({})), json!(["x"]));
    // A text can be the JSON of an example.
    let text = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "example": "{\"a\": 5}"});
    assert_eq!(body_of(&text, &json!({})), json!({"a": 5}));
}

#[test]
fn parameters_have_their_styles() {
    // OAS 3.0.3, table "Style Examples".
    let (array, object) =
        (json!(["blue", "black", "brown"]), json!({"R": 100, "G": 200, "B": 150}));
    let url = |place: &str, style: &str, explode: bool, example: &Value| {
        let parameter = json!({"name": "color", "in": place, "style": style, "explode": explode, "required": true,
            "schema": {}, "example": example});
        let path = if place == "path" { "/{color}" } else { "/" };
        let paths = json!({path: {"get": {"parameters": [parameter]}}});
        sent(&paths, &json!({}))
            .remove(0)
            .0
            .strip_prefix("GET http://127.0.0.1/")
            .unwrap()
            .to_owned()
    };
    let table = [
        ("path", "matrix", false, ";color=blue,black,brown", ";color=R,100,G,200,B,150"),
        ("path", "matrix", true, ";color=blue;color=black;color=brown", ";R=100;G=200;B=150"),
        // RFC 6570: the delimiter of a list that is not exploded is a comma; the table has a dot by mistake.
        ("path", "label", false, ".blue,black,brown", ".R,100,G,200,B,150"),
        ("path", "label", true, ".blue.black.brown", ".R=100.G=200.B=150"),
        ("path", "simple", false, "blue,black,brown", "R,100,G,200,B,150"),
        ("path", "simple", true, "blue,black,brown", "R=100,G=200,B=150"),
        ("query", "form", false, "?color=blue,black,brown", "?color=R,100,G,200,B,150"),
        ("query", "form", true, "?color=blue&color=black&color=brown", "?R=100&G=200&B=150"),
        ("query", "spaceDelimited", false, "?color=blue+black+brown", "?color=R+100+G+200+B+150"),
        (
            "query",
            "pipeDelimited",
            false,
            "?color=blue%7Cblack%7Cbrown",
            "?color=R%7C100%7CG%7C200%7CB%7C150",
        ),
    ];
    for (place, style, explode, of_array, of_object) in table {
        assert_eq!(url(place, style, explode, &array), of_array, "{place} {style} {explode}");
        assert_eq!(url(place, style, explode, &object), of_object, "{place} {style} {explode}");
    }
    let deep = url("query", "deepObject", true, &object);
    assert_eq!(deep, "?color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150");
    let swagger = |format: &str| {
        let api = json!({"swagger": "2.0", "host": "127.0.0.1", "schemes": ["http"], "paths": {"/": {"get": {"parameters": [
            {"name": "c", "in": "query", "required": true, "type": "array", "items": {"type": "string"},
             "collectionFormat": format, "default": ["a", "b"]}]}}}});
        requests(ImportFormat::Openapi, &api.to_string()).remove(0).0
    };
    let formats = ["csv", "ssv", "tsv", "pipes", "multi"].map(swagger);
    let expected = ["c=a,b", "c=a+b", "c=a%09b", "c=a%7Cb", "c=a&c=b"];
    assert_eq!(formats, expected.map(|query| format!("GET http://127.0.0.1/?{query}")));
}

#[test]
fn forms_follow_their_encoding() {
    let schema = json!({"type": "object", "properties": {
        "tags": {"type": "array", "items": {"type": "string"}, "example": ["a", "b"]},
        "joined": {"type": "array", "items": {"type": "string"}, "example": ["a", "b"]},
        "address": {"type": "object", "properties": {"city": {"type": "string", "example": "Ulm"}}}}});
    let form = |kind: &str| {
        let media = json!({"schema": schema, "encoding": {"joined": {"explode": false}, "address": {"contentType": "application/json; x=1"}}});
        let paths = json!({"/": {"post": {"requestBody": {"content": {kind: media}}}}});
        sent(&paths, &json!({})).remove(0).1
    };
    let expected = "tags=a&tags=b&joined=a%2Cb&address=%7B%22city%22%3A%22Ulm%22%7D";
    assert_eq!(form("application/x-www-form-urlencoded"), Body::Text(expected.into()));
    let kinds = format!("{:?}", form("multipart/form-data"));
    assert!(
        kinds.contains("application/json; x=1") && kinds.matches("tags").count() == 2,
        "{kinds}"
    );
}

#[test]
fn the_server_nearest_to_an_operation_counts() {
    let paths = json!({
        "/a": {"servers": [{"url": "http://127.0.0.1:1/{v}", "variables": {"v": {"default": "v1"}}}],
            "get": {}, "post": {"servers": [{"url": "http://127.0.0.1:2"}]}},
        "/b": {"get": {}},
        "/c": {"$ref": "#/components/pathItems/c"}});
    let further = json!({"components": {"pathItems": {"c": {"get": {}}}}});
    let urls: Vec<String> = sent(&paths, &further).into_iter().map(|(url, _)| url).collect();
    let expected = [
        "GET http://127.0.0.1:1/v1/a",
        "POST http://127.0.0.1:2/a",
        "GET http://127.0.0.1/b",
        "GET http://127.0.0.1/c",
    ];
    assert_eq!(urls, expected);
}

#[test]
fn a_description_may_consist_of_several_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let main = "openapi: 3.0.0\nservers: [{url: 'http://127.0.0.1'}]\npaths: {/a: {$ref: 'paths/a.yaml'}}\n";
    write(
        "paths/a.yaml",
        "post: {parameters: [{$ref: '../shared.json#/q'}], requestBody: {content: {application/json: {schema: {$ref: '../shared.json#/~1x'}}}}}",
    );
    write(
        "shared.json",
        r##"{"q": {"name": "q", "in": "query", "required": true, "schema": {"$ref": "#/number"}}, "number": {"type": "integer"}, "/x": {"properties": {"n": {"$ref": "#/number"}}}}"##,
    );
    let file = folder.path().join("main.yaml").display().to_string();
    let with_files = ImportOptions {
        file,
        read_file: Some(|path| std::fs::read_to_string(path)),
        ..ImportOptions::default()
    };
    let plan = import(ImportFormat::Openapi, main, &with_files).unwrap();
    assert!(plan.contains("{q: 1}") && plan.contains("{n: 1}"), "{plan}");
    let alone = import(ImportFormat::Openapi, main, &options()).unwrap_err().to_string();
    assert!(alone.contains("`paths/a.yaml` is in another file"), "{alone}");
}

#[test]
fn values_of_a_description_are_no_secrets() {
    let paths = json!({"/": {"get": {"parameters": [
        {"name": "page_token", "in": "query", "required": true, "schema": {"type": "string"}, "example": "abc"}]}}});
    let schemes = json!({"a": {"type": "http", "scheme": "basic"}, "b": {"type": "apiKey", "in": "header", "name": "X"}});
    let api = json!({"openapi": "3.1.0", "servers": [{"url": "http://127.0.0.1"}], "paths": paths,
        "components": {"securitySchemes": schemes}, "security": [{"a": [], "b": []}]});
    let plan = import(ImportFormat::Openapi, &api.to_string(), &options()).unwrap();
    assert!(plan.contains("page_token: abc"), "{plan}");
    assert!(plan.contains("# Before a run: export A_USER=… A_PASSWORD=… B=…"), "{plan}");
}
