/**
 * The field that Elasticsearch names in a reason. Names only, and only where its own words name one: behind them a reason may
 * quote values, and those of a pipeline's author are values all through.
 */
export function fieldOf(reason: string): string | undefined {
  return NAMED.exec(reason)?.[1]
}

const NAMED =
  /^(?:\[-?\d+:-?\d+\] )?(?:failed to parse field|object mapping for \[[^\]]*\] tried to parse field|(?:mapping set to strict, )?dynamic introduction of) \[([^\]]{1,200})\]/
