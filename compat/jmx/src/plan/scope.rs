//! Elements that apply to a sampler: its siblings and the siblings of its ancestors.

use crate::element::TestElement;
use crate::support::{ElementKind, Role};

/// Elements in scope, outermost first; those of one level in plan order.
#[derive(Debug, Clone, Default)]
pub struct ElementScope<'d> {
    pub defaults: Vec<TestElement<'d>>,
    pub headers: Vec<TestElement<'d>>,
    /// The innermost HTTP Cookie Manager.
    pub cookies: Option<TestElement<'d>>,
    /// The innermost HTTP Cache Manager.
    pub cache: Option<TestElement<'d>>,
    /// The innermost HTTP Authorization Manager.
    pub authorization: Option<TestElement<'d>>,
    /// WebSocket text frame filters.
    pub frame_filters: Vec<TestElement<'d>>,
    pub pre_processors: Vec<TestElement<'d>>,
    pub timers: Vec<TestElement<'d>>,
    pub post_processors: Vec<TestElement<'d>>,
    pub assertions: Vec<TestElement<'d>>,
    /// Only listeners that run a script.
    pub listeners: Vec<TestElement<'d>>,
    pub turns: TurnEffect,
}

/// Effect of samplers on the turns of an enclosing Interleave or Random Controller of style 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TurnEffect {
    /// There is no such controller.
    #[default]
    None,
    /// Samplers end the turn. Controllers resume in the next turn, except loops directly in the
    /// enclosing controller, which restart.
    Restart,
    /// Samplers end the turn, within a controller that resumes.
    Resume,
}

impl<'d> ElementScope<'d> {
    /// The scope of an element's children.
    pub fn with(&self, element: TestElement<'d>) -> Self {
        let mut scope = self.clone();
        for child in element.enabled_children() {
            match child.role() {
                Role::PreProcessor => scope.pre_processors.push(child),
                Role::Timer => scope.timers.push(child),
                Role::PostProcessor => scope.post_processors.push(child),
                Role::Assertion => scope.assertions.push(child),
                Role::Listener
                    if matches!(
                        child.kind(),
                        Some(ElementKind::Jsr223Listener | ElementKind::BeanShellListener)
                    ) =>
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
