import { crc32 } from 'node:zlib'
import { kernelCode } from './code.js'
import { BLOCK_BYTES, INPUT, MEMORY_BYTES, OUTPUT } from './layout.js'
import { compile, copyInto, newMemory, webAssembly } from '../../../base/memory.js'

/** The functions of assembly/deflate.ts. Sizes and addresses are in bytes. */
interface Exports {
  open(): void
  begin(): void
  deflate(bytes: number, isLast: number): number
}

const PAGE_BYTES = 64 << 10

let code: ReturnType<typeof compile>

/** Compiles the kernel now, and not only when it is first opened. */
export function compileKernel(): typeof code {
  code ??= compile(kernelCode)
  return code
}

/** Returns undefined without WebAssembly or memory. */
export function openGzipKernel(): Kernel | undefined {
  const compiled = compileKernel()
  const memory = newMemory(Math.ceil(MEMORY_BYTES / PAGE_BYTES))
  if (compiled === undefined || memory === undefined || webAssembly === undefined) return undefined
  const { exports } = new webAssembly.Instance(compiled, { env: { memory } })
  return new Kernel(Buffer.from(memory.buffer), exports as Exports)
}

/** Compresses one body after the other. Keeps nothing between two bodies. */
class Kernel {
  readonly #bytes: Buffer
  readonly #exports: Exports

  constructor(bytes: Buffer, exports: Exports) {
    this.#bytes = bytes
    this.#exports = exports
    exports.open()
  }

  /**
   * Yields the parts of a gzip file of this body, of at most 192 KiB and a little. A part is only valid until the next one is asked
   * for. Only one body may be under way.
   */
  *gzip(body: Uint8Array): Generator<Uint8Array, void, undefined> {
    yield HEADER
    this.#exports.begin()
    let from = 0
    do {
      const block = body.subarray(from, from + BLOCK_BYTES)
      from += block.length
      copyInto(this.#bytes, INPUT, block)
      yield this.#bytes.subarray(OUTPUT, this.#exports.deflate(block.length, Number(from === body.length)))
    } while (from < body.length)
    const trailer = Buffer.allocUnsafe(8)
    trailer.writeUInt32LE(crc32(body), 0)
    trailer.writeUInt32LE(body.length % 2 ** 32, 4)
    yield trailer
  }
}

/** RFC 1952: deflate, no name, no time, the fastest level, no system. */
const HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255)

/** How long a gzip file of so many bytes may be: what does not shrink is stored in parts of 65,535 bytes. */
export function mostBytes(bytes: number): number {
  const blocks = Math.max(1, Math.ceil(bytes / BLOCK_BYTES))
  return bytes + blocks * BLOCK_OVERHEAD_BYTES + 32
}

/** A block takes up to four stored parts, of five bytes and some bits each. */
const BLOCK_OVERHEAD_BYTES = 32

export type { Kernel }
