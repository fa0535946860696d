/** Removes from a message what Elasticsearch quotes of a document. Names of fields and positions stay. */

/** Forms in which Elasticsearch and its parser repeat a value, or an id that a value may have become. */
const QUOTED: readonly RegExp[] = [
  /(For input string: ")[^"]*(")/g,
  /(failed to parse date field \[)[^\]]*(\])/g,
  /((?:with|for|of|the) value \[)[^\]]*(\])/g,
  /(value: ')[^']*(')/g,
  /((?:Unrecognized token|Unexpected character \()\s*')[^']*(')/g,
  /(with id ')[^']*(')/g,
  /(\[(?:[^\]]*)\]\[)[^\]]*(\]: version conflict)/g,
  /(\bid \[)[^\]]*(\])/g,
  /(text: \[)[^\]]*(\])/g,
]

export function withoutValues(message: string): string {
  return QUOTED.reduce((text, form) => text.replaceAll(form, '$1…$2'), message)
}
