/** Shows metrics to a scrape of `GET /metrics`, without a token, or in a file for node_exporter. They hold no secret and no document. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { constants } from 'node:fs'
import { access, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { ListenAddress } from '../../base/addresses.js'
import { diskProblem, replaceFile } from '../../base/disk/safe-files.js'
import { fail } from '../../base/failure/failure.js'

/** A scrape takes one connection. */
const MOST_CONNECTIONS = 50
const REQUEST_MS = 10_000

export interface MetricsServer extends AsyncDisposable {
  readonly url: string
}

/** Starts to listen. Rejects with the error of the system if the address cannot be used. */
export async function startMetricsServer(
  { host, port }: ListenAddress,
  type: string,
  text: () => Promise<string>,
): Promise<MetricsServer> {
  const times = { requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS, keepAliveTimeout: REQUEST_MS }
  const server = createServer(times, (request, response) => {
    for (const stream of [request, response]) stream.on('error', () => undefined)
    const [path] = (request.url ?? '/').split('?')
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (path !== '/metrics' || !isRead) {
      response.writeHead(isRead ? 404 : 405, { 'content-type': 'text/plain' }).end('GET /metrics\n')
      return
    }
    void text().then(
      body => response.writeHead(200, { 'content-type': type }).end(request.method === 'HEAD' ? '' : body),
      () => response.writeHead(500).end(),
    )
  })
  server.maxConnections = MOST_CONNECTIONS
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  server.on('error', () => undefined)
  // A scrape must not keep a run from ending.
  server.unref()
  const name = host.includes(':') ? `[${host}]` : host
  return {
    url: `http://${name}:${(server.address() as AddressInfo).port}/metrics`,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

/** The collector runs as another user. */
const READABLE_BY_ALL = 0o644

/** These gauges keep their earlier values if a run does not set them, for example because it could not begin. */
const kept: ReadonlySet<string> = new Set([
  'sluice_last_success_timestamp_seconds',
  'sluice_unreplayed_documents',
  'sluice_input_gaps',
])

/** Throws SluiceError OPTION_INVALID if the file cannot be written, or belongs to another program. */
export async function checkTextfile(path: string): Promise<void> {
  try {
    await access(dirname(path), constants.W_OK)
    const [stranger] = [...familiesIn(await earlierText(path)).keys()].filter(name => !name.startsWith('sluice_'))
    if (stranger !== undefined) throw invalid(`${path} holds metrics of another program (${stranger})`)
  } catch (error) {
    if (error instanceof Error && !('code' in error && 'syscall' in error)) throw error
    throw invalid(`cannot write ${path}: ${diskProblem(error)}`)
  }
}

function invalid(problem: string) {
  return fail('OPTION_INVALID', { option: '--metrics', problem })
}

/** Replaces the file as a whole. Counters continue from their earlier values. Rejects with the error of the file system. */
export async function writeTextfile(path: string, now: string): Promise<void> {
  await replaceFile(path, addedTo(await earlierText(path), now), { mode: READABLE_BY_ALL })
}

/** Replaces the file as a whole with metrics that only say how things are now. */
export async function replaceTextfile(path: string, now: string): Promise<void> {
  await replaceFile(path, now, { mode: READABLE_BY_ALL })
}

async function earlierText(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
}

/**
 * Returns the metrics of a run with those of earlier runs: each process counts from 0, and Prometheus would see no increase if two
 * runs loaded the same number of documents.
 */
export function addedTo(earlier: string, now: string): string {
  const before = familiesIn(earlier)
  const families = [...familiesIn(now)].map(([name, family]) => {
    const known = before.get(name)
    const addsUp = family.type === 'counter' || family.type === 'histogram'
    for (const [series, value] of known?.samples ?? []) {
      if (addsUp) family.samples.set(series, (family.samples.get(series) ?? 0) + value)
      else if (kept.has(name) && !family.samples.has(series)) family.samples.set(series, value)
    }
    const samples = [...family.samples].map(([series, value]) => `${series} ${value}\n`)
    return [`# HELP ${name} ${family.help}\n# TYPE ${name} ${family.type}\n`, ...samples].join('')
  })
  return families.join('\n')
}

interface Family {
  readonly help: string
  readonly type: string
  /** Values by name and labels of their series. */
  readonly samples: Map<string, number>
}

/** Reads metrics by their family. Ignores lines that it does not understand. */
function familiesIn(text: string): Map<string, Family> {
  const families = new Map<string, Family>()
  let help = ''
  let current: Family | undefined
  for (const line of text.split('\n')) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? []
    if (kind === 'HELP') help = rest
    if (kind === 'TYPE') families.set(name, (current = { help, type: rest, samples: new Map() }))
    const [, series, value] = /^([a-zA-Z_:][^{ ]*(?:\{.*\})?) (\S+)$/.exec(line) ?? []
    if (series === undefined || !Number.isFinite(Number(value))) continue
    if (current === undefined) families.set(series, (current = { help: '', type: 'untyped', samples: new Map() }))
    current.samples.set(series, Number(value))
  }
  return families
}
