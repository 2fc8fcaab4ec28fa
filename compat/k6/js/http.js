const native = globalThis.__brunt;

/** The file of an upload. */
class FileData {
  constructor(data, filename, content_type) {
    this.data = data;
    this.filename = filename;
    this.content_type = content_type;
  }
}

export function file(data, filename, contentType) {
  return new FileData(data, filename ?? String(native.now()), contentType ?? 'application/octet-stream');
}

/** An address with the name of its group. */
class NamedUrl {
  constructor(url, name) {
    this.url = url;
    this.name = name;
  }

  toString() {
    return this.url;
  }
}

export function url(texts, ...values) {
  return new NamedUrl(String.raw({ raw: texts }, ...values), texts.join('${}'));
}

/** The cookies of a user. */
export class CookieJar {
  constructor(id) {
    this.id = id ?? native.newJar();
  }

  cookiesForURL(address) {
    const cookies = {};
    for (const [name, value] of native.cookiesFor(this.id, String(address))) (cookies[name] ??= []).push(value);
    return cookies;
  }

  set(address, name, value, options = {}) {
    const parts = [`${name}=${value}`];
    if (options.domain) parts.push(`Domain=${options.domain}`);
    parts.push(`Path=${options.path ?? '/'}`);
    if (options.expires) parts.push(`Expires=${options.expires}`);
    if (options.max_age !== undefined && options.max_age !== 0) parts.push(`Max-Age=${options.max_age}`);
    if (options.secure) parts.push('Secure');
    if (options.http_only) parts.push('HttpOnly');
    return native.setCookie(this.id, String(address), parts.join('; '));
  }

  clear(address) {
    native.clearCookies(this.id, String(address), null);
  }

  delete(address, name) {
    native.clearCookies(this.id, String(address), String(name));
  }
}

const ownJar = new CookieJar(0);
export const cookieJar = () => ownJar;

export function expectedStatuses(...statuses) {
  const ranges = statuses.map((status) => {
    if (Number.isInteger(status)) return [status, status];
    if (Number.isInteger(status?.min) && Number.isInteger(status?.max)) return [status.min, status.max];
    throw new TypeError('expectedStatuses() takes statuses and ranges such as {min: 200, max: 299}');
  });
  return { ranges };
}

let callback = expectedStatuses({ min: 200, max: 399 });

const checkCallback = (value) => {
  if (value !== null && !Array.isArray(value?.ranges)) throw new TypeError('a responseCallback is made by http.expectedStatuses(), or null');
  return value;
};

export function setResponseCallback(value) {
  callback = checkCallback(value);
}

const encoded = (text) => encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`).replace(/%20/g, '+');

const formText = (body) =>
  Object.entries(body)
    .flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one) => `${encoded(name)}=${encoded(String(one))}`))
    .join('&');

const bytesOf = (data) => {
  if (typeof data === 'string') return native.bytes(data);
  if (ArrayBuffer.isView(data)) return data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength);
  return data;
};

const quoted = (text) => String(text).replace(/"/g, '%22').replace(/\r/g, '%0D').replace(/\n/g, '%0A');

const multipart = (body) => {
  const boundary = `${'-'.repeat(24)}${Array.from(new Uint8Array(native.randomBytes(12)), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  const pieces = [];
  for (const [name, value] of Object.entries(body)) {
    const isFile = value instanceof FileData;
    const kind = isFile ? `; filename="${quoted(value.filename)}"\r\nContent-Type: ${value.content_type}` : '';
    pieces.push(`--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"${kind}\r\n\r\n`);
    pieces.push(isFile ? value.data : String(value), '\r\n');
  }
  pieces.push(`--${boundary}--\r\n`);
  return { type: `multipart/form-data; boundary=${boundary}`, body: native.concat(pieces.map(bytesOf)) };
};

const milliseconds = (value) => {
  if (typeof value === 'number') return value;
  return native.duration(String(value));
};

const textOf = (value) => (typeof value === 'string' ? value : String(value));

const credentials = (address) => /^(https?:\/\/)([^/?#@]*)@(.*)$/s.exec(address);

const none = Object.freeze({});

/** The native form of a request: its parts in the order of `RequestSpec::read`. */
function prepared(method, address, body, params) {
  params ??= none;
  const headers = [];
  const given = new Set();
  if (params.headers) {
    for (const [name, value] of Object.entries(params.headers)) {
      if (value === undefined || value === null) continue;
      headers.push(name, textOf(value));
      given.add(name.toLowerCase());
    }
  }
  let target = String(address);
  let user = null;
  const parts = target.includes('@') ? credentials(target) : null;
  if (parts) {
    target = parts[1] + parts[3];
    user = parts[2];
  }
  const auth = params.auth ?? (user === null ? undefined : 'basic');
  if (auth === 'basic' && user !== null && !given.has('authorization')) {
    headers.push('Authorization', `Basic ${native.base64Encode(decodeURIComponent(user), 'std')}`);
  } else if (auth === 'digest' || auth === 'ntlm') {
    throw new Error(`auth: '${auth}' is not supported; write auth: 'basic', or the header Authorization`);
  }
  if (params.compression) throw new Error('the parameter compression is not supported; send the body as it is, or compressed with a header Content-Encoding');
  let content = null;
  if (body !== null && body !== undefined) {
    if (typeof body === 'string') content = body;
    else if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) content = bytesOf(body);
    else if (typeof body === 'object') {
      const isForm = Object.values(body).some((value) => value instanceof FileData);
      const form = isForm ? multipart(body) : { type: 'application/x-www-form-urlencoded', body: formText(body) };
      content = form.body;
      if (!given.has('content-type')) headers.push('Content-Type', form.type);
    } else content = String(body);
  }
  let cookies = null;
  if (params.cookies) {
    cookies = Object.entries(params.cookies).map(([name, value]) =>
      typeof value === 'object' && value !== null ? [name, textOf(value.value), Boolean(value.replace)] : [name, textOf(value), false],
    );
  }
  const expected = params.responseCallback === undefined ? callback : checkCallback(params.responseCallback);
  let tags = params.tags ?? null;
  if (address instanceof NamedUrl && tags?.name === undefined) tags = { ...tags, name: address.name };
  const timeout = params.timeout === undefined ? 60000 : milliseconds(params.timeout);
  return [String(method).toUpperCase(), target, headers, content, cookies, params.jar?.id ?? 0, tags, timeout, params.redirects ?? -1, params.responseType ?? '', expected?.ranges ?? null];
}

const parts = (path) => {
  const names = [];
  let name = '';
  let depth = 0;
  for (let i = 0; i < path.length; i++) {
    const c = path[i];
    if (c === '\\' && i + 1 < path.length) name += path[++i];
    else if (c === '.' && depth === 0) {
      names.push(name);
      name = '';
    } else {
      if (c === '(') depth += 1;
      if (c === ')') depth -= 1;
      name += c;
    }
  }
  return [...names, name];
};

const compare = (value, operator, operand) => {
  switch (operator) {
    case '==':
    case '=':
      return value === operand;
    case '!=':
      return value !== operand;
    case '<':
      return value < operand;
    case '<=':
      return value <= operand;
    case '>':
      return value > operand;
    case '>=':
      return value >= operand;
    default: {
      const pattern = String(operand).replace(/[.+^${}()|[\]\\]/g, '\\$&').replace(/\*/g, '.*').replace(/\?/g, '.');
      return new RegExp(`^${pattern}$`, 's').test(String(value)) === (operator === '%');
    }
  }
};

const matching = (elements, query) => {
  const [, path, operator, operand] = /^(.*?)\s*(?:(==|!=|<=|>=|!%|=|<|>|%)\s*(.*))?$/s.exec(query);
  const read = (element) => (path === '' ? element : selected(element, parts(path)));
  if (operator === undefined) return elements.filter((element) => read(element) !== undefined);
  let wanted = operand;
  try {
    wanted = JSON.parse(operand);
  } catch {
    // A word without quotes.
  }
  return elements.filter((element) => read(element) !== undefined && compare(read(element), operator, wanted));
};

/** The value at a path in the syntax of gjson. */
function selected(value, path) {
  if (path.length === 0 || value === undefined) return value;
  const [name, ...rest] = path;
  if (Array.isArray(value)) {
    const query = /^#\((.*)\)(#?)$/s.exec(name);
    if (query) {
      const found = matching(value, query[1]);
      return query[2] ? found.map((element) => selected(element, rest)).filter((one) => one !== undefined) : selected(found[0], rest);
    }
    if (name === '#') {
      if (rest.length === 0) return value.length;
      return value.map((element) => selected(element, rest)).filter((one) => one !== undefined);
    }
    return /^\d+$/.test(name) ? selected(value[Number(name)], rest) : undefined;
  }
  if (value === null || typeof value !== 'object') return undefined;
  if (/[*?]/.test(name)) {
    const key = Object.keys(value).find((one) => compare(one, '%', name));
    return key === undefined ? undefined : selected(value[key], rest);
  }
  return Object.hasOwn(value, name) ? selected(value[name], rest) : undefined;
}

/** Cookies that a reply sets, by name. */
function cookiesOf(lines) {
  const cookies = {};
  for (const line of lines) {
    const [pair, ...attributes] = line.split(';').map((part) => part.trim());
    const at = pair.indexOf('=');
    if (at < 0) continue;
    const cookie = { name: pair.slice(0, at), value: pair.slice(at + 1), domain: '', path: '', http_only: false, secure: false, max_age: 0, expires: '' };
    for (const attribute of attributes) {
      const end = attribute.indexOf('=');
      const key = (end < 0 ? attribute : attribute.slice(0, end)).toLowerCase();
      const value = end < 0 ? '' : attribute.slice(end + 1);
      if (key === 'domain' || key === 'path' || key === 'expires') cookie[key] = value;
      else if (key === 'max-age') cookie.max_age = Number(value) || 0;
      else if (key === 'secure') cookie.secure = true;
      else if (key === 'httponly') cookie.http_only = true;
    }
    (cookies[cookie.name] ??= []).push(cookie);
  }
  return cookies;
}

/** A reply. */
class Response {
  /** From the parts of a request, and those of its reply in the order of `Exchange::into_reply`. */
  constructor(sent, [status, statusText, url, proto, error, errorCode, fields, setCookies, body, times]) {
    this.status = status;
    this.status_text = statusText;
    this.url = url;
    this.proto = proto;
    this.remote_ip = '';
    this.remote_port = 0;
    this.tls_version = '';
    this.tls_cipher_suite = '';
    this.ocsp = {};
    this.error = error;
    this.error_code = errorCode;
    this.headers = {};
    for (let i = 0; i < fields.length; i += 2) this.headers[fields[i]] = fields[i + 1];
    this.cookies = setCookies ? cookiesOf(setCookies) : {};
    this.body = body;
    this.timings = { blocked: times[0], looking_up: times[1], connecting: times[2], tls_handshaking: times[3], sending: times[4], waiting: times[5], receiving: times[6], duration: times[7] };
    const headers = {};
    for (let i = 0; i < sent[2].length; i += 2) headers[sent[2][i]] = [sent[2][i + 1]];
    this.request = { method: sent[0], url: sent[1], headers, body: sent[3] ?? '', cookies: {} };
  }

  json(path) {
    if (this.body === null || this.body === undefined) {
      throw new Error("the body is null, so it cannot be read as JSON; discardResponseBodies or responseType: 'none' drops it, or no reply arrived");
    }
    const text = typeof this.body === 'string' ? this.body : native.utf8(this.body);
    const value = JSON.parse(text);
    return path === undefined ? value : selected(value, parts(String(path)));
  }

  html() {
    throw new Error('html() is not supported; read res.body with a regular expression or findBetween() of k6-utils');
  }

  submitForm() {
    throw new Error('submitForm() is not supported; send the fields with http.post()');
  }

  clickLink() {
    throw new Error('clickLink() is not supported; request the address with http.get()');
  }
}

const finished = (sent, reply) => {
  const response = new Response(sent, reply);
  if (response.status === 0) native.log('warning', `Request Failed: ${sent[0]} ${response.url}: ${response.error}`);
  return response;
};

export function request(method, address, body, params) {
  const sent = prepared(method, address, body, params);
  return finished(sent, native.request(sent));
}

export const get = (address, params) => request('GET', address, null, params);
export const head = (address, params) => request('HEAD', address, null, params);
export const options = (address, body, params) => request('OPTIONS', address, body, params);
export const post = (address, body, params) => request('POST', address, body, params);
export const put = (address, body, params) => request('PUT', address, body, params);
export const patch = (address, body, params) => request('PATCH', address, body, params);
export const del = (address, body, params) => request('DELETE', address, body, params);

// The request is sent at once, and the promise is fulfilled with its reply.
export async function asyncRequest(method, address, body, params) {
  return request(method, address, body, params);
}

const batchEntry = (entry) => {
  if (typeof entry === 'string' || entry instanceof NamedUrl) return prepared('GET', entry, null, {});
  if (Array.isArray(entry)) return prepared(...entry);
  if (entry && typeof entry === 'object') return prepared(entry.method ?? 'GET', entry.url, entry.body, entry.params);
  throw new TypeError('batch() takes addresses, lists [method, url, body, params] and objects {method, url, body, params}');
};

export function batch(requests) {
  const names = Object.keys(requests);
  const sent = names.map((name) => batchEntry(requests[name]));
  const replies = native.batch(sent).map((reply, i) => finished(sent[i], reply));
  if (Array.isArray(requests)) return replies;
  return Object.fromEntries(names.map((name, i) => [name, replies[i]]));
}

const all = { get, head, options, post, put, patch, del, request, asyncRequest, batch, file, url, cookieJar, CookieJar, expectedStatuses, setResponseCallback };
export default all;
