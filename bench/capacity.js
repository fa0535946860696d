/** What the sink, and the proxy before it, can take: bodies from the page cache over a few connections, and no client. */
import { spawnSync } from 'node:child_process'
import { readyBodies } from './corpus/derived.js'

const seconds = 1

/** Bytes of bodies a second, the best of a few numbers of connections. */
export async function capacity(programs, route, corpus, servers) {
  await servers.addLatency(0)
  const [body] = await readyBodies(corpus)
  const path = '/bench/_bulk?filter_path=errors,items.*.status'
  const target = route === 'proxy' ? servers.url + path : path
  const port = String(route === 'proxy' ? servers.proxyPort : servers.port)
  const rates = [2, 4].map(connections => {
    const { stdout, stderr, status } = spawnSync(
      programs.flood,
      [port, String(connections), String(seconds), body, target],
      {
        encoding: 'utf8',
      },
    )
    if (status !== 0) throw new Error(`flood: ${stderr}`)
    const result = JSON.parse(stdout)
    return result.bytes / result.seconds
  })
  return Math.max(...rates)
}
