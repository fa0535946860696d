/** Writes archives for tests, also such as no program would write. */
import { crc32, deflateRawSync } from 'node:zlib'

export interface Stored {
  readonly name: string
  readonly data: string | Uint8Array
  /** 0: stored, 8 (default): deflated. */
  readonly method?: number
  readonly flags?: number
  /** What the directory states, if it is not what the data has. */
  readonly crc?: number
  readonly size?: number
  /** The name in front of the data, if it is another one. */
  readonly otherName?: string
  readonly isLink?: boolean
  /** Sizes stand behind the data, and in the directory. */
  readonly isStreamed?: boolean
  readonly isZip64?: boolean
  /** The directory does not name it. */
  readonly isHidden?: boolean
}

export function zipOf(files: readonly Stored[], comment = ''): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const file of files) {
    const { flags = 0, method = 8, otherName, isStreamed = false, isZip64 = false } = file
    const data = Buffer.from(file.data)
    const packed = method === 8 ? deflateRawSync(data) : data
    const { crc = crc32(data), size = data.length } = file
    const [name, localName] = [Buffer.from(file.name), Buffer.from(otherName ?? file.name)]
    const bits = flags | 0x800 | (isStreamed ? 8 : 0)
    const sums = (isLocal: boolean) =>
      isLocal && isStreamed
        ? bytesOf([4, 0], [4, 0], [4, 0])
        : isZip64
          ? bytesOf([4, crc], [4, 0xffffffff], [4, 0xffffffff])
          : bytesOf([4, crc], [4, packed.length], [4, size])
    const extra = isZip64 ? bytesOf([2, 1], [2, 16], [8, size], [8, packed.length]) : Buffer.alloc(0)
    const local = Buffer.concat([
      bytesOf([4, 0x04034b50], [2, 45], [2, bits], [2, method], [4, 0]),
      sums(true),
      bytesOf([2, localName.length], [2, extra.length]),
      localName,
      extra,
      packed,
      isStreamed ? bytesOf([4, 0x08074b50], [4, crc], [4, packed.length], [4, size]) : Buffer.alloc(0),
    ])
    const mode = file.isLink === true ? 0o120777 : 0o100644
    const entry = [
      bytesOf([4, 0x02014b50], [2, (3 << 8) | 45], [2, 45], [2, bits], [2, method], [4, 0]),
      sums(false),
      bytesOf([2, name.length], [2, extra.length], [2, 0], [2, 0], [2, 0], [4, mode * 0x10000], [4, at]),
      name,
      extra,
    ]
    if (file.isHidden !== true) directory.push(Buffer.concat(entry))
    parts.push(local)
    at += local.length
  }
  const index = Buffer.concat(directory)
  const count = directory.length
  const end = bytesOf([4, 0x06054b50], [4, 0], [2, count], [2, count], [4, index.length], [4, at], [2, comment.length])
  return Buffer.concat([...parts, index, end, Buffer.from(comment)])
}

function bytesOf(...fields: readonly (readonly [number, number])[]): Buffer {
  return Buffer.concat(
    fields.map(([length, value]) => {
      const bytes = Buffer.alloc(length)
      bytes.writeUIntLE(value, 0, Math.min(length, 6))
      return bytes
    }),
  )
}

export interface Taken {
  readonly name: string
  readonly data?: string | Uint8Array
  readonly type?: string
  /** What the header states, if that is not the length of the data. */
  readonly size?: string
  readonly magic?: string
  readonly prefix?: string
}

/** The blocks of files, without the mark of the end. */
export function tarFiles(files: readonly Taken[]): Buffer {
  return Buffer.concat(
    files.flatMap(({ name, data = '', type = '0', magic = 'ustar\u000000', prefix = '', ...file }) => {
      const bytes = Buffer.from(data)
      const header = Buffer.alloc(512)
      header.write(name, 0, 100)
      header.write('0000644\0', 100)
      header.write(file.size ?? `${bytes.length.toString(8).padStart(11, '0')}\0`, 124, 12, 'latin1')
      header.write('        ', 148)
      header.write(type, 156)
      header.write(magic, 257)
      header.write(prefix, 345)
      const sum = header.reduce((total, byte) => total + byte, 0)
      header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
      return [header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]
    }),
  )
}

export function tarOf(files: readonly Taken[]): Buffer {
  return Buffer.concat([tarFiles(files), Buffer.alloc(1024)])
}

/** One record of a pax header. */
export function paxRecord(name: string, value: string): string {
  const rest = ` ${name}=${value}\n`
  const digits = (length: number) => String(length).length
  let length = rest.length + digits(rest.length)
  if (digits(length) + rest.length !== length) length += 1
  return `${length}${rest}`
}
