import { cp, readFile, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { connect } from '../../../src/index.js'
import type { Lab } from '../../../src/lab/index.js'
import type { Receipt } from '../../../src/pipeline/ledger/receipt.js'
import { sluiceHere as sluice } from '../command/in-process.js'
import { folder } from '../command/sluice.js'

export interface RestoredWorld extends AsyncDisposable {
  readonly path: string
  /** Runs the command in the folder. */
  load(...args: string[]): Promise<{ readonly code: number | null; readonly receipt: Receipt; readonly stderr: string }>
}

/**
 * Puts everything back as an older version left it: its folder, and the documents in the cluster. `kept`: a folder with `work`, the folder of the command,
 * and `stored.ndjson`, the documents that the cluster had by then.
 */
export async function restoreWorld(lab: Lab, index: string, kept: string): Promise<RestoredWorld> {
  const work = await folder()
  await cp(join(kept, 'work'), work.path, { recursive: true })
  const target = await store(lab, index, await readFile(join(kept, 'stored.ndjson')))
  for (const name of await readdir(join(work.path, 'state'), { recursive: true })) {
    const file = join(work.path, 'state', name)
    if (!(await stat(file)).isFile()) continue
    const text = (await readFile(file, 'utf8'))
      .replaceAll('{work}', work.path)
      .replaceAll('{cluster}', target.cluster)
      .replaceAll('{index}', target.index)
      .replaceAll('{host}', new URL(lab.line.cluster.url).host)
    await writeFile(file, text)
  }
  const options = ['--index', index, '--state-dir', 'state', '--dead-letters', 'dead.ndjson', '--batch-docs', '5']
  return {
    path: work.path,
    load: async (...args) => {
      const fixed = [...options, '--preflight-connections', '1', '--json']
      const ended = await sluice(['ingest', ...args, ...fixed], { cwd: work.path, env: lab.env })
      expect(ended.stdout, ended.stderr).toMatch(/^\{/)
      return { ...ended, receipt: JSON.parse(ended.stdout) as Receipt }
    },
    [Symbol.asyncDispose]: async () => await work[Symbol.asyncDispose](),
  }
}

/** Makes the index anew with these documents. Returns the names by which a state knows cluster and index. */
async function store(
  { line }: Lab,
  index: string,
  bulkBody: Buffer,
): Promise<{ readonly cluster: string; readonly index: string }> {
  const { url, apiKey, caFile } = line.cluster
  await using way = await connect({
    target: { url, apiKey, ca: await readFile(caFile) },
    proxy: line.proxy.http,
    preflightConnections: 1,
  })
  await way.client.indices.delete({ index }, { ignore: [404] })
  const headers = { 'content-type': 'application/x-ndjson', accept: 'application/json' }
  const path = `/${index}/_bulk`
  await way.client.transport.request({ method: 'POST', path, bulkBody: bulkBody.toString() }, { headers })
  const settings = await way.client.indices.getSettings({ index })
  const { cluster_uuid: cluster } = await way.client.info()
  return { cluster, index: settings[index]?.settings?.index?.uuid ?? '' }
}

/** The numbers of all documents that the cluster has, ascending. */
export function storedNumbers({ control }: Lab, index: string): number[] {
  const numbers = control.ids(index).map(id => {
    const { n } = JSON.parse(control.source(index, id)?.toString() ?? '{}') as { n: number }
    return n
  })
  return numbers.toSorted((one, other) => one - other)
}
