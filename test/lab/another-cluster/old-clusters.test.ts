import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type IngestOptions, ingest } from '../../../src/index.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { newIndex } from '../../contracts/options.js'
import { codeOf } from '../../support/lab/run-world.js'
import { startOldCluster } from '../../support/servers/old-cluster.js'

let lab: Lab
let folder: string
let old: string
beforeAll(async () => {
  lab = await startLab({ register: 'everyone' })
})
afterAll(async () => await lab.close())
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'old-'))
  old = newIndex('old')
})
afterEach(async () => await rm(folder, { recursive: true }))

const documents = (count: number) => Array.from({ length: count }, (_, n) => ({ n, word: 'x' }))

function target(): Pick<IngestOptions, 'target' | 'proxy' | 'preflightConnections'> {
  const { url, apiKey, caFile } = lab.line.cluster
  return { target: { url, apiKey, ca: readFileSync(caFile) }, proxy: lab.line.proxy.http, preflightConnections: 1 }
}

/** Fills the old index. The target is the same cluster, so documents of both have ids of their own. */
async function fill(count: number): Promise<void> {
  await ingest({ ...target(), source: documents(count), index: old, deadLetters: false })
}

async function move(url: string, more: Partial<IngestOptions> = {}) {
  const from = { url, apiKey: lab.line.cluster.apiKey }
  const stateDir = join(folder, 'state')
  const source = `elasticsearch:${old}`
  return await ingest({ ...target(), source, from, index: `${old}-new`, stateDir, deadLetters: false, ...more })
}

const root = (number: string, distribution?: string) => ({
  cluster_name: 'old',
  cluster_uuid: 'u',
  version: { number, ...(distribution === undefined ? {} : { distribution }) },
  tagline: distribution === undefined ? 'You Know, for Search' : 'The OpenSearch Project: https://opensearch.org/',
})

describe('a cluster that names no product', () => {
  test.each([
    ['Elasticsearch 7.10.2', root('7.10.2')],
    ['Elasticsearch 7.17.29', root('7.17.29')],
    ['OpenSearch 1.3.20', root('1.3.20', 'opensearch')],
    ['OpenSearch 3.1.0', root('3.1.0', 'opensearch')],
  ])('is read: %s', async (_, about) => {
    await fill(1200)
    await using cluster = await startOldCluster({ url: lab.line.cluster.httpUrl, root: about })
    const warnings: string[] = []
    const onEvent: IngestOptions['onEvent'] = event => {
      if (event.type === 'warning') warnings.push(event.message)
    }
    expect(await move(cluster.url, { onEvent })).toMatchObject({ read: 1200, created: 1200, rejected: 0 })
    expect(lab.control.count(`${old}-new`)).toBe(1200)
    expect(warnings).toEqual([])
  })

  test.each([
    ['CLUSTER_VERSION_UNSUPPORTED', root('7.9.3')],
    ['CLUSTER_VERSION_UNSUPPORTED', root('6.8.23')],
    ['CLUSTER_NOT_ELASTICSEARCH', root('9.0.0', 'somethingelse')],
    ['CLUSTER_NOT_ELASTICSEARCH', { version: { number: '7.17.29' } }],
  ])('is refused by name: %s', async (code, about) => {
    await using cluster = await startOldCluster({ url: lab.line.cluster.httpUrl, root: about })
    expect(await codeOf(move(cluster.url))).toMatch(new RegExp(`^${code}`))
  })
})

describe('credentials that may only read', () => {
  test('read what is visible, are warned once, and continue where they ended', async () => {
    await fill(700)
    await using cluster = await startOldCluster({ url: lab.line.cluster.httpUrl, refuses: /_stats|_refresh/ })
    const warnings: string[] = []
    const onEvent: IngestOptions['onEvent'] = event => {
      if (event.type === 'warning') warnings.push(event.message)
    }
    expect(await move(cluster.url, { onEvent })).toMatchObject({ created: 700 })
    expect(warnings).toEqual([expect.stringMatching(/lack the privilege monitor\. Before the last load, stop/)])
    expect(await move(cluster.url)).toMatchObject({ read: 0 })
    await fill(10)
    expect(await move(cluster.url)).toMatchObject({ read: 10, created: 10 })
  })
})

describe('an index of an old cluster', () => {
  test('whose mapping the target refuses is named with its field', async () => {
    await fill(3)
    const changes = (path: string, text: string) =>
      path === `/${old}` ? text.replace('"type":"keyword"', '"type":"string"') : text
    await using cluster = await startOldCluster({ url: lab.line.cluster.httpUrl, root: root('7.17.29'), changes })
    expect(await codeOf(move(cluster.url, { mapping: 'copy' }))).toMatch(
      /^MAPPING_NOT_COPIED: the target refuses to create .*-new like elasticsearch:.*\[string\] declared on field \[/,
    )
    expect(lab.control.count(`${old}-new`)).toBe(0)
  })

  test.each([
    ['"settings":{"index":{', '"settings":{"index":{"mapping":{"source":{"mode":"synthetic"}},'],
    ['"mappings":{', '"mappings":{"_source":{"mode":"synthetic"},'],
    ['"settings":{"index":{', '"settings":{"index":{"mode":"logsdb",'],
  ])('whose documents are built anew is read with a warning: %s', async (part, synthetic) => {
    await fill(3)
    const changes = (path: string, text: string) => (path === `/${old}` ? text.replace(part, synthetic) : text)
    await using cluster = await startOldCluster({ url: lab.line.cluster.httpUrl, changes })
    const warnings: string[] = []
    const onEvent: IngestOptions['onEvent'] = event => {
      if (event.type === 'warning') warnings.push(event.message)
    }
    expect(await move(cluster.url, { onEvent, mapping: 'copy' })).toMatchObject({ created: 3 })
    expect(warnings).toEqual([expect.stringContaining(`does not keep the documents of ${old} as they were sent`)])
  })

  test.each([
    ['"settings":{"index":{', '"settings":{"index":{"mapping":{"source":{"mode":"disabled"}},'],
    ['"mappings":{', '"mappings":{"_source":{"enabled":false},'],
    ['"mappings":{', '"mappings":{"_source":{"excludes":["a"]},'],
  ])('that does not hold whole documents is refused: %s', async (part, without) => {
    await fill(3)
    const changes = (path: string, text: string) => (path === `/${old}` ? text.replace(part, without) : text)
    await using cluster = await startOldCluster({ url: lab.line.cluster.httpUrl, changes })
    expect(await codeOf(move(cluster.url))).toMatch(/^INPUT_UNREADABLE/)
  })
})
