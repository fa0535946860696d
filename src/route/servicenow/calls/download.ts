/** Downloads the file of an attachment. */
import { failure, SluiceError } from '../../../base/failure/failure.js'
import { type InstanceHttp, judgeLost, readInstanceAnswer } from './instance-http.js'
import type { InstanceVerdict } from './judge-refusal.js'
import { judgeTableAnswer } from './judge-table-answer.js'
import { type Persistence, persist } from './persist.js'
import type { Session } from '../login/session.js'

export interface Download {
  /** Of the attachment. */
  readonly sysId: string
  /** Bytes that the instance says the file has. */
  readonly size: number | undefined
  readonly signal: AbortSignal
  /** Takes the file, once for each attempt. Resolves to why the file is not whole, or undefined. */
  take(body: AsyncIterable<Buffer>): Promise<string | undefined>
}

/** A slower proxy breaks a large file off. */
const SLOWEST_BYTES_PER_MS = 50
/** A file that is not whole so often will not be. */
const MOST_ATTEMPTS = 3

/** Retries while that may help, and once with another token. Throws SluiceError SERVICENOW_*, PROXY_*, RUN_INTERRUPTED. */
export async function downloadFile(
  line: InstanceHttp,
  session: Session,
  { sysId, size = 0, signal, take }: Download,
  patience: Persistence,
): Promise<void> {
  const request = { method: 'GET', table: 'sys_attachment', sysId } as const
  let attempts = 0
  const once = async (authorization: string): Promise<InstanceVerdict<undefined>> => {
    const headers = { accept: '*/*', 'accept-encoding': 'identity', authorization }
    const moreMs = size / SLOWEST_BYTES_PER_MS
    const path = `/api/now/attachment/${sysId}/file`
    const response = await line.open({ method: 'GET', path, headers, signal, moreMs })
    if ('is' in response) return response
    try {
      if (response.statusCode !== 200) {
        const verdict = judgeTableAnswer(await readInstanceAnswer(response), request, line.judging())
        return verdict.is === 'done' ? broken(`status ${response.statusCode}`) : verdict
      }
      const problem = await take(response.body)
      return problem === undefined ? { is: 'done', value: undefined } : broken(problem)
    } catch (error) {
      const lost = judgeLost(error, line.instance)
      return lost.is === 'later' ? broken(lost.failure.message) : lost
    } finally {
      response.body.destroy()
    }
  }
  const broken = (problem: string): InstanceVerdict<undefined> => {
    const reason = `the file of the attachment is not whole: ${problem}`
    const evidence = { instance: line.instance, request: `GET attachment/${sysId}`, status: 200, reason }
    const named = failure('SERVICENOW_REQUEST_REFUSED', evidence)
    attempts += 1
    return attempts < MOST_ATTEMPTS ? { is: 'later', failure: named, undone: true } : { is: 'stop', failure: named }
  }
  const attempt = async (): Promise<InstanceVerdict<undefined>> => {
    const value = await session.authorization(signal)
    const verdict = await once(value)
    if (verdict.is !== 'unauthenticated') return verdict
    const another = await session.another(value, signal)
    return another === undefined ? verdict : await once(another)
  }
  const verdict = await persist(attempt, patience, { isRepeatable: true, signal })
  if (verdict.is !== 'done') throw new SluiceError(verdict.failure)
}
