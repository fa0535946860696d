import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Authority, type Certificate, createAuthority } from '../support/servers/proxy-certificates.js'
import { startGate } from '../lab/load/chaos-gate.js'
import { type Fault, Program } from '../lab/load/chaos-program.js'
import { seeded } from '../support/random/seeded.js'
import { through } from './options.js'
import type { World } from './world.js'

let made: Promise<{ authority: Authority; certificate: Certificate }> | undefined

async function make() {
  const authority = await createAuthority('Gate CA')
  return { authority, certificate: await authority.issue(['127.0.0.1']) }
}

/** A way into the world's cluster on which these faults strike, through the proxy. The gate plays the filter, so the real one lets everyone in. */
export async function startLosing(world: World, faults: readonly Fault[]) {
  const { authority, certificate } = await (made ??= make())
  await world.register('everyone')
  const program = new Program(faults, () => performance.now())
  const gate = await startGate({ cluster: new URL(world.cluster.httpUrl), certificate, program, random: seeded(1) })
  const { target, ...way } = through(world, world.proxy.http)
  const url = `https://127.0.0.1:${gate.port}`
  return {
    way: { ...way, target: { ...target, url, ca: authority.cert }, preflightConnections: 1 },
    /** The same way for a command. */
    environment: async (folder: string) => {
      const caFile = join(folder, 'gate-ca.pem')
      await writeFile(caFile, authority.cert)
      return {
        STATIC_PROXY_URL: world.proxy.http,
        ELASTICSEARCH_URL: url,
        ELASTICSEARCH_API_KEY: target.apiKey,
        SLUICE_CA: caFile,
        SLUICE_PREFLIGHT_CONNECTIONS: '1',
      }
    },
    [Symbol.asyncDispose]: async () => {
      await gate[Symbol.asyncDispose]()
      await world.register('both')
    },
  }
}

/** The first request's documents are stored, and its answer is lost. */
export const lostAnswer: Fault = { kind: 'answer lost', from: 1, times: 1, end: 'fin' }
