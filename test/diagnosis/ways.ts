/** Options for a world, healthy but for what is given. */
import { readFileSync } from 'node:fs'
import type { DoctorOptions } from '../../src/route/examine/examine-options.js'
import { type Connected, type TargetOptions, connect } from '../../src/index.js'
import { through } from '../contracts/options.js'
import type { World } from '../contracts/world.js'
import type { Asked } from './cause.js'

/** `sluice doctor` with a healthy set-up, and something changed. */
export function doctor(world: World, more: Partial<DoctorOptions> = {}, target: Partial<TargetOptions> = {}): Asked {
  return { by: 'doctor', options: healthy(world, more, target) }
}

export function healthy(
  world: World,
  more: Partial<DoctorOptions> = {},
  target: Partial<TargetOptions> = {},
): DoctorOptions {
  const { deadLetters: _, ...way } = through(world, world.proxy.http)
  const { staticIps, ipCheckUrl } = world
  return { ...way, staticIps, ipCheckUrl, ...more, target: { ...way.target, ...target } }
}

/** Another proxy, with the authority that vouches for those that speak TLS. */
export function by(world: World, url: string): Pick<DoctorOptions, 'proxy'> {
  return { proxy: { url, ca: readFileSync(world.proxyCaFile) } }
}

/** The same URL with the parts that are given; `port` may be another URL, whose port it takes. */
export function changed(
  url: string,
  { scheme, username, password, port }: { scheme?: string; username?: string; password?: string; port?: string },
): string {
  const [, oldScheme, oldUsername, oldPassword, host, oldPort] =
    /^([a-z0-9]+):\/\/([^:@]*):([^@]*)@([^:]+):(\d+)$/.exec(url) ?? []
  const newPort = port === undefined ? oldPort : portOf(port)
  return `${scheme ?? oldScheme}://${username ?? oldUsername}:${password ?? oldPassword}@${host}:${newPort}`
}

export function portOf(url: string): string {
  return /:(\d+)\/?$/.exec(url)?.[1] ?? url
}

/** Asks the cluster through the healthy way. */
export async function asked<T>(world: World, ask: (client: Connected['client']) => Promise<T>): Promise<T> {
  const { deadLetters: _, ...way } = through(world, world.proxy.http)
  await using direct = await connect({ ...way, preflightConnections: 1 })
  return await ask(direct.client)
}

/** An API key that no cluster knows, in its encoded form. */
export function unknownKey(secret: string): string {
  return Buffer.from(`VuaCfGcBCdbkQm-e5aOx:${secret}`).toString('base64')
}
