/** The kinds of values of options for jobs on a queue. */
import { type Kind, Problem } from './kinds.js'
import * as check from './option-checks.js'

/** Reads the URL of a queue. A problem never repeats it, because it may hold a password. */
export function queueUrl(): Kind<string> {
  const problem = (value: unknown) =>
    check.string(value) ??
    (isQueueUrl(String(value))
      ? undefined
      : 'is not redis://HOST:6379 or postgres://HOST/DATABASE. In a password, write % as %25')
  return {
    label: 'url',
    check: problem,
    read: raw => {
      const wrong = problem(raw)
      return wrong === undefined ? String(raw) : new Problem(wrong)
    },
  }
}

function isQueueUrl(text: string): boolean {
  return (
    /^(rediss?|postgres(ql)?):\/\/[^/\s]\S*$/i.test(text) && URL.canParse(text) && isDecodable(new URL(text).password)
  )
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
