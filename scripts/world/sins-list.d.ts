/** A text of the sources that is replaced by another one. */
export const sins: readonly {
  readonly name: string
  readonly file: string
  readonly from: string
  readonly to: string
}[]
