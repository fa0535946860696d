export type JsonObject = Readonly<Record<string, unknown>>

/** More levels than any answer or file has that Sluice reads. Writing a value of some thousand levels ends in an error. */
const DEEPEST = 1000

/** Parses JSON. Returns undefined if the text is not JSON, or has more than 1,000 levels. */
export function parseJson(text: string | Buffer): unknown {
  try {
    const value: unknown = JSON.parse(text.toString())
    // Each level takes two characters.
    const mayBeDeeper = text.length > 2 * DEEPEST && typeof value === 'object' && value !== null
    return mayBeDeeper && isDeeper(value, DEEPEST) ? undefined : value
  } catch {
    return undefined
  }
}

/** Answers may have many thousand objects: so it makes none, and looks only into those. */
function isDeeper(value: object, levels: number): boolean {
  if (levels === 0) return true
  for (const key in value) {
    const one: unknown = value[key as keyof typeof value]
    if (typeof one === 'object' && one !== null && isDeeper(one, levels - 1)) return true
  }
  return false
}

/** Parses a JSON object. Returns undefined for any other value, and for a text that is not JSON. */
export function parseObject(text: string | Buffer): JsonObject | undefined {
  const value = parseJson(text)
  return isObject(value) ? value : undefined
}

/** Returns whether a value is an object with named fields: no array, no null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
