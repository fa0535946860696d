/** What becomes of documents that callers post: docs/guide/serve.md. Each input is the body of one request. */
import type { After, Line, Load, Seen } from '../facts.js'
import { outcomesOf } from './documents.js'
import type { Memory } from './memory.js'
import { judgeReceipt } from './receipt.js'
import { judgeFailure } from './refusals.js'

export function judgePosted(memory: Memory, load: Load, after: After): readonly string[] {
  const { ended, indexLost } = load
  const before = memory.spooled
  const mayWait = memory.maybeSpooled.length > 0
  const posts = postsOf(memory, load)
  const plans = posts.taken.map(file => ({ file, match: { kind: 'new' } as const, rest: file.lines }))
  const counts = outcomesOf(memory, load, plans)
  if (indexLost !== undefined) memory.indexLost(indexLost === 'made anew')
  memory.expected.begin(posts.begun)
  const taken = posts.taken.flatMap(({ lines }) => lines)
  const waiting = [...before, ...taken]
  memory.spooled = waiting
  memory.maybeSpooled = [...memory.maybeSpooled.filter(line => !taken.includes(line)), ...posts.unsure]
  const { received } = memory
  if (ended.isKilled === true || ended.code !== undefined) {
    if (indexLost !== undefined) {
      // What was loaded, and then deleted with its index, no longer waits.
      memory.maybeSpooled.push(...waiting)
      memory.spooled = []
    }
    received.created += ended.counts?.created ?? 0
    received.isSure &&= ended.isKilled !== true && (ended.counts?.duplicate ?? 0) === 0
    return [...posts.problems, ...judgeFailure(memory, load, plans)]
  }
  if (indexLost === undefined) memory.expected.finish(waiting)
  memory.spooled = []
  memory.maybeSpooled = []
  const known = {
    isGone: false,
    isVague: indexLost !== undefined || memory.isUnsure || !received.isSure || mayWait,
    counts,
    // A receiver counts whole segments, also what an earlier process stored of them.
    grown: after.index.length - received.size - received.created,
    isKeyed: memory.keyed !== undefined || !received.isSure,
    spooled: before,
    shaping: memory.shaping,
  }
  if (!received.isSure) memory.lenient('a receiver that counts what a killed one has loaded')
  memory.received = { size: after.index.length, created: 0, isSure: true }
  return [...posts.problems, ...judgeReceipt(load, plans, known)]
}

interface Posts {
  /** Requests whose documents are on the disk from now on. */
  readonly taken: readonly Seen[]
  /** Lines that may be on the disk for the first time. */
  readonly begun: readonly Line[]
  /** Those of them whose callers got no answer: all of a request are on the disk, or none. */
  readonly unsure: readonly Line[]
  readonly problems: readonly string[]
}

function postsOf({ keys }: Memory, { inputs, ended, trouble, posted }: Load): Posts {
  const { answers = new Map<string, number>(), counts } = ended
  const posts = { taken: [] as Seen[], begun: [] as Line[], unsure: [] as Line[], problems: [] as string[] }
  // A receiver that did not start, or is stopped, answers nobody.
  const mayBeSilent = trouble === 'stopped' || trouble === 'killed' || counts === undefined
  // Two requests with one key come in any order.
  const isFirst = ({ path }: Seen) => answers.get(path) === 202
  for (const file of [...inputs.filter(isFirst), ...inputs.filter(one => !isFirst(one))]) {
    const { path, lines } = file
    const status = answers.get(path)
    const key = posted?.hasKeys === true ? keyOf(lines) : undefined
    const before = key === undefined ? undefined : keys.get(key)
    const isRefused = lines.some(({ isBad }) => isBad)
    if (status === undefined || (status === 503 && mayBeSilent)) {
      if (!mayBeSilent) posts.problems.push(`the request with ${path} has no answer`)
      if (isRefused || before !== undefined || status === 503) continue
      posts.begun.push(...lines)
      posts.unsure.push(...lines)
      if (key !== undefined) keys.set(key, 'unsure')
      continue
    }
    const fitting = isRefused ? [400] : before === 'known' ? [200] : before === 'unsure' ? [200, 202] : [202]
    if (!fitting.includes(status))
      posts.problems.push(`the request with ${path} is answered ${status}, and not ${fitting.join(' or ')}`)
    if (isRefused || before === 'known') continue
    if (key !== undefined) keys.set(key, 'known')
    if (before === undefined) posts.begun.push(...lines)
    posts.taken.push(file)
  }
  return posts
}

function keyOf(lines: readonly Line[]): string {
  return lines.map(({ n, v }) => `${n} ${v}`).join(',')
}
