/**
 * Returns the raw JSON text of a top-level field's value, if the object has it. The first of duplicate keys counts.
 * The text must be a valid JSON object. Raw, because JSON.parse would round a 19-digit id.
 */
export function topLevelField(text: string, name: string): string | undefined {
  let at = skipSpace(text, text.indexOf('{') + 1)
  while (text[at] === '"') {
    const keyEnd = endOfString(text, at)
    const key = text.slice(at, keyEnd)
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1)
    const valueEnd = endOfValue(text, valueStart)
    if (isKey(key, name)) return text.slice(valueStart, valueEnd)
    at = skipSpace(text, skipSpace(text, valueEnd) + 1)
  }
  return undefined
}

/**
 * Returns the raw JSON text of each top-level value by name, with its white space. The first of duplicate keys
 * counts. The text must be a valid JSON object.
 */
export function topLevelFields(text: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>()
  let at = skipSpace(text, text.indexOf('{') + 1)
  while (text[at] === '"') {
    const keyEnd = endOfString(text, at)
    const key = JSON.parse(text.slice(at, keyEnd)) as string
    const from = skipSpace(text, keyEnd) + 1
    const end = skipSpace(text, endOfValue(text, skipSpace(text, from)))
    if (!fields.has(key)) fields.set(key, text.slice(from, end))
    at = skipSpace(text, end + 1)
  }
  return fields
}

function isKey(raw: string, name: string): boolean {
  return raw.includes('\\') ? JSON.parse(raw) === name : raw.length === name.length + 2 && raw.startsWith(name, 1)
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (text[at] === ' ' || text[at] === '\t' || text[at] === '\r' || text[at] === '\n') at += 1
  return at
}

/** Returns the offset after the closing quote of the string that opens at `from`. */
function endOfString(text: string, from: number): number {
  let at = from + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

function endOfValue(text: string, from: number): number {
  const first = text[from]
  if (first === '"') return endOfString(text, from)
  let at = from
  if (first === '{' || first === '[') {
    let depth = 0
    do {
      const char = text[at]
      if (char === '"') {
        at = endOfString(text, at)
        continue
      }
      if (char === '{' || char === '[') depth += 1
      else if (char === '}' || char === ']') depth -= 1
      at += 1
    } while (depth > 0)
    return at
  }
  while (at < text.length && !',}] \t\r\n'.includes(text.charAt(at))) at += 1
  return at
}
