//! What holds for a sampler: the elements beside it and beside its ancestors.

use crate::element::TestElement;
use crate::support::{ElementKind, Role};

/// The elements in scope, the outermost first, those of one level in their order.
#[derive(Debug, Clone, Default)]
pub struct Scope<'d> {
    /// HTTP Request Defaults.
    pub defaults: Vec<TestElement<'d>>,
    /// HTTP Header Managers.
    pub headers: Vec<TestElement<'d>>,
    /// The innermost HTTP Cookie Manager.
    pub cookies: Option<TestElement<'d>>,
    /// The innermost HTTP Cache Manager.
    pub cache: Option<TestElement<'d>>,
    /// The innermost HTTP Authorization Manager.
    pub authorization: Option<TestElement<'d>>,
    /// Filters of messages of WebSockets.
    pub frame_filters: Vec<TestElement<'d>>,
    /// Pre-processors.
    pub before: Vec<TestElement<'d>>,
    /// Timers.
    pub timers: Vec<TestElement<'d>>,
    /// Post-processors.
    pub behind: Vec<TestElement<'d>>,
    /// Assertions.
    pub assertions: Vec<TestElement<'d>>,
    /// Listeners that run a script.
    pub listeners: Vec<TestElement<'d>>,
    /// Whether samplers end a turn.
    pub turns: Turns,
}

/// Whether samplers end the turn of an Interleave or Random Controller that ignores the blocks of controllers within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Turns {
    /// There is none around.
    #[default]
    None,
    /// They do. JMeter's controllers go on where their last turn ended, but for loops in that controller: they begin anew.
    Begins,
    /// They do, within controllers that go on.
    GoesOn,
}

impl<'d> Scope<'d> {
    /// The scope of an element's children.
    pub fn with(&self, element: TestElement<'d>) -> Self {
        let mut scope = self.clone();
        for child in element.enabled_children() {
            match child.role() {
                Role::PreProcessor => scope.before.push(child),
                Role::Timer => scope.timers.push(child),
                Role::PostProcessor => scope.behind.push(child),
                Role::Assertion => scope.assertions.push(child),
                Role::Listener
                    if matches!(child.kind(), Some(ElementKind::Jsr223Listener | ElementKind::BeanShellListener)) =>
                {
                    scope.listeners.push(child);
                }
                Role::Config => match child.kind() {
                    Some(ElementKind::HttpDefaults) => scope.defaults.push(child),
                    Some(ElementKind::FrameFilter) => scope.frame_filters.push(child),
                    Some(ElementKind::HeaderManager) => scope.headers.push(child),
                    Some(ElementKind::CookieManager) => scope.cookies = Some(child),
                    Some(ElementKind::CacheManager) => scope.cache = Some(child),
                    Some(ElementKind::AuthManager) => scope.authorization = Some(child),
                    _ => {}
                },
                _ => {}
            }
        }
        scope
    }
}
