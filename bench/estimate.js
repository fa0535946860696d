/** How long the runs of a plan take, so that whoever starts them knows. */
import { connectionsFor } from './clients.js'

/**
 * Seconds to start, and seconds a GB of log and of small documents, as on two cores of an AMD EPYC. `inTurn`: the documents of a
 * request, for a client that waits for each answer before it sends the next request.
 */
const paces = {
  sluice: { start: 0.45, log: 1.25, small: 1.85 },
  'sluice-gzip': { start: 0.45, log: 7.5, small: 9 },
  bare: { start: 0.15, log: 1.25, small: 1.45 },
  'bare-unchecked': { start: 0.15, log: 0.8, small: 1 },
  curl: { start: 0.01, log: 0.5, small: 0.5 },
  esutil: { start: 0.03, log: 3.2, small: 15.5 },
  'esutil-default': { start: 0.03, log: 6.9, small: 28.2 },
  docappender: { start: 0.03, log: 1.5, small: 4 },
  'docappender-default': { start: 0.03, log: 3, small: 8 },
  'docappender-gzip': { start: 0.03, log: 7.5, small: 9 },
  esbulk: { start: 0.03, log: 4, small: 12 },
  'esbulk-default': { start: 0.03, log: 6, small: 16 },
  'helpers-strings': { start: 0.3, log: 10.6, small: 13.4 },
  'helpers-strings-default': { start: 0.3, log: 12.1, small: 19.8 },
  'helpers-objects': { start: 0.3, log: 28, small: 40 },
  'python-streaming-raw': { start: 0.25, log: 10.8, small: 42, inTurn: 2000 },
  'python-streaming-raw-default': { start: 0.25, log: 14.2, small: 59, inTurn: 500 },
  'python-parallel-raw': { start: 0.25, log: 11, small: 50 },
  'python-streaming-dict': { start: 0.25, log: 35, small: 95, inTurn: 2000 },
  'python-parallel-dict': { start: 0.3, log: 45, small: 115 },
  elasticdump: { start: 0.7, log: 60, small: 120, inTurn: 5000 },
  'python-csv': { start: 0.25, small: 130, inTurn: 2000 },
  'mlr-csv': { start: 0.2, small: 12 },
  'qsv-csv': { start: 0.2, small: 12 },
  'duckdb-csv': { start: 0.4, small: 6 },
  'elasticdump-csv': { start: 0.7, small: 250, inTurn: 5000 },
  'helpers-edit': { start: 0.3, small: 40 },
  'python-edit': { start: 0.25, small: 110, inTurn: 2000 },
  'elasticdump-edit': { start: 0.7, small: 150, inTurn: 5000 },
  'esutil-update': { start: 0.03, small: 25 },
  'helpers-update': { start: 0.3, small: 50 },
  'python-update': { start: 0.25, small: 110, inTurn: 2000 },
  'elasticdump-update': { start: 0.7, small: 130, inTurn: 5000 },
}
// The other forms of Sluice, and what is not listed.
const paceOf = client => paces[client] ?? paces.sluice

const bodyBytes = 5_000_000
/** Of the two servers in each scenario, and of what they can take, where rounds.js measures that. */
const scenarioSeconds = ({ name, latency, rate }) =>
  latency === 0 && name === undefined && rate === undefined ? 5 : 0.5
// Of a run besides its client.
const runSeconds = 0.02

/** Seconds of a run of `client` on a corpus { kind, bytes, documents }. */
export function secondsOf(client, { kind, bytes, documents }, latency) {
  const { start, [kind]: perGB, inTurn } = paceOf(client)
  const busy = (bytes / 1e9) * perGB
  // The others send while they wait.
  const spent = inTurn
    ? busy + ((documents / inTurn) * latency) / 1000
    : Math.max(busy, (bytes / bodyBytes / Number(connectionsFor(latency) ?? 1)) * (latency / 1000))
  return runSeconds + start + spent
}

/** Seconds of all scenarios of a plan. */
export function estimate(scenarios, inputs) {
  let seconds = 0
  for (const scenario of scenarios) {
    const { kind, latency, runs } = scenario
    seconds += scenarioSeconds(scenario)
    for (const { client, size, rounds } of runs) seconds += rounds * secondsOf(client, inputs[kind][size], latency)
  }
  return seconds
}

/** Seconds of some proofs, { kind, client } each, of which `atOnce` run side by side. */
export function estimateOfProofs(proofs, inputs, atOnce) {
  return proofs.reduce((sum, { kind, client }) => sum + secondsOf(client, inputs[kind].sample, 0), 0) / atOnce
}
