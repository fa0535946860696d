import { explain } from '../failure/catalogue.js'
import type { FailureCode, IngestEvent } from '../index.js'
import type { Progress } from './progress.js'
import { duration } from './quantities.js'

type BlockEvent = Extract<IngestEvent, { type: 'blocked' | 'unblocked' }>

/** What is said while access is lost: once why, since when and what to do, and then, shorter, that the run still waits. */
export function blockNotes(progress: Progress): (event: BlockEvent) => void {
  let said: FailureCode | undefined
  return event => {
    const { code, message } = event.failure
    if (event.type === 'unblocked') {
      said = undefined
      const back = `access is back after ${duration(event.waitedMs)}: Sluice continues`
      progress.note('warn', `${back}. Refused: ${message}`, { code })
      return
    }
    const { since, waitedMs, leftMs, nextProbeMs, problem } = event
    const fields = { code, since, waitedMs, leftMs, nextProbeMs, ...(problem === undefined ? {} : { problem }) }
    const also = problem === undefined ? '' : ` (${problem})`
    const next = `Next probe in ${duration(nextProbeMs)}, giving up in ${duration(leftMs)}`
    if (said === code) {
      progress.note('info', `still waiting for access since ${since}: ${message}${also}. ${next}`, fields)
      return
    }
    said = code
    progress.note('warn', `waiting for access since ${since}: ${message}${also}. ${next}`, fields)
    for (const fix of explain(code).fixes) progress.note('warn', `what to do: ${fix}`)
  }
}
