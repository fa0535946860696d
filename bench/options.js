import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'

export const usage = `npm run bench -- [options]

  --quick               small inputs and few rounds: does it all work? (under two minutes once everything is built)
  --real                on a real Elasticsearch 9 instead of the null sink
  --corpora LIST        log,small
  --size LIST           bytes of each, as in log=2GB,small=1GB
  --route LIST          direct,proxy
  --latency LIST        milliseconds added to every answer, as in 0,20,75
  --rounds N            rounds of every client; without it fast clients run more often than slow ones
  --clients LIST        only these (and sluice, to which they are compared)
  --sluice FILE         another sluice.js than this checkout's, which is built first otherwise
  --no-verify           leave the proof of delivery out
  --write               write docs/benchmarks.md even though a part was left out
  --render FILE…        write docs/benchmarks.md again from saved results; with several runs, the last is shown in full
  --list                the clients, and which of them can run here
  --pin                 note the sha256 of corpora whose size has none yet

  BENCH_ESBULK, BENCH_DOCAPPENDER   programs of further loaders
`

// Rounds on the direct way without latency are those of the client's `race` (`start`: of the part, where it only tells start-up
// from slope); `elsewhere` they are those of the size.
const full = {
  sizes: { log: 2_000_000_000, small: 1_000_000_000 },
  part: 10,
  samples: { log: 50_000_000, small: 10_000_000 },
  rounds: { fast: 5, slow: 3, aside: 1, least: 1, start: 1, elsewhere: { whole: 3, part: 2, sample: 1 } },
}
const quick = {
  sizes: { log: 20_000_000, small: 8_000_000 },
  part: 4,
  samples: { log: 5_000_000, small: 2_000_000 },
  rounds: { ...same(1, { fast: 2 }), start: 0 },
}
const real = {
  sizes: { log: 100_000_000, small: 30_000_000 },
  part: 10,
  samples: { log: 10_000_000, small: 3_000_000 },
  rounds: same(3),
}

function same(count, { fast = count } = {}) {
  return {
    fast,
    slow: count,
    aside: count,
    least: count,
    start: count,
    elsewhere: { whole: count, part: count, sample: count },
  }
}

/** Throws an Error whose message is for the user. */
export function readOptions(words) {
  const { values, positionals } = parseArgs({
    args: words,
    allowPositionals: true,
    allowNegative: true,
    options: {
      quick: { type: 'boolean', default: false },
      real: { type: 'boolean', default: false },
      corpora: { type: 'string', default: 'log,small' },
      size: { type: 'string' },
      route: { type: 'string', default: 'direct,proxy' },
      latency: { type: 'string' },
      rounds: { type: 'string' },
      clients: { type: 'string' },
      sluice: { type: 'string' },
      verify: { type: 'boolean', default: true },
      write: { type: 'boolean', default: false },
      render: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      pin: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const preset = values.quick ? quick : values.real ? real : full
  const rounds = values.rounds === undefined ? undefined : whole('--rounds', values.rounds)
  const restricted = [values.size, values.latency, values.rounds, values.clients, values.sluice].some(
    value => value !== undefined,
  )
  return {
    ...values,
    files: positionals,
    corpora: oneOf('--corpora', values.corpora, ['log', 'small']),
    routes: oneOf('--route', values.route, ['direct', 'proxy']),
    latencies: (values.latency ?? '0,20,75').split(',').map(text => whole('--latency', text)),
    latenciesGiven: values.latency !== undefined,
    sizes: { ...preset.sizes, ...sizes(values.size) },
    /** The smaller input is this part of the larger. */
    part: preset.part,
    /** Bytes of the smallest input of each kind: for the proof of delivery, and for slow clients where answers take long. */
    samples: preset.samples,
    rounds: rounds === undefined ? preset.rounds : same(rounds),
    clients: values.clients?.split(','),
    cores: availableParallelism(),
    /** Whether this is a run whose result the documentation may show. */
    complete:
      !values.quick &&
      !restricted &&
      values.verify &&
      values.corpora === 'log,small' &&
      values.route === 'direct,proxy',
  }
}

function oneOf(option, list, known) {
  const names = list.split(',')
  for (const name of names)
    if (!known.includes(name)) throw new Error(`${option} takes ${known.join(',')}, not ${name}`)
  return names
}

function whole(option, text) {
  if (!/^\d+$/.test(text)) throw new Error(`${option} takes a whole number, not ${text}`)
  return Number(text)
}

function sizes(list) {
  if (list === undefined) return {}
  return Object.fromEntries(
    list.split(',').map(entry => {
      const [, kind, count, unit] = /^(log|small)=(\d+)(|kB|MB|GB)$/i.exec(entry) ?? []
      if (kind === undefined) throw new Error(`--size takes log=2GB,small=1GB, not ${entry}`)
      return [kind, Number(count) * { '': 1, KB: 1e3, MB: 1e6, GB: 1e9 }[unit.toUpperCase()]]
    }),
  )
}
