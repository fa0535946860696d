/** The field that Elasticsearch names in a reason. Names only: a reason can quote values. */
export function fieldOf(reason: string): string | undefined {
  return (
    /\bfield \[([^\]]{1,200})\]/.exec(reason)?.[1] ?? /dynamic introduction of \[([^\]]{1,200})\]/.exec(reason)?.[1]
  )
}
