import { createHash } from 'node:crypto'

/** Characters of one version: 72 bits of its hash. */
const WIDTH = 12
export const MOST_VERSIONS = 10_000

/**
 * Versions of rows that were given out, by the time of their change: what is read again because readings overlap is recognised by it.
 * Of more than MOST_VERSIONS the oldest are forgotten: then they are given out again, as they are.
 */
export interface VersionsSeen {
  add(time: string, version: string): void
  has(time: string, version: string): boolean
  /** Forgets changes that are not read again. */
  forgetBefore(time: string): void
  /** Time of the latest change. Undefined if there is none. */
  newest(): string | undefined
  /** Whether none of that time or later was forgotten for want of room. */
  isWholeFrom(time: string): boolean
  /** JSON, for a place. */
  toJSON(): Readonly<Record<string, string>>
}

/** Throws TypeError where `kept` is not what toJSON gave. */
export function versionsSeen(kept: unknown = {}): VersionsSeen {
  const byTime = parse(kept)
  let size = [...byTime.values()].reduce((sum, versions) => sum + versions.size, 0)
  let forgotten = ''
  let limit = ''

  const makeRoom = () => {
    for (const [time, versions] of [...byTime].sort(([a], [b]) => (a < b ? -1 : 1))) {
      for (const version of versions) {
        if (size <= MOST_VERSIONS * 0.9) return
        forgotten = forgotten > time ? forgotten : time
        versions.delete(version)
        size--
      }
      byTime.delete(time)
    }
  }

  return {
    add(time, version) {
      const versions = byTime.get(time) ?? new Set()
      if (versions.size === 0) byTime.set(time, versions)
      if (versions.has(version)) return
      versions.add(version)
      if (++size > MOST_VERSIONS) makeRoom()
    },
    has: (time, version) => byTime.get(time)?.has(version) === true,
    forgetBefore(first) {
      if (first === limit) return
      limit = first
      for (const [time, versions] of byTime) {
        if (time >= limit) continue
        size -= versions.size
        byTime.delete(time)
      }
    },
    newest: () =>
      [...byTime.keys()].reduce<string | undefined>((a, b) => (a === undefined || b > a ? b : a), undefined),
    isWholeFrom: time => forgotten < time,
    toJSON: () => Object.fromEntries([...byTime].map(([time, versions]) => [time, [...versions].join('')])),
  }
}

/** Names one version of a row by its count of changes. */
export function versionOf(id: string, changes: string): string {
  return createHash('sha256').update(`${id} ${changes}`).digest('base64url').slice(0, WIDTH)
}

function parse(kept: unknown): Map<string, Set<string>> {
  if (typeof kept !== 'object' || kept === null) throw new TypeError('no versions')
  return new Map(
    Object.entries(kept).map(([time, text]: [string, unknown]) => {
      if (typeof text !== 'string' || text.length % WIDTH !== 0) throw new TypeError('no versions')
      return [time, new Set(text.match(/.{12}/g))]
    }),
  )
}
