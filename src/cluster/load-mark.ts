/**
 * What a guarded load writes into the mapping of the index that it makes (`_meta.sluice`). It lies with the index, so that
 * whoever comes after a crash finds it, from whatever machine.
 */
import { isObject } from './call.js'

export interface LoadMark {
  readonly run: string
  readonly alias: string
  /** The index that the alias was on when the load began: where a rollback leads. */
  readonly previous?: string
  /** From when it is made until its settings are restored: until then nothing should lead to it. */
  readonly loading?: true
  /** Settings that were changed for the load, as they were; null: not set. Absent: none was changed, or they are restored. */
  readonly restore?: Readonly<Record<string, unknown>>
}

/** Undefined where the index was made by somebody else. */
export function readMark(mappings: Readonly<Record<string, unknown>>): LoadMark | undefined {
  const { sluice } = metaOf(mappings)
  if (!isObject(sluice)) return undefined
  const { run, alias, previous, loading, restore } = sluice
  if (typeof run !== 'string' || typeof alias !== 'string') return undefined
  return {
    run,
    alias,
    ...(typeof previous === 'string' ? { previous } : {}),
    ...(loading === true ? { loading } : {}),
    ...(isObject(restore) ? { restore } : {}),
  }
}

/** The `_meta` of these mappings, with the mark: it is replaced as a whole. */
export function withMark(mappings: Readonly<Record<string, unknown>>, mark: LoadMark): Record<string, unknown> {
  return { ...metaOf(mappings), sluice: mark }
}

function metaOf({ _meta: meta }: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return isObject(meta) ? meta : {}
}
