import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { diagnose } from '../../../support/lab/patient-doctor.js'
import type { DoctorOptions } from '../../../../src/route/examine/examine-options.js'

const may = { create_doc: true, read: true, delete: true }
const answers: Readonly<Record<string, object>> = {
  '/': { cluster_name: 'c', version: { number: '9.4.3', build_flavor: 'default' } },
  '/_security/_authenticate': { username: 'u', authentication_type: 'api_key' },
  '/_security/user/_has_privileges': { index: { logs: may } },
  '/logs/_settings?flat_settings=true': { logs: { settings: {} } },
}

/** A cluster that has the index `logs`; `onWrite` answers the document. The requests for it, and what the doctor told. */
async function writing(onWrite: (response: ServerResponse) => void, more: Partial<DoctorOptions> = {}) {
  const asked: string[] = []
  const server = createServer(({ method = '', url = '' }, response) => {
    response.setHeader('x-elastic-product', 'Elasticsearch')
    const isDocument = url.startsWith('/logs/_create') || url.startsWith('/logs/_doc')
    if (isDocument) asked.push(method)
    if (method === 'PUT') return onWrite(response)
    response.end(JSON.stringify(isDocument ? { _index: 'logs' } : answers[url]))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const options = { target: { url, apiKey: 'a2V5OmtleQ==' }, index: 'logs', writeCheck: true, ...more }
  const told = await diagnose(options).catch((reason: unknown) => reason)
  server.closeAllConnections()
  server.close()
  return { asked, told }
}

test('a document is deleted also where the answer to its writing was lost', async () => {
  const { asked, told } = await writing(() => {}, { timeoutMs: 300 })
  expect(asked).toEqual(['PUT', 'DELETE'])
  expect(told).toMatchObject({
    findings: [{ code: 'CLUSTER_TIMEOUT' }],
    facts: { write: { failure: {}, left: undefined } },
  })
})

test('a document is deleted also where the doctor was interrupted right behind its writing', async () => {
  const controller = new AbortController()
  const onWrite = (response: ServerResponse) => {
    controller.abort('SIGINT')
    response.writeHead(201).end('{"_index":"logs"}')
  }
  const { asked, told } = await writing(onWrite, { signal: controller.signal })
  expect(asked).toEqual(['PUT', 'GET', 'DELETE'])
  expect(told).toBe('SIGINT')
})
