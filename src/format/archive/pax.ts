interface PaxFacts {
  name?: string
  size?: number
  isSparse?: boolean
}

const LINE_FEED = 0x0a
const BLANK = 0x20

/**
 * Reads the records of a pax header: each is its length, a blank, a name, `=`, a value and a line feed. Undefined if they are not whole.
 * Source: POSIX.1-2017, pax, "pax Header Block".
 */
export function readPax(bytes: Buffer): PaxFacts | undefined {
  const facts: PaxFacts = {}
  for (let from = 0; from < bytes.length;) {
    const blank = bytes.indexOf(BLANK, from)
    const digits = blank === -1 ? '' : bytes.toString('latin1', from, blank)
    const end = from + Number(digits)
    if (!/^\d{1,7}$/.test(digits) || end <= blank + 1 || end > bytes.length || bytes[end - 1] !== LINE_FEED)
      return undefined
    const record = bytes.toString('utf8', blank + 1, end - 1)
    const equals = record.indexOf('=')
    if (equals === -1) return undefined
    const [name, value] = [record.slice(0, equals), record.slice(equals + 1)]
    if (name === 'path') facts.name = value
    if (name.startsWith('GNU.sparse.')) facts.isSparse = true
    if (name === 'size') {
      if (!/^\d+$/.test(value) || !Number.isSafeInteger(Number(value))) return undefined
      facts.size = Number(value)
    }
    from = end
  }
  return facts
}
