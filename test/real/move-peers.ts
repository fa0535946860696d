/** What the proof of moving compares Sluice with: elasticdump, and requests that only read. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'

const bench = join(import.meta.dirname, '..', '..', 'bench')
const elasticdump = join(bench, 'node_modules', 'elasticdump', 'bin', 'elasticdump')

/** Installs elasticdump beside the benchmarks, which name its version. */
export function installElasticdump(): void {
  if (existsSync(elasticdump)) return
  const { status, stderr } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: bench, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm ci in bench: ${stderr}`)
}

/** `from` and `to`: URLs of indices with user and password. */
export function startElasticdump(from: string, to: string) {
  const args = [`--input=${from}`, `--output=${to}`, '--type=data', '--limit=1000']
  const began = performance.now()
  const child = spawn(process.execPath, [elasticdump, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()))
  const ended = once(child, 'close').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as string | null,
    output,
    seconds: (performance.now() - began) / 1000,
  }))
  return { child, ended }
}

interface Reading {
  /** Of the cluster. */
  readonly url: string
  readonly apiKey: string
  readonly index: string
  readonly shards: number
}

/** Fetches every document as Sluice does, and drops it: pages of 10,000 of all shards at once. Returns how long it took. */
export async function readAndDrop({
  url,
  apiKey,
  index,
  shards,
}: Reading): Promise<{ seconds: number; bytes: number }> {
  const agent = new Agent({ keepAlive: true })
  const began = performance.now()
  let bytes = 0
  const fetchPage = async (shard: number, after: number) => {
    const sent = request(`${url}/${index}/_search?preference=_shards:${shard}`, {
      agent,
      method: 'POST',
      headers: { authorization: `ApiKey ${apiKey}`, 'content-type': 'application/json' },
    })
    sent.end(
      JSON.stringify({ size: 10_000, sort: [{ _seq_no: 'asc' }], track_total_hits: false, search_after: [after] }),
    )
    const [answer] = (await once(sent, 'response')) as [NodeJS.ReadableStream & { statusCode?: number }]
    let tail = Buffer.alloc(0)
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length
      tail = Buffer.concat([
        tail.subarray(Math.max(0, tail.length - 200)),
        chunk.subarray(Math.max(0, chunk.length - 200)),
      ])
    }
    if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`)
    // The last hit ends with its number.
    return [...tail.toString('latin1').matchAll(/"sort":\[(\d+)\]\}/g)].at(-1)?.[1]
  }
  const readShard = async (shard: number) => {
    for (let after: string | undefined = '-1'; after !== undefined;) after = await fetchPage(shard, Number(after))
  }
  await Promise.all(Array.from({ length: shards }, async (_, shard) => await readShard(shard)))
  agent.destroy()
  return { seconds: (performance.now() - began) / 1000, bytes }
}
