/**
 * Checks options of documents that depend on each other, for the library and for the command line. `said`: returns how the user named an
 * option. All functions throw SluiceError OPTION_INVALID.
 */
import { isDump } from '../pipeline/format/formats.js'
import { isOperation, rowOf, takersOf, type Term } from '../base/operation.js'
import { anyOf, fieldsIn } from '../base/text/shown.js'
import { isBeside, isPattern, patternIn } from '../base/text/index-pattern.js'
import { checkIndexPattern } from './names.js'
import { placedIn } from './describe-option.js'
import { copiesMapping, invalid } from './option-checks.js'

type Documents =
  | 'index'
  | 'swapAlias'
  | 'indexBody'
  | 'checkQuery'
  | 'checkHits'
  | 'idField'
  | 'idSeparator'
  | 'pipeline'
  | 'tune'
  | 'byteBudget'
  | 'plan'
  | 'planLimit'
  | 'mapping'
  | 'againstIndex'
  | 'dryRun'
  | OfTerms

/** Checks the index, the ids and the operation, and what they can be combined with. */
export function checkDocuments(
  given: { readonly [K in Documents]?: unknown },
  said = (name: Documents): string => name,
): void {
  const { index, swapAlias, op = 'create' } = given
  if (index !== undefined && swapAlias !== undefined)
    throw invalid(said('swapAlias'), `cannot be combined with ${said('index')}`)
  checkPreparation(given, said)
  const name = index ?? swapAlias
  if (typeof swapAlias === 'string' && isPattern(swapAlias))
    throw invalid(
      said('swapAlias'),
      `is a pattern, but an alias is switched to one new index. Use ${said('index')} for a pattern`,
    )
  if (typeof name === 'string') checkIndexPattern(name)
  const alone = (['indexBody', 'checkQuery', 'checkHits'] as const).find(option => given[option] !== undefined)
  if (swapAlias === undefined && alone !== undefined) throw invalid(said(alone), `needs ${said('swapAlias')}`)
  checkIds(given, said)
  checkTerms({ ...given, op }, said)
  checkOperation(given, said)
}

function namesDocuments(ids: unknown): boolean {
  return ids === 'field' || ids === 'hash'
}

function checkIds(given: { readonly [K in Documents]?: unknown }, said: (name: Documents) => string): void {
  const { ids = 'run', idField, idSeparator } = given
  const isOfFields = namesDocuments(ids)
  if (isOfFields && idField === undefined)
    throw invalid(said('ids'), `is '${String(ids)}' and needs ${said('idField')}`)
  if (!isOfFields && idField !== undefined)
    throw invalid(said('idField'), `needs ${said('ids')} 'field' or 'hash', not '${String(ids)}'`)
  if (idSeparator !== undefined && (typeof idField !== 'string' || fieldsIn(idField).length < 2))
    throw invalid(said('idSeparator'), `needs several fields in ${said('idField')}`)
}

function checkOperation(given: { readonly [K in Documents]?: unknown }, said: (name: Documents) => string): void {
  const { swapAlias, ids, op = 'create', pipeline } = given
  if (!isOperation(op)) return
  if (rowOf(op).changes && !namesDocuments(ids))
    throw invalid(said('op'), `is '${op}', so each line must name a document. Set ${said('ids')} to 'field' or 'hash'`)
  if (swapAlias !== undefined && !takes(op, 'newIndex'))
    throw invalid(said('op'), `is '${op}', but ${said('swapAlias')} fills a new, empty index`)
  if (pipeline !== undefined && !takes(op, 'pipeline'))
    throw invalid(said('pipeline'), `processes only whole documents, so it does not work with ${said('op')} '${op}'`)
}

function checkPreparation(given: { readonly [K in Documents]?: unknown }, said: (name: Documents) => string): void {
  const { index, swapAlias, tune, byteBudget, plan, planLimit = 'report', mapping, againstIndex, dryRun } = given
  if (againstIndex === true && dryRun !== true)
    throw invalid(said('againstIndex'), `needs ${said('dryRun')}, because a rehearsal stores nothing`)
  if (againstIndex === true && swapAlias !== undefined)
    throw invalid(
      said('againstIndex'),
      `needs ${said('index')}, because the index of ${said('swapAlias')} does not exist yet`,
    )
  if (mapping === 'infer' && swapAlias !== undefined)
    throw invalid(
      said('mapping'),
      `is 'infer', but the index of ${said('swapAlias')} has the mapping of the previous index. Save a proposal with sluice infer, and pass its file`,
    )
  if (copiesMapping(mapping) && swapAlias !== undefined)
    throw invalid(
      said('mapping'),
      `is 'copy', but the index of ${said('swapAlias')} has the mapping of the previous index. Pass a file with the mapping`,
    )
  if (mapping !== undefined && !copiesMapping(mapping) && typeof index === 'string' && isPattern(index))
    throw invalid(
      said('mapping'),
      `needs the name of one index, but ${said('index')} has a field in it. Use a template`,
    )
  if (tune !== true) return
  if (swapAlias !== undefined)
    throw invalid(said('tune'), `is not needed, because ${said('swapAlias')} always does this`)
  if (typeof index === 'string' && isPattern(index))
    throw invalid(said('tune'), `needs the name of one index, but ${said('index')} has a field in it`)
  if (byteBudget !== undefined)
    throw invalid(
      said('tune'),
      `cannot be combined with ${said('byteBudget')}, because restoring the settings needs bytes too`,
    )
  if (plan !== undefined && planLimit !== 'report')
    throw invalid(
      said('tune'),
      `cannot be combined with ${said('planLimit')}, because restoring the settings needs bytes too`,
    )
}

/** Checks options of a dump. Its documents carry id and routing. */
export function checkDump(given: { readonly [K in OfDump]?: unknown }, said = (name: OfDump): string => name): void {
  const { format, ids = 'run', op = 'create', routingField, pick, index } = given
  if (!isDump(format)) return
  // 'create' is the default, so the user may not have asked for it.
  if (format === 'bulk' && op !== 'create')
    throw invalid(said('op'), 'cannot be used with a _bulk file: each action has its own operation')
  const problem = `but the documents of the format '${format}' have their own`
  if (ids !== 'run') throw invalid(said('ids'), `is '${String(ids)}', ${problem} ids`)
  if (routingField !== undefined) throw invalid(said('routingField'), `names a field, ${problem} routing values`)
  const pattern = typeof index === 'string' ? patternIn(index) : undefined
  if (pattern !== undefined && !isBeside(pattern))
    throw invalid(
      said('index'),
      `contains a field of documents. With the format '${format}', use only {_index}, the index that the file names for each document`,
    )
  if (pick !== undefined)
    throw invalid(said('pick'), `selects an array inside a JSON document, but the format is ${format}`)
}

type OfDump = 'format' | 'ids' | 'op' | 'routingField' | 'pick' | 'index'

type OfCsv =
  | 'columns'
  | 'skipHeader'
  | 'skipLines'
  | 'delimiter'
  | 'quote'
  | 'encoding'
  | 'inferTypes'
  | 'types'
  | 'nullValues'
  | 'empty'
  | 'nan'

/** Options of CSV that nobody sets without wishing so. */
const ofCsv = placedIn('csv')
  .filter(({ default: preset }) => preset === undefined || preset === 'false')
  .map(({ name }) => name as OfCsv)

/** Checks how CSV is read. */
export function checkTableFormat(
  given: { readonly [K in OfCsv | 'format' | 'pick']?: unknown },
  said: (name: OfCsv | 'format' | 'pick') => string,
): void {
  const { format, pick, columns, skipHeader, delimiter, quote } = given
  const set = ofCsv.find(name => given[name] !== undefined && given[name] !== false)
  if (set !== undefined && (format === 'ndjson' || format === 'json' || format === 'text'))
    throw invalid(said(set), `works only with CSV, but the format is ${format}`)
  if (pick !== undefined && (format === 'ndjson' || format === 'csv' || format === 'tsv' || format === 'text'))
    throw invalid(said('pick'), `selects an array inside a JSON document, but the format is ${format}`)
  if (skipHeader === true && columns === undefined)
    throw invalid(said('skipHeader'), `needs ${said('columns')}, which name the columns instead`)
  if (delimiter !== undefined && delimiter === quote) throw invalid(said('quote'), `is also ${said('delimiter')}`)
}

/** Elasticsearch's default limit of a script (script.max_size_in_bytes). */
const SCRIPT_BYTES = 65_535

type OfTerms =
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

/** Checks versions, conditions and scripts. Elasticsearch would refuse whole requests for what it does not combine. */
function checkTerms(given: Given, said: Said): void {
  const { op, versionField, ifSeqNoField, ifPrimaryTermField, retryOnConflict } = given
  checkScript(given, said)
  if (retryOnConflict !== undefined && !takes(op, 'retries'))
    throw invalid(said('retryOnConflict'), `needs ${said('op')} ${takersNamed('retries')}`)
  if (versionField !== undefined) {
    if (!takes(op, 'version'))
      throw invalid(
        said('versionField'),
        `needs ${said('op')} ${takersNamed('version')}, because Elasticsearch compares no versions for '${String(op)}'`,
      )
    needsIds(given, 'versionField', said)
  }
  const [one, other] =
    ifSeqNoField === undefined
      ? (['ifPrimaryTermField', 'ifSeqNoField'] as const)
      : (['ifSeqNoField', 'ifPrimaryTermField'] as const)
  if (given[one] === undefined) return
  if (given[other] === undefined) throw invalid(said(one), `also needs ${said(other)}`)
  if (!takes(op, 'sequence'))
    throw invalid(said(one), `needs ${said('op')} ${takersNamed('sequence')}, not '${String(op)}'`)
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
  if (!takes(op, 'script'))
    throw invalid(said(name), `needs ${said('op')} ${takersNamed('script')}, not '${String(op)}'`)
  if (typeof script === 'string' && Buffer.byteLength(script) > SCRIPT_BYTES)
    throw invalid(said('script'), `has more than ${SCRIPT_BYTES} bytes`)
}

function takes(op: unknown, term: Term): boolean {
  return isOperation(op) && rowOf(op).takes.includes(term)
}

function takersNamed(term: Term): string {
  return anyOf(takersOf(term).map(operation => `'${operation}'`))
}

function needsIds({ ids }: Given, name: OfTerms, said: Said): void {
  if (ids !== 'field' && ids !== 'hash')
    throw invalid(said(name), `needs ids from the documents. Set ${said('ids')} to 'field' or 'hash'`)
}
