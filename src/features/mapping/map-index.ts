/** Makes the index and its template if they are missing, and compares them with their files if not. Never changes them. */
import { rowOf } from '../../base/operation.js'
import type { IndexFacts } from '../../route/cluster/indices.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import { fail } from '../../base/failure/failure.js'
import { settledOf } from '../../pipeline/ledger/account.js'
import type { IndexTemplate, Load } from '../../options/load.js'
import { invalid } from '../../options/option-checks.js'
import { isDump } from '../../pipeline/format/formats.js'
import type { Feature, Run, RunHook } from '../../run/loop/hooks.js'
import { isObject, type JsonObject } from '../../base/json/parse-json.js'
import { compareMappings, compareTemplates, type Difference, isAlike, sayDifference } from './compare.js'

type Sections = Pick<
  Load,
  'preparing' | 'guarded' | 'dryRun' | 'documents' | 'inputs' | 'tables' | 'edits' | 'transform' | 'follow'
>

/** A guarded load makes an index of its own with the mapping. */
export function mapIndex(sections: Sections): Feature {
  const { preparing, guarded, dryRun, documents, inputs } = sections
  const { mapping, template } = preparing
  if (mapping === 'infer') refuseOthers(sections)
  const isCopied = mapping === 'copy' || mapping === 'copy,aliases'
  const isMapped = mapping !== undefined && guarded === undefined
  return (run: Run) => {
    if (!isMapped && template === undefined)
      return guarded === undefined ? offerMapping(run, inputs.csv, documents.into) : undefined
    return {
      prepare: async ({ cluster, found, retrier }) => {
        if (found.plan.inputs.every(({ isLoaded }) => isLoaded)) return
        const work: Work = { cluster, run, makes: !dryRun && rowOf(documents.op).storesNew }
        const retrying = retrier(settledOf(found.plan.before.counts))
        await retrying(async () => {
          if (template !== undefined) await settleTemplate(work, template)
          if (isMapped && mapping !== 'infer' && !isCopied) await settleMapping(work, found.target.index, mapping)
        })
        const sources = found.plan.inputs.filter(({ isLoaded }) => !isLoaded).map(({ source }) => source)
        // A run needs no code that it does not use.
        if (isCopied) {
          const { copyIndices } = await import('./copy-index.js')
          const { into: index, indexPattern: pattern } = documents
          await copyIndices(work, { index, pattern, sources, withAliases: mapping === 'copy,aliases', retrying })
        }
        if (mapping !== 'infer') return
        const { inferIndex } = await import('./infer-index.js')
        await inferIndex(work, { index: found.target.index, sources, inputs, retrying })
      },
    }
  }
}

interface Work {
  readonly cluster: Cluster
  readonly run: Run
  /** Whether what is missing is made. A dry run only compares. */
  readonly makes: boolean
}

/** Says once that a new index gets only text from a table, if the user has chosen nothing else. */
function offerMapping(run: Run, csv: Load['inputs']['csv'], index: string): RunHook | undefined {
  const isChosen = csv?.types !== undefined || csv?.inferTypes === true
  if (isChosen) return undefined
  let isNew = false
  return {
    prepare: async ({ found }) => {
      isNew = found.isIndexMissing
      return await Promise.resolve()
    },
    told: event => {
      if (!isNew || event.type !== 'format' || !event.found.startsWith('CSV')) return
      isNew = false
      const wish = 'To load numbers, truth values and dates as such into a new index, pass --mapping infer'
      run.tell({ type: 'mapping', index, message: `Every cell becomes text. ${wish}` })
    },
  }
}

/** Refuses what makes other documents than the inputs hold: the proposal would not fit them. */
function refuseOthers({ inputs, tables, edits, transform, follow }: Sections): void {
  const others = [
    ...(edits === undefined ? [] : ['options that edit documents']),
    ...(transform === undefined ? [] : ['transform']),
    ...(tables === undefined ? [] : ['tables']),
    ...(follow === undefined ? [] : ['follow']),
    ...(isDump(inputs.format) || inputs.format === 'text' ? [`the format '${inputs.format}'`] : []),
  ]
  const [other] = others
  if (other === undefined) return
  const advice = 'Save a proposal with sluice infer, and pass its file'
  throw invalid('mapping', `is 'infer', which cannot be combined with ${other}. ${advice}`)
}

async function settleTemplate({ cluster, run, makes }: Work, { name, body }: IndexTemplate): Promise<void> {
  const path = `/_index_template/${encodeURIComponent(name)}`
  const { status, json } = await cluster.call({ method: 'GET', path, expects: ['resource_not_found_exception'] })
  const listed = Array.isArray(json['index_templates']) ? (json['index_templates'] as unknown[]) : []
  const [known] = listed.filter(isObject)
  if (status !== 404 && isObject(known?.['index_template']))
    return refuse(run, `the index template ${name}`, '--template', compareTemplates(body, known['index_template']))
  // Another load may make it at the same time.
  if (makes) await cluster.call({ method: 'PUT', path, query: { create: 'true' }, body })
}

async function settleMapping(work: Work, name: string, mapping: JsonObject): Promise<void> {
  const { cluster, run, makes } = work
  let { facts, problem } = await cluster.indices.findWriter(name)
  if (facts === undefined && problem === undefined) {
    if (!makes) return
    await cluster.indices.make(name, { mappings: mapping })
    // Somebody else may have made it, and templates add to it.
    ;({ facts, problem } = await cluster.indices.findWriter(name))
  }
  if (problem !== undefined) throw invalid('mapping', `needs one index: ${problem}`)
  if (facts === undefined) return
  const differences = compareMappings(mapping, facts.mappings)
  refuse(run, `the mapping of ${facts.name}`, '--mapping', await withoutDefaults(cluster, facts, differences))
}

/** Fields in one URL. */
const ASKED_AT_ONCE = 40

/** Leaves out parameters that only spell out the default. The cluster shows defaults if it is asked for them. */
async function withoutDefaults(
  cluster: Cluster,
  { name }: IndexFacts,
  differences: readonly Difference[],
): Promise<readonly Difference[]> {
  const fields = [...new Set(differences.flatMap(one => (one.default === undefined ? [] : [one.default.field])))]
  const shown = new Map<string, JsonObject>()
  for (let at = 0; at < fields.length; at += ASKED_AT_ONCE) {
    const names = fields
      .slice(at, at + ASKED_AT_ONCE)
      .map(encodeURIComponent)
      .join(',')
    const path = `/${encodeURIComponent(name)}/_mapping/field/${names}`
    const { json } = await cluster.call({ method: 'GET', path, query: { include_defaults: 'true' } })
    for (const [field, facts] of fieldsOf(json[name])) shown.set(field, facts)
  }
  return differences.filter(({ default: one }) => {
    const value = one === undefined ? undefined : shown.get(one.field)?.[one.parameter]
    return value === undefined || !isAlike(one?.value, value)
  })
}

function fieldsOf(described: unknown): (readonly [string, JsonObject])[] {
  const fields = isObject(described) && isObject(described['mappings']) ? described['mappings'] : {}
  return Object.entries(fields).flatMap(([field, of]) => {
    const [facts] = isObject(of) && isObject(of['mapping']) ? Object.values(of['mapping']) : []
    return isObject(facts) ? [[field, facts] as const] : []
  })
}

/** Differences that are shown each. */
const SHOWN = 50
/** Differences in the message. */
const NAMED = 3

/** Throws SluiceError MAPPING_DIFFERS if there is a difference. */
function refuse({ tell }: Run, what: string, option: string, differences: readonly Difference[]): void {
  if (differences.length === 0) return
  const said = differences.map(sayDifference)
  if (said.length > NAMED) for (const one of said.slice(0, SHOWN)) tell({ type: 'warning', message: `${what}: ${one}` })
  const more = said.length > NAMED ? `, and ${said.length - NAMED} more` : ''
  const observed = said.slice(0, NAMED).join(', ') + more
  throw fail('MAPPING_DIFFERS', { what, option, observed, differences: said.slice(0, SHOWN) })
}
