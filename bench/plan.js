/**
 * What is measured: scenarios, each with the runs of one round. A run is { client, size }, size 'whole' or 'part'.
 *
 * On the direct way without latency everything runs, on both sizes, which parts start-up from slope. Elsewhere only what runs
 * everywhere, on the whole; slow clients run on the part, and so does Sluice, to which they are compared. Latency with small
 * documents is measured on the part alone: what differs from log documents is the cost of a document, not of waiting.
 */
import { clients } from './clients.js'

export function plan(options, names) {
  const scenarios = []
  for (const kind of options.corpora) {
    for (const latency of options.latencies) {
      for (const route of options.routes) {
        const main = route === 'direct' && latency === 0
        if (options.quick && !options.latenciesGiven && !isQuick(kind, route, latency)) continue
        const partOnly = kind === 'small' && latency > 0
        const able = names.filter(name => clients[name].routes?.includes(route) ?? true)
        const all = main && !(options.quick && kind === 'small')
        const raced = all ? able : able.filter(name => clients[name].everywhere)
        scenarios.push({
          kind,
          route,
          latency,
          rounds: main ? options.rounds : options.otherRounds,
          runs: raced.flatMap(client => sizesOf(client, main, partOnly, raced).map(size => ({ client, size }))),
        })
      }
    }
  }
  // The race itself first: what comes later costs less when it is cut short.
  return scenarios.toSorted((a, b) => Number(isMain(b)) - Number(isMain(a)))
}

const isMain = ({ route, latency }) => route === 'direct' && latency === 0

const isQuick = (kind, route, latency) =>
  latency === 0 ? route === 'direct' || kind === 'log' : kind === 'log' && route === 'proxy' && latency === 75

function sizesOf(client, main, partOnly, raced) {
  const isSlow = name => clients[name].slow === 'always' || (clients[name].slow === 'elsewhere' && !main)
  if (partOnly || isSlow(client)) return ['part']
  if (main) return ['whole', 'part']
  return client === 'sluice' && raced.some(isSlow) ? ['whole', 'part'] : ['whole']
}

export const nameOf = ({ kind, route, latency }) =>
  `${kind}, ${route === 'proxy' ? 'through the proxy' : 'direct'}, ${latency} ms`
