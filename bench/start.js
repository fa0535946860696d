/**
 * node bench/start.js [--rounds N] [--sluice FILE]
 *
 * Measures the time from the start of the process to the first bulk request, over https through a proxy, with the 16 test connections
 * of every load, and prints each round and the median.
 */
import { parseArgs } from 'node:util'
import { corpus } from './corpus/corpora.js'
import { prepare } from './prepare.js'
import { say } from './say.js'
import { startServers } from './servers.js'
import { spread } from './statistics.js'
import { trial } from './trial.js'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '11' }, sluice: { type: 'string' } } })
const programs = prepare(values)
const documents = await corpus('log', 5_000_000, programs)
const servers = await startServers(programs, { tls: true })
const { url, ca, proxyUrl: proxy } = servers
const seconds = []
try {
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    const { failed, firstRequestSeconds } = await trial(
      'sluice',
      programs,
      { corpus: documents },
      { url, ca, proxy },
      servers,
    )
    if (failed) throw new Error(failed)
    // The first round may find cold files.
    if (round > 0) seconds.push(firstRequestSeconds)
  }
} finally {
  await servers[Symbol.asyncDispose]()
}
say(seconds.map(value => value.toFixed(3)).join(', '))
const { median, min, max } = spread(seconds)
say(`first bulk request after ${median.toFixed(3)} s (${min.toFixed(3)} to ${max.toFixed(3)})`)
