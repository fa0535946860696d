/** A text that is not JSON: what a strict parser says of it, and where. */
export class NotJson extends Error {
  /** Columns count from 1: of the last good token, and of the fault. */
  readonly tokenColumn: number
  readonly column: number
  readonly isEnd: boolean
  constructor(message: string, tokenColumn: number, column: number, isEnd: boolean) {
    super(message)
    this.tokenColumn = tokenColumn
    this.column = column
    this.isEnd = isEnd
  }
}

const expectedValue = "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')"

/** Reads strict JSON (RFC 8259) in place, one token after the other. It never copies what nobody asks for. */
export class JsonCursor {
  readonly bytes: Buffer
  /** The next byte to read. */
  at: number
  readonly from: number
  readonly to: number
  /** Where the last token began. */
  token: number
  #contentFrom = 0
  #contentTo = 0
  #isPlain = true

  constructor(bytes: Buffer, from: number, to: number) {
    this.bytes = bytes
    this.from = from
    this.to = to
    this.at = from
    this.token = from
  }

  /** The next byte that is not white space, not yet read; -1 at the end. */
  peek(): number {
    const { bytes, to } = this
    let at = this.at
    while (at < to) {
      const byte = bytes[at] as number
      if (byte !== 0x20 && byte !== 0x0d && byte !== 0x09 && byte !== 0x0a) {
        this.at = at
        return byte
      }
      at++
    }
    this.at = at
    return -1
  }

  /** Reads one byte that peek() has shown: a bracket, a comma, a colon. */
  skip(): void {
    this.token = this.at++
  }

  /** Reads a string; `text()` has its content. */
  string(): void {
    const { bytes, to } = this
    let at = this.at + 1
    this.#contentFrom = at
    let isPlain = true
    for (;;) {
      if (at >= to) this.fail('Unexpected end-of-input in VALUE_STRING', at, true)
      const byte = bytes[at] as number
      if (byte === 0x22) break
      if (byte === 0x5c) {
        isPlain = false
        at = this.#escape(at + 1)
      } else if (byte < 0x20) {
        const message = `Illegal unquoted character ((CTRL-CHAR, code ${byte})): has to be escaped using backslash`
        this.fail(`${message} to be included in string value`, at + 1)
      } else {
        if (byte >= 0x80) isPlain = false
        at++
      }
    }
    this.#contentTo = at
    this.#isPlain = isPlain
    this.token = this.at
    this.at = at + 1
  }

  /** The content of the last string. */
  text(): string {
    const { bytes } = this
    if (this.#isPlain) return bytes.toString('latin1', this.#contentFrom, this.#contentTo)
    return JSON.parse(bytes.toString('utf8', this.#contentFrom - 1, this.#contentTo + 1)) as string
  }

  /** Reads a number: whether it is an integer. Its text is what stands between `token` and `at`. */
  number(): boolean {
    const { bytes } = this
    let at = this.at
    let isInteger = true
    if (bytes[at] === 0x2d) at++
    if (bytes[at] === 0x30 && at < this.to) {
      at++
      if (isDigit(this.#byte(at))) this.fail('Invalid numeric value: Leading zeroes not allowed', at)
    } else at = this.#digits(at, 'expected digit (0-9) to follow minus sign, for valid numeric value')
    if (this.#byte(at) === 0x2e) {
      isInteger = false
      at = this.#digits(at + 1, 'Decimal point not followed by a digit')
    }
    const exponent = this.#byte(at)
    if (exponent === 0x65 || exponent === 0x45) {
      isInteger = false
      const sign = this.#byte(at + 1)
      at = this.#digits(sign === 0x2b || sign === 0x2d ? at + 2 : at + 1, 'Exponent indicator not followed by a digit')
    }
    this.token = this.at
    this.at = at
    return isInteger
  }

  /** Reads `true`, `false` or `null`. */
  literal(): 'true' | 'false' | 'null' {
    const { bytes } = this
    let end = this.at
    while (end < this.to && isWord(bytes[end] as number)) end++
    const word = bytes.toString('latin1', this.at, end)
    if (word !== 'true' && word !== 'false' && word !== 'null') {
      if (word === '') this.unexpected(`expected a valid value ${expectedValue}`)
      this.fail(`Unrecognized token '${word}': was expecting ${expectedValue}`, end)
    }
    this.token = this.at
    this.at = end
    return word
  }

  /** Fails on the next byte. */
  unexpected(wanted: string): never {
    if (this.at >= this.to) this.fail('Unexpected end-of-input within/between Object entries', this.at, true)
    const byte = this.bytes[this.at] as number
    this.fail(`Unexpected character ('${String.fromCharCode(byte)}' (code ${byte})): ${wanted}`, this.at)
  }

  fail(message: string, at: number, isEnd = false): never {
    throw new NotJson(message, this.token - this.from + 1, at - this.from + 1, isEnd)
  }

  raw(from: number, to: number): string {
    return this.bytes.toString('utf8', from, to)
  }

  #byte(at: number): number {
    return at < this.to ? (this.bytes[at] as number) : -1
  }

  #digits(from: number, wanted: string): number {
    let at = from
    while (isDigit(this.#byte(at))) at++
    if (at === from) {
      this.at = at
      this.unexpected(wanted)
    }
    return at
  }

  /** Where the text goes on behind an escape whose first letter stands at `at`. */
  #escape(at: number): number {
    const letter = this.#byte(at)
    if (letter !== 0x75) {
      if (letter < 0 || !'"\\/bfnrt'.includes(String.fromCharCode(letter))) {
        this.fail(`Unrecognized character escape '${String.fromCharCode(letter)}' (code ${letter})`, at)
      }
      return at + 1
    }
    for (let digit = at + 1; digit <= at + 4; digit++) {
      const byte = this.#byte(digit)
      if (byte < 0 || !/[0-9a-fA-F]/.test(String.fromCharCode(byte))) {
        this.at = digit
        this.unexpected('expected a hex-digit for character escape sequence')
      }
    }
    return at + 5
  }
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}

function isWord(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a) || byte === 0x5f
}
