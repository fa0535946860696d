/** ASN.1 values in DER (ITU-T X.690), as far as a certificate needs them. */

/** Any value: its tag, its length and its content. */
export function primitive(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag]), length(content.length), content])
}

export function sequence(...members: readonly Buffer[]): Buffer {
  return primitive(0x30, Buffer.concat(members))
}

export function set(...members: readonly Buffer[]): Buffer {
  return primitive(0x31, Buffer.concat(members))
}

/** A non-negative integer whose first byte is below 0x80. */
export function integer(bytes: Buffer): Buffer {
  return primitive(0x02, bytes)
}

export function octets(bytes: Buffer): Buffer {
  return primitive(0x04, bytes)
}

export function bits(bytes: Buffer, unused: number): Buffer {
  return primitive(0x03, Buffer.concat([Buffer.from([unused]), bytes]))
}

/** A context-specific primitive, such as one form of a general name. */
export function context(number: number, content: Buffer): Buffer {
  return primitive(0x80 | number, content)
}

/** UTCTime: years up to 2049. */
export function time(date: Date): Buffer {
  const [day = '', clock = ''] = date.toISOString().slice(2, 19).split('T')
  return primitive(0x17, Buffer.from(`${day.replaceAll('-', '')}${clock.replaceAll(':', '')}Z`))
}

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return primitive(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

function base128(value: number): number[] {
  const digits = [value & 0x7f]
  for (let left = value >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80)
  return digits
}

function length(size: number): Buffer {
  if (size < 0x80) return Buffer.from([size])
  return size < 0x100 ? Buffer.from([0x81, size]) : Buffer.from([0x82, size >> 8, size & 0xff])
}
