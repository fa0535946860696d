/**
 * What a command loses, before it begins or in its middle: its key, its rights, one of its addresses, a node of the proxy, or the disk.
 * Afterwards, all is well again.
 */
import type { StoryCluster } from './cluster.js'
import { diskLosses } from './disk.js'
import type { Trouble } from './facts.js'
import type { World } from './world.js'

export interface Loss {
  /** What the oracle knows of it. */
  readonly trouble: Trouble
  /** Comes before the command, whenever the loss comes. */
  prepare?(world: World): void
  lose(world: World): Promise<void>
  restore(world: World): Promise<void>
}

/** What somebody left to the key. */
const limited = (limit: Parameters<StoryCluster['limitKey']>[0]): Loss => ({
  trouble: 'rights',
  lose: async ({ stage }) => await stage.cluster.limitKey(limit),
  restore: async ({ stage }) => await stage.cluster.limitKey('none'),
})

const filtered = (which: 'first' | 'second'): Loss => ({
  trouble: 'address',
  lose: async ({ stage }) => await stage.cluster.register(which),
  // The filter lets both in again after each trouble.
  restore: async () => undefined,
})

const nodeDown = (failover: boolean): Loss => ({
  trouble: 'node',
  lose: async ({ stage }) => stage.cluster.plant({ nodeDown: { node: 'first', failover } }),
  // All faults end after each trouble.
  restore: async () => undefined,
})

export const losses: Readonly<Record<string, Loss>> = {
  'key revoked': {
    trouble: 'key',
    lose: async ({ stage }) => await stage.cluster.revokeKey(),
    // The user has a new key from now on.
    restore: async world => void Object.assign(world.env, await world.stage.cluster.newKey()),
  },
  'rights taken': limited('no writing'),
  'rights to the index taken': limited('other indices'),
  'first address refused': filtered('first'),
  'second address refused': filtered('second'),
  ...diskLosses,
  'proxy node down': nodeDown(false),
  'proxy node down, the other one stands in': nodeDown(true),
}
