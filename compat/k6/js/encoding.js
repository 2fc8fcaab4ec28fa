const native = globalThis.__brunt;

export function b64encode(input, encoding = 'std') {
  return native.base64Encode(input, encoding);
}

export function b64decode(input, encoding = 'std', format = undefined) {
  const bytes = native.base64Decode(String(input), encoding);
  return format === 's' ? native.utf8(bytes) : bytes;
}

export default { b64encode, b64decode };
