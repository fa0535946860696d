/** Makes an index past Sluice. */
import { readFile } from 'node:fs/promises'
import { connect } from '../../../src/index.js'
import type { AdviceWorld } from './advice-world.js'

type Properties = Readonly<Record<string, { readonly type: 'long' | 'keyword' }>>

/** Makes the index of the world with this mapping. */
export async function askIndex(world: AdviceWorld, properties: Properties): Promise<void> {
  await ask(world, async ({ indices }) => await indices.create({ index: world.index, mappings: { properties } }))
}

/** Adds fields to the mapping of the index. */
export async function addFields(world: AdviceWorld, properties: Properties): Promise<void> {
  await ask(world, async ({ indices }) => await indices.putMapping({ index: world.index, properties }))
}

type Client = Awaited<ReturnType<typeof connect>>['client']

async function ask({ lab }: AdviceWorld, request: (client: Client) => Promise<unknown>): Promise<void> {
  const { url, apiKey, caFile } = lab.line.cluster
  const target = { url, apiKey, ca: await readFile(caFile) }
  await using open = await connect({ target, proxy: lab.line.proxy.http, preflightConnections: 1 })
  await request(open.client)
}
