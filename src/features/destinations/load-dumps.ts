import { ActionBatcher, type IdCounts } from '../../pipeline/bulk/action-batcher.js'
import type { Batch } from '../../base/flow.js'
import { needsCluster } from '../../route/connect/open-target.js'
import { isDump } from '../../pipeline/format/formats.js'
import type { DocumentSection, InputSection } from '../../options/load.js'
import type { BodiesHook, BodyFramer, Composed, EndingHook, RouteHook } from '../../run/loop/hooks.js'
import { isBeside } from '../../base/text/index-pattern.js'

declare module '../../pipeline/ledger/receipt.js' {
  interface Receipt {
    /** Only if an input was a dump: how many of its documents had an id (`given`), and how many got one (`own`). Of this process only. */
    readonly ids?: Readonly<IdCounts>
  }
}

interface Sections {
  readonly documents: DocumentSection
  readonly inputs: Pick<InputSection, 'format'>
}

/** Frames documents of dumps, which carry their own ids, beside those of other inputs. */
export function loadDumps(sections: Sections): Composed {
  const isFit = mayHoldActions(sections.documents)
  return {
    // The queue promises to keep no id.
    decoding: ({ isManaged }) => ({ takesDumps: isFit && !isManaged }),
    feature: () => (isFit ? hookOf(sections) : undefined),
  }
}

/** Other ids, routing and indices are made from fields, and the line of a dump has all of them already. */
function mayHoldActions({ ids, routingField, indexPattern }: DocumentSection): boolean {
  return ids.from === 'run' && routingField === undefined && (indexPattern === undefined || isBeside(indexPattern))
}

function hookOf({
  documents: { op, indexPattern },
  inputs: { format },
}: Sections): RouteHook & BodiesHook & EndingHook {
  let counts: IdCounts | undefined
  return {
    connected: ({ isManaged }) => {
      if (isManaged && isDump(format)) throw needsCluster('format', `is '${format}', whose documents have ids`)
      return undefined
    },
    frame: (framing, _ledger, inner) => {
      const usual = inner(framing)
      let dumps: ActionBatcher | undefined
      const ofDumps = () => {
        dumps ??= new ActionBatcher({ ...framing, operation: op, namesIndex: indexPattern !== undefined })
        counts = dumps.counts
        return dumps
      }
      return {
        get reading() {
          return usual.reading
        },
        rest: () => usual.rest() ?? dumps?.rest(),
        frame: (input, token, lines) =>
          lines.kind === 'actions'
            ? inTurn(usual, ofDumps().frame(input, token, lines))
            : dumps === undefined
              ? usual.frame(input, token, lines)
              : inTurn(dumps, usual.frame(input, token, lines)),
      }
    },
    receipt: () => (counts === undefined ? {} : { ids: { ...counts } }),
  }
}

/** Batches stand in the order in which they were read: what another framer still holds comes first. */
async function* inTurn(other: Pick<BodyFramer, 'rest'>, batches: AsyncGenerator<Batch>): AsyncGenerator<Batch> {
  const held = other.rest()
  if (held !== undefined) yield held
  yield* batches
}
