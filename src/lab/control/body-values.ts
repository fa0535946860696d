/** A problem of a request to the control API. */
export class BadRequest extends Error {}

export type Body = Readonly<Record<string, unknown>>

export function text(name: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') throw new BadRequest(`${name} must be a text`)
  return value
}

export function optionalText(name: string, value: unknown): string | undefined {
  return value === undefined ? undefined : text(name, value)
}

export function texts(name: string, value: unknown): string[] {
  if (!Array.isArray(value)) throw new BadRequest(`${name} must be a list of texts`)
  return value.map(one => text(name, one))
}

export function list(name: string, value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new BadRequest(`${name} must be a list`)
  return value
}

export function number(name: string, value: unknown): number {
  if (typeof value !== 'number') throw new BadRequest(`${name} must be a number`)
  return value
}

export function flag(name: string, value: unknown): boolean {
  if (typeof value !== 'boolean') throw new BadRequest(`${name} must be true or false`)
  return value
}

export function oneOf<const T extends string>(allowed: readonly T[], value: unknown): T {
  const found = allowed.find(one => one === value)
  if (found === undefined) throw new BadRequest(`must be one of ${allowed.join(', ')}`)
  return found
}

/** An object that has none but these names. */
export function only(what: string, names: readonly string[], body: Body): Body {
  const unknown = Object.keys(body).find(name => !names.includes(name))
  if (unknown !== undefined) throw new BadRequest(`no such ${what}: ${unknown}; there are: ${names.join(', ')}`)
  return body
}
