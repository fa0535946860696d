/** Says before a load what an ingest pipeline of the target means for documents that exist already. */
import { rowOf } from '../../base/operation.js'
import type { Load } from '../../options/load.js'
import type { Feature } from '../../run/loop/hooks.js'

export function warnOfPipeline({ documents: { op, pipeline } }: Pick<Load, 'documents'>): Feature | undefined {
  // Otherwise nothing is compared.
  if (rowOf(op).repeat !== 'conflict') return undefined
  return ({ tell }) => ({
    prepare: async ({ found: { isPiped, target } }) => {
      const name = pipeline === undefined ? `of ${target.index}` : pipeline
      if (isPiped || pipeline !== undefined)
        tell({
          type: 'warning',
          message: `the ingest pipeline ${name} may change documents. If a document exists in the target, Sluice then cannot see whether it is the same. Sluice rejects it, or counts it as unknown if an earlier attempt may have stored it`,
        })
      await Promise.resolve()
    },
  })
}
