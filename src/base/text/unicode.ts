/** Returns the problem of a text that holds half a character. No URL, file name or request can hold it. */
export function unicodeProblem(text: string): string | undefined {
  return HALF.test(text) ? 'contains half of a surrogate pair, which is not valid Unicode' : undefined
}

/** \p{Surrogate} says the same, but the engine looks at all characters of Unicode to find these. */
const HALF = /[\ud800-\udfff]/u
