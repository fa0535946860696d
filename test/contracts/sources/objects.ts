/** Objects on servers: a web server that sends parts, one that does not say how long they are, and a bucket. */
import type { ServerResponse } from 'node:http'
import { vi } from 'vitest'
import type { Source } from '../../../src/base/flow.js'
import { openRemote, type RemoteSections } from '../../../src/features/remote/read-remote.js'
import { splitRemote } from '../../../src/options/remote-section.js'
import { findSources } from '../../../src/pipeline/source/open-sources.js'
import { StopSignals } from '../../../src/run/loop/stop-signals.js'
import { systemClock } from '../../../src/base/time/clock.js'
import { until } from '../../support/eventually.js'
import { type Asked, type Fault, ObjectServer, type ServedObject } from '../../support/servers/object-server.js'
import { bytesOf, type Row, type SourceKind, type SourceWorld } from './source-world.js'

const SECRET = 'hunter2-of-the-server'

interface Where {
  /** Paths of objects begin so. */
  readonly folder: string
  url(server: ObjectServer, name: string): string
  prepare?(server: ObjectServer): void
  /** Answers before the trouble of a story. */
  readonly answer?: Fault
}

const web: Where = { folder: '', url: (server, name) => server.url(name).replace('//', `//user:${SECRET}@`) }

const bucket: Where = {
  folder: 'bucket/',
  url: (_, name) => `s3://bucket/${name}`,
  prepare: server => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'someone')
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', SECRET)
    vi.stubEnv('AWS_REGION', 'us-east-1')
    vi.stubEnv('AWS_ENDPOINT_URL_S3', server.url(''))
  },
}

function kind(
  title: string,
  { folder, url, prepare }: Where,
  { sendsLength, ...rest }: Pick<SourceKind, 'again' | 'lacks'> & { readonly sendsLength: boolean },
): SourceKind {
  return {
    title,
    closesAtOnce: false,
    ...rest,
    open: async () => {
      const server = await ObjectServer.start()
      server.sendsLength = sendsLength
      prepare?.(server)
      const open = new Set<ServerResponse>()
      let trouble: Fault = () => false
      server.fault = (asked, response, object) => {
        open.add(response)
        response.on('close', () => open.delete(response))
        return listing(server, asked, response) || trouble(asked, response, object) || absent(asked, response, object)
      }
      const opened: (() => Promise<void>)[] = []
      const find = async (names: readonly string[]): Promise<Source[]> => {
        const { source, remote } = splitRemote(names.map(name => url(server, name)))
        if (remote === undefined) throw new Error('no input is on a server')
        const connecting = { connectTimeoutMs: undefined, timeoutMs: 60_000, proxy: undefined }
        const sections = { connecting, retrying: { maxElapsedMs: 0 }, remote } as unknown as RemoteSections
        const opener = openRemote(sections, { stop: new StopSignals({ clock: systemClock }), tell: () => {} })
        opened.push(async () => await opener[Symbol.asyncDispose]())
        return await findSources(source, { elsewhere: opener.elsewhere })
      }
      const put = (name: string, bytes: Buffer) => server.put(folder + name, bytes)
      const begin = async (rows: readonly Row[]) => {
        put('a.ndjson', bytesOf(rows))
        const [source] = await find(['a.ndjson'])
        if (source === undefined) throw new Error('no object was found')
        return source
      }
      /** The answer breaks off in the middle, and the next one is another. */
      const cut = (then: (response: ServerResponse) => void): Fault => {
        let answers = 0
        return (_, response, object) => {
          if (sendsLength || object === undefined) return false
          answers += 1
          if (answers === 1) response.writeHead(200).write(half(object.bytes), () => response.destroy())
          else then(response)
          return true
        }
      }
      const offer = async (inputs: Readonly<Record<string, readonly Row[]>>) => {
        for (const [name, rows] of Object.entries(inputs)) put(name, bytesOf(rows))
        return await find(Object.keys(inputs))
      }
      const world: SourceWorld = {
        secrets: [SECRET],
        offer,
        ...(rest.lacks.offerMatched === undefined
          ? {
              offerMatched: async (inputs: Readonly<Record<string, readonly Row[]>>) => {
                for (const [name, rows] of Object.entries(inputs)) put(name, bytesOf(rows))
                return await find(['part-*'])
              },
            }
          : {}),
        offerBytes: async (name, bytes) => {
          put(name, bytes)
          const [source] = await find([name])
          if (source === undefined) throw new Error('no object was found')
          return source
        },
        missing: async () => await find(['missing']),
        replaced: async (before, after) => {
          const source = await begin(before)
          trouble = cut(response => response.writeHead(200).end(bytesOf(after)))
          return { source, strike: () => put('a.ndjson', bytesOf(after)) }
        },
        shortened: async rows => {
          const source = await begin(rows)
          trouble = cut(response => response.writeHead(200).end(bytesOf(rows).subarray(0, 100)))
          return { source, strike: () => put('a.ndjson', half(bytesOf(rows))) }
        },
        failing: async rows => {
          const source = await begin(rows)
          trouble = cut(response => response.writeHead(403).end())
          const strike = () => {
            trouble = (_, response) => {
              response.writeHead(403).end()
              return true
            }
          }
          return { source, strike }
        },
        stalled: async rows => {
          const source = await begin(rows)
          let waiting = () => {}
          const waits = new Promise<void>(resolve => (waiting = resolve))
          trouble = (_, response, object) => {
            const { bytes = Buffer.alloc(0) } = object ?? {}
            const length = sendsLength ? { 'content-length': bytes.length } : {}
            response.writeHead(200, { ...length, ...(sendsLength ? { etag: '"1"' } : {}) })
            response.write(half(bytes), () => waiting())
            return true
          }
          return { source, waits }
        },
        closed: async () => await until(() => open.size === 0),
        [Symbol.asyncDispose]: async () => {
          for (const end of opened) await end()
          await server[Symbol.asyncDispose]()
          vi.unstubAllEnvs()
        },
      }
      return world
    },
  }
}

function half(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.length >> 1)
}

/** A bucket answers in its own language. */
function absent({ path }: Asked, response: ServerResponse, object: ServedObject | undefined): boolean {
  if (object !== undefined || !path.startsWith('/bucket')) return false
  const error = '<?xml version="1.0"?><Error><Code>NoSuchKey</Code></Error>'
  response.writeHead(404, { 'content-type': 'application/xml' }).end(error)
  return true
}

function listing(server: ObjectServer, { path }: Asked, response: ServerResponse): boolean {
  if (new URL(path, 'http://server').searchParams.get('list-type') !== '2') return false
  const objects = [...server.objects].map(
    ([key, { bytes }]) => `<Contents><Key>${key.replace('/bucket/', '')}</Key><Size>${bytes.length}</Size></Contents>`,
  )
  const list = `<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated>${objects.join('')}</ListBucketResult>`
  response.writeHead(200, { 'content-type': 'application/xml' }).end(list)
  return true
}

const noPattern = { offerMatched: 'a web server lists nothing' }

export const webObjects = kind('objects of a web server', web, { again: 'file', sendsLength: true, lacks: noPattern })

export const streamedObjects = kind('objects of a web server that does not say how long they are', web, {
  again: 'address',
  sendsLength: false,
  lacks: noPattern,
})

export const bucketObjects = kind('objects of a bucket', bucket, { again: 'file', sendsLength: true, lacks: {} })
