/** The page with the results. `runs` are saved results, oldest first: the last is shown in full, of the others the goals. */
import { clients } from '../clients.js'
import { nameOf, rateOf } from '../plan.js'
import { ratios, slope, spread, summary } from '../statistics.js'
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
    'How fast Sluice and other loaders send the same file of documents, and what that costs. `npm run bench` measures this and writes this ' +
      'page; [bench/README.md](../bench/README.md) describes the programs.',
    `![Megabytes a second of each loader](benchmarks.svg)`,
    '## How to read it',
    howToRead,
    '## What Sluice has to reach',
    goalText,
    goalTable(runs),
    ...main.flatMap(scenario => [...mainSection(scenario), ...startSection(scenario)]),
    ...firstRequestSection(results),
    ...waySections(results),
    ...everydaySection(results),
    ...serverSection(results),
    ...proofSection(results),
    ...aboutSection(results),
  ]
}

const howToRead = [
  'Every client loads the same file into a null sink: a server that answers bulk requests as Elasticsearch does, and stores nothing. So the ' +
    'loader is measured and not the cluster. With a real cluster, indexing takes most of the time.',
  'The documents are generated: log events, and small ones. All programs share one machine and its loopback, without TLS if it is not named.',
  'Time and CPU are those of the whole process, from its start to its end, as a user starts it. Peak RSS is that of its largest process.',
  'A round runs the clients one after the other, each once. A × compares a client with Sluice in the same rounds: 3 means three times as long, ' +
    'or three times the CPU, for the same bytes. Tables show the median of the rounds, with the least and the greatest.',
  'Clients that take long run in fewer rounds, or send a smaller input: the rounds are given, and a mark tells the smaller inputs. In these, ' +
    'start-up weighs more.',
  'A plain row is tuned: the best settings that the documentation of the client describes, and answers cut to what the client reads. ' +
    'A row with *defaults* leaves every setting as it comes.',
  'Sluice checks every line as strict JSON, and gives every document an id, so that a request can be sent again without making duplicates. The bare ' +
    'loader is the mechanism of Sluice and nothing else, and does both. Of the other loaders none gives ids, and only those that parse each line (objects, ' +
    'dict, elasticdump) notice broken JSON. What else each leaves out stands in the table of clients, further down.',
  'Compare within one run: ratios are similar on other machines, megabytes a second are not.',
]
  .map(line => `- ${line}`)
  .join('\n')

const goalText =
  'These are goals that the project set itself. ✓ means that this run reached the goal, and ✗ that it did not. A ✗ is no fault: no document is lost, and the load is only slower, or larger, than we want. ' +
  'Some goals are in seconds or megabytes, and were set on a faster machine.\n\n' +
  '**Which rows matter for a nightly load of 40 GB?** On most routes the cluster takes longest, and then none. If the proxy is on another machine, Sluice compresses: look at the rows with *gzip*. ' +
  'They say how long one machine takes at most (40 GB at 120 MB/s take under 6 minutes), and what it sends (about a quarter of the bytes). If the proxy is far away, look at the rows with 20 and 75 ms. ' +
  'The rows of 100 documents matter only for jobs that start very often.\n\n' +
  'Each column is one complete run. The last column is the run of this page. *×* is the time, or the CPU time, of the other loader over that of ' +
  'Sluice. *Slope* is the cost of each further byte, without start-up. *Of what curl gets through it* is the time that curl takes for ready-made bodies ' +
  'through the proxy, over the time of Sluice for the same documents, start-up included. ' +
  "Proxy, sink and client share the cores. Without latency, the bench's proxy carries more than a program that checks its documents can send beside it. " +
  '*The share of the cores* is the CPU seconds of Sluice and of the sink, which inflates what Sluice compresses, over wall seconds and cores.'

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

/** { client, size, found } of each client that delivered: on the largest input on which it ran. */
function shown(scenario) {
  return Object.keys(clients).flatMap(client => {
    const found =
      summary(scenario, client, 'whole') ?? summary(scenario, client, 'part') ?? summary(scenario, client, 'sample')
    return found === undefined ? [] : [{ client, size: found.size, found }]
  })
}

const marks = { part: ' ¹', sample: ' ²' }

/** The largest input that any row of some scenarios is of: only what is of a smaller one is marked. */
const largest = scenarios => {
  const sizes = new Set(scenarios.flatMap(shown).map(({ size }) => size))
  return ['whole', 'part', 'sample'].find(size => sizes.has(size))
}

const markOf = (size, scenarios) => (size === largest(scenarios) ? '' : marks[size])

/** What the marks in a table of some scenarios mean; empty where there are none. */
function noteOf(scenarios) {
  const [{ sizes }] = scenarios
  const used = new Set(scenarios.flatMap(shown).map(({ size }) => size))
  const notes = Object.entries(marks)
    .filter(([size]) => used.has(size) && size !== largest(scenarios))
    .map(([size, mark]) => `${mark.trim()} on ${megabytes(sizes[size].bytes)} MB`)
  return notes.length === 0 ? [] : [`${notes.join(', ')}, and compared with Sluice on the same.`]
}

function mainSection(scenario) {
  const rows = shown(scenario).map(({ client, size, found }) => {
    const { wall, cpu } = ratios(scenario, client, size)
    return [
      title(client) + markOf(size, [scenario]),
      String(found.rounds),
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
    `${megabytes(whole.bytes)} MB, ${whole.documents.toLocaleString('en-US')} documents; median (least–greatest).`,
    table(
      [
        '',
        'rounds',
        'MB/s',
        'documents/s',
        'CPU-s/GB',
        'peak RSS, MB',
        'bytes on the wire per byte',
        'wall ×',
        'CPU ×',
      ],
      rows,
    ),
    ...noteOf([scenario]),
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
    `Start-up apart from slope, from ${megabytes(part.bytes)} and ${megabytes(whole.bytes)} MB in the same round. The start-up is what remains at no ` +
      'bytes at all, so that it may come out below zero where it is short:',
    table(['', 'start-up, s', 's/GB', 'start-up, CPU-s', 'CPU-s/GB', 'first bulk request after, s'], rows),
  ]
}

function firstRequestSection({ start }) {
  const found = spread(start?.seconds ?? [])
  if (found === undefined) return []
  return [
    '## From the start to the first bulk request',
    `Sluice with \`--preflight-connections 0\`, direct, ${megabytes(start.bytes)} MB, ${start.seconds.length} runs: ${withEnds(found)} s from the start of the process ` +
      'until the sink has the head of the first bulk request. One `GET /` comes before it, by which Sluice learns what answers. The tables above show the same time with default settings.',
  ]
}

/** All ways side by side, for each kind of document. */
function waySections(results) {
  return ['log', 'small'].flatMap(kind => {
    const ways = results.scenarios
      .filter(scenario => scenario.kind === kind)
      .toSorted((a, b) => a.route.localeCompare(b.route) || a.latency - b.latency || (a.rate ?? 0) - (b.rate ?? 0))
    if (ways.length < 2) return []
    const names = Object.keys(clients).filter(
      client => clients[client].elsewhere && ways.some(way => shown(way).some(row => row.client === client)),
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
          return `${median(found.bytesPerSecond, 1e-6)}${times}${markOf(size, ways)}`
        }),
      ),
    ])
    const costs = names.map(client => [
      title(client),
      ...ways.map(way => cell(way, client, ({ found }) => median(found.cpuPerGB))),
    ])
    const head = ['', ...ways.map(nameOfWay)]
    return [
      `## ${kind === 'log' ? 'Log' : 'Small'} documents, on every way`,
      'MB/s, and in brackets how many times as long as Sluice takes. The sink adds the latency to every answer. With latency each client gets 8 connections ' +
        'where it has such a setting, and Sluice keeps its defaults. Through the proxy Sluice would compress by default: here it is told not to, but for the row with gzip.',
      table(head, rates),
      ...noteOf(ways),
      `Rounds, on all ways but the first: ${roundsOf(ways, names)}.`,
      'CPU-s/GB:',
      table(head, costs),
    ]
  })
}

/** What has no place in the tables of plain files: see everyday.js. Results of an older run have none. */
function everydaySection({ everyday = [] }) {
  if (everyday.length === 0) return []
  const rows = everyday.flatMap(scenario =>
    shown(scenario).map(({ client, size, found }) => {
      const { wall, cpu } = ratios(scenario, client, size)
      return [
        client === 'sluice' ? `**${scenario.name}**` : title(client),
        median(found.wall),
        withEnds(found.bytesPerSecond, 1e-6),
        median(found.cpuPerGB),
        median(found.peak, 1e-6),
        client === 'sluice' ? '1' : withEnds(wall),
        client === 'sluice' ? '1' : withEnds(cpu),
      ]
    }),
  )
  return [
    '## What users have besides plain files',
    'A row in bold is Sluice with its defaults, and with the options that its name is about; the rows under it load the same, and change it in the same way. ' +
      'Bytes are those of the documents, decoded. CSV, edits and updates are of small documents. `https` is TLS with a ' +
      "CA of the bench's own; behind it every client pays for the same TLS server, which shares the cores. On one core only the client is: the sink has both. " +
      'Many small files have seven documents each. 100 documents are a single small file: all of it is start-up.',
    table(['', 'seconds', 'MB/s', 'CPU-s/GB', 'peak RSS, MB', 'wall ×', 'CPU ×'], rows),
  ]
}

const nameOfWay = ({ route, latency, rate }) =>
  rate === undefined ? `${route === 'proxy' ? 'proxy' : 'direct'}, ${latency} ms` : `proxy of ${rateOf(rate)}`

/** Such as "Sluice 3, curl 2–3", of the ways that are not shown in a table of their own. */
function roundsOf(ways, names) {
  const others = ways.filter(({ route, latency }) => route !== 'direct' || latency > 0)
  const rows = others.flatMap(shown)
  return names
    .flatMap(name => {
      const counts = rows.filter(({ client }) => client === name).map(({ found }) => found.rounds)
      if (counts.length === 0) return []
      const [least, most] = [Math.min(...counts), Math.max(...counts)]
      return [`${title(name)} ${least === most ? least : `${least}–${most}`}`]
    })
    .join(' · ')
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
      'that a loader sent, in MB/s of requests. Floors do not count: they check nothing and give no ids. Gzip bodies cost the sink more: it inflates them, as a cluster does.',
    table(['', 'servers alone', 'fastest loader', ''], rows),
  ]
}

const sampleSizes = scenarios =>
  [
    ...new Map(
      scenarios.map(({ kind, sizes }) => [kind, `${megabytes((sizes.sample ?? sizes.part).bytes)} MB ${kind}`]),
    ).values(),
  ].join(', ')

function proofSection({ proofs, absent, scenarios }) {
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
      : `Before the rounds each client loaded each kind of document once on each way (${sampleSizes(scenarios)}), and the number of documents that arrived, and an order-independent sum of their hashes, were compared with those of the file: ${proofs.length - failures.length} of ${proofs.length} equal. In every measured run the number was compared again; a run with a wrong number does not count.`,
    ...(failed.length > 0 ? [failed.join('\n')] : []),
    ...(left.length > 0 ? ['Not run:', left.join('\n')] : []),
  ]
}

function aboutSection({ machine, corpora, when, tookSeconds }) {
  const abouts = Object.entries(clients).map(([, { title: name, about }]) => [name, about])
  return [
    '## What each client does, and leaves out',
    table(['client', 'how it runs'], abouts, { text: true }),
    '## Machine, versions, inputs',
    `${machine.cores} × ${machine.cpu}, ${machine.memoryGB} GB, Linux ${machine.kernel}; ${when}. Sink, proxy and client share the cores. ` +
      `Loopback, inputs in the page cache, TLS only where it is named.${tookSeconds === undefined ? '' : ` The run took ${(tookSeconds / 60).toFixed(0)} minutes.`}`,
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
  const parts = [...results.scenarios, ...(results.everyday ?? [])].map(scenario => {
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
