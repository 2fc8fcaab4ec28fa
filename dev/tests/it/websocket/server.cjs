// Answers WebSockets over HTTP/2 (RFC 8441) with frames written by hand, and writes a line for each thing that happened.
// Arguments: port, log, settings as JSON, and for TLS a key and a certificate.
'use strict';
const fs = require('fs');
const http2 = require('http2');
const zlib = require('zlib');
const { addAbortSignal } = require('stream');
const [port, log, settings, key, cert] = process.argv.slice(2);
const AGREED = 'permessage-deflate; server_no_context_takeover; client_no_context_takeover';
const told = fs.openSync(log, 'a');
const tell = (line) => fs.writeSync(told, `${line}\n`);

function frame(first, payload) {
  const { length } = payload;
  let head = Buffer.from([first, length]);
  if (length > 65535) {
    head = Buffer.alloc(10);
    head.writeUInt8(first);
    head.writeUInt8(127, 1);
    head.writeBigUInt64BE(BigInt(length), 2);
  } else if (length > 125) {
    head = Buffer.from([first, 126, length >> 8, length & 255]);
  }
  return Buffer.concat([head, payload]);
}

/// The next frame of a client in `bytes`: its opcode, its payload and the bytes behind it.
function parse(bytes) {
  if (bytes.length < 2) return null;
  let [length, at] = [bytes[1] & 127, 2];
  if (length === 126) {
    if (bytes.length < 4) return null;
    [length, at] = [bytes.readUInt16BE(2), 4];
  } else if (length === 127) {
    if (bytes.length < 10) return null;
    [length, at] = [Number(bytes.readBigUInt64BE(2)), 10];
  }
  if (bytes.length < at + 4 + length) return null;
  if ((bytes[0] & 0x80) === 0 || (bytes[1] & 0x80) === 0) throw new Error('whole messages, masked');
  const mask = bytes.subarray(at, at + 4);
  const payload = Buffer.from(bytes.subarray(at + 4, at + 4 + length).map((byte, n) => byte ^ mask[n % 4]));
  return { opcode: bytes[0] & 15, isPacked: (bytes[0] & 0x40) !== 0, payload, rest: bytes.subarray(at + 4 + length) };
}

const answers = {
  '/chat': (stream, opcode, payload) => stream.write(frame(0x80 | opcode, payload)),
  '/chatty': (stream, opcode, payload) => {
    const half = Math.floor(payload.length / 2);
    const [first, second] = [payload.subarray(0, half), payload.subarray(half)];
    const frames = [frame(0x89, Buffer.from('hi')), frame(0x81, Buffer.from('news')), frame(opcode, first), frame(0x80, second)];
    stream.write(Buffer.concat(frames));
  },
  '/deflate': (stream, opcode, payload, isPacked) => {
    const end = Buffer.from([0, 0, 255, 255]);
    const unpack = () => zlib.inflateRawSync(Buffer.concat([payload, end]), { finishFlush: zlib.constants.Z_SYNC_FLUSH });
    const packed = zlib.deflateRawSync(isPacked ? unpack() : payload, { finishFlush: zlib.constants.Z_SYNC_FLUSH });
    stream.write(frame(0xc0 | opcode, packed.subarray(0, packed.length - 4)));
  },
  '/close': (stream) => stream.end(frame(0x88, Buffer.from([3, 243]))),
  '/end': (stream) => stream.end(),
  // `close` would end the stream before it resets it.
  '/cancel': (stream) => addAbortSignal(AbortSignal.abort(), stream),
  '/reset': (stream) => stream.destroy(new Error('on purpose')),
  '/garbage': (stream) => stream.write(Buffer.from([255, 255, 255, 255])),
  '/silent': () => {},
};

function websocket(stream, head, answer) {
  const offers = head['sec-websocket-extensions'];
  const extension = answer === answers['/deflate'] && offers ? { 'sec-websocket-extensions': AGREED } : {};
  stream.respond({ ':status': 200, ...extension });
  tell(`open ${head[':scheme']} ${head[':path']} ${head['sec-websocket-version']}`);
  let bytes = Buffer.alloc(0);
  stream.on('data', (more) => {
    bytes = Buffer.concat([bytes, more]);
    for (let next = parse(bytes); next !== null; next = parse(bytes)) {
      bytes = next.rest;
      if (next.opcode === 8) {
        tell('close');
        stream.end(frame(0x88, next.payload));
      } else if (next.opcode === 9) {
        tell('ping');
        stream.write(frame(0x8a, next.payload));
      } else if (next.opcode === 10) {
        tell('pong');
      } else {
        tell('message');
        answer(stream, next.opcode, next.payload, next.isPacked);
      }
    }
  });
  stream.on('end', () => {
    tell('end');
    stream.end();
  });
  stream.on('error', () => {});
  stream.on('close', () => tell(`over ${stream.rstCode}`));
}

const options = { settings: JSON.parse(settings) };
const server = key === undefined
  ? http2.createServer(options)
  : http2.createSecureServer({ ...options, key: fs.readFileSync(key), cert: fs.readFileSync(cert) });
const sessions = new WeakSet();
server.on('stream', (stream, head) => {
  if (!sessions.has(stream.session)) tell('session');
  sessions.add(stream.session);
  const answer = answers[head[':path']];
  stream.on('error', () => {});
  if (head[':method'] === 'CONNECT' && head[':protocol'] === 'websocket' && answer !== undefined) {
    websocket(stream, head, answer);
  } else if (head[':method'] === 'GET') {
    tell('get');
    stream.respond({ ':status': 200 });
    stream.end('page');
  } else {
    stream.respond({ ':status': 404 }, { endStream: true });
  }
});
server.listen(Number(port), '127.0.0.1');
