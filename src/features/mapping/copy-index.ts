/** Makes missing indices like those of the other cluster that are read. Compares those that exist, and leaves them as they are. */
import type { IndexDescription, Source } from '../../base/flow.js'
import { fail, isSluiceError, type SluiceError } from '../../base/failure/failure.js'
import { isObject, type JsonObject } from '../../base/json/parse-json.js'
import { plural } from '../../base/text/shown.js'
import { type IndexPattern, nameOf } from '../../base/text/index-pattern.js'
import { invalid } from '../../options/option-checks.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import type { Retrier, Run } from '../../run/loop/hooks.js'
import { compareMappings, type Difference, sayDifference } from './compare.js'

interface Making {
  readonly cluster: Cluster
  readonly run: Run
  /** Whether a missing index is made. */
  readonly makes: boolean
}

interface Copying {
  readonly index: string
  /** Makes the name of each index of that of the other cluster. Absent: all documents go to `index`. */
  readonly pattern: IndexPattern | undefined
  readonly sources: readonly Source[]
  readonly withAliases: boolean
  readonly retrying: Retrier
}

/** Throws SluiceError MAPPING_DIFFERS if a field has another type, MAPPING_NOT_COPIED, OPTION_INVALID. */
export async function copyIndices(making: Making, copying: Copying): Promise<void> {
  const { retrying } = copying
  const targets = targetsOf(copying)
  for (const [target, likes] of targets) {
    refuseConflicts(making, likes)
    const wanted = likes.map(({ mappings }) => copied(mappings)).reduce(merged)
    const found = await retrying(async () => await making.cluster.indices.findWriter(target))
    if (found.problem !== undefined) throw invalid('mapping', `needs one index: ${found.problem}`)
    if (found.facts !== undefined) compare(making, target, compareMappings(wanted, found.facts.mappings))
    else if (likes.some(({ isStream }) => isStream)) await retrying(async () => await makeStream(making, target, likes))
    else if (making.makes) {
      const aliases = copying.withAliases ? aliasesOf(likes, targets) : {}
      await retrying(async () => await make(making, { target, wanted, likes, aliases }))
    }
  }
}

type Targets = ReadonlyMap<string, readonly IndexDescription[]>

/** Returns which indices each target shall be like. A name that is no name of an index has none: its documents are rejected. */
function targetsOf({ index, pattern, sources }: Copying): Targets {
  const targets = new Map<string, IndexDescription[]>()
  for (const like of sources.flatMap(({ describes = [] }) => describes)) {
    const name = pattern === undefined ? index : nameBeside(pattern, like.name)
    if (name !== undefined) targets.set(name, [...(targets.get(name) ?? []), like])
  }
  return targets
}

function nameBeside(pattern: IndexPattern, name: string): string | undefined {
  const made = nameOf(
    pattern,
    pattern.fields.map(() => name),
  )
  return typeof made === 'string' ? made : undefined
}

/** Documents come as they were sent, whatever the other cluster kept. `_meta.sluice` belongs to a load into the other index. */
function copied({ _source: _, _meta: meta, ...mappings }: JsonObject): JsonObject {
  if (!isObject(meta)) return mappings
  const kept = Object.entries(meta).filter(([name]) => name !== 'sluice')
  return { ...mappings, _meta: Object.fromEntries(kept) }
}

/** Returns a mapping with the fields of both. If both have a field, the first one counts. */
function merged(one: JsonObject, other: JsonObject): JsonObject {
  const both = { ...other, ...one }
  const parts = ['properties', 'fields'].flatMap(part => {
    const [own, more] = [one[part], other[part]]
    return isObject(own) && isObject(more) ? [[part, mergedFields(own, more)] as const] : []
  })
  return { ...both, ...Object.fromEntries(parts) }
}

function mergedFields(one: JsonObject, other: JsonObject): JsonObject {
  const shared = Object.entries(one).map(([name, field]) => {
    const more = other[name]
    return [name, isObject(field) && isObject(more) ? merged(field, more) : field] as const
  })
  return { ...other, ...Object.fromEntries(shared) }
}

/** Indices whose fields have different types do not fit into one index. */
function refuseConflicts({ run }: Making, [first, ...others]: readonly IndexDescription[]): void {
  for (const other of first === undefined ? [] : others) {
    const differences = compareMappings(copied(other.mappings), copied(first?.mappings ?? {}))
    refuseTypes(run, `the mapping of ${first?.name} (other cluster)`, `that of ${other.name}`, differences)
  }
}

/** Differences in a message. */
const NAMED = 3

function refuseTypes(run: Run, what: string, option: string, differences: readonly Difference[]): void {
  const said = differences.filter(({ isType }) => isType === true).map(sayDifference)
  if (said.length === 0) return
  if (said.length > NAMED) for (const one of said) run.tell({ type: 'warning', message: `${what}: ${one}` })
  throw fail('MAPPING_DIFFERS', { what, option, observed: listed(said), differences: said })
}

function listed(said: readonly string[]): string {
  const more = said.length > NAMED ? `, and ${said.length - NAMED} more` : ''
  return said.slice(0, NAMED).join(', ') + more
}

function compare({ run }: Making, index: string, differences: readonly Difference[]): void {
  refuseTypes(run, `the mapping of ${index}`, '--mapping copy', differences)
  const other =
    differences.length === 0 ? '' : `. Compared with the other cluster: ${listed(differences.map(sayDifference))}`
  run.tell({ type: 'mapping', index, message: `${index} exists, so its mapping stays as it is${other}` })
}

/** Without a template, the first document would make an index of that name, which is no data stream. */
async function makeStream({ cluster, run, makes }: Making, index: string, likes: Made['likes']): Promise<void> {
  const missing = makes ? await cluster.indices.makeStream(index) : undefined
  if (missing !== undefined) throw refused(index, likes, { reason: missing, status: 400 })
  const message = `${index} is a data stream. Its mapping comes from an index template of the target. Sluice copies no templates`
  run.tell({ type: 'mapping', index, message })
}

function refused(
  index: string,
  [like]: Made['likes'],
  { reason, status }: { readonly reason: string; readonly status: number },
  cause?: unknown,
): SluiceError {
  const input = `elasticsearch:${like?.name}`
  return fail('MAPPING_NOT_COPIED', { index, input, reason, status }, { cause })
}

interface Made {
  readonly target: string
  readonly wanted: JsonObject
  readonly likes: readonly IndexDescription[]
  readonly aliases: JsonObject
}

async function make({ cluster, run }: Making, { target, wanted, likes, aliases }: Made): Promise<void> {
  const settings = likes.map(like => copiedSettings(like.settings)).reduceRight((all, one) => ({ ...all, ...one }))
  const body = {
    mappings: wanted,
    ...(Object.keys(settings).length === 0 ? {} : { settings }),
    ...(Object.keys(aliases).length === 0 ? {} : { aliases }),
  }
  const [like] = likes
  const input = `elasticsearch:${like?.name}`
  try {
    await cluster.indices.make(target, body)
  } catch (error) {
    if (!isSluiceError(error) || error.code !== 'INDEX_REQUEST_REFUSED') throw error
    const { reason, status } = error.failure.evidence
    throw refused(target, likes, { reason: String(reason), status: Number(status) }, error)
  }
  const parts = [
    plural(fieldsIn(wanted), 'field'),
    ...(Object.keys(settings).length === 0 ? [] : [plural(Object.keys(settings).length, 'setting')]),
    ...(Object.keys(aliases).length === 0 ? [] : [`aliases ${Object.keys(aliases).join(', ')}`]),
  ]
  run.tell({ type: 'mapping', index: target, message: `Sluice creates ${target} like ${input}: ${parts.join(', ')}` })
}

function fieldsIn({ properties }: JsonObject): number {
  const fields = isObject(properties) ? Object.values(properties).filter(isObject) : []
  return fields.reduce((sum, field) => sum + (field['properties'] === undefined ? 1 : fieldsIn(field)), 0)
}

/**
 * What decides how documents are analysed, mapped and searched. The target decides on shards, copies, nodes, pipelines and lifecycles.
 * Settings that spell out a source mode would cost digits and the order of keys.
 */
const COPIED =
  /^(?:codec|max_\w+|query\.default_field|(?:analysis|similarity|sort)\..+|mapping\.(?!source\.|synthetic_).+)$/

/** Returns settings by dotted name. */
function copiedSettings(settings: JsonObject): JsonObject {
  return Object.fromEntries(
    flat(settings)
      .filter(([name]) => COPIED.test(name))
      .map(([name, value]) => [`index.${name}`, value]),
  )
}

function flat(tree: JsonObject, above = ''): (readonly [string, unknown])[] {
  return Object.entries(tree).flatMap(([name, value]) =>
    isObject(value) ? flat(value, `${above}${name}.`) : [[above + name, value] as const],
  )
}

/** An alias cannot have the name of an index. */
function aliasesOf(likes: readonly IndexDescription[], targets: Targets): JsonObject {
  const all = likes.toReversed().flatMap(({ aliases }) => Object.entries(aliases))
  return Object.fromEntries(all.filter(([alias]) => !targets.has(alias)))
}
