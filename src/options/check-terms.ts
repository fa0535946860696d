/** Checks versions, conditions and scripts of documents. What Elasticsearch does not combine would refuse whole requests. */
import { bulkFormOf, isOperation } from '../operation.js'
import { invalid } from './option-checks.js'

/** Elasticsearch's default limit of a script (script.max_size_in_bytes). */
const SCRIPT_BYTES = 65_535

export type OfTerms =
  | 'op'
  | 'ids'
  | 'versionField'
  | 'ifSeqNoField'
  | 'ifPrimaryTermField'
  | 'script'
  | 'scriptId'
  | 'retryOnConflict'

type Given = { readonly [K in OfTerms]?: unknown }
type Said = (name: OfTerms) => string

/** `said`: returns how the user named an option. Throws SluiceError OPTION_INVALID. */
export function checkTerms(given: Given, said: Said): void {
  const { op, versionField, ifSeqNoField, ifPrimaryTermField, retryOnConflict } = given
  checkScript(given, said)
  const isUpdate = isOperation(op) && bulkFormOf(op).isPartial
  if (retryOnConflict !== undefined && !isUpdate)
    throw invalid(said('retryOnConflict'), `needs ${said('op')} 'update' or 'upsert'`)
  if (versionField !== undefined) {
    if (op !== 'index' && op !== 'delete')
      throw invalid(
        said('versionField'),
        `needs ${said('op')} 'index' or 'delete': Elasticsearch compares no versions for '${String(op)}'`,
      )
    needsIds(given, 'versionField', said)
  }
  const [one, other] =
    ifSeqNoField === undefined
      ? (['ifPrimaryTermField', 'ifSeqNoField'] as const)
      : (['ifSeqNoField', 'ifPrimaryTermField'] as const)
  if (given[one] === undefined) return
  if (given[other] === undefined) throw invalid(said(one), `needs ${said(other)} beside it`)
  if (op !== 'index' && op !== 'update' && op !== 'delete')
    throw invalid(said(one), `needs ${said('op')} 'index', 'update' or 'delete', not '${String(op)}'`)
  if (versionField !== undefined) throw invalid(said(one), `cannot be combined with ${said('versionField')}`)
  if (retryOnConflict !== undefined && ifPrimaryTermField !== undefined)
    throw invalid(said(one), `cannot be combined with ${said('retryOnConflict')}`)
  needsIds(given, one, said)
}

function checkScript({ op, script, scriptId }: Given, said: Said): void {
  const name = script === undefined ? 'scriptId' : 'script'
  if (script === undefined && scriptId === undefined) return
  if (script !== undefined && scriptId !== undefined)
    throw invalid(said('script'), `cannot be combined with ${said('scriptId')}`)
  if (op !== 'update' && op !== 'upsert')
    throw invalid(said(name), `needs ${said('op')} 'update' or 'upsert', not '${String(op)}'`)
  if (typeof script === 'string' && Buffer.byteLength(script) > SCRIPT_BYTES)
    throw invalid(said('script'), `has more than ${SCRIPT_BYTES} bytes`)
}

function needsIds({ ids }: Given, name: OfTerms, said: Said): void {
  if (ids !== 'field' && ids !== 'hash')
    throw invalid(said(name), `needs ids of the documents. Set ${said('ids')} to 'field' or 'hash'`)
}
