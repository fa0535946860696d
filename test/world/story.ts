/** A story is data: it can be printed, shortened and played again. */
import { seeded, type Seeded } from '../support/random/seeded.js'
import { acts } from './acts.js'
import { type Edit, edits } from './shaping.js'
import { ways } from './ways.js'

export interface Act {
  readonly act: string
  readonly [detail: string]: string | number | boolean
}

export interface Story {
  readonly way: string
  readonly op: string
  /** Ids: `run`, `field`, `hash`, or `own` if documents carry them. */
  readonly ids: string
  readonly batchDocs: number
  /** Options that some stories have. */
  readonly tag?: string
  readonly edit?: Edit
  /** Whether a function of the user shapes each document. */
  readonly transforms?: boolean
  /** Whether documents whose id exists are skipped. */
  readonly skips?: boolean
  readonly runId?: string
  readonly maxRejected?: number
  /** Whether each document names its index. */
  readonly isByField?: boolean
  /** What the name of the index is: absent for an index. */
  readonly target?: 'alias' | 'stream'
  /** How often a checkpoint is written, in milliseconds. */
  readonly checkpointMs: number
  /** Whether time passes between the commands, so that files are known by their times. */
  readonly isLater: boolean
  readonly acts: readonly Act[]
}

/** Draws a story. The same seed draws the same one. */
export function draw(seed: number, only?: string): Story {
  const random = seeded(seed)
  const way = only ?? random.pick(Object.keys(ways))
  const { ops, without, hasIds = false } = ways[way] ?? fail(way)
  const op = random.pick(ops)
  const isKeyed = op !== 'create' || (random.chance(0.25) && ops.length > 1)
  const ids = hasIds ? 'own' : isKeyed ? random.pick(['field', 'field', 'hash']) : 'run'
  const hasNone = isPlain(way)
  const mayBeByField = !hasIds && !hasNone && ['create', 'index', 'upsert'].includes(op)
  const isByField = mayBeByField && random.chance(0.15)
  const mayBeBehind = ids === 'run' && op === 'create' && !isByField
  const target = mayBeBehind && random.chance(0.25) ? random.pick(['alias', 'stream'] as const) : undefined
  return {
    way,
    op,
    ids,
    batchDocs: 1 + random.below(6),
    ...(random.chance(0.25) && !hasNone ? { tag: random.pick(['x', 'y']) } : {}),
    ...(random.chance(0.15) && ways[way]?.isKept === true && !hasNone && way !== 'follow' ? { runId: 'nightly' } : {}),
    ...(random.chance(0.1) && !hasNone ? { maxRejected: random.below(3) } : {}),
    ...(isByField ? { isByField } : {}),
    ...(target === undefined ? {} : { target }),
    checkpointMs: random.pick([0, 3, 10, 500]),
    isLater: random.chance(0.6),
    acts: [
      ...drawActs(random, [...without, ...(isByField || target !== undefined ? ofOneIndex : []), ...ofOthers(target)]),
    ],
    ...drawShaping(random, { way, op, ids }),
  }
}

/** Whether stories of this way have no options of documents. */
function isPlain(way: string): boolean {
  const { posts, isTable, isQueued, isText } = ways[way] ?? fail(way)
  return posts !== undefined || isTable === true || isQueued === true || isText === true
}

/** Draws last, so that a seed draws the acts that it drew before. */
function drawShaping(random: Seeded, { way, op, ids }: Pick<Story, 'way' | 'op' | 'ids'>): Partial<Story> {
  const hasNone = isPlain(way)
  const edit = random.pick(edits)
  const [isEdited, isTransformed, isSkipped] = [random.chance(0.2), random.chance(0.2), random.chance(0.3)]
  const isShaped = !hasNone && op !== 'delete'
  return {
    ...(isShaped && isEdited ? { edit } : {}),
    // A document that has an id keeps it, so no second one may come of it.
    ...(isShaped && isTransformed && ids !== 'own' ? { transforms: true } : {}),
    ...(isSkipped && op === 'create' && ids !== 'run' ? { skips: true } : {}),
  }
}

/** Sluice loads nothing again if one of many indices was deleted (docs/guide/index-by-field.md). */
const ofOneIndex = ['deleteIndex', 'makeIndexAnew', 'narrowMapping']

function ofOthers(target: Story['target']): string[] {
  if (target === undefined) return ['rollover', 'switchAlias']
  return target === 'stream' ? ['switchAlias'] : []
}

function* drawActs(random: Seeded, without: readonly string[]): Generator<Act> {
  yield drawAct(random, 'write')
  if (random.chance(0.4)) yield drawAct(random, 'write')
  if (random.chance(0.3)) yield drawAct(random, 'prefill')
  const turns = 1 + random.below(5)
  for (let turn = 0; turn < turns; turn += 1) {
    for (let change = random.below(3); change > 0; change -= 1) yield drawAct(random, pickOf(random, without, 'world'))
    if (random.chance(0.35)) yield drawAct(random, 'trouble')
    yield drawAct(random, random.chance(0.7) ? 'load' : pickOf(random, without, 'user'))
  }
  // In the end all is well, and nothing is new.
  yield { act: 'load', which: 'all' }
  yield { act: 'load', which: 'all' }
}

function drawAct(random: Seeded, act: string): Act {
  return { act, ...acts[act]?.draw(random) }
}

function pickOf(random: Seeded, without: readonly string[], who: 'user' | 'world'): string {
  const fit = Object.entries(acts).filter(([name, one]) => one.who === who && !without.includes(name))
  return random.pick(fit.flatMap(([name, { often = 1 }]) => Array.from({ length: often }, () => name)))
}

function fail(way: string): never {
  throw new Error(`no such way: ${way}. There are ${Object.keys(ways).join(', ')}`)
}
