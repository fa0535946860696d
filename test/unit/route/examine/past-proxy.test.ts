import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { expect, test } from 'vitest'
import { diagnose } from '../../../support/lab/patient-doctor.js'
import { probeDirect } from '../../../../src/route/examine/try-filter.js'
import { createAuthority } from '../../../support/servers/proxy-certificates.js'
import { closedPort } from '../../../support/servers/proxy-servers.js'

test('past the proxy no credentials are shown, and no client certificate either', async () => {
  const authority = await createAuthority('Sluice test CA')
  const own = await authority.issue(['localhost'])
  const { cert, key } = await authority.issue(['client.test'])
  const asked: object[] = []
  const options = { ...own, requestCert: true, rejectUnauthorized: false }
  const server = createServer(options, ({ socket, headers }, response) => {
    const shown = Object.keys((socket as TLSSocket).getPeerCertificate()).length > 0
    asked.push({ shown, authorization: headers.authorization })
    response.writeHead(401, { 'x-elastic-product': 'Elasticsearch' }).end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const url = `https://localhost:${(server.address() as AddressInfo).port}`
    const target = { url, ca: authority.cert, cert, key, apiKey: 'a2V5OmtleQ==' }
    const report = await diagnose({ target, proxy: `http://user:pass@127.0.0.1:${await closedPort()}` })
    expect(report.facts.past).toEqual({ verdict: 'open', status: 401 })
    await probeDirect({ url: new URL(url), notes: [] }, { target })
    expect(asked).toEqual([
      { shown: false, authorization: undefined },
      { shown: false, authorization: undefined },
    ])
  } finally {
    server.close()
  }
})
