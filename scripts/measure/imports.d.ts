export interface Import {
  /** Undefined: it is computed. */
  readonly specifier: string | undefined
  readonly isType: boolean
}
export function importsIn(path: string, text: string): Import[]
export function walkFile(
  path: string,
  text: string,
  see: (
    node: { readonly type: string; readonly name?: string },
    parent: { readonly computed?: boolean } | undefined,
    key: string | undefined,
  ) => void,
): void
