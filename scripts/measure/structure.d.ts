interface Measured {
  readonly path: string
  readonly text: string
  readonly lines: number
  readonly imports: readonly string[]
}
interface Plan {
  districtOf(path: string): string
  floorOf(district: string): number
}
export function entriesOf(files: readonly Measured[]): string[]
export function arrowsOf(files: readonly Measured[], roomOf: (path: string) => string): string[]
export function upwardOf(files: readonly Measured[], plan: Plan): string[]
export function doorsOf(files: readonly Measured[], districtOf: (path: string) => string): string[]
export function branchyFunctions(files: readonly Measured[], most: number): string[]
export const hooks: { readonly path: string; readonly types: readonly string[] }
export function membersOf(
  files: readonly Pick<Measured, 'path' | 'text'>[],
  place: { readonly path: string; readonly types: readonly string[] },
): { readonly name: string; readonly by: string[] }[]
export function featuresNamedBy(files: readonly Measured[], spine: readonly string[]): string[]
export function linesOf(
  files: readonly Measured[],
  groupOf: (path: string) => string | undefined,
): [group: string, lines: number][]
