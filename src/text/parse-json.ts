export type JsonObject = Readonly<Record<string, unknown>>

/** Parses JSON. Returns undefined if the text is not JSON. */
export function parseJson(text: string | Buffer): unknown {
  try {
    return JSON.parse(text.toString())
  } catch {
    return undefined
  }
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
