/** Texts that would act on a terminal, forge a line, or hide: planted wherever a text comes from outside. */

/** What would stand at the start of a line if a planted line feed acted. */
const FORGED = 'FORGED'

/** A file can have this name. A header cannot hold its control characters. */
export const hostile = `\u001b[2J\u0007\r\n${FORGED}\u0085${FORGED}\u2028${FORGED}\u009b31m\u202etxt\u2066\u007f[co\u0001de]<b>[/code]\t`

/** As a header or a reason phrase carries it: its bytes are read as Latin-1. */
export const hostileHeader = '\u009b31m\u0085[code]\u0090'

/** Returns the value with each text in it followed by a hostile one, except for values of these names. */
export function planted<T>(value: T, except: readonly string[] = [], more = hostile): T {
  const plant = (one: unknown): unknown => {
    if (typeof one === 'string') return one + more
    if (Array.isArray(one)) return one.map(plant)
    if (typeof one !== 'object' || one === null) return one
    return Object.fromEntries(Object.entries(one).map(([name, of]) => [name, except.includes(name) ? of : plant(of)]))
  }
  return plant(value) as T
}

/** Returns what acts in an output: control characters but line feeds, characters that turn the order around, forged lines. */
export function actsIn(output: string): string[] {
  const acting = output.match(/(?!\n)[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu) ?? []
  const forged = output.split('\n').filter(line => line.trimStart().startsWith(FORGED))
  return [...acting.map(one => `U+${one.charCodeAt(0).toString(16)}`), ...forged]
}
