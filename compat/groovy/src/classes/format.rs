//! Implements `String.format` and `printf`.

use crate::decimal::{Decimal, Rounding};
use crate::error::{Eval, throw};
use crate::value::Value;
use crate::vm::{Vm, big_of, double_of, long_of};

/// Maximum width of a field.
// Java has no limit, with which `%999999999d` would fill the memory of the load generator.
const WIDTH: usize = 10_000;

/// A conversion from `%` to its letter.
#[allow(clippy::struct_excessive_bools)] // Java's flags, one each.
#[derive(Default)]
struct Conversion {
    index: Option<usize>,
    left: bool,
    plus: bool,
    space: bool,
    zero: bool,
    group: bool,
    parentheses: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    letter: char,
    time: char,
}

/// Formats values by a Java format string.
pub(crate) fn format(vm: &mut Vm, template: &str, arguments: &[Value]) -> Eval<String> {
    // A single list or array supplies all arguments.
    let values = match arguments {
        [Value::List(list)] => list.items.borrow().clone(),
        _ => arguments.to_vec(),
    };
    let mut result = String::new();
    let mut next = 0;
    let mut rest = template;
    while let Some(position) = rest.find('%') {
        result.push_str(&rest[..position]);
        let (spec, length) = read(&rest[position + 1..])?;
        rest = &rest[position + 1 + length..];
        vm.tick(1)?;
        match spec.letter {
            'n' => result.push('\n'),
            '%' => result.push_str(&pad("%".to_owned(), &spec)),
            _ => {
                let place = spec.index.unwrap_or(next);
                next += usize::from(spec.index.is_none());
                let Some(value) = values.get(place) else {
                    return Err(throw(
                        "java.util.MissingFormatArgumentException",
                        format!("Format specifier '%{}'", spec.letter),
                    ));
                };
                let text = convert(vm, &spec, value)?;
                vm.alloc(text.len())?;
                result.push_str(&text);
            }
        }
        vm.alloc(result.len() / 8)?;
    }
    result.push_str(rest);
    Ok(result)
}

/// Parses a conversion; also returns its length in bytes.
fn read(text: &str) -> Eval<(Conversion, usize)> {
    let mut spec = Conversion::default();
    let bytes = text.as_bytes();
    let mut position = 0;
    let count = digit_count(bytes, 0);
    if count > 0 && bytes.get(count) == Some(&b'$') {
        spec.index = text[..count].parse::<usize>().ok().and_then(|index| index.checked_sub(1));
        position = count + 1;
    }
    while let Some(byte) = bytes.get(position) {
        match byte {
            b'-' => spec.left = true,
            b'+' => spec.plus = true,
            b' ' => spec.space = true,
            b'0' => spec.zero = true,
            b',' => spec.group = true,
            b'(' => spec.parentheses = true,
            b'#' => spec.alternate = true,
            _ => break,
        }
        position += 1;
    }
    let count = digit_count(bytes, position);
    if count > 0 {
        spec.width = field_width(&text[position..position + count])?;
        position += count;
    }
    if bytes.get(position) == Some(&b'.') {
        let count = digit_count(bytes, position + 1);
        spec.precision = Some(field_width(&text[position + 1..position + 1 + count])?);
        position += 1 + count;
    }
    let mut letters = text[position..].chars();
    let Some(letter) = letters.next() else {
        return Err(throw("java.util.UnknownFormatConversionException", "Conversion = '%'"));
    };
    spec.letter = letter;
    position += letter.len_utf8();
    if matches!(letter, 't' | 'T') {
        spec.time = letters.next().unwrap_or('c');
        position += spec.time.len_utf8();
    }
    Ok((spec, position))
}

fn digit_count(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Parses a width or precision. Fails above the maximum.
fn field_width(digits: &str) -> Eval<usize> {
    let width = digits.parse::<usize>().ok().filter(|width| *width <= WIDTH);
    width.ok_or_else(|| {
        throw("java.util.IllegalFormatWidthException", format!("widths above {WIDTH} are refused"))
    })
}

fn pad(text: String, spec: &Conversion) -> String {
    let missing = spec.width.saturating_sub(text.chars().count());
    if missing == 0 {
        return text;
    }
    let fill = " ".repeat(missing);
    if spec.left { text + &fill } else { fill + &text }
}

fn wrong_type(vm: &Vm, spec: &Conversion, value: &Value) -> Box<crate::error::Fault> {
    let class = vm.class_name(value);
    throw("java.util.IllegalFormatConversionException", format!("{} != {class}", spec.letter))
}

fn convert(vm: &mut Vm, spec: &Conversion, value: &Value) -> Eval<String> {
    let text = match spec.letter {
        's' | 'S' => clip(&vm.java_text(value)?, spec),
        'b' | 'B' => clip(&vm.truth(value)?.to_string(), spec),
        'c' | 'C' => match value {
            Value::Str(text) => text.chars().take(1).collect(),
            Value::Null => "null".to_owned(),
            other => long_of(other)
                .and_then(|code| char::from_u32(code as u32))
                .map(String::from)
                .ok_or_else(|| wrong_type(vm, spec, value))?,
        },
        'h' => {
            let hash = vm.call_method(value, "hashCode", &[])?;
            format!("{:x}", vm.to_long(&hash)? as i32)
        }
        't' | 'T' => super::date::format_time(vm, value, spec.time)?,
        _ if value.is_null() => "null".to_owned(),
        'd' => match value {
            Value::Int(_) | Value::Long(_) | Value::BigInt(_) => {
                let digits = big_of(value).unwrap_or_default().to_string();
                return Ok(number(&digits, spec));
            }
            _ => return Err(wrong_type(vm, spec, value)),
        },
        'x' | 'X' | 'o' => {
            let digits = match value {
                // A negative byte. Bytes have no type of their own in this interpreter.
                Value::Int(number @ -128..=-1) if spec.width == 2 => {
                    radix(u64::from(*number as u8), spec.letter)
                }
                Value::Int(number) => radix(u64::from(*number as u32), spec.letter),
                Value::Long(number) => radix(*number as u64, spec.letter),
                Value::BigInt(number) => {
                    number.to_str_radix(if spec.letter == 'o' { 8 } else { 16 })
                }
                _ => return Err(wrong_type(vm, spec, value)),
            };
            let digits = if spec.alternate { format!("0x{digits}") } else { digits };
            return Ok(upper(zero_fill(digits, spec), spec));
        }
        'f' | 'e' | 'E' | 'g' | 'G' => match value {
            Value::Double(_) | Value::Float(_) | Value::Decimal(_) => {
                return Ok(upper(real(value, spec), spec));
            }
            _ => return Err(wrong_type(vm, spec, value)),
        },
        other => {
            return Err(throw(
                "java.util.UnknownFormatConversionException",
                format!("Conversion = '{other}'"),
            ));
        }
    };
    Ok(upper(pad(text, spec), spec))
}

fn clip(text: &str, spec: &Conversion) -> String {
    match spec.precision {
        Some(most) => text.chars().take(most).collect(),
        None => text.to_string(),
    }
}

fn upper(text: String, spec: &Conversion) -> String {
    if spec.letter.is_uppercase() { text.to_uppercase() } else { text }
}

fn radix(number: u64, letter: char) -> String {
    if letter == 'o' { format!("{number:o}") } else { format!("{number:x}") }
}

fn zero_fill(digits: String, spec: &Conversion) -> String {
    if spec.zero && !spec.left {
        let missing = spec.width.saturating_sub(digits.len());
        return format!("{}{digits}", "0".repeat(missing));
    }
    pad(digits, spec)
}

/// Adds sign, grouping and padding to digits.
fn number(digits: &str, spec: &Conversion) -> String {
    let (negative, digits) =
        digits.strip_prefix('-').map_or((false, digits), |digits| (true, digits));
    let (whole, fraction) =
        digits.split_once('.').map_or((digits, None), |(whole, fraction)| (whole, Some(fraction)));
    let mut body = if spec.group { group_digits(whole) } else { whole.to_owned() };
    if let Some(fraction) = fraction {
        body.push('.');
        body.push_str(fraction);
    }
    let (before, after) = match (negative, spec.parentheses) {
        (true, true) => ("(", ")"),
        (true, false) => ("-", ""),
        (false, _) if spec.plus => ("+", ""),
        (false, _) if spec.space => (" ", ""),
        _ => ("", ""),
    };
    if spec.zero && !spec.left {
        let missing = spec.width.saturating_sub(body.chars().count() + before.len() + after.len());
        body = format!("{}{body}", "0".repeat(missing));
    }
    pad(format!("{before}{body}{after}"), spec)
}

/// Formats `1234567` as `1,234,567`.
pub(super) fn group_digits(digits: &str) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn real(value: &Value, spec: &Conversion) -> String {
    let plain = double_of(value).unwrap_or(f64::NAN);
    if !plain.is_finite() {
        // Java pads `NaN` and `Infinity` with spaces, even with the flag `0`.
        return pad(crate::vm::number_text(&Value::Double(plain)).unwrap_or_default(), spec);
    }
    let precision = spec.precision.unwrap_or(6);
    match spec.letter {
        'f' => number(&fixed_point(value, plain, precision), spec),
        // Java's `%g` has an exponent below 10^-4 and from 10^precision on.
        'g' | 'G'
            if plain != 0.0
                && !(1e-4..10_f64.powi(precision.max(1) as i32)).contains(&plain.abs()) =>
        {
            number_with_exponent(plain, precision.max(1) - 1, spec)
        }
        'g' | 'G' => {
            let whole = if plain == 0.0 { 1 } else { plain.abs().log10().floor() as i32 + 1 };
            number(
                &fixed_point(value, plain, (precision.max(1) as i32 - whole).max(0) as usize),
                spec,
            )
        }
        _ => number_with_exponent(plain, precision, spec),
    }
}

/// A number with a fixed number of decimals.
fn fixed_point(value: &Value, plain: f64, places: usize) -> String {
    let exact = match value {
        Value::Decimal(number) => Some((**number).clone()),
        _ => Decimal::from_f64(plain),
    };
    match exact {
        // Java's `%f` rounds halves up.
        Some(exact) => {
            let text = exact.rescale(places as i32, Rounding::HalfUp).plain();
            // A negative number that rounds to zero keeps its sign.
            if plain.is_sign_negative() && !text.starts_with('-') {
                format!("-{text}")
            } else {
                text
            }
        }
        None => format!("{plain:.places$}"),
    }
}

fn number_with_exponent(plain: f64, precision: usize, spec: &Conversion) -> String {
    let text = format!("{plain:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    // Java writes at least two digits of the exponent; Rust writes as few as possible.
    number(&format!("{mantissa}e{sign}{:02}", exponent.abs()), spec)
}
