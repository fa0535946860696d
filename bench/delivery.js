/** Speed counts only where every document arrives: each client once per corpus and way, against a sink that sums what it gets. */
import { clients } from './clients.js'
import { say } from './say.js'
import { startServers } from './servers.js'
import { trial } from './trial.js'

/** Resolves to one { kind, route, client, failed? } each. */
export async function proveDelivery(programs, scenarios, inputs) {
  const servers = await startServers(programs, { verify: true })
  const proofs = []
  const seen = new Set()
  try {
    for (const { kind, route, runs } of scenarios) {
      for (const { client } of runs) {
        const key = `${kind} ${route} ${client}`
        if (seen.has(key)) continue
        seen.add(key)
        proofs.push({ kind, route, client, ...(await prove(client, programs, inputs[kind].part, route, servers)) })
      }
    }
  } finally {
    await servers[Symbol.asyncDispose]()
  }
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
