/** Makes the tokens of inputs: the part of a run's ids that belongs to one input. */
import type { Source } from '../flow.js'
import type { StateSection } from '../options/load.js'
import type { Checkpoint } from './checkpoint.js'
import { inputsOf } from './packed-inputs.js'
import type { Planning } from './plan.js'
import { randomToken, type RunIdentity, tokenOf } from './run-identity.js'

interface Given {
  readonly state: Pick<StateSection, 'runId'>
  readonly identity: Pick<RunIdentity, 'into' | 'hasOwnIndex'>
  /** The token of the one input, if it has one. */
  readonly token?: string | undefined
}

/** Returns what makes them. `place`: the uuid of the cluster, or its URL. */
export function tokens(
  { state: { runId }, identity, token }: Given,
  place: string,
  runs: readonly Checkpoint[],
): Planning['newToken'] {
  let taken: ReadonlySet<string> | undefined
  return async (source: Source) => {
    if (token !== undefined) return token
    if (runId === undefined) return randomToken()
    // A file with other content under the same name is another input: otherwise its documents would get the ids of
    // stored documents. For stdin only the name is known before reading.
    const head = (await source.file?.look())?.head.sha256 ?? ''
    const name = source.copy?.of ?? source.name
    const parts = [runId, place, identity.into, name, source.file?.stat.size ?? 0, head] as const
    const first = tokenOf(...parts)
    // Stdin that is piped again gets the ids of before. An index of its own holds no other documents.
    if (source.file === undefined || source.copy !== undefined || identity.hasOwnIndex === true) return first
    // Another content may have the same name, size and beginning: its documents would pass for those that are stored.
    taken ??= storedTokens(runs)
    let free = first
    for (let number = 2; taken.has(free); number += 1) free = tokenOf(...parts, number)
    return free
  }
}

/** Returns the tokens of inputs of which a document is stored, or may be. */
function storedTokens(runs: readonly Checkpoint[]): ReadonlySet<string> {
  const tokens = new Set<string>()
  for (const run of runs)
    for (const { token, hasStored, status } of inputsOf(run))
      if (hasStored || (status !== 'finished' && run.isDoubtful)) tokens.add(token)
  return tokens
}
