/** Speed counts only where every document arrives: each client once per corpus and way, against a sink that sums what it gets. */
import { availableParallelism } from 'node:os'
import { clients } from './clients.js'
import { say } from './say.js'
import { startServers } from './servers.js'
import { trial } from './trial.js'

/** Ways at once: the proof measures nothing, and a client seldom fills two cores. */
export const atOnce = Math.min(2, availableParallelism())

/** What has to be proved before some scenarios: { kind, route, client } each. */
export function proofsFor(scenarios) {
  const proofs = new Map()
  for (const { kind, route, runs } of scenarios)
    for (const { client } of runs) proofs.set(`${kind} ${route} ${client}`, { kind, route, client })
  return [...proofs.values()]
}

/** Resolves to one { kind, route, client, failed? } each. */
export async function proveDelivery(programs, wanted, inputs) {
  const waiting = [...wanted]
  const proofs = []
  const work = async () => {
    const servers = await startServers(programs, { verify: true })
    try {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const { kind, route, client } = next
        proofs.push({ ...next, ...(await prove(client, programs, inputs[kind].sample, route, servers)) })
      }
    } finally {
      await servers[Symbol.asyncDispose]()
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  for (const { kind, route, client, failed } of proofs.filter(proof => proof.failed))
    say(`${client} did not deliver ${kind} documents (${route}): ${failed}`)
  return proofs
}

async function prove(client, programs, corpus, route, servers) {
  const place = { url: servers.url, ...(route === 'proxy' && { proxy: servers.proxyUrl }) }
  const { failed, sum } = await trial(client, programs, { corpus }, place, servers)
  if (failed) return { failed }
  if (sum !== corpus.sum) return { failed: `the documents differ from the corpus (${clients[client].title})` }
  return {}
}
