/** Cuts the inputs of a job into ranges: large ones into several, small ones in groups. Holds one group at a time. */
import type { FoundInput } from '../../../features/ranges/range-load.js'
import type { InputRange } from '../../../pipeline/source/ranges.js'
import { type JobData, rangeId } from '../job.js'
import type { KnownRanges } from './known-ranges.js'

/** A group of small inputs ends at either of these. */
const GROUP_BYTES = 16 << 20
const GROUP_INPUTS = 1000

type Known = Pick<KnownRanges, 'has' | 'remainders' | 'spansOf'>

export interface PlannedRange {
  readonly id: string
  /** Number of their name among the sources of the job. */
  readonly source: number
  readonly inputs: readonly InputRange[]
  readonly bytes: number
  /** How many inputs begin in it. */
  readonly begins: number
}

/**
 * `rangeBytes`: plain NDJSON from this size on is cut into ranges of this size. Groups are never larger if the job has a budget. `find`: finds the inputs behind a name. `known`: what an earlier plan
 * contained. Groups that stay as they are are not yielded. Throws SluiceError INPUT_NOT_FOUND, INPUT_UNREADABLE, SOURCE_*.
 */
export async function* planRanges(
  { sources, rangeBytes, byteBudget }: Pick<JobData, 'sources' | 'rangeBytes' | 'byteBudget'>,
  find: (name: string, cutFrom: number) => AsyncIterable<FoundInput>,
  known?: Known,
): AsyncGenerator<PlannedRange> {
  const groupBytes = byteBudget === undefined ? GROUP_BYTES : Math.min(GROUP_BYTES, rangeBytes)
  const shards = new Set<string>()
  for (const [source, name] of sources.entries()) {
    let group: InputRange[] = []
    let bytes = 0
    const take = () => {
      const range = rangeOf(source, group, bytes, group.length)
      group = []
      bytes = 0
      return range
    }
    for await (const found of find(name, rangeBytes)) {
      // Two names may lead to one index, which is read once.
      if (found.numbers !== undefined && shards.has(found.identity)) continue
      if (found.numbers !== undefined) shards.add(found.identity)
      if (found.canBeCut) {
        yield* found.numbers === undefined
          ? cut(source, found, rangeBytes)
          : cutShard(source, found, { rangeBytes, known })
        continue
      }
      if (known?.has(source, found) === true) continue
      if (bytes + found.size > groupBytes && group.length > 0) yield take()
      group.push({ name: found.name, identity: found.identity })
      bytes += found.size
      if (bytes >= groupBytes || group.length >= GROUP_INPUTS) yield take()
    }
    if (group.length > 0) yield take()
  }
  for await (const { source, inputs, bytes } of known?.remainders() ?? [])
    yield rangeOf(source, inputs, bytes, inputs.length)
}

function* cut(source: number, { name, identity, size }: FoundInput, rangeBytes: number): Generator<PlannedRange> {
  for (let from = 0; from < size; from += rangeBytes) {
    const to = Math.min(size, from + rangeBytes)
    yield rangeOf(source, [{ name, identity, from, to }], to - from, from === 0 ? 1 : 0)
  }
}

/**
 * Cuts a shard by its sequence numbers, into ranges of about that many bytes. Spans of an earlier plan stay as they are, so only what was
 * written since is new.
 */
function* cutShard(
  source: number,
  { name, identity, size, numbers = 0 }: FoundInput,
  { rangeBytes, known }: { readonly rangeBytes: number; readonly known: Known | undefined },
): Generator<PlannedRange> {
  const step = Math.max(1, Math.round((rangeBytes * numbers) / size))
  const before = known?.spansOf({ name, identity }) ?? []
  let at = 0
  for (let from = 0, to = 0; from < numbers; from = to) {
    while ((before[at]?.from ?? Infinity) < from) at += 1
    const next = before[at]
    to = next?.from === from ? next.to : Math.min(numbers, from + step, next?.from ?? Infinity)
    const bytes = Math.round((size * (to - from)) / numbers)
    yield rangeOf(source, [{ name, identity, from, to }], bytes, from === 0 ? 1 : 0)
  }
}

function rangeOf(source: number, inputs: readonly InputRange[], bytes: number, begins: number): PlannedRange {
  // Another order of the same fields would be another id.
  const id = rangeId(inputs.map(({ name, identity, from = -1, to = -1 }) => [name, identity, from, to]))
  return { id, source, inputs, bytes, begins }
}
