import type { Ledger } from '../ledger/ledger.js'
import type { Plan } from '../ledger/plan-run.js'

/** A table remembers its rows until they are settled. Where no checkpoint asks it for a place, it is told all the same. */
export function tellSettled({ inputs }: Pick<Plan, 'inputs'>, { committed }: Pick<Ledger, 'committed'>): void {
  for (const { source, from } of inputs) {
    const mark = committed.inputs.get(source.id)?.mark
    if (mark !== undefined) source.rows?.placeAt(mark.document - (from?.document ?? 1) + 1)
  }
}
