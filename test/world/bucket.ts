/** The web server and the bucket of a story, and how their answers fail. */
import type { ServerResponse } from 'node:http'
import { type Asked, etagOf, type Fault, ObjectServer, type ServedObject } from '../support/servers/object-server.js'

const BUCKET = 'bucket'

/** Files that are not on this machine. `real/` has others, on real servers. */
export interface StoryObjects extends AsyncDisposable {
  readonly bucket: string
  /** What a command needs to reach them. The AWS tools read the environment of the process. */
  readonly env: Readonly<Record<string, string>>
  put(key: string, bytes: Buffer): void
  rename(key: string, to: string): void
  remove(key: string): void
  /** Whether no command has run since an object of this name was put there. */
  isNew(key: string): boolean
  /** The address of an object on the web server. */
  url(key: string): string
  /** Resolves when the servers have all of that. */
  settle(): Promise<void>
  /** Lets some answers with objects fail. Returns a function that ends that. */
  plant(kind: string, after: number, times: number): () => void
}

export async function startObjects(): Promise<StoryObjects> {
  const server = await ObjectServer.start()
  const late = new Set<string>()
  const fresh = new Set<string>()
  openBucket(server, late)
  const add = (key: string) => {
    const path = `/${BUCKET}/${key}`
    if (!server.objects.has(path)) fresh.add(path)
  }
  return {
    bucket: BUCKET,
    env: {
      AWS_ACCESS_KEY_ID: 'someone',
      AWS_SECRET_ACCESS_KEY: 'not a secret',
      AWS_REGION: 'us-east-1',
      AWS_ENDPOINT_URL_S3: server.url(''),
    },
    put: (key, bytes) => {
      add(key)
      server.put(`${BUCKET}/${key}`, bytes)
    },
    rename: (key, to) => {
      add(to)
      server.rename(`${BUCKET}/${key}`, `${BUCKET}/${to}`)
    },
    isNew: key => fresh.has(`/${BUCKET}/${key}`),
    remove: key => server.objects.delete(`/${BUCKET}/${key}`),
    url: key => server.url(`${BUCKET}/${key}`),
    settle: async () => undefined,
    plant: (kind, after, times) => {
      if (kind === LATE) for (const path of fresh) late.add(path)
      const heal = plantAtServer(server, kind, after, times)
      return () => {
        late.clear()
        fresh.clear()
        heal()
      }
    },
    [Symbol.asyncDispose]: async () => await server[Symbol.asyncDispose](),
  }
}

/** Answers lists of objects, without those that are late. */
function openBucket(server: ObjectServer, late: ReadonlySet<string>): void {
  server.fault = (asked, response) => {
    const { pathname, searchParams } = new URL(asked.path, 'http://server')
    if (searchParams.get('list-type') === '2') {
      const prefix = `/${BUCKET}/${searchParams.get('prefix') ?? ''}`
      const objects = [...server.objects].filter(([path]) => path.startsWith(prefix) && !late.has(path))
      return end(response, 200, listOf(objects))
    }
    const isOfS3 = asked.headers.authorization?.startsWith('AWS4') === true
    if (!isOfS3 || server.objects.has(pathname)) return false
    return end(response, 404, '<Error><Code>NoSuchKey</Code></Error>')
  }
}

function end(response: ServerResponse, status: number, xml: string): boolean {
  response.writeHead(status, { 'content-type': 'application/xml' }).end(`<?xml version="1.0"?>${xml}`)
  return true
}

function listOf(objects: readonly (readonly [string, ServedObject])[]): string {
  const contents = objects.map(([path, { bytes, etag = etagOf(bytes), modified }]) => {
    const key = path.slice(BUCKET.length + 2)
    const about = `<Size>${bytes.length}</Size><ETag>${etag.replaceAll('"', '&quot;')}</ETag>`
    return `<Contents><Key>${key}</Key>${about}<LastModified>${modified?.toISOString() ?? ''}</LastModified></Contents>`
  })
  return `<ListBucketResult><IsTruncated>false</IsTruncated>${contents.join('')}</ListBucketResult>`
}

type Failing = (asked: Asked, response: ServerResponse, object: ServedObject) => void

const failing: Readonly<Record<string, Failing>> = {
  'server cuts': (_, response, { bytes, etag = etagOf(bytes) }) => {
    response.writeHead(200, { 'content-length': bytes.length, etag })
    response.write(bytes.subarray(0, Math.ceil(bytes.length / 2)), () => response.destroy())
  },
  'server fails': (_, response) => void response.writeHead(503).end(),
}

/** Lists of the bucket leave out what is new. */
export const LATE = 'server lists late'

export const serverTroubles = [...Object.keys(failing), LATE]

/** Lets some answers with objects fail. Returns a function that ends that. */
function plantAtServer(server: ObjectServer, kind: string, after: number, times: number): () => void {
  const { fault: usual = () => false } = server
  const fail = failing[kind]
  let count = 0
  const fault: Fault = (asked, response, object) => {
    if (usual(asked, response, object)) return true
    if (fail === undefined || object === undefined || asked.method !== 'GET') return false
    count += 1
    if (count <= after || count > after + times) return false
    fail(asked, response, object)
    return true
  }
  server.fault = fault
  return () => (server.fault = usual)
}
