/** Returns the problem of a text that holds half a character. No URL, file name or request can hold it. */
export function unicodeProblem(text: string): string | undefined {
  return /\p{Surrogate}/u.test(text) ? 'contains half of a surrogate pair, which is not valid Unicode' : undefined
}
