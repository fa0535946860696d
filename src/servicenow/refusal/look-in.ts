import { setMaxListeners } from 'node:events'
import type { Failure } from '../../failure/failure.js'
import { SluiceError } from '../../failure/sluice-error.js'
import { judgeTableAnswer } from '../calls/judge-table-answer.js'
import type { InstanceHttp } from '../calls/instance-http.js'
import type { Refusal } from '../calls/judge-refusal.js'

/** What fresh connections met. */
export interface Seen {
  readonly asked: number
  /** The application answered, whatever it said. */
  readonly letIn: number
  /** Refused before the application: IP address access control. */
  readonly refusedAddress: number
  /** The application took the credentials, or did not (401). */
  readonly known: number
  readonly unknown: number
  /** The first refusal of an address, and the first 401. */
  readonly first?: { readonly address?: Failure; readonly credentials?: Failure }
}

export interface LookingIn {
  /** Connections. */
  readonly most: number
  /** Absent: nothing is proved, and the answer is 401 wherever the address is let in. */
  readonly authorization?: string
  /** Whether more connections would tell nothing more. */
  isSettled(seen: Seen): boolean
  readonly signal?: AbortSignal | undefined
}

/** No such table: no row is read, and no access control of a table is asked. */
const QUESTION = { method: 'GET', table: 'x', query: { sysparm_limit: '1' } } as const
const PATH = '/api/now/table/x?sysparm_limit=1'

/** A connection that breaks once among many is no finding. */
const BROKEN_AGAIN = 2

/**
 * Asks on fresh connections, one alone first, until it is settled or `most` were asked. Throws SluiceError for what says neither: no
 * answer, an instance that hibernates, a proxy that refuses; RUN_INTERRUPTED.
 */
export async function lookIn(line: InstanceHttp, looking: LookingIn): Promise<Seen> {
  // Node warns of more than ten listeners on one signal, and how many the caller's own may have is the caller's to say.
  const signal = looking.signal === undefined ? undefined : AbortSignal.any([looking.signal])
  if (signal !== undefined) setMaxListeners(0, signal)
  let seen: Seen = { asked: 0, letIn: 0, refusedAddress: 0, known: 0, unknown: 0 }
  for (const size of waves(looking.most)) {
    const answers = await Promise.all(
      Array.from({ length: size }, async () => await askOnce(line, { ...looking, signal })),
    )
    for (const answer of answers) seen = counted(seen, answer)
    if (looking.isSettled(seen)) break
  }
  return seen
}

/** Wrong credentials cost one refusal, and not all of them. */
function waves(most: number): number[] {
  const total = Math.max(1, Math.floor(most))
  const second = Math.min(5, total - 1)
  return [1, second, total - 1 - second].filter(size => size > 0)
}

/** Undefined: the application took it. */
async function askOnce(line: InstanceHttp, { authorization, signal }: LookingIn): Promise<Refusal | undefined> {
  const headers = authorization === undefined ? {} : { authorization }
  for (let broken = 0; ; broken += 1) {
    const answer = await line.ask({ method: 'GET', path: PATH, headers, signal, isFresh: true })
    const verdict = 'is' in answer ? answer : judgeTableAnswer(answer, QUESTION, line.judging())
    if (verdict.is === 'done' || saidByTheApplication.has(verdict.failure.code)) return undefined
    if (verdict.is === 'unauthenticated' || verdict.failure.code === 'SERVICENOW_ADDRESS_REFUSED') return verdict
    if (verdict.is !== 'later' || broken === BROKEN_AGAIN) throw new SluiceError(verdict.failure)
  }
}

const saidByTheApplication = new Set<string>([
  'SERVICENOW_TABLE_UNKNOWN',
  'SERVICENOW_ACCESS_DENIED',
  'SERVICENOW_REQUEST_REFUSED',
  'SERVICENOW_PAGE_TRUNCATED',
  // Counted for each user.
  'SERVICENOW_RATE_LIMITED',
])

function counted(seen: Seen, answer: Refusal | undefined): Seen {
  const asked = seen.asked + 1
  if (answer === undefined) return { ...seen, asked, letIn: seen.letIn + 1, known: seen.known + 1 }
  if (answer.is === 'unauthenticated') {
    const first = { credentials: answer.failure, ...seen.first }
    return { ...seen, asked, letIn: seen.letIn + 1, unknown: seen.unknown + 1, first }
  }
  const first = { address: answer.failure, ...seen.first }
  return { ...seen, asked, refusedAddress: seen.refusedAddress + 1, first }
}
