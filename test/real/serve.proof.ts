import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect } from '../../src/index.js'
import { startLab } from '../../src/lab/index.js'
import type { RealWorld } from '../contracts/real-world.js'
import { type Killed, killServing, tally } from '../lab/serve/serve-kills.js'
import type { Seeded } from '../support/random/seeded.js'
import { describeOnRealServers } from './on-real-servers.js'
import { environmentOf } from './real-load.js'

const KILLS = Number(process.env.KILLS ?? 30)
const SEED = Number(process.env.SEED ?? 1)
const index = 'served'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-serve-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const killing = (name: string) => ({
  index,
  folder: mkdtempSync(join(folder, name)),
  kills: KILLS,
  callers: 6,
  longestMs: 2500,
})

test(`on the lab, ${KILLS} kills, while the IP filter refuses now and then`, async () => {
  const lab = await startLab()
  try {
    const killed = await killServing({
      ...killing('lab-'),
      env: lab.env,
      seed: SEED,
      urlOf: port => {
        lab.control.inbound.forwardTo(port)
        return lab.line.inbound.url
      },
      disturb: random => lab.control.register(registered(random)),
      settle: () => lab.control.register('both'),
    })
    const documents = lab.control.ids(index).map(id => String(lab.control.source(index, id)))
    expectWhole('the lab', killed, documents)
  } finally {
    await lab.close()
  }
})

describeOnRealServers({ major: 9, heap: '2g' }, world => {
  test(`through Squid, ${KILLS} kills`, async () => {
    const killed = await killServing({
      ...killing('real-'),
      env: environmentOf(world()),
      seed: SEED + 1,
    })
    expectWhole('real Elasticsearch through Squid', killed, await documentsOf(world()))
    const seen = await world().connections()
    const from = new Set(seen.map(one => one.from))
    console.log(`connections at the cluster: ${seen.length}, from ${[...from].join(', ')}`)
    expect(world().staticIps).toEqual(expect.arrayContaining([...from]))
  })
})

/** Most of the time both are. */
function registered(random: Seeded): 'both' | 'none' {
  return random.chance(0.25) ? 'none' : 'both'
}

function expectWhole(name: string, { posted, kills, answers, receipt, code, stderr }: Killed, documents: string[]) {
  const { acknowledged, missing, doubled, altered, whole, none, torn } = tally(posted, documents)
  console.log(
    `${name}: ${kills} kills, ${posted.length} requests, ${acknowledged} documents acknowledged, ${documents.length} in the index; ` +
      `missing ${missing}, doubled ${doubled}, altered ${altered}; never acknowledged: ${none} requests not there, ${whole} there whole, ${torn} in part; ` +
      `answers ${JSON.stringify(answers)}; the last process: ${receipt.read} read, ${receipt.created} created, ${receipt.duplicate} duplicate`,
  )
  expect({ code, status: receipt.status }, stderr).toEqual({ code: 0, status: 'finished' })
  expect({ missing, doubled, altered, torn }).toEqual({ missing: 0, doubled: 0, altered: 0, torn: 0 })
  expect(receipt).toMatchObject({ rejected: 0, unsent: 0, unknown: 0, waiting: { documents: 0, bytes: 0 } })
}

async function documentsOf(world: RealWorld): Promise<string[]> {
  const { cluster, proxy, proxyCaFile } = world
  const way = await connect({
    target: {
      url: cluster.url,
      username: cluster.username,
      password: cluster.password,
      ca: await readFile(cluster.caFile),
    },
    proxy: { url: proxy.https, ca: await readFile(proxyCaFile) },
  })
  const documents: string[] = []
  try {
    await way.client.indices.refresh({ index })
    const { id } = await way.client.openPointInTime({ index, keep_alive: '5m' })
    for (let after: unknown[] | undefined; ;) {
      const { hits } = await way.client.search({
        pit: { id, keep_alive: '5m' },
        size: 10_000,
        sort: ['_shard_doc'],
        track_total_hits: false,
        ...(after === undefined ? {} : { search_after: after as string[] }),
      })
      for (const { _source: source } of hits.hits) documents.push(JSON.stringify(source))
      after = hits.hits.at(-1)?.sort
      if (after === undefined) break
    }
    await way.client.closePointInTime({ id })
  } finally {
    await way.close()
  }
  return documents
}
