/** Reads objects from Amazon S3, and from other servers that speak its language. */
import { fail } from '../../base/failure/failure.js'
import { byName } from '../../pipeline/source/find-files.js'
import { bucketAndKey } from '../../base/text/source-url.js'
import { type SourcePatience, untilDone } from './attempts.js'
import { Buckets, type Sdk } from './buckets.js'
import { etagNumberOf, strong } from './judge-answer.js'
import { type KeyPattern, keyPattern } from './key-pattern.js'
import { probe } from './probe.js'
import type { SourceServers } from './source-servers.js'
import type { FoundObject, Store, WantedPart } from './store.js'

/** `input`: the first one that needs it. Throws SluiceError SOURCE_NEEDS_PACKAGE. */
export async function openS3Store(input: string, servers: SourceServers, patience: SourcePatience): Promise<Store> {
  const buckets = await servers.buckets(async routes => new Buckets(await loadSdk(input), routes))
  const get = async (name: string, wanted: WantedPart) => await buckets.get(name, wanted)
  return {
    get,
    find: async function* (name, wanted, order = 'sorted') {
      const { bucket, key } = bucketAndKey(name)
      if (key === '' || key.endsWith('/')) throw folder(name)
      const pattern = keyPattern(key)
      const pages = pattern === undefined ? [] : listed(buckets, name, pattern, patience, wanted)
      let isFound = false
      for await (const found of order === 'listed' ? pages : sorted(pages)) {
        isFound = true
        yield { ...found, name: `s3://${bucket}/${found.name}` }
      }
      // A key with wildcard characters means itself if it matches nothing else.
      if (!isFound) yield await untilDone(patience, wanted.signal, async () => await probe(get, name, wanted))
    },
  }
}

async function loadSdk(input: string): Promise<Sdk> {
  try {
    return await import('@aws-sdk/client-s3')
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && /MODULE_NOT_FOUND/.test(String(error.code))
    const problem = isMissing ? 'it is not installed' : `it cannot be loaded (${String(error)})`
    throw fail('SOURCE_NEEDS_PACKAGE', { input, problem }, { cause: error })
  }
}

function folder(name: string) {
  const problem = `it is a folder. Pass its objects with a wildcard, such as '${name.replace(/\/?$/, '/')}*.ndjson'`
  return fail('INPUT_UNREADABLE', { input: name, problem })
}

/** Lists the objects that match, page by page, in the order of the server. */
async function* listed(
  buckets: Buckets,
  name: string,
  { prefix, matches }: KeyPattern,
  patience: SourcePatience,
  wanted: WantedPart,
): AsyncGenerator<FoundObject> {
  const pages = new Set<string>()
  let next: string | undefined
  do {
    const after = next
    const page = await untilDone(
      patience,
      wanted.signal,
      async () => await buckets.list(name, { prefix, after, ...wanted }),
    )
    for (const { Key: key = '', Size: size = 0, ETag: etag, LastModified: modified } of page.Contents ?? []) {
      if (key.endsWith('/') || !matches(key)) continue
      const etagNumber = etagNumberOf(strong(etag))
      yield { name: key, size, etagNumber, modifiedMs: modified?.getTime() ?? 0, hasRanges: true }
    }
    next = page.IsTruncated === true ? pageAfter(name, page.NextContinuationToken, pages) : undefined
  } while (next !== undefined)
}

/** Refuses a list that does not say how it continues, or that begins again and would never end. */
function pageAfter(input: string, next: string | undefined, pages: Set<string>): string {
  if (next === undefined || next === '')
    throw fail('INPUT_UNREADABLE', {
      input,
      problem: 'its server lists only a part, and does not say how to get the rest',
    })
  if (pages.has(next))
    throw fail('INPUT_UNREADABLE', { input, problem: 'its server lists the same page again and again' })
  pages.add(next)
  return next
}

/** Returns the objects as people number them. */
async function* sorted(found: AsyncIterable<FoundObject> | Iterable<FoundObject>): AsyncGenerator<FoundObject> {
  const keys = new Keys()
  for await (const { name, size = 0, etagNumber, modifiedMs } of found)
    keys.add(flat(name), [size, etagNumber, modifiedMs])
  yield* keys
}

/** Keys of a list, in little memory: there may be a million. */
class Keys {
  readonly #names: string[] = []
  readonly #numbers: number[] = []

  add(name: string, about: readonly [size: number, etagNumber: number, modifiedMs: number]): void {
    this.#names.push(name)
    this.#numbers.push(...about)
  }

  *[Symbol.iterator](): Generator<FoundObject> {
    const names = this.#names
    const order = Uint32Array.from(names.keys()).toSorted((a, b) => byName(names[a] ?? '', names[b] ?? ''))
    for (const at of order) {
      const [size, etagNumber = 0, modifiedMs = 0] = this.#numbers.slice(at * 3, at * 3 + 3)
      yield { name: names[at] ?? '', size, etagNumber, modifiedMs, hasRanges: true }
    }
  }
}

/** Returns the same text in one piece: V8 would keep the page that it is a part of. */
function flat(text: string): string {
  return Buffer.from(text).toString()
}
