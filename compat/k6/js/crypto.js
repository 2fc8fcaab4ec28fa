const native = globalThis.__brunt;

const bytesOf = (input) => {
  if (typeof input === 'string' || input instanceof ArrayBuffer) return input;
  if (ArrayBuffer.isView(input)) return input.buffer.slice(input.byteOffset, input.byteOffset + input.byteLength);
  if (Array.isArray(input)) return new Uint8Array(input).buffer;
  throw new TypeError('a text, an ArrayBuffer or a list of bytes is needed');
};

const inEncoding = (bytes, encoding) => {
  switch (encoding) {
    case 'hex':
      return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
    case 'base64':
      return native.base64Encode(bytes, 'std');
    case 'base64url':
      return native.base64Encode(bytes, 'url');
    case 'base64rawurl':
      return native.base64Encode(bytes, 'rawurl');
    case 'binary':
      return bytes;
    default:
      throw new Error(`unknown encoding \`${encoding}\`; write hex, base64, base64url, base64rawurl or binary`);
  }
};

class Hasher {
  #finish;
  #parts = [];

  constructor(finish) {
    this.#finish = finish;
  }

  update(input) {
    this.#parts.push(bytesOf(input));
  }

  digest(encoding) {
    return inEncoding(this.#finish(this.#parts), encoding);
  }
}

export const createHash = (algorithm) => new Hasher((parts) => native.hash(algorithm, parts));
export const createHMAC = (algorithm, secret) => new Hasher((parts) => native.hmac(algorithm, bytesOf(secret), parts));

export function hmac(algorithm, secret, input, encoding) {
  return inEncoding(native.hmac(algorithm, bytesOf(secret), [bytesOf(input)]), encoding);
}

const hash = (algorithm) => (input, encoding) => inEncoding(native.hash(algorithm, [bytesOf(input)]), encoding);
export const md5 = hash('md5');
export const sha1 = hash('sha1');
export const sha256 = hash('sha256');
export const sha384 = hash('sha384');
export const sha512 = hash('sha512');
export const sha512_256 = hash('sha512_256');
export const randomBytes = (count) => native.randomBytes(Number(count));

export default { createHash, createHMAC, hmac, md5, sha1, sha256, sha384, sha512, sha512_256, randomBytes };
