/**
 * Finds the fault in a line that is probably broken. JSON.parse would say the same, but making its error takes longer than
 * everything else that happens to a rejected line.
 */
import { isWhiteSpace } from '../text/bytes.js'

/** The text is one JSON value. */
export const NO_FAULT = -1
/** Stands for a fault without a place: JSON.parse of Node 20 names its character only. */
export const SOMEWHERE = -2
/** The scan has not reached the end: `resume` continues it. */
export const UNFINISHED = -3
/** The value has more levels than allowed. */
export const TOO_DEEP = -4

const QUOTE = 0x22
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Returns the offset of the fault from `from`, as JSON.parse of Node 20 does, `SOMEWHERE` or `NO_FAULT`. The text is valid UTF-8. */
export function jsonFault(bytes: Uint8Array, from: number, to: number): number {
  return scan.fault(bytes, from, to)
}

/**
 * Returns the offset behind the first JSON value. `cut`: the bytes end inside it, and nothing before is wrong. `broken`: there is
 * a fault in it.
 */
export function endOfValue(bytes: Uint8Array, from: number, to: number): number | 'cut' | 'broken' {
  const fault = scan.fault(bytes, from, to)
  if (scan.isValue || fault === NO_FAULT) return scan.at
  return scan.at >= to ? 'cut' : 'broken'
}

const KINDS_BYTES = 128

/** Scans one JSON value after the other. It can stop inside a long one, and keeps no more than a bit for each level. */
export class JsonScan {
  #bytes: Uint8Array = new Uint8Array(0)
  #from = 0
  #to = 0
  #at = 0
  /** Number of open containers, and of each a bit that tells whether it is an object: a line may open very many. */
  #depth = 0
  #kinds = new Uint8Array(KINDS_BYTES)
  readonly #maxDepth: number
  #fault = NO_FAULT
  #isValue = false

  constructor(maxDepth = Infinity) {
    this.#maxDepth = maxDepth
  }

  /** Where it stopped. */
  get at(): number {
    return this.#at
  }

  /** Whether a whole value stands before that. */
  get isValue(): boolean {
    return this.#isValue
  }

  /** Returns what `jsonFault` returns, or TOO_DEEP. Returns UNFINISHED between two values at `pause` or behind it. */
  fault(bytes: Uint8Array, from: number, to: number, pause = Infinity): number {
    this.#isValue = false
    this.#bytes = bytes
    this.#from = from
    this.#to = to
    this.#at = from
    this.#fault = NO_FAULT
    this.#depth = 0
    if (this.#kinds.length > KINDS_BYTES) this.#kinds = new Uint8Array(KINDS_BYTES)
    return this.resume(pause)
  }

  /** Continues an unfinished scan. */
  resume(pause: number): number {
    while (this.#value()) {
      // A value ended. So may the containers around it.
      for (;;) {
        const next = this.#token()
        if (this.#depth === 0) {
          this.#isValue = true
          return next === undefined ? NO_FAULT : this.#here()
        }
        const inObject = this.#isInObject
        this.#at += 1
        if (next === COMMA) {
          if (inObject && !this.#name(false)) return this.#fault
          break
        }
        if (next !== (inObject ? CLOSE_OBJECT : CLOSE_ARRAY)) {
          this.#at -= 1
          return this.#here()
        }
        this.#depth -= 1
      }
      if (this.#at >= pause) return UNFINISHED
    }
    return this.#fault
  }

  /** Passes the start of a value up to the end of its first scalar or empty container. */
  #value(): boolean {
    for (;;) {
      const first = this.#token()
      switch (first) {
        case OPEN_OBJECT:
          if (this.#depth >= this.#maxDepth) return this.#tooDeep()
          this.#at += 1
          if (this.#token() === CLOSE_OBJECT) return this.#pass()
          this.#push(true)
          if (!this.#name(true)) return false
          break
        case OPEN_ARRAY:
          if (this.#depth >= this.#maxDepth) return this.#tooDeep()
          this.#at += 1
          if (this.#token() === CLOSE_ARRAY) return this.#pass()
          this.#push(false)
          break
        case QUOTE:
          this.#at += 1
          return this.#string()
        case TRUE[0]:
          return this.#literal(TRUE)
        case FALSE[0]:
          return this.#literal(FALSE)
        case NULL[0]:
          return this.#literal(NULL)
        default:
          return first === MINUS || isDigit(first) ? this.#number() : this.#unexpected()
      }
    }
  }

  #tooDeep(): false {
    this.#fault = TOO_DEEP
    return false
  }

  #push(isObject: boolean): void {
    const at = this.#depth >>> 3
    if (at === this.#kinds.length) {
      const more = new Uint8Array(at * 2)
      more.set(this.#kinds)
      this.#kinds = more
    }
    const bit = 1 << (this.#depth & 7)
    const kinds = this.#kinds[at] as number
    this.#kinds[at] = isObject ? kinds | bit : kinds & ~bit
    this.#depth += 1
  }

  get #isInObject(): boolean {
    const last = this.#depth - 1
    return ((this.#kinds[last >>> 3] as number) & (1 << (last & 7))) !== 0
  }

  /** Passes a name and its colon. JSON.parse gives the place of a missing colon after the first name only. */
  #name(isFirst: boolean): boolean {
    if (this.#token() !== QUOTE) return this.#failHere()
    this.#at += 1
    if (!this.#string()) return false
    if (this.#token() === COLON) return this.#pass()
    return isFirst ? this.#failHere() : this.#unexpected()
  }

  /** Passes the rest of a string, behind its opening quote. */
  #string(): boolean {
    const bytes = this.#bytes
    let at = this.#at
    for (; at < this.#to; at += 1) {
      const byte = bytes[at] as number
      if (byte === QUOTE) {
        this.#at = at + 1
        return true
      }
      if (byte < 0x20) break
      if (byte !== BACKSLASH) continue
      at += 1
      const escaped = this.#byteAt(at)
      if (escaped === 0x75) {
        const end = at + 4
        while (at < end && isHex(this.#byteAt(at + 1))) at += 1
        if (at === end) continue
        at += 1
        break
      }
      if (escaped === undefined) {
        this.#at = at
        return this.#unexpected()
      }
      if (!ESCAPES.includes(escaped)) break
    }
    this.#at = at
    return this.#failHere()
  }

  #number(): boolean {
    if (this.#peek() === MINUS) {
      this.#at += 1
      if (!isDigit(this.#peek())) return this.#failHere()
    }
    if (this.#peek() === ZERO) {
      this.#at += 1
      if (isDigit(this.#peek())) return this.#failHere()
    } else this.#digits()
    if (this.#peek() === POINT) {
      this.#at += 1
      if (!this.#digits()) return this.#failHere()
    }
    const exponent = this.#peek()
    if (exponent === 0x65 || exponent === 0x45) {
      this.#at += 1
      const sign = this.#peek()
      if (sign === MINUS || sign === 0x2b) this.#at += 1
      if (!this.#digits()) return this.#failHere()
    }
    return true
  }

  /** Passes digits. Returns whether there are any. */
  #digits(): boolean {
    const start = this.#at
    while (isDigit(this.#peek())) this.#at += 1
    return this.#at > start
  }

  #literal(text: Uint8Array): boolean {
    for (const byte of text) {
      if (this.#peek() !== byte) return this.#unexpected()
      this.#at += 1
    }
    return true
  }

  /** Fails at a byte that can begin nothing here. JSON.parse gives the place of a number and of a string only. */
  #unexpected(): false {
    const byte = this.#peek()
    if (byte === QUOTE || byte === MINUS || isDigit(byte)) return this.#failHere()
    this.#fault = SOMEWHERE
    return false
  }

  #failHere(): false {
    this.#fault = this.#here()
    return false
  }

  #here(): number {
    return this.#at - this.#from
  }

  #pass(): true {
    this.#at += 1
    return true
  }

  #peek(): number | undefined {
    return this.#byteAt(this.#at)
  }

  #byteAt(at: number): number | undefined {
    return at < this.#to ? this.#bytes[at] : undefined
  }

  /** Skips white space. Returns the byte behind it. */
  #token(): number | undefined {
    let byte = this.#peek()
    while (isWhiteSpace(byte)) {
      this.#at += 1
      byte = this.#peek()
    }
    return byte
  }
}

/** One for all lines: each is over before the next one begins. */
const scan = new JsonScan()

const TRUE = Buffer.from('true')
const FALSE = Buffer.from('false')
const NULL = Buffer.from('null')
const ESCAPES = Buffer.from('"\\/bfnrt')

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE
}

function isHex(byte: number | undefined): boolean {
  if (isDigit(byte)) return true
  const lower = (byte ?? 0) | 0x20
  return lower >= 0x61 && lower <= 0x66
}
