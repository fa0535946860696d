import { RequestRefused, illegalArgument } from './answers.js'

type Query = Readonly<Record<string, unknown>>

/** Whether documents match a query, of the few kinds that the lab knows: match_all, exists, term. Throws RequestRefused. */
export function queryOf(query: unknown): (document: Buffer) => boolean {
  if (query === undefined) return () => true
  const [kind, about] = Object.entries(query as Record<string, Query>)[0] ?? ['', {}]
  if (kind === 'match_all') return () => true
  if (kind === 'exists') {
    const field = String(about['field'])
    return document => valuesOf(document, field).length > 0
  }
  if (kind === 'term') {
    const [field, wanted] = Object.entries(about)[0] ?? ['', undefined]
    const value: unknown = typeof wanted === 'object' && wanted !== null ? (wanted as Query)['value'] : wanted
    return document => valuesOf(document, field).some(one => String(one) === String(value))
  }
  throw new RequestRefused(illegalArgument(`unknown query [${kind}], or not part of the lab`))
}

/** `.keyword` is the text itself. */
function valuesOf(document: Buffer, field: string): unknown[] {
  let at: unknown[] = [JSON.parse(document.toString())]
  for (const name of field.replace(/\.keyword$/, '').split('.')) {
    at = at.flatMap(one => (typeof one === 'object' && one !== null ? [(one as Query)[name]].flat() : []))
  }
  return at.filter(one => one !== undefined && one !== null)
}
