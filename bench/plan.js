/**
 * What is measured: scenarios, each with its runs. A run is { client, size, rounds }: it takes part in so many of the scenario's
 * rounds, always the first, and `sluice` in all of them, so that every ratio is taken inside a round.
 *
 * On the direct way without latency everything runs. The fast clients and those of the goals send the whole input, and the part as
 * well, which parts start-up from slope; the others send the part, the slowest the sample. Elsewhere only what runs everywhere: the clients that have a
 * goal there send the whole log, other fast ones the part, slow ones the sample. With small documents nothing more than the part is
 * sent elsewhere: what differs from log documents is the cost of a document, not of waiting.
 *
 * One more scenario has a proxy that is the limit, and not the machine that it shares with client and sink: { rate }, in bytes a second.
 */
import { clients } from './clients.js'

/** 5 Gbit/s: a fast network for a proxy that many share. */
const RATE = 625e6

export function plan(options, names) {
  const scenarios = []
  for (const kind of options.corpora) {
    for (const latency of options.latencies) {
      for (const route of options.routes) {
        if (options.quick && !options.latenciesGiven && !isQuick(kind, route, latency)) continue
        const able = names.filter(name => clients[name].race && (clients[name].routes?.includes(route) ?? true))
        const runs = isMain({ route, latency })
          ? able
              .filter(name => !options.quick || kind === 'log' || clients[name].elsewhere)
              .flatMap(mainRuns(kind, options))
          : able.filter(name => clients[name].elsewhere).map(runElsewhere(kind, latency, options))
        scenarios.push({ kind, route, latency, runs: withReference(runs) })
        const fast = runs.filter(({ size }) => size === 'whole')
        if (kind === 'log' && route === 'proxy' && latency === 0 && fast.length > 0)
          scenarios.push({ kind, route, latency, rate: RATE, runs: withReference(fast) })
      }
    }
  }
  // The race itself first: what comes later costs less when it is cut short.
  return scenarios.toSorted((a, b) => Number(isMain(b)) - Number(isMain(a)))
}

const isMain = ({ route, latency }) => route === 'direct' && latency === 0

const isQuick = (kind, route, latency) =>
  latency === 0 ? route === 'direct' || kind === 'log' : kind === 'log' && route === 'proxy' && latency === 75

const mainRuns = (kind, options) => client => {
  const { race } = clients[client]
  const pace = typeof race === 'string' ? race : race[kind]
  const rounds = options.rounds[pace]
  if (pace === 'aside') return [{ client, size: 'part', rounds }]
  if (pace === 'least') return [{ client, size: 'sample', rounds }]
  const { hasSlopeGoal } = clients[client]
  const startRounds = hasSlopeGoal ? rounds : Math.min(rounds, options.rounds.start)
  return [
    { client, size: 'whole', rounds },
    ...(startRounds > 0 ? [{ client, size: 'part', rounds: startRounds }] : []),
  ]
}

const runElsewhere = (kind, latency, options) => client => {
  const { elsewhere } = clients[client]
  const size = kind === 'small' && elsewhere === 'whole' ? 'part' : elsewhere
  // The goals are at both ends of the scale: between them fewer rounds serve.
  const between = latency > Math.min(...options.latencies) && latency < Math.max(...options.latencies)
  return { client, size, rounds: options.rounds.elsewhere[between && size === 'whole' ? 'part' : size] }
}

/** Sees to it that Sluice runs on every size, in as many rounds as any other client. */
function withReference(runs) {
  const own = ['whole', 'part', 'sample'].flatMap(size => {
    const rounds = Math.max(0, ...runs.filter(run => run.size === size).map(run => run.rounds))
    return rounds === 0 ? [] : [{ client: 'sluice', size, rounds }]
  })
  return [...own, ...runs.filter(({ client }) => client !== 'sluice')]
}

export const nameOf = ({ name, kind, route, latency, rate }) =>
  name ??
  `${kind}, ${route === 'proxy' ? 'through the proxy' : 'direct'}, ${latency} ms${rate === undefined ? '' : `, ${rateOf(rate)}`}`

/** As networks are named. */
export const rateOf = rate => `${(rate * 8) / 1e9} Gbit/s`
