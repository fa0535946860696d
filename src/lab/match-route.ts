/** What stands for the stars of a route (`GET /policies/*`) in a request's method and path, or undefined where it is another. */
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
