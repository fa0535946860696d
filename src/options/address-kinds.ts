/** The kinds of values that say where a queue is, and where a tunnel leads. */
import { readDestination } from '../base/addresses.js'
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

/** Reads `[PORT:]TARGET`, and lists of it with commas. */
export function destinations(): Kind<readonly string[]> {
  return {
    label: '[port:]target',
    check: check.strings,
    isRepeated: true,
    read: raw => {
      const given: readonly unknown[] = Array.isArray(raw) ? raw : [raw]
      const texts = given.flatMap(one => (typeof one === 'string' ? one.split(',') : [one]))
      const names = texts.map(text => (typeof text === 'string' ? text.trim() : ''))
      if (names.length === 0) return new Problem('names no target')
      const wrong = names.find(name => readDestination(name) === undefined)
      if (wrong === undefined) return names
      return new Problem(
        `contains '${wrong}', which is not cluster, servicenow or HOST:PORT, with a local port before it if needed (9200:cluster)`,
      )
    },
  }
}
