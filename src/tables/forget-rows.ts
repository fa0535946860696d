import type { Source } from '../flow.js'
import type { Ledger } from '../ledger/ledger.js'

/** A table remembers its rows until they are settled. Where no checkpoint asks it for a place, what was read is as good as that. */
export function forgetRows(sources: readonly Source[], ledger: Pick<Ledger, 'inputs'>): void {
  for (const { name, rows } of sources) {
    const input = rows === undefined ? undefined : ledger.inputs.find(one => one.name === name)
    if (input !== undefined) rows?.placeAt(input.read + 1)
  }
}
