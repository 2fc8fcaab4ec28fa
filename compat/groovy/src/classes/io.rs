//! Files, readers and writers. All access goes through the host.

use super::charset::Charset;
use super::{Class, bytes_of, codec, text_at};
use crate::error::{Eval, throw};
use crate::value::{Native, Value};
use crate::vm::Vm;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

pub(super) static CLASSES: &[Class] = &[
    Class::with_constructor("java.io.File", make_file)
        .and_constants(separator)
        .and_call(file_static),
    Class::with_constructor("java.io.FileWriter", make_writer),
    Class::with_constructor("java.io.BufferedWriter", make_writer),
    Class::with_constructor("java.io.PrintWriter", make_writer),
    Class::with_constructor("java.io.PrintStream", make_writer),
    Class::with_constructor("java.io.FileOutputStream", make_writer),
    Class::with_constructor("java.io.OutputStreamWriter", make_writer),
    Class::with_constructor("java.io.BufferedOutputStream", make_writer),
    Class::with_constructor("java.io.ByteArrayOutputStream", make_buffer),
    Class::with_constructor("java.io.FileReader", make_reader),
    Class::with_constructor("java.io.BufferedReader", make_reader),
    Class::with_constructor("java.io.InputStreamReader", make_reader),
    Class::with_constructor("java.io.FileInputStream", make_reader),
    Class::with_constructor("java.io.BufferedInputStream", make_reader),
    Class::with_constructor("java.io.ByteArrayInputStream", make_reader),
    Class::with_constructor("java.io.StringReader", make_string_reader),
    Class::with_constructor("java.util.Scanner", make_scanner),
    Class::name_only("java.io.FilenameFilter"),
    Class::name_only("java.io.FileFilter"),
    Class::with_static("java.nio.file.Files", files),
    Class::with_static("java.nio.file.Paths", paths),
    Class::with_static("java.nio.file.Path", paths),
    Class::with_static("java.nio.file.StandardOpenOption", codec::no_static).and_constants(option),
    Class::with_static("org.apache.commons.io.FileUtils", file_utils),
    Class::with_static("org.apache.commons.io.IOUtils", io_utils),
    Class::with_static("org.apache.commons.io.FilenameUtils", filename_utils),
];

fn option(_vm: &mut Vm, name: &str) -> Option<Value> {
    Some(Value::str(name))
}

fn separator(_vm: &mut Vm, name: &str) -> Option<Value> {
    match name {
        "separator" => Some(Value::str("/")),
        "separatorChar" => Some(Value::Char('/')),
        "pathSeparator" => Some(Value::str(":")),
        _ => None,
    }
}

fn io_error(message: String) -> Box<crate::error::Fault> {
    throw("java.io.IOException", message)
}

fn read(vm: &mut Vm, path: &str) -> Eval<Vec<u8>> {
    let bytes = vm
        .host
        .read_file(path)
        .map_err(|message| throw("java.io.FileNotFoundException", message))?;
    vm.alloc(bytes.len())?;
    Ok(bytes)
}

fn write(vm: &mut Vm, path: &str, bytes: &[u8], truncate: bool) -> Eval<()> {
    vm.tick(10)?;
    vm.host.append_file(path, bytes, truncate).map_err(io_error)
}

/// Bytes to write: a byte array as it is, other values as text.
fn encoded(vm: &mut Vm, value: &Value, charset: Charset) -> Eval<Vec<u8>> {
    match value {
        Value::Bytes(_) | Value::List(_) | Value::Null => bytes_of(vm, value),
        other => Ok(charset.encode(&vm.text(other)?)),
    }
}

/// A `File` or `Path`.
struct File {
    path: String,
}

pub(crate) fn file(path: &str) -> Value {
    Value::native(File { path: path.to_owned() })
}

fn join(parent: &str, child: &str) -> String {
    if parent.is_empty() {
        child.to_owned()
    } else {
        format!("{}/{}", parent.trim_end_matches('/'), child.trim_start_matches('/'))
    }
}

fn make_file(vm: &mut Vm, _class: &str, arguments: &[Value]) -> Eval<Value> {
    let first = text_at(vm, arguments, 0)?;
    Ok(match arguments.get(1) {
        Some(child) => file(&join(&first, &vm.text(child)?)),
        None => file(&first),
    })
}

fn file_static(vm: &mut Vm, name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
    if name != "createTempFile" {
        return Ok(None);
    }
    // Java creates the file at once. Here, the first write creates it.
    let name = format!("/tmp/script-{:016x}", vm.host.random());
    Ok(Some(file(&name)))
}

impl File {
    fn name(&self) -> &str {
        self.path.trim_end_matches('/').rsplit('/').next().unwrap_or(&self.path)
    }

    fn parent(&self) -> Option<&str> {
        self.path.trim_end_matches('/').rsplit_once('/').map(|(parent, _)| parent)
    }

    /// Methods that concern the path and its existence.
    fn path_method(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("getName" | "getFileName", []) => Value::str(self.name()),
            ("getPath" | "toString", []) => Value::str(&self.path),
            ("getAbsolutePath" | "getCanonicalPath", []) => Value::from(self.absolute(vm)),
            ("getAbsoluteFile" | "getCanonicalFile" | "toAbsolutePath" | "normalize", []) => {
                file(&self.absolute(vm))
            }
            ("toFile" | "toPath", []) => file(&self.path),
            ("getParent", []) => Value::optional(self.parent()),
            ("getParentFile", []) => self.parent().map_or(Value::Null, file),
            ("resolve", [child]) => file(&join(&self.path, &vm.text(child)?)),
            ("isAbsolute", []) => Value::Bool(self.path.starts_with('/')),
            ("exists" | "canRead" | "isFile", []) => {
                // The default `file_exists` of a host reads the file, which fails for a directory.
                let exists = vm.host.file_exists(&self.path);
                Value::Bool(
                    exists || name != "isFile" && vm.host.list_directory(&self.path).is_some(),
                )
            }
            ("isDirectory", []) => Value::Bool(vm.host.list_directory(&self.path).is_some()),
            // The host provides no sizes of files.
            ("length" | "size", []) => {
                Value::Long(read(vm, &self.path).map_or(0, |bytes| bytes.len() as i64))
            }
            // The host provides no times of files.
            ("lastModified", []) => Value::Long(0),
            ("mkdir" | "mkdirs", []) => {
                Value::Bool(vm.host.make_directory(&self.path).map_err(io_error)?)
            }
            ("setWritable" | "setReadable" | "deleteOnExit", _) => Value::Bool(true),
            ("createNewFile", []) => {
                let is_new = !vm.host.file_exists(&self.path);
                if is_new {
                    write(vm, &self.path, &[], false)?;
                }
                Value::Bool(is_new)
            }
            ("delete", []) => Value::Bool(vm.host.delete_file(&self.path).map_err(io_error)?),
            _ => return Ok(None),
        }))
    }

    fn absolute(&self, vm: &Vm) -> String {
        if self.path.starts_with('/') {
            self.path.clone()
        } else {
            join(&vm.host.base_directory(), &self.path)
        }
    }

    /// Entries of the directory: names or files, filtered by a closure. Null if it
    /// is not a directory.
    fn list_entries(&self, vm: &mut Vm, name: &str, closure: Option<&Value>) -> Eval<Value> {
        let Some(names) = vm.host.list_directory(&self.path) else { return Ok(Value::Null) };
        vm.tick(names.len())?;
        vm.alloc(names.iter().map(|name| name.len() + self.path.len()).sum())?;
        let mut entries = Vec::new();
        for entry_name in names {
            let entry = if name == "list" {
                Value::str(&entry_name)
            } else {
                file(&join(&self.path, &entry_name))
            };
            let Some(closure) = closure else {
                entries.push(entry);
                continue;
            };
            // A Java filter takes the directory and the name; a Groovy closure may
            // take only the file.
            let takes_name = Vm::arity(closure) == 2;
            let arguments = if takes_name {
                vec![file(&self.path), Value::from(entry_name)]
            } else {
                vec![entry.clone()]
            };
            let accepts = vm.call_closure(closure, &arguments)?;
            if vm.truth(&accepts)? {
                entries.push(entry);
            }
        }
        Ok(if name == "eachFile" { Value::Null } else { Value::array(entries) })
    }

    /// Content of the file, converted to UTF-8 if the arguments name a character set.
    fn read_text_or_bytes(&self, vm: &mut Vm, arguments: &[Value]) -> Eval<Vec<u8>> {
        if arguments.iter().any(|argument| matches!(argument, Value::Str(_))) {
            return self.read_text(vm, arguments).map(String::into_bytes);
        }
        read(vm, &self.path)
    }

    /// Text of the file, in the character set that the arguments name.
    fn read_text(&self, vm: &mut Vm, arguments: &[Value]) -> Eval<String> {
        let charset = Charset::among(vm, arguments)?;
        let bytes = read(vm, &self.path)?;
        vm.alloc(bytes.len())?;
        Ok(charset.decode(&bytes))
    }
}

impl Native for File {
    fn class_name(&self) -> &'static str {
        "java.io.File"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        if let Some(result) = self.path_method(vm, name, arguments)? {
            return Ok(Some(result));
        }
        Ok(Some(match (name, arguments) {
            ("getText", rest) => {
                let text = self.read_text(vm, rest)?;
                vm.string(text)?
            }
            ("getBytes" | "readBytes", []) => Value::bytes(read(vm, &self.path)?),
            ("readLines", rest) => {
                Value::list(self.read_text(vm, rest)?.lines().map(Value::str).collect())
            }
            ("withReader", [rest @ .., closure]) => {
                let reader = Reader::make(self.read_text(vm, rest)?.into_bytes());
                vm.call_closure(closure, &[reader])?
            }
            ("eachLine", [rest @ .., closure]) => {
                let text = self.read_text(vm, rest)?;
                let text = vm.string(text)?;
                let first_line = rest.iter().find(|argument| matches!(argument, Value::Int(_)));
                let first_line = first_line.cloned().unwrap_or(Value::Int(1));
                vm.call_method(&text, name, &[first_line, closure.clone()])?
            }
            ("splitEachLine", [_, charset @ .., _]) => {
                let text = self.read_text(vm, charset)?;
                let text = vm.string(text)?;
                vm.call_method(&text, name, arguments)?
            }
            ("append" | "leftShift" | "write" | "setText" | "setBytes", [value, rest @ ..]) => {
                let charset = Charset::among(vm, rest)?;
                let bytes = encoded(vm, value, charset)?;
                write(vm, &self.path, &bytes, !matches!(name, "append" | "leftShift"))?;
                if name == "leftShift" { file(&self.path) } else { Value::Null }
            }
            (
                "withWriter" | "withWriterAppend" | "withPrintWriter" | "withOutputStream",
                [rest @ .., closure],
            ) => {
                let charset = Charset::among(vm, rest)?;
                let writer = Writer::make(&self.path, name != "withWriterAppend", charset);
                let result = vm.call_closure(closure, std::slice::from_ref(&writer))?;
                vm.call_method(&writer, "close", &[])?;
                result
            }
            ("newWriter" | "newPrintWriter" | "newOutputStream", rest) => {
                let charset = Charset::among(vm, rest)?;
                Writer::make(
                    &self.path,
                    !rest.iter().any(|value| matches!(value, Value::Bool(true))),
                    charset,
                )
            }
            ("newInputStream", _) => Reader::make(read(vm, &self.path)?),
            ("newReader", rest) => Reader::make(self.read_text(vm, rest)?.into_bytes()),
            ("list" | "listFiles" | "eachFile", rest) => {
                return self.list_entries(vm, name, rest.last()).map(Some);
            }
            _ => return Ok(None),
        }))
    }

    fn text(&self, _vm: &mut Vm) -> Eval<Option<String>> {
        Ok(Some(self.path.clone()))
    }

    fn identity(&self) -> Option<Value> {
        Some(Value::str(&self.path))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Content of a file, or the rest of a reader; `None` for other objects.
pub(crate) fn content(vm: &mut Vm, value: &Value) -> Eval<Option<Vec<u8>>> {
    if let Some(file) = value.downcast::<File>() {
        return read(vm, &file.path).map(Some);
    }
    Ok(value.downcast::<Reader>().map(Reader::rest))
}

/// Creates a reader over bytes.
pub(super) fn reader(bytes: Vec<u8>) -> Value {
    Reader::make(bytes)
}

/// A writer to a file; without a path, to memory.
struct Writer {
    path: Option<String>,
    pending: RefCell<Vec<u8>>,
    truncate: Cell<bool>,
    charset: Cell<Charset>,
}

impl Writer {
    fn new(path: Option<String>, truncate: bool, charset: Charset) -> Self {
        Self {
            path,
            pending: RefCell::default(),
            truncate: Cell::new(truncate),
            charset: Cell::new(charset),
        }
    }

    fn make(path: &str, truncate: bool, charset: Charset) -> Value {
        Value::native(Self::new(Some(path.to_owned()), truncate, charset))
    }

    /// Writes a byte array as it is, other values as text.
    fn push_value(&self, vm: &mut Vm, value: &Value) -> Eval<()> {
        let bytes = encoded(vm, value, self.charset.get())?;
        self.charset.set(self.charset.get().after_start());
        self.push(vm, &bytes)
    }

    fn flush(&self, vm: &mut Vm) -> Eval<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let bytes = self.pending.take();
        if bytes.is_empty() && !self.truncate.get() {
            return Ok(());
        }
        write(vm, path, &bytes, self.truncate.replace(false))
    }

    fn push(&self, vm: &mut Vm, bytes: &[u8]) -> Eval<()> {
        vm.alloc(bytes.len())?;
        self.pending.borrow_mut().extend_from_slice(bytes);
        // Many scripts never close their writer, so each write goes to the file at once.
        self.flush(vm)
    }
}

fn make_writer(vm: &mut Vm, _class: &str, arguments: &[Value]) -> Eval<Value> {
    match arguments.first() {
        // A writer around another writer has the same target.
        Some(inner @ Value::Native(_)) if inner.downcast::<File>().is_none() => {
            if let (Some(writer), Some(charset @ Value::Str(_))) =
                (inner.downcast::<Writer>(), arguments.last())
            {
                writer.charset.set(Charset::of(vm, charset)?);
            }
            Ok(inner.clone())
        }
        Some(target) => {
            let path = vm.text(target)?;
            let append = arguments.iter().any(|argument| matches!(argument, Value::Bool(true)));
            let charset = Charset::among(vm, &arguments[1..])?;
            let writer = Writer::new(Some(path.to_string()), !append, charset);
            writer.flush(vm)?;
            Ok(Value::native(writer))
        }
        None => make_buffer(vm, "", &[]),
    }
}

fn make_buffer(_vm: &mut Vm, _class: &str, _arguments: &[Value]) -> Eval<Value> {
    Ok(Value::native(Writer::new(None, false, Charset::UTF_8)))
}

impl Native for Writer {
    fn class_name(&self) -> &'static str {
        "java.io.FileWriter"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        match (name, arguments) {
            ("write" | "append" | "print" | "println" | "leftShift" | "writeLine", values) => {
                if let Some(value) = values.first() {
                    match value {
                        // `write(int)` writes one byte.
                        Value::Int(code) if name == "write" => self.push(vm, &[*code as u8])?,
                        other => self.push_value(vm, other)?,
                    }
                }
                if matches!(name, "println" | "writeLine") {
                    self.push_value(vm, &Value::str("\n"))?;
                }
            }
            ("newLine", []) => self.push_value(vm, &Value::str("\n"))?,
            ("printf" | "format", [template, rest @ ..]) => {
                let template = vm.text(template)?;
                let text = super::format::format(vm, &template, rest)?;
                self.push_value(vm, &Value::from(text))?;
            }
            ("flush" | "close", []) => self.flush(vm)?,
            ("toByteArray", []) => return Ok(Some(Value::bytes(self.pending.borrow().clone()))),
            ("size", []) => return Ok(Some(Value::count(self.pending.borrow().len()))),
            _ => return Ok(None),
        }
        Ok(Some(Value::Null))
    }

    fn text(&self, _vm: &mut Vm) -> Eval<Option<String>> {
        Ok(Some(String::from_utf8_lossy(&self.pending.borrow()).into_owned()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A reader over bytes.
struct Reader {
    bytes: Vec<u8>,
    position: Cell<usize>,
}

impl Reader {
    fn make(bytes: Vec<u8>) -> Value {
        Value::native(Self { bytes, position: Cell::new(0) })
    }

    fn rest(&self) -> Vec<u8> {
        let rest = self.bytes.get(self.position.get()..).unwrap_or(&[]).to_vec();
        self.position.set(self.bytes.len());
        rest
    }

    /// The next word, without surrounding white space.
    fn word(&self) -> Option<String> {
        let rest = String::from_utf8_lossy(self.bytes.get(self.position.get()..)?).into_owned();
        let begin = rest.len() - rest.trim_start().len();
        let word: String =
            rest[begin..].chars().take_while(|letter| !letter.is_whitespace()).collect();
        self.position.set(self.position.get() + begin + word.len());
        Some(word).filter(|word| !word.is_empty())
    }

    fn line(&self) -> Option<String> {
        let rest = self.bytes.get(self.position.get()..).filter(|rest| !rest.is_empty())?;
        let end = rest.iter().position(|byte| *byte == b'\n');
        self.position.set(self.position.get() + end.map_or(rest.len(), |end| end + 1));
        let line = &rest[..end.unwrap_or(rest.len())];
        Some(String::from_utf8_lossy(line).trim_end_matches('\r').to_owned())
    }
}

fn make_reader(vm: &mut Vm, _class: &str, arguments: &[Value]) -> Eval<Value> {
    match arguments.first() {
        Some(Value::Bytes(bytes)) => Ok(Reader::make(bytes.borrow().clone())),
        Some(inner @ Value::Native(_)) if inner.downcast::<File>().is_none() => {
            match (inner.downcast::<Reader>(), arguments.last()) {
                (Some(reader), Some(charset @ Value::Str(_))) => {
                    let charset = Charset::of(vm, charset)?;
                    Ok(Reader::make(charset.decode(&reader.rest()).into_bytes()))
                }
                _ => Ok(inner.clone()),
            }
        }
        _ => {
            let path = text_at(vm, arguments, 0)?;
            let text = File { path: path.to_string() }.read_text_or_bytes(vm, &arguments[1..])?;
            Ok(Reader::make(text))
        }
    }
}

/// Creates a scanner. A text argument is the content, not a file name.
fn make_scanner(vm: &mut Vm, class: &str, arguments: &[Value]) -> Eval<Value> {
    match arguments.first() {
        Some(Value::Str(text)) => Ok(Reader::make(text.as_bytes().to_vec())),
        _ => make_reader(vm, class, arguments),
    }
}

fn make_string_reader(vm: &mut Vm, _class: &str, arguments: &[Value]) -> Eval<Value> {
    Ok(Reader::make(text_at(vm, arguments, 0)?.as_bytes().to_vec()))
}

impl Native for Reader {
    fn class_name(&self) -> &'static str {
        "java.io.BufferedReader"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        vm.tick(1)?;
        Ok(Some(match (name, arguments) {
            ("readLine" | "nextLine", []) => match self.line() {
                Some(line) => vm.string(line)?,
                None if name == "nextLine" => {
                    return Err(throw("java.util.NoSuchElementException", "No line found"));
                }
                None => Value::Null,
            },
            ("next" | "nextInt" | "nextLong" | "nextDouble", []) => {
                let word = self
                    .word()
                    .ok_or_else(|| throw("java.util.NoSuchElementException", "No word found"))?;
                let word = vm.string(word)?;
                match name {
                    "nextInt" => vm.call_method(&word, "toInteger", &[])?,
                    "nextLong" => vm.call_method(&word, "toLong", &[])?,
                    "nextDouble" => vm.call_method(&word, "toDouble", &[])?,
                    _ => word,
                }
            }
            ("useDelimiter", [_]) => Self::make(self.rest()),
            ("hasNextLine" | "hasNext" | "hasNextInt" | "ready", []) => {
                Value::Bool(self.position.get() < self.bytes.len())
            }
            ("read", []) => {
                let byte = self.bytes.get(self.position.get()).copied();
                self.position.set(self.position.get() + 1);
                Value::Int(byte.map_or(-1, i32::from))
            }
            ("getText", charset) => {
                let charset = Charset::among(vm, charset)?;
                vm.string(charset.decode(&self.rest()))?
            }
            ("getBytes" | "readAllBytes", []) => Value::bytes(self.rest()),
            ("readLines" | "lines", []) => {
                let mut lines = Vec::new();
                while let Some(line) = self.line() {
                    lines.push(vm.string(line)?);
                }
                vm.new_list(lines)?
            }
            ("eachLine", [closure]) => {
                while let Some(line) = self.line() {
                    let line = vm.string(line)?;
                    vm.call_closure(closure, &[line])?;
                }
                Value::Null
            }
            ("available", []) => Value::count(self.bytes.len().saturating_sub(self.position.get())),
            ("close" | "reset" | "mark", _) => Value::Null,
            // `exec` returns a reader over the output of the completed process, so these are its
            // methods too.
            (
                "getInputStream"
                | "getErrorStream"
                | "waitFor"
                | "consumeProcessOutput"
                | "waitForOrKill",
                _,
            ) => {
                if name.ends_with("Stream") {
                    Self::make(self.rest())
                } else {
                    Value::Int(0)
                }
            }
            ("exitValue", []) => Value::Int(0),
            _ => return Ok(None),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A reader over the output of a process.
pub(crate) fn process(output: String) -> Value {
    Reader::make(output.into_bytes())
}

fn paths(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    if !matches!(name, "get" | "of") {
        return Ok(None);
    }
    let mut path = String::new();
    for part in arguments {
        path = join(&path, &vm.text(part)?);
    }
    Ok(Some(file(&path)))
}

fn files(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    let path = text_at(vm, arguments, 0)?;
    Ok(Some(match (name, arguments) {
        ("readAllBytes", _) => Value::bytes(read(vm, &path)?),
        ("readString" | "readAllLines" | "lines", _) => {
            let method = if name == "readString" { "getText" } else { "readLines" };
            vm.call_method(&file(&path), method, &arguments[1..])?
        }
        ("write" | "writeString", [_, value, options @ ..]) => {
            let mut append = false;
            let mut charset = Charset::UTF_8;
            for option in options {
                let option = vm.text(option)?;
                append |= &*option == "APPEND";
                charset = Charset::find(&option).unwrap_or(charset);
            }
            let bytes = match value {
                Value::List(_) => {
                    let joined = vm.call_method(value, "join", &[Value::str("\n")])?;
                    charset.encode(&format!("{}\n", vm.text(&joined)?))
                }
                other => encoded(vm, other, charset)?,
            };
            write(vm, &path, &bytes, !append)?;
            file(&path)
        }
        ("exists", _) => Value::Bool(vm.host.file_exists(&path)),
        ("notExists", _) => Value::Bool(!vm.host.file_exists(&path)),
        ("size", _) => vm.call_method(&file(&path), "length", &[])?,
        ("delete" | "deleteIfExists", _) => vm.call_method(&file(&path), "delete", &[])?,
        ("createDirectories" | "createDirectory", _) => {
            vm.host.make_directory(&path).map_err(io_error)?;
            file(&path)
        }
        ("newBufferedReader", [_, charset @ ..]) => {
            vm.call_method(&file(&path), "newReader", charset)?
        }
        ("newInputStream", _) => Reader::make(read(vm, &path)?),
        ("newBufferedWriter" | "newOutputStream", [_, options @ ..]) => {
            let mut charset = Charset::UTF_8;
            for option in options {
                charset = Charset::find(&vm.text(option)?).unwrap_or(charset);
            }
            Writer::make(&path, true, charset)
        }
        _ => return Ok(None),
    }))
}

fn file_utils(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    let path = text_at(vm, arguments, 0)?;
    Ok(Some(match (name, arguments) {
        ("readFileToString", [_, charset @ ..]) => {
            vm.call_method(&file(&path), "getText", charset)?
        }
        ("readFileToByteArray", _) => Value::bytes(read(vm, &path)?),
        ("readLines", [_, charset @ ..]) => vm.call_method(&file(&path), "readLines", charset)?,
        ("writeStringToFile" | "write" | "writeByteArrayToFile", [_, value, rest @ ..]) => {
            let append = matches!(rest.last(), Some(Value::Bool(true)));
            let charset = Charset::among(vm, rest)?;
            let bytes = encoded(vm, value, charset)?;
            write(vm, &path, &bytes, !append)?;
            Value::Null
        }
        ("writeLines", [_, value, rest @ ..]) => {
            let joined = vm.call_method(value, "join", &[Value::str("\n")])?;
            let text = format!("{}\n", vm.text(&joined)?);
            write(vm, &path, text.as_bytes(), !matches!(rest.last(), Some(Value::Bool(true))))?;
            Value::Null
        }
        ("forceMkdir", _) => Value::Bool(vm.host.make_directory(&path).map_err(io_error)?),
        ("deleteQuietly" | "forceDelete", _) => {
            Value::Bool(vm.host.delete_file(&path).unwrap_or(false))
        }
        ("getFile", _) => file(&path),
        _ => return Ok(None),
    }))
}

fn io_utils(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    let Some(first) = arguments.first() else { return Ok(None) };
    let bytes = match content(vm, first)? {
        Some(bytes) => bytes,
        None if name == "closeQuietly" => return Ok(Some(Value::Null)),
        None => bytes_of(vm, first)?,
    };
    let charset = Charset::among(vm, &arguments[1..])?;
    Ok(Some(match name {
        "toString" => vm.string(charset.decode(&bytes))?,
        "toByteArray" => Value::bytes(bytes),
        "toInputStream" if matches!(first, Value::Str(_)) => {
            Reader::make(encoded(vm, first, charset)?)
        }
        "toInputStream" => Reader::make(bytes),
        "readLines" => {
            vm.call_method(&Reader::make(charset.decode(&bytes).into_bytes()), "readLines", &[])?
        }
        "closeQuietly" => Value::Null,
        _ => return Ok(None),
    }))
}

fn filename_utils(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    let path = text_at(vm, arguments, 0)?;
    let file: Rc<str> = path.rsplit('/').next().unwrap_or(&path).into();
    let (base, extension) = file.rsplit_once('.').unwrap_or((&file, ""));
    Ok(match name {
        "getName" => Some(Value::Str(Rc::clone(&file))),
        "getBaseName" => Some(Value::str(base)),
        "getExtension" => Some(Value::str(extension)),
        _ => None,
    })
}
