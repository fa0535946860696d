/** How text appears in messages: text from outside, numbers, and names in a list. */

/** Characters that act on a terminal, end a line, or change the order in which text is shown. */
const ACTING = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\ufeff]/gu
const ACTING_IN_LINES = /(?!\n)[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\ufeff]/gu

/** Returns text from outside as a part of one line: characters that would act are escaped, as JSON escapes them. */
export function visible(text: string): string {
  return text.replaceAll(ACTING, escaped)
}

/** Returns whole lines in which only line feeds act. JSON keeps its meaning. */
export function visibleLines(text: string): string {
  return text.replaceAll(ACTING_IN_LINES, escaped)
}

/** Makes text of our own around values from outside: only our own line feeds act. */
export function shown(parts: TemplateStringsArray, ...values: readonly (string | number | undefined)[]): string {
  return String.raw({ raw: parts }, ...values.map(value => visible(String(value))))
}

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function escaped(character: string): string {
  return SHORT[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Returns the problem of a text that holds half a character. No URL, file name or request can hold it. */
export function unicodeProblem(text: string): string | undefined {
  return HALF.test(text) ? 'contains half of a surrogate pair, which is not valid Unicode' : undefined
}

/** \p{Surrogate} says the same, but the engine looks at all characters of Unicode to find these. */
const HALF = /[\ud800-\udfff]/u

/** Groups digits by itself, because loading a locale slows the start. */
export function count(n: number): string {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ',')
}

export function plural(n: number, noun: string): string {
  return `${count(n)} ${noun}${n === 1 ? '' : 's'}`
}

export function bytes(n: number): string {
  if (n < 1000) return `${Math.round(n)} B`
  const unit = n < 999_950 ? 'kB' : n < 999_950_000 ? 'MB' : 'GB'
  const divisor = { kB: 1e3, MB: 1e6, GB: 1e9 }[unit]
  return `${(n / divisor).toFixed(1)} ${unit}`
}

export function showDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), seconds % 60]
  return h > 0 ? `${h} h ${m} min` : `${m} min ${s} s`
}

/** Writes a share from 0 to 1 as whole percents, below ten with the first digit that counts. */
export function percent(share: number): string {
  const hundredths = share * 100
  return `${hundredths >= 10 ? Math.round(hundredths) : Number(hundredths.toPrecision(1))}%`
}

/** Lists names for a sentence: "create, index or delete". */
export function anyOf(names: readonly string[]): string {
  const last = names.at(-1) ?? ''
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} or ${last}`
}

/** Returns the candidate that a person most likely meant, if any is near. */
export function nearest<T extends string>(word: string, candidates: readonly T[]): T | undefined {
  const allowed = Math.max(1, Math.floor(word.length / 3))
  const scored = candidates.map(candidate => ({ candidate, distance: distance(plain(word), plain(candidate)) }))
  const best = scored.sort((a, b) => a.distance - b.distance)[0]
  if (best !== undefined && best.distance <= allowed) return best.candidate
  return word.length < 3 ? undefined : candidates.find(candidate => plain(candidate).startsWith(plain(word)))
}

function plain(word: string): string {
  return word.toLowerCase().replaceAll(/[-_]/g, '')
}

/** Counts insertions, deletions and replacements between two words (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}

/** Returns the fields that a list names: `branch,order.no` has two. A comma in a name is written as `\,`. */
export function fieldsIn(list: string): readonly string[] {
  return list.split(/\s*(?<!\\),\s*/).map(name => name.replaceAll('\\,', ','))
}

/** Returns the text as one word of a command, which people copy into a shell. */
export function inShell(text: string): string {
  if (/^[\w./:,@%+=-]+$/.test(text)) return text
  // The shell makes the same text again of what cannot be shown.
  if (visible(text) !== text) return `$'${visible(text.replaceAll(/[\\']/g, String.raw`\$&`))}'`
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
