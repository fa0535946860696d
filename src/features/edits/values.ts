/** Makes the text of values to set. */
import { basename } from 'node:path'
import { IN_BRACES, type SetValue } from '../../options/ingest-options.js'

/** The JSON of a value: one text, or several with the number of the line between them. */
export type ValueText = readonly [Buffer, ...Buffer[]]

/** The values of placeholders in one input. */
export interface LineFacts {
  /** When the run began. */
  readonly now: string
  /** The name of the input. */
  readonly path: string
}

export function editedValue(value: SetValue, { now, path }: LineFacts): ValueText {
  if (typeof value === 'object' && value !== null) {
    if (value.json === '{line}') return [Buffer.alloc(0), Buffer.alloc(0)]
    // Only white space may be a line end: in a string it would be escaped.
    return [Buffer.from(value.json.replaceAll(/[\r\n\t]/g, ' '))]
  }
  if (typeof value !== 'string') return [Buffer.from(JSON.stringify(value))]
  const texts: Readonly<Record<string, string>> = { now, path, file: path === '-' ? path : basename(path) }
  const [first = '', ...others] = value
    .split('{line}')
    .map(part => JSON.stringify(part.replaceAll(IN_BRACES, (_, word: string) => texts[word] ?? '')).slice(1, -1))
  if (others.length === 0) return [Buffer.from(`"${first}"`)]
  const last = others.pop() ?? ''
  return [Buffer.from(`"${first}`), ...others.map(text => Buffer.from(text)), Buffer.from(`${last}"`)]
}

/** Returns the value for the document on a line. */
export function textOn(line: number, parts: ValueText): Buffer {
  if (parts.length === 1) return parts[0]
  const number = Buffer.from(String(line))
  return Buffer.concat(parts.flatMap((part, at) => (at === 0 ? [part] : [number, part])))
}
