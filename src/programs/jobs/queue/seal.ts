/**
 * Signs entries of the queue with a key that coordinator and workers share. Anyone who can write to the queue can remove entries, or put
 * earlier ones back. Without the key, nobody can make a new one.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { isObject } from '../../../base/json/parse-json.js'

/** What an entry is. A signature of one kind does not fit another. */
type Kind = 'job' | 'name' | 'range' | 'receipt' | 'state' | 'row' | 'end'

export interface Seal {
  readonly hasKey: boolean
  /** Returns the entry with a signature for its place: names of the job, the range and so on. Without a key, returns the entry as it is. */
  sign<T extends object>(kind: Kind, place: readonly string[], entry: T): T
  /** Returns whether somebody with the key signed the entry for this place. Without a key, each entry fits. */
  fits(kind: Kind, place: readonly string[], entry: unknown): boolean
}

/** Signs nothing, and checks nothing. */
export const noSeal: Seal = { hasKey: false, sign: (_, __, entry) => entry, fits: () => true }

/** Changes if signatures are made of something else. */
const VERSION = 'sluice-queue-1'

export function sealWith(key: string): Seal {
  const make = (kind: Kind, place: readonly string[], entry: object) =>
    createHmac('sha256', key)
      .update(JSON.stringify([VERSION, kind, ...place, canonical(entry)]))
      .digest()
  return {
    hasKey: true,
    sign: (kind, place, entry) => {
      const bare = withoutMac(entry)
      return { ...bare, mac: make(kind, place, bare).toString('base64url') }
    },
    fits: (kind, place, entry) => {
      if (!isObject(entry) || typeof entry['mac'] !== 'string') return false
      try {
        const made = make(kind, place, withoutMac(entry))
        const given = Buffer.from(entry['mac'], 'base64url')
        return given.length === made.length && timingSafeEqual(given, made)
      } catch {
        // It is nested too deeply for JSON.
        return false
      }
    },
  }
}

/** Returns the signature of an entry. A receipt holds that of its range in its own one. */
export function macOf(entry: unknown): string {
  return isObject(entry) && typeof entry['mac'] === 'string' ? entry['mac'] : ''
}

function withoutMac<T extends object>(entry: T): T {
  const { mac: _, ...bare } = entry as T & { readonly mac?: string }
  return bare as T
}

/** The queue may return fields in another order, and keeps none that is undefined. */
function canonical(entry: object): string {
  return JSON.stringify(sorted(JSON.parse(JSON.stringify(entry))))
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  // Pairs, because an object would put names that look like numbers first, and `__proto__` nowhere.
  return {
    of: Object.keys(value)
      .toSorted()
      .map(name => [name, sorted(value[name])]),
  }
}
