/** What Sluice has to reach, and what a run found. */
import { clients } from '../clients.js'
import { rateOf } from '../plan.js'
import { ratios, slopeRatios, spread, summary } from '../statistics.js'
import { plain } from './format.js'

const peers = [
  { client: 'helpers-strings', title: 'helpers.bulk, string documents', least: { log: [9, 9], small: [12, 12] } },
  { client: 'helpers-strings-default', title: 'helpers.bulk with defaults', least: { log: [9, 9], small: [12, 12] } },
  { client: 'esutil', title: 'esutil.BulkIndexer', least: { log: [3, 4], small: [6, 8] } },
  { client: 'esutil-default', title: 'esutil.BulkIndexer with defaults', least: { log: [3, 4], small: [6, 8] } },
  { client: 'python-streaming-raw', title: 'Python streaming_bulk, raw', least: { log: [5, 4], small: [15, 12] } },
  {
    client: 'python-streaming-raw-default',
    title: 'streaming_bulk with defaults',
    least: { log: [5, 4], small: [15, 12] },
  },
]

/** { goal, wanted, found, met } each; `found` and `met` are undefined where the run has no figure. */
export function goals(results) {
  const scenario = (kind, route, latency) =>
    results.scenarios.find(
      one => one.kind === kind && one.route === route && one.latency === latency && one.rate === undefined,
    )
  const list = []
  const add = (goal, wanted, found, met, shown) =>
    list.push({
      goal,
      wanted,
      found: found === undefined ? undefined : shown(found),
      met: found === undefined ? undefined : met(found),
    })

  for (const kind of ['log', 'small']) {
    const main = scenario(kind, 'direct', 0)
    if (main === undefined) continue
    for (const { client, title, least } of peers) {
      const { wall, cpu } = ratios(main, client, 'whole')
      const [wallLeast, cpuLeast] = least[kind]
      add(
        `${title}: wall, ${kind}`,
        `≥ ${wallLeast}×`,
        wall?.median,
        value => value >= wallLeast,
        value => `${plain(value)}×`,
      )
      add(
        `${title}: CPU, ${kind}`,
        `≥ ${cpuLeast}×`,
        cpu?.median,
        value => value >= cpuLeast,
        value => `${plain(value)}×`,
      )
    }
    const slopes = slopeRatios(main, 'sluice', 'bare')
    for (const name of ['wall', 'cpu'])
      add(
        `slope to the bare loader: ${name === 'cpu' ? 'CPU' : name}, ${kind}`,
        '≤ 1.2×',
        slopes[name]?.median,
        value => value <= 1.2,
        value => `${plain(value)}×`,
      )
  }

  const log = scenario('log', 'direct', 0)
  const megabytes = value => `${plain(value / 1e6)} MB`
  const eight = log && summary(log, 'sluice-8', 'whole')
  add('peak RSS at 8 × 5 MB', '≤ 150 MB', eight?.peak.median, value => value <= 150e6, megabytes)
  const whole = log && summary(log, 'sluice', 'whole')
  const part = log && summary(log, 'sluice', 'part')
  const growth = whole && part && Math.abs(whole.peak.median - part.peak.median)
  add('peak RSS, whole input against a part', '≤ 15 MB apart', growth, value => value <= 15e6, megabytes)
  // Not from the raced runs: before these the preflight is part of what is measured.
  add(
    'start to first bulk request, `--preflight-connections 0`',
    '≤ 0.3 s',
    spread(results.start?.seconds ?? [])?.median,
    value => value <= 0.3,
    value => `${plain(value)} s`,
  )
  // The sink inflates on the same cores.
  const gzip = log && summary(log, 'sluice-gzip', 'whole')
  const busy = gzip && (gzip.cores.median + gzip.sinkCores.median) / results.machine.cores
  add(
    'share of the cores that gzip uses, with the sink that inflates, log',
    '≥ 0.85',
    busy,
    value => value >= 0.85,
    value => `${plain(value)} (Sluice ${plain(gzip.cores.median)} cores)`,
  )

  const small = results.everyday?.find(({ name }) => name === '100 documents')
  const gzipCpu = gzip?.cpuPerGB.median
  add(
    'gzip: CPU, log',
    '≤ 6.5 CPU-s/GB',
    gzipCpu,
    value => value <= 6.5,
    value => `${plain(value)} CPU-s/GB`,
  )
  const hundred = small && summary(small, 'sluice', 'part')
  add('peak RSS, http', '≤ 100 MB', whole?.peak.median, value => value <= 100e6, megabytes)
  add('peak RSS, gzip', '≤ 110 MB', gzip?.peak.median, value => value <= 110e6, megabytes)
  add(
    '100 documents',
    '≤ 0.12 s',
    hundred?.wall.median,
    value => value <= 0.12,
    value => `${plain(value)} s`,
  )

  // Whole processes on the whole input, so that the start-up of either counts.
  for (const limited of results.scenarios.filter(({ rate }) => rate !== undefined)) {
    add(
      `through a proxy of ${rateOf(limited.rate)}, of what curl gets through it`,
      '≥ 0.85',
      ratios(limited, 'curl', 'whole').wall?.median,
      value => value >= 0.85,
      plain,
    )
  }
  for (const latency of [0, 20, 75]) {
    const proxied = scenario('log', 'proxy', latency)
    const carried = proxied && ratios(proxied, 'curl', 'whole').wall?.median
    add(
      `through the proxy, of what curl gets through it, at ${latency} ms`,
      '≥ 0.85',
      carried,
      value => value >= 0.85,
      plain,
    )
  }
  for (const route of ['direct', 'proxy']) {
    const far = scenario('log', route, 75)
    const rate = far && summary(far, 'sluice', 'whole')?.bytesPerSecond.median
    add(
      `at 75 ms, ${route === 'proxy' ? 'through the proxy' : 'direct'}`,
      '≥ 350 MB/s',
      rate,
      value => value >= 350e6,
      value => `${plain(value / 1e6)} MB/s`,
    )
  }
  for (const { kind, route, capacity, fastest } of capacities(results)) {
    const what = route === 'proxy' ? 'sink behind the proxy' : 'sink'
    add(
      `${what} alone, of the fastest loader's rate, ${kind}`,
      '≥ 2×',
      fastest && capacity / fastest,
      value => value >= 2,
      value => `${plain(value)}×`,
    )
  }
  return list
}

/** What the servers can take beside the best that a loader took of it, in bytes of bodies a second. Floors are no loaders. */
export function capacities(results) {
  return results.scenarios
    .filter(({ capacity }) => capacity !== undefined)
    .map(({ kind, route, latency, capacity, rounds }) => {
      const rates = rounds.flatMap(round =>
        Object.entries(round)
          .filter(([client]) => !clients[client].floor)
          .flatMap(([, sizes]) => Object.values(sizes))
          .filter(run => run.failed === undefined)
          .map(run => run.wireBytes / run.wallSeconds),
      )
      return { kind, route, latency, capacity, fastest: rates.length > 0 ? Math.max(...rates) : undefined }
    })
}
