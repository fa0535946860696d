/** Loads files that others made as a newcomer would, compares what is stored with what a person sees, and prints a table. */
import { execFile } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { adviceOn } from '../../src/base/failure/index-errors.js'
import { connect, type Connected, type Receipt } from '../../src/index.js'
import type { World } from '../contracts/world.js'
import { type Ended, sluice } from '../support/command/sluice.js'
import { fetchCorpus, type FirstTry } from './fetch.js'

/** `loads`: as a person expects. `asks`: names the command that does, and it does. `fails`: says that it does not. `wrong`: other values or types. */
type Outcome = 'loads' | 'asks' | 'fails' | 'wrong'

interface Tried {
  readonly outcome: Outcome
  /** What the command named, or what is wrong. */
  readonly why: string
}

/** The world, and a connection that outlives the tries. */
interface Opened {
  readonly world: World
  readonly client: Connected['client']
  readonly run: typeof sluice
}

interface Row {
  readonly name: string
  readonly text: Tried
  readonly infer: Tried
}

type Mode = 'text' | 'infer'

interface Verdict {
  readonly documents: number
  /** Rows with more or fewer cells than columns. */
  readonly unfit: number
  /** The array in which a person sees the documents. */
  readonly pick: string | null
  /** Documents that a person sees and the index lacks, and the other way round. */
  readonly lacking: number
  readonly others: number
  readonly first?: readonly [string, string]
  readonly types: readonly string[]
}

const compareScript = fileURLToPath(new URL('compare.py', import.meta.url))
let indices = 0

/** Tries every file of the corpus whose name FILES matches (default: all), and prints what became of it. `run`: runs the command. */
export async function tryAll(
  world: World,
  run: Opened['run'] = sluice,
): Promise<{ readonly rows: readonly Row[]; readonly missing: readonly string[] }> {
  const { files, missing } = fetchCorpus()
  for (const one of missing) console.log(`not fetched: ${one}`)
  await using way = await asUser(world)
  const opened = { world, client: way.client, run }
  const folder = mkdtempSync(join(tmpdir(), 'sluice-first-try-'))
  const rows: Row[] = []
  const log = join(tmpdir(), `sluice-first-try-${process.pid}.txt`)
  const chosen = new RegExp(process.env['FILES'] ?? '')
  const left = files.filter(({ name }) => chosen.test(name)).values()
  const tryFiles = async () => {
    for (const file of left) {
      const text = await tried(opened, folder, file, 'text')
      const row = { name: file.name, text, infer: await tried(opened, folder, file, 'infer') }
      rows.push(row)
      appendFileSync(log, `${lineOf(row)}\n`)
    }
  }
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, tryFiles))
    const lines = rows.toSorted((one, other) => one.name.localeCompare(other.name)).map(lineOf)
    console.log(`--index alone, --mapping infer, file\n\n${lines.join('\n')}\n\nThe same is in ${log}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
  return { rows, missing }
}

/** Most of a try is waiting. */
const AT_ONCE = 3

function lineOf(row: Row): string {
  return `${row.text.outcome.padEnd(6)} ${row.infer.outcome.padEnd(6)} ${row.name}${said(row)}`
}

function said({ text, infer }: Row): string {
  const all = [...new Set([text.why, infer.why])].filter(why => why !== '')
  return all.length === 0 ? '' : `: ${all.join('. ')}`
}

/** Counts the outcomes in both ways, as the last lines of the table. */
export function summary(rows: readonly Row[]): Readonly<Record<Mode, Readonly<Record<Outcome, number>>>> {
  const count = (mode: Mode) => {
    const of = (outcome: Outcome) => rows.filter(row => row[mode].outcome === outcome).length
    return { loads: of('loads'), asks: of('asks'), fails: of('fails'), wrong: of('wrong') }
  }
  return { text: count('text'), infer: count('infer') }
}

async function tried(world: Opened, folder: string, file: FirstTry, mode: Mode): Promise<Tried> {
  const words = mode === 'infer' ? ['--mapping', 'infer'] : []
  const { ended, verdict, rejected, advice } = await loaded(world, folder, { file, mode, words })
  if (verdict.pick !== null) return await picked(world, folder, { file, mode, ended, pick: verdict.pick, words })
  const problem = problemOf(ended, verdict, rejected)
  if (problem === undefined) return { outcome: 'loads', why: '' }
  const { skip = 0, columns } = file.dialect
  if (columns !== undefined && /--columns/.test(ended.stderr)) {
    const names = Array.from({ length: columns }, (_, at) => `c${at + 1}`).join(',')
    const named = [...(skip === 0 ? [] : ['--skip-lines', String(skip)]), '--columns', names]
    const again = await loaded(world, folder, { file, mode, words: [...words, ...named] })
    return (
      problemOf(again.ended, again.verdict, again.rejected) ?? { outcome: 'asks', why: named.slice(0, -1).join(' ') }
    )
  }
  // A load that rejects documents and names the way that loads them has asked for the right thing.
  const isNamed = mode === 'text' && /pass --mapping infer/.test(ended.stderr + advice)
  if (isNamed && problem.outcome === 'fails') {
    const again = await loaded(world, folder, { file, mode: 'infer', words: ['--mapping', 'infer'] })
    const left = problemOf(again.ended, again.verdict, again.rejected)
    if (left === undefined) return { outcome: 'asks', why: '--mapping infer' }
  }
  return problem
}

/** Runs the command that a note names for a document with an array. */
async function picked(
  world: Opened,
  folder: string,
  {
    file,
    mode,
    ended,
    pick,
    words,
  }: Omit<Try, 'words'> & { readonly ended: Ended; readonly pick: string; readonly words: readonly string[] },
): Promise<Tried> {
  const [, path] = /`--pick '?([^`']+)'?`/.exec(ended.stderr) ?? []
  if (path !== pick) return { outcome: 'fails', why: `a person sees the documents in ${pick}, and no word of that` }
  const inside = { ...file, dialect: { ...file.dialect, picked: pick } }
  const again = await loaded(world, folder, { file: inside, mode, words: [...words, '--pick', pick] })
  const left = problemOf(again.ended, again.verdict, again.rejected)
  return left ?? { outcome: 'asks', why: `--pick ${pick}` }
}

function problemOf({ code, stderr }: Ended, verdict: Verdict, rejected: number): Tried | undefined {
  const { lacking, others, unfit, types, first } = verdict
  if (others > 0) return { outcome: 'wrong', why: `${others} other documents: ${JSON.stringify(first)}` }
  if (lacking > 0 && (code === 0 || rejected - unfit !== lacking)) {
    const isSaid = code !== 0 && rejected === 0
    const why = isSaid
      ? (/^.*(?:error|[A-Z]+_[A-Z_]+).*$/m.exec(stderr)?.[0] ?? stderr).slice(0, 300)
      : `${lacking} are missing: ${first?.[0]}`
    return { outcome: isSaid ? 'fails' : 'wrong', why }
  }
  if (lacking > 0) return { outcome: 'fails', why: `${lacking} are rejected: ${reasonIn(stderr)}` }
  if (unfit !== rejected) return { outcome: 'wrong', why: `${rejected} rejected, and ${unfit} do not fit` }
  if (types.length > 0) return { outcome: 'wrong', why: `types: ${types.slice(0, 3).join(', ')}` }
  return undefined
}

function reasonIn(stderr: string): string {
  return /\d+ {2}\w+_\w+ .*$/m.exec(stderr)?.[0].slice(0, 200) ?? stderr.slice(-200)
}

interface Try {
  readonly file: FirstTry
  readonly mode: Mode
  readonly words: readonly string[]
}

/** Loads a file into an index of its own, and compares. */
async function loaded({ world, client, run }: Opened, folder: string, { file, mode, words }: Try) {
  indices += 1
  const number = indices
  const index = `first-try-${number}`
  const own = (name: string) => join(folder, `${number}-${name}`)
  const env = environmentOf(world)
  const places = ['--state-dir', own('state'), '--dead-letters', own('letters')]
  const load = async (more: readonly string[]) =>
    await run(['ingest', file.path, '--index', index, ...more, '--json', ...places], { cwd: folder, env })
  let ended = await load(words)
  if (/mapper type \[geo_shape\]/.test(ended.stderr)) {
    // The small cluster of the tests has no shapes. All else of the proposal is proven.
    const inferred = await run(['infer', file.path, ...pickIn(words)], { cwd: folder, env: {} })
    const mapping = inferred.stdout.replaceAll('"type": "geo_shape"', '"type": "object", "enabled": false')
    ended = await load([...pickIn(words), '--mapping', mapping])
  }
  const receipt = receiptIn(ended.stdout)
  const documents = receipt === undefined ? [] : await world.documents(index)
  const held = own('held.ndjson')
  writeFileSync(held, documents.map(one => `${one.replaceAll('\n', ' ')}\n`).join(''))
  const mapping = mode === 'infer' && documents.length > 0 ? await mappingOf(client, index) : null
  const given = own('case.json')
  writeFileSync(given, JSON.stringify({ path: file.path, spec: file.dialect, mode, documents: held, mapping }))
  const { stdout } = await promisify(execFile)('python3', [compareScript, given])
  await client.indices.delete({ index, ignore_unavailable: true })
  // What a person reads below the receipt.
  const advice = (receipt?.rejections ?? []).map(({ type, reason }) => adviceOn(type, reason)).join('\n')
  return { ended, verdict: JSON.parse(stdout) as Verdict, rejected: receipt?.rejected ?? 0, advice }
}

function pickIn(words: readonly string[]): readonly string[] {
  const at = words.indexOf('--pick')
  return at < 0 ? [] : words.slice(at, at + 2)
}

function environmentOf({ cluster, proxy, proxyCaFile, staticIps }: World) {
  return {
    SLUICE_PREFLIGHT_CONNECTIONS: '1',
    STATIC_PROXY_URL: proxy.https,
    STATIC_IPS: staticIps.join(','),
    ELASTICSEARCH_URL: cluster.url,
    ELASTICSEARCH_API_KEY: cluster.apiKey,
    SLUICE_CA: cluster.caFile,
    SLUICE_PROXY_CA: proxyCaFile,
  }
}

function receiptIn(stdout: string): Receipt | undefined {
  try {
    return JSON.parse(stdout) as Receipt
  } catch {
    return undefined
  }
}

async function asUser({ cluster, proxy, proxyCaFile }: World) {
  const { url, username, password, caFile } = cluster
  return await connect({
    target: { url, username, password, ca: readFileSync(caFile) },
    proxy: { url: proxy.https, ca: readFileSync(proxyCaFile) },
    preflightConnections: 1,
  })
}

async function mappingOf(client: Connected['client'], index: string): Promise<unknown> {
  return Object.values(await client.indices.getMapping({ index }))[0]?.mappings
}
