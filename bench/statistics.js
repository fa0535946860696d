/** Median with the least and the greatest; undefined of nothing. */
export function spread(values) {
  const known = values.filter(value => Number.isFinite(value)).toSorted((a, b) => a - b)
  if (known.length === 0) return undefined
  const middle = (known.length - 1) / 2
  return {
    median: (known[Math.floor(middle)] + known[Math.ceil(middle)]) / 2,
    min: known[0],
    max: known.at(-1),
  }
}

const delivered = run => (run !== undefined && run.failed === undefined ? run : undefined)

/** The runs of a client that delivered, by round; `undefined` where it did not. */
const runsOf = (scenario, client, size) => scenario.rounds.map(round => delivered(round[client]?.[size]))

const over = (runs, value) => spread(runs.map(run => (run === undefined ? Number.NaN : value(run))))

/** What a client came to in a scenario on one size of input; undefined where it never delivered. */
export function summary(scenario, client, size) {
  const runs = runsOf(scenario, client, size)
  if (runs.every(run => run === undefined)) return undefined
  return {
    size,
    rounds: runs.filter(run => run !== undefined).length,
    wall: over(runs, run => run.wallSeconds),
    bytesPerSecond: over(runs, run => run.bytes / run.wallSeconds),
    documentsPerSecond: over(runs, run => run.documents / run.wallSeconds),
    cpuPerGB: over(runs, run => (run.cpuSeconds * 1e9) / run.bytes),
    cores: over(runs, run => run.cpuSeconds / run.wallSeconds),
    sinkCores: over(runs, run => run.sinkCpuSeconds / run.wallSeconds),
    peak: over(runs, run => run.peakBytes),
    firstRequest: over(runs, run => run.firstRequestSeconds),
    wire: over(runs, run => run.wireBytes / run.bytes),
    sinkCpuPerGB: over(runs, run => (run.sinkCpuSeconds * 1e9) / run.bytes),
    requests: over(runs, run => run.requests),
    mostInFlight: over(runs, run => run.mostInFlight),
  }
}

/** How many times as long, and as much CPU, a client took per byte as `reference` in the same round. */
export function ratios(scenario, client, size, reference = 'sluice') {
  const own = runsOf(scenario, client, size)
  const other = runsOf(scenario, reference, size)
  const paired = value =>
    spread(
      own.map((run, at) =>
        run && other[at] ? value(run) / run.bytes / (value(other[at]) / other[at].bytes) : Number.NaN,
      ),
    )
  return { wall: paired(run => run.wallSeconds), cpu: paired(run => run.cpuSeconds) }
}

/** From two sizes: seconds and CPU seconds per GB without start-up, and the start-up. undefined without both. */
export function slope(scenario, client) {
  const pairs = slopesByRound(scenario, client)
  if (pairs.every(pair => pair === undefined)) return undefined
  const of = value => over(pairs, value)
  return {
    wallPerGB: of(pair => pair.wallPerGB),
    cpuPerGB: of(pair => pair.cpuPerGB),
    wallStart: of(pair => pair.wallStart),
    cpuStart: of(pair => pair.cpuStart),
  }
}

/** Slope of a client over that of another in the same round, where start-up did not drown both. */
export function slopeRatios(scenario, client, reference) {
  const own = slopesByRound(scenario, client)
  const other = slopesByRound(scenario, reference)
  const known = (pair, name) => (pair && pair[name] > 0 ? pair[name] : Number.NaN)
  const paired = name => spread(own.map((pair, at) => known(pair, name) / known(other[at], name)))
  return { wall: paired('wallPerGB'), cpu: paired('cpuPerGB') }
}

function slopesByRound(scenario, client) {
  const wholes = runsOf(scenario, client, 'whole')
  const parts = runsOf(scenario, client, 'part')
  return wholes.map((whole, at) => {
    const part = parts[at]
    if (!whole || !part || whole.bytes === part.bytes) return undefined
    const line = name => {
      const rise = (whole[name] - part[name]) / (whole.bytes - part.bytes)
      return { perGB: rise * 1e9, start: part[name] - rise * part.bytes }
    }
    const wall = line('wallSeconds')
    const cpu = line('cpuSeconds')
    return { wallPerGB: wall.perGB, wallStart: wall.start, cpuPerGB: cpu.perGB, cpuStart: cpu.start }
  })
}
