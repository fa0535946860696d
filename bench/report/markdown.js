/** The page with the results. `runs` are saved results, oldest first: the last is shown in full, of the others the goals. */
import { clients } from '../clients.js'
import { nameOf } from '../plan.js'
import { ratios, slope, summary } from '../statistics.js'
import { median, megabytes, plain, table, withEnds } from './format.js'
import { capacities, goals } from './goals.js'

export function markdown(runs, real) {
  const results = runs.at(-1)
  return [
    ...(results === undefined ? [] : sinkSections(runs, results)),
    ...(real === undefined ? [] : realSection(real)),
  ]
    .join('\n\n')
    .concat('\n')
}

function sinkSections(runs, results) {
  const main = results.scenarios.filter(({ route, latency }) => route === 'direct' && latency === 0)
  return [
    '# Benchmarks',
    'Written by `npm run bench`; `bench/README.md` says how it measures. Every client loads the same file into a server that throws ' +
      'everything away, on the same machine, so that only the loader is measured. **Compare within one run**: ratios and CPU ' +
      'seconds hold elsewhere, megabytes a second do not.',
    `![Megabytes a second of each loader](benchmarks.svg)`,
    '## What Sluice has to reach',
    goalTable(runs),
    ...main.flatMap(scenario => [...mainSection(scenario), ...startSection(scenario)]),
    ...waySections(results),
    ...serverSection(results),
    ...proofSection(results),
    ...aboutSection(results),
  ]
}

function goalTable(runs) {
  const lists = runs.map(goals)
  const known = lists.at(-1).filter(({ found }) => found !== undefined)
  const rows = known.map(({ goal, wanted }) => [
    goal,
    wanted,
    ...lists.map(list => {
      const { found, met } = list.find(one => one.goal === goal) ?? {}
      return found === undefined ? '–' : `${found} ${met ? '✓' : '✗'}`
    }),
  ])
  return table(['', 'wanted', ...runs.map(({ when }) => when.slice(0, 16).replace('T', ' '))], rows)
}

const title = name => `${clients[name].title}`

/** { client, size, found } of each client that delivered: on the whole input where it ran on that. */
function shown(scenario) {
  return Object.keys(clients).flatMap(client => {
    const found = summary(scenario, client, 'whole') ?? summary(scenario, client, 'part')
    return found === undefined ? [] : [{ client, size: found.size, found }]
  })
}

const partMark = ' ¹'
const partNote = `${partMark.trim()} on the smaller input only, and compared to Sluice on the same.`

/** Whether a scenario's rows are of both inputs, so that the smaller has to be marked. */
const isMixed = scenario => new Set(shown(scenario).map(({ size }) => size)).size > 1

function mainSection(scenario) {
  const rows = shown(scenario).map(({ client, size, found }) => {
    const { wall, cpu } = ratios(scenario, client, size)
    return [
      title(client) + (size === 'part' && isMixed(scenario) ? partMark : ''),
      withEnds(found.bytesPerSecond, 1e-6),
      median(found.documentsPerSecond),
      withEnds(found.cpuPerGB),
      median(found.peak, 1e-6),
      median(found.wire),
      client === 'sluice' ? '1' : withEnds(wall),
      client === 'sluice' ? '1' : withEnds(cpu),
    ]
  })
  const { whole } = scenario.sizes
  return [
    `## ${scenario.kind === 'log' ? 'Log' : 'Small'} documents, direct, without latency`,
    `${megabytes(whole.bytes)} MB, ${whole.documents.toLocaleString('en-US')} documents, ${scenario.rounds.length} rounds; median (least–greatest). ` +
      'Wall time from the start of the process to its end. × is how many times as long, or as much CPU, a client takes as Sluice in the same round.',
    table(
      ['', 'MB/s', 'documents/s', 'CPU-s/GB', 'peak RSS, MB', 'bytes on the wire per byte', 'wall ×', 'CPU ×'],
      rows,
    ),
    ...(isMixed(scenario) ? [partNote] : []),
  ]
}

function startSection(scenario) {
  const rows = Object.keys(clients).flatMap(client => {
    const found = slope(scenario, client)
    if (found === undefined) return []
    const first = summary(scenario, client, 'part')?.firstRequest
    return [
      [
        title(client),
        median(found.wallStart),
        median(found.wallPerGB),
        median(found.cpuStart),
        median(found.cpuPerGB),
        median(first),
      ],
    ]
  })
  if (rows.length === 0) return []
  const { whole, part } = scenario.sizes
  return [
    `Start-up apart from slope, from ${megabytes(part.bytes)} and ${megabytes(whole.bytes)} MB:`,
    table(['', 'start-up, s', 's/GB', 'start-up, CPU-s', 'CPU-s/GB', 'first bulk request after, s'], rows),
  ]
}

/** All ways side by side, for each kind of document. */
function waySections(results) {
  return ['log', 'small'].flatMap(kind => {
    const ways = results.scenarios
      .filter(scenario => scenario.kind === kind)
      .toSorted((a, b) => a.route.localeCompare(b.route) || a.latency - b.latency)
    if (ways.length < 2) return []
    const names = Object.keys(clients).filter(
      client => clients[client].everywhere && ways.some(way => shown(way).some(row => row.client === client)),
    )
    const cell = (way, client, write) => {
      const row = shown(way).find(one => one.client === client)
      return row === undefined ? '–' : write(row)
    }
    const rates = names.map(client => [
      title(client),
      ...ways.map(way =>
        cell(way, client, ({ size, found }) => {
          const times = client === 'sluice' ? '' : ` (${median(ratios(way, client, size).wall)}×)`
          return `${median(found.bytesPerSecond, 1e-6)}${times}${size === 'part' && isMixed(way) ? partMark : ''}`
        }),
      ),
    ])
    const costs = names.map(client => [
      title(client),
      ...ways.map(way => cell(way, client, ({ found }) => median(found.cpuPerGB))),
    ])
    const head = ['', ...ways.map(({ route, latency }) => `${route === 'proxy' ? 'proxy' : 'direct'}, ${latency} ms`)]
    return [
      `## ${kind === 'log' ? 'Log' : 'Small'} documents, on every way`,
      `MB/s, and how many times as long as Sluice (${ways.map(way => `${way.rounds.length}`).join(', ')} rounds). The latency is added by the sink to every answer. ` +
        'With it each client gets 8 connections, where it has such a setting; Sluice keeps its defaults. ' +
        (kind === 'small' ? 'With latency the smaller input.' : ''),
      table(head, rates),
      ...(ways.some(isMixed) ? [partNote] : []),
      'CPU-s/GB:',
      table(head, costs),
    ]
  })
}

function serverSection(results) {
  const rows = capacities(results).map(({ kind, route, capacity, fastest }) => [
    `${kind}, ${route === 'proxy' ? 'through the proxy' : 'direct'}`,
    plain(capacity / 1e6),
    fastest === undefined ? '–' : plain(fastest / 1e6),
    fastest === undefined ? '–' : `${plain(capacity / fastest)}×`,
  ])
  return [
    '## Not the bottleneck',
    'What the sink, and the proxy before it, take from a program that only sends (bodies from the page cache, no loader), beside the most ' +
      'that a loader sent, in MB/s of requests. Gzip bodies cost the sink more: it inflates them, as a cluster does.',
    table(['', 'servers alone', 'fastest loader', ''], rows),
  ]
}

function proofSection({ proofs, absent }) {
  const failures = proofs.filter(({ failed }) => failed)
  const failed = failures.map(
    ({ kind, route, client, failed: reason }) => `- ${title(client)}, ${kind}, ${route}: ${reason}`,
  )
  const left = Object.entries(absent).map(
    ([client, reason]) => `- ${title(client)} (\`${client}\`): ${reason.split('\n')[0]}`,
  )
  return [
    '## Delivery',
    proofs.length === 0
      ? 'Not proved in this run.'
      : `Before the rounds each client ran once per kind of document and way, and the sink compared a sum of hashes of all documents, and their number, with the corpus: ${proofs.length - failures.length} of ${proofs.length} equal. In every measured run the number was compared again.`,
    ...(failed.length > 0 ? [failed.join('\n')] : []),
    ...(left.length > 0 ? ['Not run:', left.join('\n')] : []),
  ]
}

function aboutSection({ machine, corpora, when }) {
  const abouts = Object.entries(clients).map(([, { title: name, about }]) => [name, about])
  return [
    '## What each client does, and leaves out',
    table(['client', 'how it runs'], abouts, { text: true }),
    '## Machine, versions, inputs',
    `${machine.cores} × ${machine.cpu}, ${machine.memoryGB} GB, Linux ${machine.kernel}; ${when}. Sink, proxy and client share the cores. ` +
      'No TLS, loopback, inputs in the page cache.',
    Object.entries(machine.versions)
      .filter(([, version]) => version)
      .map(([name, version]) => `${name} ${version}`)
      .join(' · '),
    table(
      ['corpus', 'bytes', 'documents', 'sha256'],
      corpora.map(({ kind, bytes, documents, sha256 }) => [
        kind,
        bytes.toLocaleString('en-US'),
        documents.toLocaleString('en-US'),
        `\`${sha256}\``,
      ]),
    ),
  ]
}

function realSection({ loads, machine, cluster, when }) {
  return [
    '## On a real Elasticsearch',
    `One node of Elasticsearch ${cluster.version} on the same ${machine.cores} cores, ${cluster.heap} heap, one shard, no replica, refresh off while loading, ` +
      `the same mapping for all; ${when.slice(0, 16).replace('T', ' ')}. Indexing takes most of the time, whoever sends. Afterwards the index held every document.`,
    ...loads.map(scenario => {
      const rows = Object.keys(clients).flatMap(client => {
        const found = summary(scenario, client, 'whole')
        if (found === undefined) return []
        const { wall, cpu } = ratios(scenario, client, 'whole')
        return [
          [
            title(client),
            withEnds(found.documentsPerSecond),
            withEnds(found.bytesPerSecond, 1e-6),
            withEnds(found.cpuPerGB),
            client === 'sluice' ? '1' : withEnds(wall),
            client === 'sluice' ? '1' : withEnds(cpu),
          ],
        ]
      })
      const { whole } = scenario.sizes
      return `${scenario.kind}, ${megabytes(whole.bytes)} MB, ${whole.documents.toLocaleString('en-US')} documents, ${scenario.rounds.length} rounds:\n\n${table(['', 'documents/s', 'MB/s', "client's CPU-s/GB", 'wall ×', 'CPU ×'], rows)}`
    }),
  ]
}

/** For the terminal: each scenario in a few columns. */
export function brief(results) {
  const parts = results.scenarios.map(scenario => {
    const rows = shown(scenario).map(({ client, size, found }) => {
      const { wall, cpu } = ratios(scenario, client, size)
      return [
        client,
        median(found.bytesPerSecond, 1e-6),
        median(found.documentsPerSecond),
        median(found.cpuPerGB),
        median(found.peak, 1e-6),
        median(wall),
        median(cpu),
      ]
    })
    return `${nameOf(scenario)}\n${columns([['', 'MB/s', 'docs/s', 'CPU-s/GB', 'RSS MB', 'wall ×', 'CPU ×'], ...rows])}`
  })
  const reached = goals(results)
    .filter(({ found }) => found !== undefined)
    .map(({ goal, wanted, found, met }) => [goal, wanted, found, met ? 'reached' : 'missed'])
  return [
    ...parts,
    ...(reached.length > 0 ? [`goals (of a full run; start-up weighs more in smaller ones)\n${columns(reached)}`] : []),
  ].join('\n\n')
}

function columns(rows) {
  const widths = rows[0].map((_, at) => Math.max(...rows.map(row => row[at].length)))
  return rows
    .map(row => row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join('  '))
    .join('\n')
}
