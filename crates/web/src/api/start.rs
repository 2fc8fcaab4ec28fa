//! The start of runs by programs.

use super::read_json;
use super::types::{StartPhase, StartReply, StartRequest, StartState};
use crate::layout::{Problem, json};
use crate::pages::starting;
use crate::process::StartedProcess;
use crate::shared::{Shared, on_thread, with_store};
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use std::fs;
use std::sync::Arc;
use tempfile::TempDir;

/// Maximum length of the name of a plan.
const MAX_NAME: usize = 64;

/// Starts a run.
///
/// # Errors
///
/// The request is malformed, or the process cannot be started.
pub async fn start(State(shared): State<Arc<Shared>>, body: Body) -> Result<Response, Problem> {
    let request: StartRequest = read_json(body).await?;
    let reply = on_thread(&shared, move |shared| {
        let folder = tempfile::tempdir().map_err(|error| Problem::internal(&error))?;
        let arguments = arguments(&request, &folder)?;
        Ok(StartReply { process: shared.start(&arguments, Some(folder))? })
    })
    .await?;
    Ok((StatusCode::ACCEPTED, json(&reply)?).into_response())
}

/// Returns the state of a process that was started.
///
/// # Errors
///
/// There is no such process any more.
pub async fn state(
    State(shared): State<Arc<Shared>>,
    Path(process): Path<u32>,
) -> Result<Response, Problem> {
    let state = with_store(&shared, move |store, shared| {
        let id = starting::run_of(store, process)?;
        let mut started = shared.started();
        let one = started.iter().find(|one| one.process.number == process);
        let Some(one) = one else {
            let active = id.map(|id| StartState {
                phase: StartPhase::Active,
                id: Some(id),
                messages: String::new(),
            });
            let text = "This process has no active run. GET /api/runs lists the stored ones.";
            return active.ok_or_else(|| Problem::not_found(text));
        };
        let state = state_of(&one.process, id)?;
        let number = one.number;
        // Its messages are kept in a file, until someone has read the end.
        if matches!(state.phase, StartPhase::Ended | StartPhase::Refused) {
            started.remove(number);
        }
        Ok(state)
    })
    .await?;
    json(&state)
}

fn state_of(process: &StartedProcess, id: Option<String>) -> Result<StartState, Problem> {
    let messages = process.messages().map_err(|error| Problem::internal(&error))?;
    let phase = match (process.status(), &id) {
        (_, Some(_)) => StartPhase::Active,
        (None, None) => StartPhase::Starting,
        (Some(status), None) if starting::has_stored(status) => StartPhase::Ended,
        (Some(_), None) => StartPhase::Refused,
    };
    Ok(StartState { phase, id, messages })
}

/// The arguments of `brunt run`. The text of a plan becomes a file in the folder.
fn arguments(request: &StartRequest, folder: &TempDir) -> Result<Vec<String>, Problem> {
    let target = match (&request.url, &request.plan) {
        (Some(url), None) if url.contains("://") && !url.starts_with('-') => url.clone(),
        (Some(_), None) => {
            return Err(Problem::bad_request(
                "url: write a URL with its scheme, such as http://shop/.",
            ));
        }
        (None, Some(plan)) => {
            let name = request.name.as_deref().unwrap_or("plan");
            if !is_name(name) {
                let text = "name: write 1 to 64 letters, digits, - and _, such as shop-nightly.";
                return Err(Problem::bad_request(text));
            }
            let path = folder.path().join(format!("{name}.yaml"));
            fs::write(&path, plan).map_err(|error| Problem::internal(&error))?;
            path.display().to_string()
        }
        _ => return Err(Problem::bad_request("Write either url or plan.")),
    };
    let mut arguments = vec!["run".to_owned(), target];
    for (name, value) in &request.variables {
        arguments.extend(["--set".to_owned(), format!("{name}={value}")]);
    }
    // A word without a dash would be a second target.
    if let Some(word) = request.options.iter().find(|option| !option.starts_with('-')) {
        let text = format!(
            "options: `{word}` is no option; write option and value as one text, such as --rate=500."
        );
        return Err(Problem::bad_request(text));
    }
    arguments.extend(request.options.iter().cloned());
    Ok(arguments)
}

fn is_name(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len())
        && !name.starts_with('-')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_written_to_a_file_below_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let plan = |name: &str| StartRequest {
            plan: Some("url: http://shop/".into()),
            name: Some(name.into()),
            ..StartRequest::default()
        };
        let path = folder.path().join("shop.yaml").display().to_string();
        assert_eq!(arguments(&plan("shop"), &folder).unwrap(), ["run", &path]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "url: http://shop/");
        for name in ["", "../../x", "a/b", "a.b", "-x", &"x".repeat(65)] {
            assert!(arguments(&plan(name), &folder).is_err(), "{name}");
        }
    }

    #[test]
    fn options_and_targets_stay_apart() {
        let folder = tempfile::tempdir().unwrap();
        let request = |url: &str, options: &[&str]| StartRequest {
            url: Some(url.into()),
            options: options.iter().map(|&option| option.to_owned()).collect(),
            variables: [("load.rate".to_owned(), "5".to_owned())].into(),
            ..StartRequest::default()
        };
        let expected = ["run", "http://shop/", "--set", "load.rate=5", "--rate=500"];
        assert_eq!(
            arguments(&request("http://shop/", &["--rate=500"]), &folder).unwrap(),
            expected
        );
        assert!(arguments(&request("--help", &[]), &folder).is_err());
        assert!(arguments(&request("plan.yaml", &[]), &folder).is_err(), "no file of this machine");
        assert!(arguments(&request("http://shop/", &["other"]), &folder).is_err());
        assert!(arguments(&StartRequest::default(), &folder).is_err());
    }
}
