/** What happens to inputs on a web server that does not say how long they are, for the suite of identities. */
import { rm } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { expect } from 'vitest'
import { ObjectServer } from '../support/servers/object-server.js'
import type { Case, Place, Seen } from './url-cases.js'
import { again, begun, lines, long, range } from './url-cases.js'

/** Sends objects in chunks. */
async function streaming(): Promise<ObjectServer> {
  const server = await ObjectServer.start()
  server.sendsLength = false
  return server
}

async function loaded(
  at: Place,
  server: ObjectServer,
  text: string | Uint8Array = lines(range(1, 25)),
  name = 'a.ndjson',
) {
  server.put(name, text)
  at.first = await at.load(server.url(name))
  expect(at.first).toMatchObject({ receipt: { status: 'finished', created: 25 } })
  at.holds = range(1, 25)
  server.asked = []
  return server.url(name)
}

/** What is there of an interrupted load. */
const stored = ({ first }: Place) => range(1, first?.receipt?.created ?? 0)

/** One request learns what it is, and one reads it. */
async function cheaplyAgain(at: Place, server: ObjectServer, url: string): Promise<readonly [string, Seen]> {
  const seen = await again(at, url)
  expect(server.asked).toHaveLength(2)
  return seen
}

export const streamedCases: Readonly<Record<string, Case>> = {
  'No length: the same command': async at => {
    await using server = await streaming()
    return await cheaplyAgain(at, server, await loaded(at, server))
  },
  'No length: the server sends parts of it': async at => {
    await using server = await streaming()
    server.fault = ({ headers: { range: wanted } }, response, object) => {
      const [, to] = /^bytes=0-(\d+)$/.exec(wanted ?? '') ?? []
      if (to === undefined || object === undefined) return false
      const part = object.bytes.subarray(0, Number(to) + 1)
      response.writeHead(206, { 'content-range': `bytes 0-${part.length - 1}/*` }).end(part)
      return true
    }
    // Shorter and longer than what is asked for first.
    server.put('b.ndjson', lines(range(26, 30)))
    expect(await at.load(server.url('b.ndjson'))).toMatchObject({ receipt: { created: 5 } })
    const url = await loaded(at, server)
    at.holds = range(1, 30)
    return await cheaplyAgain(at, server, url)
  },
  'No length: lines appended': async at => {
    await using server = await streaming()
    const url = await loaded(at, server)
    server.put('a.ndjson', lines(range(1, 30)))
    at.holds = range(1, 30)
    const seen = await cheaplyAgain(at, server, url)
    expect(seen[1].receipt).toMatchObject({ created: 5, duplicate: 0 })
    expect(await again(at, url)).toMatchObject(['Loads nothing', {}])
    return seen
  },
  'No length: lines appended, and the last line had no line end': async at => {
    await using server = await streaming()
    const url = await loaded(at, server, lines(range(1, 25)).trimEnd())
    expect(await again(at, url)).toMatchObject(['Loads nothing', {}])
    server.put('a.ndjson', lines(range(1, 30)))
    at.holds = range(1, 30)
    const seen = await again(at, url)
    expect(seen[1].receipt).toMatchObject({ created: 5, duplicate: 0 })
    return seen
  },
  'No length: other content': async at => {
    await using server = await streaming()
    const url = await loaded(at, server)
    server.put('a.ndjson', lines(range(51, 75)))
    at.holds.push(...range(51, 75))
    return await cheaplyAgain(at, server, url)
  },
  'No length: the content of before is back': async at => {
    await using server = await streaming()
    const url = await loaded(at, server)
    server.put('a.ndjson', lines(range(51, 75)))
    await at.load(url)
    server.put('a.ndjson', lines(range(1, 25)))
    at.holds.push(...range(51, 75))
    return await again(at, url)
  },
  'No length: edited in the middle': async at => {
    await using server = await streaming()
    const url = await loaded(at, server)
    const edited = [...range(1, 23), 98, 99]
    server.put('a.ndjson', lines(edited))
    at.holds.push(...edited)
    // It holds the first bytes of before, and still takes no more requests.
    return await cheaplyAgain(at, server, url)
  },
  'No length: cut off': async at => {
    await using server = await streaming()
    const url = await loaded(at, server)
    server.put('a.ndjson', lines(range(1, 24)))
    at.holds.push(...range(1, 24))
    return await again(at, url)
  },
  'No length: compressed after it was loaded': async at => {
    await using server = await streaming()
    const url = await loaded(at, server)
    server.put('a.ndjson', gzipSync(lines(range(1, 25))))
    return await again(at, url)
  },
  'No length: a CSV with new rows': async at => {
    await using server = await streaming()
    const rows = (numbers: readonly number[]) => `n,text\n${numbers.map(n => `${n},"a\n""b"""\n`).join('')}`
    const more = { csv: { types: { n: 'long' } } } as const
    server.put('a.csv', rows(range(1, 25)))
    await at.load(server.url('a.csv'), more)
    server.put('a.csv', rows(range(1, 30)))
    at.holds = range(1, 30)
    const seen = await at.load(server.url('a.csv'), more)
    expect(seen.receipt).toMatchObject({ created: 5, duplicate: 0 })
    return [at.did(seen, 'a.csv'), seen]
  },
  'No length: renamed': async at => {
    await using server = await streaming()
    await loaded(at, server)
    server.rename('a.ndjson', 'b.ndjson')
    return await again(at, server.url('b.ndjson'), 'b.ndjson')
  },
  'No length: the same content under another URL, and both exist': async at => {
    await using server = await streaming()
    await loaded(at, server)
    server.put('b.ndjson', lines(range(1, 25)))
    at.holds.push(...range(1, 25))
    return await again(at, server.url('b.ndjson'), 'b.ndjson')
  },
  'No length: the server says now how long it is': async at => {
    await using server = await streaming()
    const url = await loaded(at, server)
    server.sendsLength = true
    expect(await again(at, url)).toMatchObject(['Loads nothing', {}])
    server.asked = []
    const seen = await again(at, url)
    expect(server.asked).toHaveLength(1)
    server.sendsLength = false
    expect(await again(at, url)).toMatchObject(['Loads nothing', {}])
    return seen
  },
  'No length: the file was loaded from a disk where it no longer is': async at => {
    await using server = await streaming()
    await at.loaded()
    await rm(at.path('a.ndjson'))
    server.put('a.ndjson', lines(range(1, 25)))
    return await again(at, server.url('a.ndjson'))
  },
  'No length: interrupted': async at => {
    await using server = await streaming()
    return await cheaplyAgain(at, server, await begun(at, server))
  },
  'No length: interrupted, then lines appended': async at => {
    await using server = await streaming()
    const url = await begun(at, server)
    server.put('a.ndjson', long(range(1, 210)))
    at.holds = range(1, 210)
    return await again(at, url)
  },
  'No length: interrupted, then compressed': async at => {
    await using server = await streaming()
    const url = await begun(at, server)
    server.put('a.ndjson', gzipSync(long(range(1, 200))))
    return await again(at, url)
  },
  'No length: interrupted, then other content': async at => {
    await using server = await streaming()
    const url = await begun(at, server)
    // The first documents are those of before.
    const other = [...range(1, 3), ...range(301, 500)]
    server.put('a.ndjson', long(other))
    at.holds = [...stored(at), ...other]
    const seen = await again(at, url)
    expect(await again(at, url)).toMatchObject(['Loads nothing', {}])
    return seen
  },
  'No length: interrupted, then the server fails while Sluice compares': async at => {
    await using server = await streaming()
    const url = await begun(at, server)
    server.fault = ({ headers }, response, object) => {
      if (headers.range !== undefined || object === undefined) return false
      response.writeHead(200).write(object.bytes.subarray(0, 100_000), () => response.destroy())
      return true
    }
    const seen = await at.load(url, { maxElapsedMs: 0 })
    server.fault = undefined
    expect(await again(at, url)).toMatchObject(['Continues', { receipt: { read: 200 } }])
    return [at.did(seen, 'a.ndjson'), seen]
  },
  'No length: `--again`': async at => {
    await using server = await streaming()
    const url = await loaded(at, server)
    at.holds.push(...range(1, 25))
    const seen = await at.load(url, { again: true })
    return [at.did(seen, 'a.ndjson'), seen]
  },
}
