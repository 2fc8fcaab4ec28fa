//! `ctx` and its objects: thread, thread group, engine.

use super::{sample, sampler, vars};
use crate::error::Eval;
use crate::host::Stop;
use crate::value::{Native, Value};
use crate::vm::Vm;
use std::any::Any;

/// `ctx`
pub(super) struct Context;

/// `ctx.getThreadGroup()`
struct Group;

/// `ctx.getThread()`
struct Thread;

/// `ctx.getEngine()`
pub(super) struct Engine;

/// Requests the action of a name of `TestLogicalAction`.
pub(super) fn logical_action(vm: &mut Vm, name: &str) {
    let scope = match name {
        "START_NEXT_ITERATION_OF_THREAD" => Stop::NextIteration,
        "START_NEXT_ITERATION_OF_CURRENT_LOOP" => Stop::NextLoop,
        "BREAK_CURRENT_LOOP" => Stop::BreakLoop,
        _ => return,
    };
    vm.host.stop(scope);
}

fn int(number: u32) -> Value {
    Value::Int(i32::try_from(number).unwrap_or(i32::MAX))
}

impl Native for Context {
    fn class_name(&self) -> &'static str {
        "org.apache.jmeter.threads.JMeterContext"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("getVariables", []) => Value::native(vars::Vars),
            ("getProperties", []) => Value::native(vars::Props),
            ("getPreviousResult", []) => sample::previous(vm),
            ("getCurrentSampler" | "getPreviousSampler", []) => {
                vm.host.request().map_or(Value::Null, |_| Value::native(sampler::Sampler))
            }
            // JMeter counts threads from 0.
            ("getThreadNum", []) => int(vm.host.thread_number().saturating_sub(1)),
            ("getThreadGroup", []) => Value::native(Group),
            ("getThread", []) => Value::native(Thread),
            ("getEngine", []) => Value::native(Engine),
            ("isSamplingStarted" | "isRecording", []) => Value::Bool(true),
            ("setRestartNextLoop" | "setStartNextThreadLoop", [flag]) => {
                if vm.truth(flag)? {
                    vm.host.stop(Stop::NextIteration);
                }
                Value::Null
            }
            ("isRestartNextLoop" | "isStartNextThreadLoop", []) => Value::Bool(false),
            ("setTestLogicalAction", [action]) => {
                let action = vm.text(action)?;
                logical_action(vm, &action);
                Value::Null
            }
            ("getTestLogicalAction", []) => Value::str("CONTINUE"),
            ("getSamplerContext", []) => Value::map(crate::value::MapKind::Linked).0,
            (
                "setVariables" | "setProperties" | "setPreviousResult" | "setCurrentSampler"
                | "clear",
                _,
            ) => Value::Null,
            _ => return Ok(None),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Native for Group {
    fn class_name(&self) -> &'static str {
        "org.apache.jmeter.threads.ThreadGroup"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("getName", []) => Value::str(vm.host.group_name()),
            ("getNumThreads" | "getNumberOfThreads" | "numberOfActiveThreads", []) => {
                int(vm.host.group_threads())
            }
            ("getSamplerController", []) => Value::native(Self),
            ("getPropertyAsString", [property, ..]) => {
                let property = vm.text(property)?;
                let text = match &*property {
                    "ThreadGroup.num_threads" => vm.host.group_threads().to_string(),
                    "TestElement.name" => vm.host.group_name().into_owned(),
                    _ => String::new(),
                };
                Value::from(text)
            }
            ("stop" | "tellThreadsToStop" | "stopThread" | "setNumThreads" | "setProperty", _) => {
                // `Stop` has no scope for a single group.
                if name == "tellThreadsToStop" || name == "stop" {
                    vm.host.stop(Stop::Test);
                }
                Value::Null
            }
            _ => return Ok(None),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Native for Thread {
    fn class_name(&self) -> &'static str {
        "org.apache.jmeter.threads.JMeterThread"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("getThreadName", []) => Value::str(vm.host.thread_name()),
            // JMeter counts threads from 0.
            ("getThreadNum", []) => int(vm.host.thread_number().saturating_sub(1)),
            ("getThreadGroup", []) => Value::native(Group),
            ("getEndTime" | "getStartTime", []) => Value::Long(0),
            ("stop" | "interrupt", []) => {
                vm.host.stop(Stop::Thread);
                Value::Null
            }
            ("setOnErrorStopThread" | "setOnErrorStartNextLoop", _) => Value::Null,
            _ => return Ok(None),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Native for Engine {
    fn class_name(&self) -> &'static str {
        "org.apache.jmeter.engine.StandardJMeterEngine"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        let scope = match (name, arguments) {
            ("stopTest", [Value::Bool(true)]) | ("stopTestNow" | "stopEngineNow", _) => {
                Stop::TestNow
            }
            ("stopTest" | "askThreadsToStop" | "stopEngine" | "exit", _) => Stop::Test,
            ("stopThread" | "stopThreadNow", _) => Stop::Thread,
            ("isActive", []) => return Ok(Some(Value::Bool(true))),
            _ => return Ok(None),
        };
        vm.host.stop(scope);
        Ok(Some(Value::Null))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
