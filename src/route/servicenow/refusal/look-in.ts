import { type Failure, SluiceError } from '../../../base/failure/failure.js'
import { askInWaves, askUnbroken, manyListeners } from '../../proxy/fresh-connections.js'
import type { InstanceHttp } from '../calls/instance-http.js'
import type { Refusal } from '../calls/judge-refusal.js'

/** Answers on fresh connections. */
export interface AnswersSeen {
  readonly asked: number
  /** The application answered. */
  readonly letIn: number
  /** Refused before the application: IP address access control. */
  readonly refusedAddress: number
  /** The application accepted the credentials, or refused them (401). */
  readonly known: number
  readonly unknown: number
  /** The first refusal of an address, and the first 401. */
  readonly first: { readonly address: Failure | undefined; readonly credentials: Failure | undefined }
}

interface LookingIn {
  /** Connections. */
  readonly most: number
  /** Absent: the application answers 401 to every accepted address. */
  readonly authorization?: string | undefined
  /** Whether more connections would show nothing new. */
  isSettled(seen: AnswersSeen): boolean
  readonly signal?: AbortSignal | undefined
}

/** There is no such table, so no access control of a table applies. */
const QUESTION = { method: 'GET', table: 'x', query: { sysparm_limit: '1' } } as const
const PATH = '/api/now/table/x?sysparm_limit=1'

/**
 * Asks on fresh connections until the answers settle the question. Throws SluiceError if an answer shows neither the
 * address nor the credentials: none came, the instance hibernates, the proxy refused. Also throws RUN_INTERRUPTED.
 */
export async function lookIn(line: InstanceHttp, looking: LookingIn): Promise<AnswersSeen> {
  const signal = looking.signal === undefined ? undefined : manyListeners(looking.signal)
  const answers = await askInWaves<Refusal | undefined>({
    most: looking.most,
    ask: async () => await askOnce(line, { ...looking, signal }),
    isSettled: soFar => looking.isSettled(countRefusals(soFar)),
  })
  return countRefusals(answers)
}

/** Returns undefined if the application accepted the request. */
async function askOnce(line: InstanceHttp, { authorization, signal }: LookingIn): Promise<Refusal | undefined> {
  const headers = authorization === undefined ? {} : { authorization }
  const look = async () => {
    const answer = await line.ask({ method: 'GET', path: PATH, headers, signal, isFresh: true })
    return 'is' in answer ? answer : line.judge(answer, QUESTION)
  }
  const { answer } = await askUnbroken(look, verdict => verdict.is === 'later' && !isAnswer(verdict.failure))
  if (answer.is === 'done' || saidByTheApplication.has(answer.failure.code)) return undefined
  if (answer.is === 'unauthenticated' || isAnswer(answer.failure)) return answer
  throw new SluiceError(answer.failure)
}

function isAnswer({ code }: Failure): boolean {
  return code === 'SERVICENOW_ADDRESS_REFUSED' || saidByTheApplication.has(code)
}

const saidByTheApplication = new Set<string>([
  'SERVICENOW_TABLE_UNKNOWN',
  'SERVICENOW_ACCESS_DENIED',
  'SERVICENOW_REQUEST_REFUSED',
  'SERVICENOW_PAGE_TRUNCATED',
  // The limit counts for each user.
  'SERVICENOW_RATE_LIMITED',
])

function countRefusals(answers: readonly (Refusal | undefined)[]): AnswersSeen {
  const refusals = answers.filter(answer => answer !== undefined)
  const credentials = refusals.filter(({ is }) => is === 'unauthenticated')
  const addresses = refusals.filter(({ is }) => is !== 'unauthenticated')
  return {
    asked: answers.length,
    letIn: answers.length - addresses.length,
    refusedAddress: addresses.length,
    known: answers.length - refusals.length,
    unknown: credentials.length,
    first: { address: addresses[0]?.failure, credentials: credentials[0]?.failure },
  }
}
