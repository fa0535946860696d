export function circlesOf(graph: ReadonlyMap<string, ReadonlySet<string>>): string[][]
export function graphOf(
  files: readonly { readonly path: string; readonly imports: readonly string[] }[],
  nameOf?: (path: string) => string,
): Map<string, Set<string>>
