/** Rehearses a load: asks the cluster about one document of each shape, and compares their fields with the mapping. */
import { rowOf } from '../../base/operation.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import { type Failure, failure, isSluiceError } from '../../base/failure/failure.js'
import type { DocumentSection, PreparationSection } from '../../options/load.js'
import { isMappingWord } from '../../options/option-checks.js'
import type { Feature, Started } from '../../run/loop/hooks.js'
import type { JsonObject } from '../../base/json/parse-json.js'
import { simulate, whyNotAsked } from './ask-cluster.js'
import { newFields, refuses, typeAt } from './predict.js'
import { type Shape, type ShapeFeature, Shapes } from './shapes.js'
import { type RehearsedRefusal, sayRefusal } from '../../base/failure/index-errors.js'

interface Rehearsal {
  /** Different shapes of documents, and those that would be refused. */
  readonly shapes: number
  readonly refused: number
  /** The source of the answer: the cluster, only its mapping, or none. */
  readonly asked: 'cluster' | 'mapping' | 'nobody'
  /** Reasons, the most frequent one first. `documents`: maximum number of documents that the index would refuse for this reason. */
  readonly refusals: readonly RehearsedRefusal[]
  /** The questions without an answer, and the reasons. */
  readonly notes: readonly string[]
}

declare module '../../pipeline/ledger/receipt.js' {
  interface Receipt {
    /** Only with `dryRun` and `againstIndex`: which documents the index would refuse. */
    readonly rehearsal?: Rehearsal
  }
}

interface Sections {
  readonly documents: DocumentSection
  readonly preparing: PreparationSection
  readonly dryRun: boolean
}

/** Reasons that are listed. */
const LISTED = 100

export function rehearse({ documents: { pipeline, indexPattern }, preparing }: Sections): Feature {
  const { againstIndex, mapping } = preparing
  // A dry run makes no proposal.
  const planned = isMappingWord(mapping) ? undefined : mapping
  return () => {
    if (!againstIndex) return undefined
    const shapes = new Shapes()
    let started: Started | undefined
    let others = 0
    let rehearsal: Rehearsal | undefined
    return {
      prepare: async run => {
        started = run
        return await Promise.resolve()
      },
      admit: batch => {
        if (!rowOf(batch.operation).changes) shapes.take(batch)
        else others += batch.docs
        return undefined
      },
      complete: async ({ counts }) => {
        if (started === undefined) return undefined
        const { cluster, found, retrier } = started
        const { index } = found.target
        const notes = others === 0 ? [] : [`${others} updates or deletions were not rehearsed`]
        const asking = { cluster, index: indexPattern === undefined ? index : undefined, pipeline, planned, notes }
        rehearsal = await retrier(counts.unsent)(async () => await ask(asking, shapes))
        return failureOf(rehearsal, index, shapes.documents)
      },
      receipt: () => (rehearsal === undefined ? {} : { rehearsal }),
    }
  }
}

interface Asking {
  readonly cluster: Cluster
  /** Undefined if each document names its own index. */
  readonly index: string | undefined
  readonly pipeline: string | undefined
  /** The mapping that a missing index would get. */
  readonly planned: JsonObject | undefined
  readonly notes: readonly string[]
}

async function ask({ cluster, index, pipeline, planned, notes: before }: Asking, shapes: Shapes): Promise<Rehearsal> {
  const notes = [...before]
  if (shapes.similar > 0)
    notes.push(`${shapes.similar} documents of further shapes have only values that others have too`)
  if (shapes.left > 0) notes.push(`${shapes.left} documents are too large, or too different, to ask about`)
  const { all } = shapes
  const known = await mappingOf(cluster, index, notes)
  const mapping = known?.['properties'] === undefined && planned !== undefined ? planned : known
  // A pipeline may rename what the documents hold.
  const isPlain = pipeline === undefined && mapping !== undefined
  const predicted = isPlain ? newFields(shapes.features, mapping) : {}
  const isPlanned = mapping === planned && isProperties(planned)
  const addition = isPlanned ? { ...predicted, ...planned.properties } : predicted
  try {
    const refused = all.length === 0 ? [] : await simulate(cluster, all, { index: index ?? '', pipeline, addition })
    notes.push(...notesOnVersion(cluster))
    const refusals = new Map<string, Found>()
    for (const { shape, field, reason } of refused) {
      const feature = field === undefined ? undefined : featureOf(shape, field, known, addition)
      const key = feature === undefined ? `${field ?? ''}\n${general(reason)}` : `${feature.path}\t${feature.kind}`
      note(refusals, key, { shape, field, feature, reason })
    }
    return { shapes: all.length, refused: refused.length, asked: 'cluster', refusals: listed(refusals), notes }
  } catch (error) {
    const why = whyNotAsked(error)
    if (why === undefined) throw error
    notes.push(why)
    if (mapping === undefined) return { shapes: all.length, refused: 0, asked: 'nobody', refusals: [], notes }
    return { shapes: all.length, ...compare(shapes, mapping), asked: 'mapping', notes }
  }
}

function isProperties(mapping: JsonObject | undefined): mapping is { readonly properties: JsonObject } {
  return typeof mapping?.['properties'] === 'object'
}

/** Returns the mapping, `{}` if the index is missing, or undefined if the cluster does not show it. */
async function mappingOf(
  cluster: Cluster,
  index: string | undefined,
  notes: string[],
): Promise<JsonObject | undefined> {
  if (index === undefined) return undefined
  try {
    const { facts } = await cluster.indices.findWriter(index)
    if (facts === undefined && (await cluster.indices.read(index)).length === 0)
      notes.push(`${index} does not exist yet. Templates of the cluster decide about its mapping`)
    return facts?.mappings ?? {}
  } catch (error) {
    if (!isSluiceError(error) || error.code !== 'CLUSTER_PRIVILEGE_MISSING') throw error
    notes.push(
      'the credentials may not read the mapping (view_index_metadata), so fields that are new to it are not compared with each other',
    )
    return undefined
  }
}

function notesOnVersion({ preflight: { info } }: Cluster): readonly string[] {
  const [major = 0, minor = 0] = (info?.version ?? '').split('.').map(Number)
  const isOld = info?.flavor !== 'serverless' && major === 8 && minor < 16
  return isOld ? ['Elasticsearch before 8.16 simulates pipelines, but does not compare documents with the mapping'] : []
}

interface Found {
  readonly field: string | undefined
  readonly feature: ShapeFeature | undefined
  readonly reason: string
  documents: number
  readonly first: string
}

function note(
  refusals: Map<string, Found>,
  key: string,
  { shape, ...of }: Pick<Found, 'field' | 'feature' | 'reason'> & { readonly shape: Shape },
): void {
  const known = refusals.get(key)
  if (known === undefined) refusals.set(key, { ...of, documents: shape.documents, first: shape.first })
  else known.documents += shape.documents
}

/** Returns what the shape holds in the field that the cluster named: of several kinds, the one that its type does not take. */
function featureOf(
  shape: Shape,
  field: string,
  known: JsonObject | undefined,
  addition: JsonObject,
): ShapeFeature | undefined {
  const own = shape.features.filter(({ path }) => path === field)
  const type = typeAt(known ?? {}, field) ?? typeAt({ properties: addition }, field)
  return own.find(({ kind }) => type !== undefined && refuses(type, kind)) ?? own[0]
}

/** Positions and ids differ from document to document. */
function general(reason: string): string {
  return reason.replaceAll(/\[\d+:\d+\] ?|with id '[^']*'/g, '')
}

function listed(refusals: Map<string, Found>): readonly RehearsedRefusal[] {
  const all = [...refusals.values()].toSorted((one, other) => other.documents - one.documents)
  return all.slice(0, LISTED).map(({ field, feature, reason, documents, first }) => ({
    ...(field === undefined ? {} : { field }),
    ...(feature === undefined ? {} : { kind: feature.kind }),
    // Other shapes may have the same value.
    documents: feature?.documents ?? documents,
    first: feature?.first ?? first,
    reason: general(reason).trim(),
  }))
}

/** Compares the documents with the mapping, without the cluster. */
function compare(shapes: Shapes, mapping: JsonObject): Pick<Rehearsal, 'refused' | 'refusals'> {
  const whole = { properties: { ...newFields(shapes.features, mapping), ...(mapping['properties'] as JsonObject) } }
  const clash = ({ path, kind }: ShapeFeature) => {
    const type = typeAt(whole, path)
    return type !== undefined && refuses(type, kind) ? type : undefined
  }
  const found = shapes.features.flatMap(feature => {
    const type = clash(feature)
    const { path, kind, documents, first } = feature
    return type === undefined ? [] : [{ field: path, kind, documents, first, reason: `the field is ${type}` }]
  })
  return {
    refused: shapes.all.filter(shape => shape.features.some(feature => clash(feature) !== undefined)).length,
    refusals: found.toSorted((one, other) => other.documents - one.documents).slice(0, LISTED),
  }
}

/** Reasons in the message. */
const NAMED = 3

function failureOf({ shapes, refused, refusals }: Rehearsal, index: string, documents: number): Failure | undefined {
  if (refused === 0) return undefined
  const said = refusals.slice(0, NAMED).map(one => sayRefusal(one, documents))
  const more = refusals.length > NAMED ? `, and ${refusals.length - NAMED} more reasons` : ''
  return failure('REHEARSAL_REFUSED', { index, refused, shapes, observed: said.join('; ').replaceAll(';', ',') + more })
}
