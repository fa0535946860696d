import { createWriteStream } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Command } from 'commander'
import { type ConnectOptions, connect } from '../../index.js'
import { isSluiceError } from '../../base/failure/failure.js'
import { type Lab, startLab } from '../../lab/index.js'
import { count } from '../terminal/columns.js'
import { sayFailure } from '../show/say-error.js'
import { showReceipt } from '../show/show-receipt.js'
import type { Terminal } from '../terminal/terminal.js'
import { exitOf } from '../../pipeline/ledger/receipt.js'
import { showLoad } from '../application/show-load.js'

const index = 'demo-logs'
const documents = 5000

export function defineDemo(command: Command, terminal: Terminal, done: (code: number) => void): void {
  command.addHelpText('after', '\nExamples:\n  sluice demo\n\nNothing leaves this machine.').action(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-demo-'))
    try {
      done((await loadThroughBoth(folder, terminal)) || (await loadThroughOne(folder, terminal)))
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
}

/** The main job: a file, through the proxy and the IP filter, into the cluster. */
async function loadThroughBoth(folder: string, terminal: Terminal): Promise<number> {
  const lab = await startLab({ register: 'both', ports: 'random' })
  try {
    const [first, second] = lab.line.staticIps
    terminal.out(
      `1. The lab is ready: a proxy with the static addresses ${first} and ${second}, and a search cluster\n`,
    )
    terminal.out(`   that allows only those two addresses (${lab.line.cluster.url}).\n\n`)
    const file = join(folder, 'logs.ndjson.gz')
    await pipeline(Readable.from(demoDocuments(documents)), createGzip(), createWriteStream(file))
    terminal.out(`2. Sluice wrote ${count(documents)} log documents, compressed with gzip. You would type:\n\n`)
    terminal.out(`   STATIC_PROXY_URL=http://USER:PASSWORD@HOST:9293 sluice ingest logs.ndjson.gz --index ${index}\n\n`)
    const way = await wayInto(lab)
    const receipt = await showLoad(
      { ...way, source: file, index, deadLetters: join(folder, 'dead.ndjson') },
      terminal,
      true,
    )
    terminal.out(`3. The receipt:\n\n${indented(showReceipt(receipt))}\n`)
    if (exitOf(receipt) !== 0) return exitOf(receipt)
    terminal.out(`4. The cluster counts ${count(await countInCluster(way))} documents in ${index}.\n\n`)
    return 0
  } finally {
    await lab.close()
  }
}

/** Shows the most common mistake: one of the two addresses is not registered. */
async function loadThroughOne(folder: string, terminal: Terminal): Promise<number> {
  const lab = await startLab({ register: 'first', ports: 'random' })
  try {
    terminal.out(`5. The same load, with only ${lab.line.staticIps[0]} in the cluster's IP filter:\n\n`)
    const way = await wayInto(lab)
    const source = join(folder, 'logs.ndjson.gz')
    const receipt = await showLoad({ ...way, source, index, deadLetters: join(folder, 'dead.ndjson') }, terminal, true)
    if (receipt.failure?.code !== 'EGRESS_PARTLY_ALLOWED') return exitOf(receipt) || 70
    terminal.out(expected(sayFailure(receipt.failure)))
    return 0
  } catch (error) {
    if (!isSluiceError(error) || error.code !== 'EGRESS_PARTLY_ALLOWED') throw error
    terminal.out(expected(sayFailure(error.failure)))
    return 0
  } finally {
    await lab.close()
  }
}

function expected(text: string): string {
  return `${indented(text)}\n   The load stopped before the first document, with exit code 3. Otherwise half of its requests would have failed.\n`
}

async function wayInto({ line }: Lab): Promise<ConnectOptions> {
  return {
    target: { url: line.cluster.url, apiKey: line.cluster.apiKey, ca: await readFile(line.cluster.caFile) },
    proxy: { url: line.proxy.http, origin: 'the lab' },
    staticIps: line.staticIps,
    ipCheckUrl: line.ipCheckUrl,
  }
}

async function countInCluster(way: ConnectOptions): Promise<number> {
  const connected = await connect(way)
  try {
    const { transport } = connected.client
    await transport.request({ method: 'POST', path: `/${index}/_refresh` })
    const { count } = await transport.request<{ count: number }>({ method: 'GET', path: `/${index}/_count` })
    return count
  } finally {
    await connected.close()
  }
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '   ')
}

const services = ['checkout', 'search', 'catalogue', 'accounts', 'mail'] as const
const paths = ['/', '/items/4711', '/basket', '/login', '/search?q=lamp'] as const

/** NDJSON lines like those of web services, the same on every machine. */
function* demoDocuments(documents: number): Generator<string> {
  for (let at = 0; at < documents; at++) {
    // A step that shares no factor with the lists, so that combinations vary.
    const mixed = (at * 2_654_435_761) % 4_294_967_296
    const status = mixed % 50 === 0 ? 500 : mixed % 17 === 0 ? 404 : 200
    const document = {
      '@timestamp': new Date(Date.UTC(2026, 0, 1) + at * 137).toISOString(),
      service: services[mixed % services.length],
      path: paths[(mixed >>> 8) % paths.length],
      status,
      duration_ms: 1 + ((mixed >>> 4) % 900),
      message: status === 200 ? 'request served' : 'request failed',
      trace: mixed.toString(16).padStart(8, '0') + at.toString(16).padStart(8, '0'),
    }
    yield `${JSON.stringify(document)}\n`
  }
}
