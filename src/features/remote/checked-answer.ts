/** Checks that an answer holds the bytes that were asked for, of the same object, and no others. */
import { fail, SluiceError } from '../../base/failure/failure.js'
import { factsOf, headerText, rangeOf } from './judge-answer.js'
import { lost } from './routes.js'
import type { Answer, WantedPart } from './store.js'

interface Received {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Answer['body']
}

/** Throws SluiceError INPUT_REPLACED, INPUT_UNREADABLE. */
export function checkedAnswer(input: string, { status, headers, body }: Received, wanted: WantedPart): Answer {
  const facts = factsOf(status, headers)
  const problem = problemOf(input, { status, headers, body }, wanted)
  if (problem !== undefined) {
    body.destroy()
    throw problem
  }
  const range = status === 206 ? rangeOf(headers) : undefined
  const bytes = range === undefined ? facts.size : range.to - range.from
  const isHtml = /html/i.test(headerText(headers['content-type'])) && (range?.from ?? 0) === 0
  const given = isHtml ? unlessPage(input, body) : body
  return { facts, isPart: range !== undefined, body: readBody(input, given, bytes, wanted) }
}

/** Refuses a web page, such as the page to sign in to a company's network, in place of the file. */
function unlessPage(input: string, body: Answer['body']): Answer['body'] {
  return {
    destroy: error => body.destroy(error),
    async *[Symbol.asyncIterator]() {
      let isFirst = true
      for await (const chunk of body) {
        const text = isFirst ? chunk.subarray(0, 1_024).toString('latin1') : ''
        if (/^[\s\xef\xbb\xbf]*<(!doctype html|html)/i.test(text)) {
          body.destroy()
          const observed = 'it answers with a web page, such as a page to sign in, instead of the file'
          throw fail('SOURCE_REFUSED', { input, observed })
        }
        isFirst = false
        yield chunk
      }
    },
  }
}

function problemOf(input: string, { status, headers }: Received, { range, etag }: WantedPart): SluiceError | undefined {
  const facts = factsOf(status, headers)
  // Some servers ignore If-Match.
  if (etag !== undefined && facts.etag !== etag)
    return fail('INPUT_REPLACED', { input, observed: 'it has another ETag now' })
  if (status !== 206) return undefined
  const sent = rangeOf(headers)
  const isWanted =
    range !== undefined &&
    sent?.from === range.from &&
    (sent.to === range.to || (sent.to < range.to && (sent.total === undefined || sent.to === sent.total)))
  if (isWanted) return undefined
  return fail('INPUT_UNREADABLE', { input, problem: 'the server answers with other bytes than those of the range' })
}

/** Names a body that breaks, and one that has more or fewer bytes than its headers say. */
function readBody(
  input: string,
  body: Answer['body'],
  bytes: number | undefined,
  { signal }: WantedPart,
): Answer['body'] {
  return {
    destroy: error => body.destroy(error),
    async *[Symbol.asyncIterator]() {
      let received = 0
      try {
        for await (const chunk of body) {
          received += chunk.length
          if (bytes !== undefined && received > bytes) break
          yield chunk
        }
      } catch (error) {
        throw lost(input, error, signal)
      }
      if (bytes === undefined || received === bytes) return
      body.destroy()
      throw fail('SOURCE_UNAVAILABLE', { input, observed: `the answer has ${received} bytes instead of ${bytes}` })
    },
  }
}
