/**
 * Compares names as people number files: `part-2` comes before `part-10`. The order is the same on every machine, whatever its locale.
 * `part-02` and `part-2` stand side by side, and other characters go by their code units.
 */
export function byName(a: string, b: string): number {
  let at = 0
  while (at < a.length && a.charCodeAt(at) === b.charCodeAt(at)) at += 1
  let start = at
  while (start > 0 && isDigit(a, start - 1)) start -= 1
  const inA = digitsFrom(a, start)
  const inB = digitsFrom(b, start)
  // Leading zeros do not count, so the longer number is the larger one.
  const difference = inA === '' || inB === '' ? 0 : inA.length - inB.length || byCodeUnit(inA, inB)
  return difference || byCodeUnit(a.slice(at), b.slice(at))
}

/** Returns the number that begins there, without leading zeros except for the last digit. */
function digitsFrom(text: string, start: number): string {
  let end = start
  while (isDigit(text, end)) end += 1
  while (start < end - 1 && text[start] === '0') start += 1
  return text.slice(start, end)
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 48 && code <= 57
}

function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
