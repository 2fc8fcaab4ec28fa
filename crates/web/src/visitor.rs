//! The visitor of a request: who sends it, and what that person or program may do.
//!
//! Pages are functions of the store and the URL. Only buttons and the tokens of forms depend on the visitor, so
//! the visitor belongs to the task of the request, and is no parameter of each page. A request without a visitor
//! has no permission and no valid form.

use crate::token::Token;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

tokio::task_local! {
    static VISITOR: Visitor;
}

/// Permission of a token.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// Shows stored and active runs.
    Read,
    /// Also starts and changes runs, and edits plan files.
    Run,
}

impl Permission {
    /// All permissions.
    pub const ALL: [Self; 2] = [Self::Read, Self::Run];

    /// Word in a file of tokens.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Run => "run",
        }
    }

    /// Returns the permission with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|permission| permission.word() == word)
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.word())
    }
}

/// The sender of a request.
#[derive(Clone)]
pub struct Visitor {
    /// Name of the token; None for a browser that a link has admitted.
    pub name: Option<String>,
    /// What the visitor may do.
    pub permission: Permission,
    /// Token of the visitor's forms; None for a program, which sends none.
    pub form_token: Option<Token>,
}

impl Visitor {
    /// Name for other visitors.
    pub fn holder(&self) -> &str {
        self.name.as_deref().unwrap_or("operator of the studio")
    }

    /// Performs the rest of a request for this visitor.
    pub async fn scope<F: Future>(self, future: F) -> F::Output {
        VISITOR.scope(self, future).await
    }

    /// Does work for a visitor, if there is one, on the current thread.
    pub fn sync_scope<T>(visitor: Option<Self>, work: impl FnOnce() -> T) -> T {
        match visitor {
            Some(visitor) => VISITOR.sync_scope(visitor, work),
            None => work(),
        }
    }

    /// The visitor of the current request.
    pub fn current() -> Option<Self> {
        VISITOR.try_with(Clone::clone).ok()
    }

    /// True for the text of the form token of the current visitor.
    pub fn has_form_token(text: &str) -> bool {
        let token = Self::current().and_then(|visitor| visitor.form_token);
        token.is_some_and(|token| token.is(text))
    }

    /// True if the visitor of the current request may start and change runs.
    pub fn can_run() -> bool {
        Self::current().is_some_and(|visitor| visitor.permission >= Permission::Run)
    }
}
