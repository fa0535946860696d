/** What tests of guarded loads ask of the lab's cluster, through the way that a load takes. */
import { readFileSync } from 'node:fs'
import { connect } from '../../../src/index.js'
import type { Lab } from '../../../src/lab/index.js'

/** Options for the way into the lab. */
export function wayInto({ line }: Lab) {
  const { url, apiKey, caFile } = line.cluster
  return { target: { url, apiKey, ca: readFileSync(caFile) }, proxy: line.proxy.http, preflightConnections: 1 }
}

export interface SeenIndex {
  readonly name: string
  readonly refreshInterval: unknown
  readonly replicas: unknown
  /** What guarded loads wrote into it. */
  readonly mark: unknown
}

/** The indices that a name or pattern stands for, by name. */
export async function indicesOf(lab: Lab, expression: string): Promise<SeenIndex[]> {
  await using way = await connect(wayInto(lab))
  const found = await way.client.indices.get({ index: expression, flat_settings: true })
  const seen = Object.entries(found).map(([name, { settings, mappings }]): SeenIndex => {
    return {
      name,
      refreshInterval: settings?.['index.refresh_interval'],
      replicas: settings?.['index.number_of_replicas'],
      mark: mappings?._meta?.['sluice'],
    }
  })
  return seen.toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

/** The one index that an alias leads to; undefined where there is no such alias. */
export async function behind(lab: Lab, alias: string): Promise<string | undefined> {
  await using way = await connect(wayInto(lab))
  const found = Object.entries(await way.client.indices.getAlias({ index: '*' }))
  const names = found.flatMap(([name, { aliases }]) => (alias in aliases ? [name] : []))
  if (names.length > 1) throw new Error(`${alias} leads to ${names.join(', ')}`)
  return names[0]
}
