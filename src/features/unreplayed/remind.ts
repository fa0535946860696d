/** Reminds of rejected documents that are not replayed. */
import { failure } from '../../base/failure/failure.js'
import type { DocumentSection } from '../../options/load.js'
import { tooManyRejected } from '../../pipeline/ledger/account.js'
import { plural } from '../../base/text/shown.js'
import type { Feature, Started, Tell } from '../../run/loop/hooks.js'
import { type Checkpoint, runNameOf } from '../../run/state/checkpoint/checkpoint.js'

declare module '../../pipeline/ledger/receipt.js' {
  interface Receipt {
    /**
     * Documents of these inputs that earlier runs rejected, and that were not replayed when this one began. If this run stopped at
     * too many before, also those that it had rejected then.
     */
    readonly unreplayed?: readonly Unreplayed[]
  }
}

interface Unreplayed {
  readonly run: string
  readonly documents: number
  /** Absolute path of the dead letters. Absent if none were written. */
  readonly deadLetters?: string
}

/** Runs that are named each. */
const NAMED = 3

interface Reminding {
  readonly isFollowed: boolean
  readonly documents: Pick<DocumentSection, 'maxRejected'>
}

/** Returns the hook of a load, or of all rounds of a followed one: these only remind, and once, because a failure would end them. */
export function remindOfRejected({ isFollowed, documents: { maxRejected } }: Reminding): Feature {
  const asked = new Set<string>()
  const told = new Set<string>()
  const open: (Unreplayed & { readonly tooMany: readonly string[] })[] = []
  let own: string | undefined
  const remind = async (runs: readonly Checkpoint[], { openLetters }: Started['found'], tell: Tell) => {
    const news = runs.filter(run => !asked.has(runNameOf(run)))
    if (news.length === 0) return
    for (const run of news) asked.add(runNameOf(run))
    const found = (await openLetters(news)).filter(one => !told.has(keyOf(one)))
    for (const one of found) told.add(keyOf(one))
    open.push(...found)
    const unreplayed = documentsOf(open)
    for (const message of sayAll(found)) tell({ type: 'warning', message, missing: { unreplayed } })
  }
  return ({ tell }) => ({
    prepare: async ({ found, stateDir }) => {
      const { continues, unsettled } = found.plan
      own = continues === undefined ? undefined : runNameOf(continues)
      if (stateDir !== undefined) await remind(unsettled, found, tell)
    },
    complete: async ({ counts }) => {
      // The user may allow now what was too much for the run that continues.
      const allowed = tooManyRejected(maxRejected, counts) === undefined ? own : undefined
      const worst = open.find(({ tooMany }) => tooMany.some(name => name !== allowed))
      if (worst === undefined || isFollowed) return await Promise.resolve(undefined)
      const { run, documents } = worst
      return failure('REJECTED_NOT_REPLAYED', { run, documents, deadLetters: worst.deadLetters ?? 'no file' })
    },
    receipt: () => (open.length === 0 ? {} : { unreplayed: open.map(({ tooMany: _, ...one }) => one) }),
  })
}

function keyOf({ run, deadLetters = '' }: Unreplayed): string {
  return `${run} ${deadLetters}`
}

function documentsOf(all: readonly Unreplayed[]): number {
  return all.reduce((sum, { documents }) => sum + documents, 0)
}

function sayAll(all: readonly Unreplayed[]): readonly string[] {
  const more = all.slice(NAMED)
  const named = all.slice(0, NAMED).map(sayOpen)
  if (more.length === 0) return named
  const [runs, documents] = [plural(more.length, 'more run'), plural(documentsOf(more), 'document')]
  return [...named, `${runs} rejected ${documents} that are not replayed. The receipt names each file: \`--json\``]
}

function sayOpen({ run, documents, deadLetters }: Unreplayed): string {
  const what = `run ${run} rejected ${plural(documents, 'document')} of these inputs`
  if (deadLetters === undefined)
    return `${what}, and wrote no dead letters. To load them again, pass --again. If you do not need them, run \`sluice runs rm ${run}\``
  return `${what}, and they are not replayed: ${deadLetters}. Correct them and run \`sluice replay ${deadLetters}\`. If you do not need them, delete that file`
}
