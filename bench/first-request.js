/** How long Sluice takes from its start to its first bulk request, where the preflight is no more than one GET /. */
import { say } from './say.js'
import { startServers } from './servers.js'
import { trial } from './trial.js'

/** Resolves to { bytes, seconds: [one each], failed? } on a corpus; the first run, which may find cold files, does not count. */
export async function firstRequests(programs, corpus, count) {
  const servers = await startServers(programs)
  const seconds = []
  try {
    for (let run = 0; run <= count; run += 1) {
      const result = await trial('sluice-start', programs, { corpus }, { url: servers.url }, servers)
      if (result.failed) return { bytes: corpus.bytes, seconds, failed: result.failed }
      if (run > 0) seconds.push(result.firstRequestSeconds)
    }
  } finally {
    await servers[Symbol.asyncDispose]()
  }
  say(`first bulk request after ${seconds.map(value => value.toFixed(2)).join(', ')} s`)
  return { bytes: corpus.bytes, seconds }
}
