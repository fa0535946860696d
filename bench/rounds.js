import { capacity } from './capacity.js'
import { formed } from './corpus/forms.js'
import { nameOf } from './plan.js'
import { say } from './say.js'
import { startServers } from './servers.js'
import { trial } from './trial.js'

/**
 * Runs a scenario: every client once per round, so that whatever else the machine does meets them all alike. Resolves to
 * { kind, route, latency, rate?, rounds: [{ [client]: { whole?, part?, sample? } }], capacity }; a run that failed has `failed`.
 */
export async function runScenario(scenario, programs, inputs) {
  const { kind, route, latency, rate, runs, form, tls, core, words } = scenario
  const { whole, part, sample } = inputs[kind]
  const of = {
    whole: { corpus: whole, part, times: Math.round(whole.bytes / part.bytes) },
    part: { corpus: await formed(form, part) },
    sample: { corpus: sample },
  }
  const servers = await startServers(programs, { rate, tls })
  // Where there is a rate, that is what they can take.
  const isLimited = rate !== undefined
  const count = Math.max(...runs.map(run => run.rounds))
  const rounds = []
  const capacities = []
  try {
    const { url, ca } = servers
    const place = { url, ca, core, words, latency, ...(route === 'proxy' && { proxy: servers.proxyUrl }) }
    if (latency === 0 && !isLimited && scenario.name === undefined)
      capacities.push(await capacity(programs, route, part, servers))
    for (let round = 0; round < count; round += 1) {
      const results = {}
      const taking = runs.filter(run => round < run.rounds)
      for (const { client, size } of turned(taking, round)) {
        const result = await trial(client, programs, of[size], place, servers)
        results[client] = { ...results[client], [size]: result }
        say(`${nameOf(scenario)}, round ${round + 1}/${count}: ${client} ${size} ${outcome(result)}`)
      }
      rounds.push(results)
    }
    if (capacities.length > 0) capacities.push(await capacity(programs, route, part, servers))
  } finally {
    await servers[Symbol.asyncDispose]()
  }
  return {
    ...(scenario.name !== undefined && { name: scenario.name, bytes: of.part.corpus.bytes }),
    kind,
    route,
    latency,
    ...(isLimited && { rate }),
    rounds,
    ...(capacities.length > 0 && { capacity: Math.max(...capacities) }),
  }
}

// Each round begins elsewhere, so that no client always follows the same one.
function turned(runs, round) {
  const from = (round * 7) % runs.length
  return [...runs.slice(from), ...runs.slice(0, from)]
}

function outcome({ failed, wallSeconds, bytes, cpuSeconds }) {
  if (failed) return `failed: ${failed}`
  return `${wallSeconds.toFixed(2)} s, ${(bytes / 1e6 / wallSeconds).toFixed(0)} MB/s, ${((cpuSeconds * 1e9) / bytes).toFixed(2)} CPU-s/GB`
}
