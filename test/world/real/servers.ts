/** Real servers for stories: Squid, nginx, Elasticsearch and versitygw. */
import { type RealWorld, startRealWorld } from '../../contracts/real-world.js'
import type { Servers } from '../world.js'
import { findParts } from '../../real/servers/parts.js'
import { openRealCluster } from './cluster.js'
import { rotateBy } from './logrotate.js'
import { startRealObjects } from './objects.js'

/** Starts them all. */
export async function startRealServers(major: 8 | 9): Promise<Servers> {
  const world = await startRealWorld({ major })
  const servers = await openRealServers(world)
  return {
    ...servers,
    [Symbol.asyncDispose]: async () => {
      await servers[Symbol.asyncDispose]()
      await world[Symbol.asyncDispose]()
    },
  }
}

/** `world`: servers that others use too. */
export async function openRealServers(world: RealWorld): Promise<Servers> {
  const [cluster, objects] = [await openRealCluster(world), await startRealObjects()]
  const { logrotate } = findParts()
  return {
    cluster,
    objects,
    rotate: logrotate === undefined ? undefined : rotateBy(logrotate),
    [Symbol.asyncDispose]: async () => {
      await objects[Symbol.asyncDispose]()
      await cluster[Symbol.asyncDispose]()
    },
  }
}
