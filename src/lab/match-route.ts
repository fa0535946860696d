/**
 * Returns the parts of a request's method and path that match the stars of a route (`GET /policies/*`). Undefined if
 * the route does not match.
 */
export function match(route: string, asked: string): string[] | undefined {
  const expected = route.split('/')
  const found = asked.split('/')
  if (expected.length !== found.length) return undefined
  const parameters: string[] = []
  for (const [i, part] of expected.entries()) {
    if (part === '*') parameters.push(decodeURIComponent(found[i] ?? ''))
    else if (part !== found[i]) return undefined
  }
  return parameters
}
