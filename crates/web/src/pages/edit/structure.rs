//! Forms of the elements of a text, and edits of the text. The browser has the text; the studio keeps the latest texts, so that
//! requests for a form are short.

use super::check::{CheckedText, checked};
use super::{EditedPlan, MAX_FORM_BYTES, PLAN_FORMATS};
use crate::edited_texts::EditedText;
use crate::fields::Fields;
use crate::layout::{Problem, json};
use crate::shared::{Shared, form, form_up_to, on_thread};
use crate::texts::{Viewer, message};
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use brunt_editor::{PlanEdit, PlanText, apply};
use serde::Serialize;
use std::sync::Arc;

/// A change of a text, in units of UTF-16, which browsers count.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct TextChange {
    from: usize,
    to: usize,
    insert: String,
}

/// The reply to edits.
#[derive(Debug, Serialize)]
struct EditReply {
    changes: Vec<TextChange>,
    select: Vec<String>,
    check: CheckedText,
}

/// The form of an element.
///
/// # Errors
///
/// The text is not kept, or has no such element.
pub async fn fields(State(shared): State<Arc<Shared>>, body: Body) -> Result<Response, Problem> {
    let fields = form(body).await?;
    on_thread(&shared, move |shared| {
        let EditedText { text, plan, .. } = kept_text(&fields, shared)?;
        let plan = match plan {
            Some(plan) => plan,
            None => PlanText::read(fields.first("file"), &text, &PLAN_FORMATS)
                .map(Arc::new)
                .map_err(|error| Problem::bad_request(error.to_string()))?,
        };
        let path = fields.first("path");
        let form = plan.form(path);
        json(&form.ok_or_else(|| Problem::not_found(message!("edit-no-element", path)))?)
    })
    .await
}

/// Changes a text.
///
/// # Errors
///
/// The text is not kept, or an edit is not possible.
pub async fn change(
    State(shared): State<Arc<Shared>>,
    viewer: Viewer,
    body: Body,
) -> Result<Response, Problem> {
    let fields = form_up_to(MAX_FORM_BYTES, body).await?;
    on_thread(&shared, move |shared| {
        let EditedText { text, .. } = kept_text(&fields, shared)?;
        let file = fields.first("file");
        let edits: Vec<PlanEdit> = serde_json::from_str(fields.first("edits"))
            .map_err(|error| Problem::bad_request(format!("edits: {error}")))?;
        let edited = apply(file, &text, &edits, &PLAN_FORMATS)
            .map_err(|error| Problem::bad_request(error.to_string()))?;
        let changes = change_between(&text, &edited.text).into_iter().collect();
        let file = file.to_owned();
        let plan = EditedPlan { file, text: edited.text, digest: String::new() };
        json(&EditReply { changes, select: edited.select, check: checked(plan, shared, &viewer) })
    })
    .await
}

/// The text with the digest of a form.
fn kept_text(fields: &Fields, shared: &Shared) -> Result<EditedText, Problem> {
    let text = shared.edited_texts().get(fields.first("revision"));
    text.ok_or_else(|| Problem { status: StatusCode::CONFLICT, text: message!("edit-forgotten") })
}

/// The change between two texts, without their common beginning and end.
fn change_between(old: &str, new: &str) -> Option<TextChange> {
    if old == new {
        return None;
    }
    let common = old.char_indices().zip(new.chars()).take_while(|((_, a), b)| a == b).last();
    let start = common.map_or(0, |((at, character), _)| at + character.len_utf8());
    let old_rest = &old[start..];
    let new_rest = &new[start..];
    // The end begins after the beginning, so that the two never overlap.
    let common = old_rest.chars().rev().zip(new_rest.chars().rev()).take_while(|(a, b)| a == b);
    let end: usize = common.map(|(character, _)| character.len_utf8()).sum();
    let units = |text: &str| text.encode_utf16().count();
    let from = units(&old[..start]);
    Some(TextChange {
        from,
        to: from + units(&old_rest[..old_rest.len() - end]),
        insert: new_rest[..new_rest.len() - end].to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(old: &str, new: &str) -> Option<(usize, usize, String)> {
        change_between(old, new).map(|change| (change.from, change.to, change.insert))
    }

    #[test]
    fn changes_are_minimal_and_count_utf16() {
        assert_eq!(change("a\n", "a\n"), None);
        assert_eq!(change("", "ab"), Some((0, 0, "ab".to_owned())));
        assert_eq!(change("aaa", "aa"), Some((2, 3, String::new())));
        assert_eq!(change("é😀x é", "é😀yz é"), Some((3, 4, "yz".to_owned())));
        assert_eq!(change("😀", "😁"), Some((0, 2, "😁".to_owned())));
    }
}
