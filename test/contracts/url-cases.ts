/** What happens to inputs on a web server, for the suite of identities. */
import { expect } from 'vitest'
import type { IngestOptions, Receipt } from '../../src/index.js'
import { etagOf, ObjectServer, serve } from '../support/servers/object-server.js'
import { rm, writeFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'

/** What a load did, and said. */
export interface Seen {
  readonly receipt: Receipt | undefined
  readonly code?: string
  readonly said: string
}

/** A folder, an index, and what Sluice knows of both: that of the suite. */
export interface Place {
  holds: number[]
  first: Seen | undefined
  path(name: string): string
  loaded(): Promise<void>
  load(source: IngestOptions['source'], more?: Partial<IngestOptions>): Promise<Seen>
  did(seen: Seen, name: string): string
}

export type Case = (at: Place) => Promise<readonly [did: string, seen: Seen]>

export const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n)
export const lines = (numbers: readonly number[]) => numbers.map(n => `{"n":${n}}\n`).join('')
/** So long that a part of it is read when the load stops. */
export const long = (numbers: readonly number[]) =>
  numbers.map(n => `{"n":${n},"fill":"${'x'.repeat(60_000)}"}\n`).join('')

export async function again(at: Place, url: string, name = 'a.ndjson'): Promise<readonly [string, Seen]> {
  const seen = await at.load(url)
  return [at.did(seen, name), seen]
}

async function loaded(at: Place, server: ObjectServer, more: { etag?: string } = {}): Promise<string> {
  server.put('a.ndjson', lines(range(1, 25)), more)
  at.first = await at.load(server.url('a.ndjson'))
  expect(at.first).toMatchObject({ receipt: { status: 'finished', created: 25 } })
  at.holds = range(1, 25)
  return server.url('a.ndjson')
}

export async function begun(at: Place, server: ObjectServer): Promise<string> {
  server.put('a.ndjson', long(range(1, 200)))
  const controller = new AbortController()
  at.first = await at.load(server.url('a.ndjson'), {
    signal: controller.signal,
    onEvent: event => {
      if (event.type === 'progress' && event.counts.created >= 20) controller.abort()
    },
  })
  expect(at.first.code).toBe('RUN_INTERRUPTED')
  at.holds = range(1, 200)
  server.asked = []
  return server.url('a.ndjson')
}

export const urlCases: Readonly<Record<string, Case>> = {
  'URL: the same command': async at => {
    await using server = await ObjectServer.start()
    const url = await loaded(at, server)
    server.asked = []
    const seen = await again(at, url)
    expect(server.ranges('a.ndjson')).toEqual(['bytes=0-255'])
    return seen
  },
  'URL: with another login or another signature': async at => {
    await using server = await ObjectServer.start()
    const url = await loaded(at, server)
    const signed = `${url.replace('//', '//user:secret@')}?X-Amz-Signature=0123456789`
    const seen = await again(at, signed)
    expect(JSON.stringify(seen)).not.toMatch(/secret|0123456789/)
    return seen
  },
  'URL: the same content uploaded again, with another ETag or time': async at => {
    await using server = await ObjectServer.start()
    const url = await loaded(at, server)
    server.put('a.ndjson', lines(range(1, 25)), { etag: '"another"', modified: new Date() })
    expect(await again(at, url)).toMatchObject(['Loads nothing', {}])
    server.asked = []
    const seen = await again(at, url)
    expect(server.ranges('a.ndjson')).toEqual(['bytes=0-255'])
    return seen
  },
  'URL: lines appended': async at => {
    await using server = await ObjectServer.start()
    const url = await loaded(at, server)
    server.put('a.ndjson', lines(range(1, 30)))
    at.holds = range(1, 30)
    return await again(at, url)
  },
  'URL: replaced by other content': async at => {
    await using server = await ObjectServer.start()
    const url = await loaded(at, server)
    server.put('a.ndjson', lines(range(51, 75)))
    at.holds.push(...range(51, 75))
    return await again(at, url)
  },
  'URL: the same content under another URL, and both exist': async at => {
    await using server = await ObjectServer.start()
    await loaded(at, server)
    server.put('b.ndjson', lines(range(1, 25)))
    at.holds.push(...range(1, 25))
    return await again(at, server.url('b.ndjson'), 'b.ndjson')
  },
  'URL: renamed': async at => {
    await using server = await ObjectServer.start()
    await loaded(at, server)
    server.rename('a.ndjson', 'b.ndjson')
    const seen = await again(at, server.url('b.ndjson'), 'b.ndjson')
    // Sluice knows it by its new name, and need not look at it again.
    server.asked = []
    const next = await again(at, server.url('b.ndjson'), 'b.ndjson')
    expect(server.asked.map(({ path, headers }) => [path, headers.range])).toEqual([['/b.ndjson', 'bytes=0-255']])
    expect(next).toMatchObject(['Loads nothing', { said: expect.not.stringContaining('was loaded as') as string }])
    return seen
  },
  'URL: renamed, and lines appended': async at => {
    await using server = await ObjectServer.start()
    await loaded(at, server)
    server.objects.clear()
    server.put('b.ndjson', lines(range(1, 30)))
    at.holds = range(1, 30)
    return await again(at, server.url('b.ndjson'), 'b.ndjson')
  },
  'URL: renamed, and the server has no ranges': async at => {
    await using server = await ObjectServer.start()
    server.hasRanges = false
    await loaded(at, server, { etag: '' })
    server.rename('a.ndjson', 'b.ndjson')
    return await again(at, server.url('b.ndjson'), 'b.ndjson')
  },
  'URL: rotated: renamed and appended to, and a new file has its name': async at => {
    await using server = await ObjectServer.start()
    await loaded(at, server)
    server.put('b.ndjson', lines(range(1, 30)))
    server.put('a.ndjson', lines(range(51, 60)))
    at.holds = [...range(1, 30), ...range(51, 60)]
    const seen = await at.load([server.url('a.ndjson'), server.url('b.ndjson')])
    return [`${at.did(seen, 'b.ndjson')}, and the new file`, seen]
  },
  'URL: rotated: copied, and then edited behind its first 256 bytes': async at => {
    await using server = await ObjectServer.start()
    server.put('a.ndjson', lines(range(1, 60)))
    at.first = await at.load(server.url('a.ndjson'))
    server.put('b.ndjson', lines(range(1, 60)))
    server.put('a.ndjson', lines([...range(1, 59), 1060]))
    at.holds = [...range(1, 60), ...range(1, 59), 1060]
    const seen = await at.load([server.url('a.ndjson'), server.url('b.ndjson')])
    return [`${at.did(seen, 'b.ndjson')} of the copy, and the whole new file`, seen]
  },
  'URL: compressed after it was loaded': async at => {
    await using server = await ObjectServer.start()
    await loaded(at, server)
    server.objects.clear()
    server.put('a.ndjson.gz', gzipSync(lines(range(1, 25))))
    return await again(at, server.url('a.ndjson.gz'), 'a.ndjson.gz')
  },
  'URL: compressed, and both exist': async at => {
    await using server = await ObjectServer.start()
    await loaded(at, server)
    server.put('a.ndjson.gz', gzipSync(lines(range(1, 25))))
    at.holds.push(...range(1, 25))
    return await again(at, server.url('a.ndjson.gz'), 'a.ndjson.gz')
  },
  'URL: lines appended, then compressed': async at => {
    await using server = await ObjectServer.start()
    await loaded(at, server)
    server.objects.clear()
    server.put('a.ndjson.gz', gzipSync(lines(range(1, 30))))
    at.holds = range(1, 30)
    return await again(at, server.url('a.ndjson.gz'), 'a.ndjson.gz')
  },
  'URL: the file was loaded from a disk where it no longer is': async at => {
    await using server = await ObjectServer.start()
    await at.loaded()
    await rm(at.path('a.ndjson'))
    server.put('a.ndjson', lines(range(1, 25)))
    return await again(at, server.url('a.ndjson'))
  },
  'URL: downloaded to a file': async at => {
    await using server = await ObjectServer.start()
    await loaded(at, server)
    await writeFile(at.path('a.ndjson'), lines(range(1, 25)))
    at.holds.push(...range(1, 25))
    return await again(at, at.path('a.ndjson'))
  },
  'URL: the server has no ETag': async at => {
    await using server = await ObjectServer.start()
    const url = await loaded(at, server, { etag: '' })
    return await again(at, url)
  },
  'URL: another query that is not a signature': async at => {
    await using server = await ObjectServer.start()
    const url = await loaded(at, server)
    at.holds.push(...range(1, 25))
    const seen = await at.load(`${url}?version=2`)
    return [seen.receipt?.inputs[0]?.alreadyLoaded === true ? 'Loads nothing' : 'Loads the whole file', seen]
  },
  'URL: interrupted': async at => {
    await using server = await ObjectServer.start()
    const url = await begun(at, server)
    const seen = await again(at, url)
    const [, ...more] = server.ranges('a.ndjson')
    expect(more.some(one => /^bytes=0-\d{6}/.test(one ?? ''))).toBe(false)
    return seen
  },
  'URL: interrupted, then renamed': async at => {
    await using server = await ObjectServer.start()
    await begun(at, server)
    server.rename('a.ndjson', 'b.ndjson')
    return await again(at, server.url('b.ndjson'), 'b.ndjson')
  },
  'URL: interrupted, then compressed': async at => {
    await using server = await ObjectServer.start()
    await begun(at, server)
    server.objects.clear()
    server.put('a.ndjson.gz', gzipSync(long(range(1, 200))))
    return await again(at, server.url('a.ndjson.gz'), 'a.ndjson.gz')
  },
  'URL: interrupted, then lines appended': async at => {
    await using server = await ObjectServer.start()
    const url = await begun(at, server)
    at.holds = range(1, 210)
    server.put('a.ndjson', long(range(1, 210)))
    return await again(at, url)
  },
  'URL: interrupted, then replaced': async at => {
    await using server = await ObjectServer.start()
    const url = await begun(at, server)
    server.put('a.ndjson', long(range(301, 500)))
    const seen = await again(at, url)
    server.put('a.ndjson', long(range(1, 200)))
    expect(await again(at, url)).toMatchObject(['Continues', {}])
    return seen
  },
  'URL: interrupted, and the server has no ranges': async at => {
    await using server = await ObjectServer.start()
    server.hasRanges = false
    const url = await begun(at, server)
    return await again(at, url)
  },
  'URL: replaced while Sluice reads it': async at => {
    await using server = await ObjectServer.start()
    const old = Buffer.from(long(range(1, 200)))
    server.put('a.ndjson', old)
    server.fault = ({ headers }, response, object) => {
      if (object === undefined) return false
      serve(object, headers, response)
      if (/^bytes=0-\d{4}/.test(headers.range ?? '')) server.put('a.ndjson', long(range(301, 500)))
      return true
    }
    const seen = await again(at, server.url('a.ndjson'))
    server.fault = undefined
    server.put('a.ndjson', old, { etag: etagOf(old) })
    expect(await at.load(server.url('a.ndjson'))).toMatchObject({ receipt: { status: 'finished' } })
    at.holds = range(1, 200)
    return seen
  },
}
