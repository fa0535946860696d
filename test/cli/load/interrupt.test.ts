import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { folder, startSluice } from '../../support/command/sluice.js'

// Each test starts processes.
test('a second signal ends the process at once, with exit code 130', async () => {
  await using work = await folder()
  const cluster = createServer((request, response) => {
    if (request.method === 'GET') {
      response.setHeader('x-elastic-product', 'Elasticsearch')
      response.setHeader('content-type', 'application/json')
      response.end('{"cluster_name":"silent","version":{"number":"9.4.3"}}')
    } else {
      // A bulk request that is never answered: the first signal waits for it.
      request.resume()
      cluster.emit('bulk')
    }
  })
  cluster.listen(0, '127.0.0.1')
  await once(cluster, 'listening')
  try {
    const bulk = once(cluster, 'bulk')
    const url = `http://127.0.0.1:${(cluster.address() as AddressInfo).port}`
    const load = startSluice(['ingest', '-', '--url', url, '--index', 'silent'], { cwd: work.path, input: '{"a":1}\n' })
    await bulk
    load.child.kill('SIGINT')
    await load.printed('to stop now')
    load.child.kill('SIGTERM')
    expect(await load.ended).toMatchObject({ code: 130, stdout: '' })
  } finally {
    cluster.closeAllConnections()
    cluster.close()
  }
})
