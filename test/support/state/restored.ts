/** A folder and an index as an older version left them. */
import { cp, readFile, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { connect } from '../../../src/index.js'
import type { Lab } from '../../../src/lab/index.js'
import type { Receipt } from '../../../src/pipeline/ledger/receipt.js'
import { sluiceHere as sluice } from '../command/in-process.js'
import { type Ended, folder } from '../command/sluice.js'

/** How the cluster of a lab is reached. */
export interface LabAccess {
  readonly url: string
  readonly proxy: string
  /** The environment of a command. */
  readonly env: Readonly<Record<string, string>>
}

export interface RestoredWorld extends AsyncDisposable {
  readonly path: string
  /** Runs `ingest` in the folder. */
  load(...args: string[]): Promise<Loaded>
  /** Runs a command that loads, in the folder. */
  run(args: readonly string[], input?: string): Promise<Loaded>
}

interface Loaded extends Pick<Ended, 'code' | 'stderr'> {
  readonly receipt: Receipt
}

/**
 * Puts everything back as an older version left it: its folder, and the documents in the cluster. `kept`: a folder with `work`, the folder of the command,
 * and `stored.ndjson`, the documents that the cluster had by then.
 */
export async function restoreWorld(
  lab: Lab,
  index: string,
  kept: string,
  access: LabAccess = { url: lab.line.cluster.url, proxy: lab.line.proxy.http, env: lab.env },
): Promise<RestoredWorld> {
  const work = await folder()
  await cp(join(kept, 'work'), work.path, { recursive: true })
  const target = await store(lab, access, index, await readFile(join(kept, 'stored.ndjson')))
  const names = {
    work: work.path,
    host: new URL(access.url).host,
    ...target,
    ...(await factsOfFiles(work.path)),
  }
  for (const name of await readdir(join(work.path, 'state'), { recursive: true })) {
    const file = join(work.path, 'state', name)
    if (!(await stat(file)).isFile()) continue
    const was = await readFile(file, 'utf8')
    const text = Object.entries(names).reduce((rest, [key, value]) => rest.replaceAll(`{${key}}`, value), was)
    if (text !== was) await writeFile(file, text)
  }
  const options = ['--state-dir', 'state', '--batch-docs', '5', '--preflight-connections', '1', '--json']
  const run: RestoredWorld['run'] = async (args, input = '') => {
    const ended = await sluice([...args, ...options], { cwd: work.path, env: access.env, input })
    expect(ended.stdout, ended.stderr).toMatch(/^\{/)
    return { ...ended, receipt: JSON.parse(ended.stdout) as Receipt }
  }
  return {
    path: work.path,
    run,
    load: async (...args) => await run(['ingest', ...args, '--index', index, '--dead-letters', 'dead.ndjson']),
    [Symbol.asyncDispose]: async () => await work[Symbol.asyncDispose](),
  }
}

/** Makes the index anew with these documents. Returns the names by which a state knows cluster and index. */
async function store(
  { line }: Lab,
  { url, proxy }: LabAccess,
  index: string,
  bulkBody: Buffer,
): Promise<{ readonly cluster: string; readonly index: string }> {
  const { apiKey, caFile } = line.cluster
  const target = { url, apiKey, ca: await readFile(caFile) }
  await using way = await connect({ target, proxy, preflightConnections: 1 })
  await way.client.indices.delete({ index }, { ignore: [404] })
  const headers = { 'content-type': 'application/x-ndjson', accept: 'application/json' }
  const path = `/${index}/_bulk`
  await way.client.transport.request({ method: 'POST', path, bulkBody: bulkBody.toString() }, { headers })
  const settings = await way.client.indices.getSettings({ index })
  const { cluster_uuid: cluster } = await way.client.info()
  return { cluster, index: settings[index]?.settings?.index?.uuid ?? '' }
}

/** Returns inode and time of each file: a copy has others, and the user did not copy it. */
async function factsOfFiles(path: string): Promise<Readonly<Record<string, string>>> {
  const facts = (await readdir(path)).map(async name => {
    const { ino, mtimeMs } = await stat(join(path, name))
    return { [`inode:${name}`]: String(ino), [`mtime:${name}`]: String(mtimeMs) }
  })
  return Object.assign({}, ...(await Promise.all(facts))) as Record<string, string>
}

/** Returns the numbers of all documents that the index has, ascending. */
export function storedNumbers({ control }: Lab, index: string): number[] {
  const numbers = control.ids(index).map(id => {
    const { n } = JSON.parse(control.source(index, id)?.toString() ?? '{}') as { n: number }
    return n
  })
  return numbers.toSorted((one, other) => one - other)
}
