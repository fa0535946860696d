import { expect, test } from 'vitest'
import type { DoctorReport } from '../../../../src/programs/doctor/report.js'
import { supportBundle } from '../../../../src/cli/commands/support-bundle.js'
import { failure } from '../../../../src/base/failure/failure.js'

const refused = failure('CLUSTER_AUTH_REJECTED', {
  cluster: 'https://es.example:9243',
  how: 'refused the credentials',
  reason: 'unable to authenticate user [planted-user]',
  status: 401,
  document: 'planted-document',
})
const report: DoctorReport = {
  ok: false,
  findings: [{ ...refused, severity: 'error', advice: [] }],
  next: 'planted-next',
  facts: {
    cluster: 'https://es.example:9243',
    proxy: 'http://proxy.example:9293',
    identity: { username: 'planted-user', kind: 'api_key', failure: refused },
    index: { index: 'planted-index', exists: true, missing: ['create_doc'] },
    write: { left: 'planted-index/planted-id' },
    filter: {
      probes: 16,
      allowed: 16,
      refused: 0,
      broken: 0,
      observed: 'planted-text',
      missChance: 0,
      rejected: refused,
    },
    settings: [
      { name: 'username', value: 'planted-user', from: 'ELASTICSEARCH_USERNAME' },
      { name: 'index', value: 'planted-index', from: '--index' },
      { name: 'op', value: 'create', from: 'default' },
    ],
    ...({ later: 'planted-later' } as object),
  },
  steps: [{ name: 'credentials and privileges', ok: false, ms: 3, detail: 'planted-detail' }],
  requests: { sent: 30, atMost: 80 },
}
const about = { sluice: '0.1.0', node: 'v20.20.2', platform: 'linux x64', at: '2026-11-21T12:00:00.000Z' }

test('holds what is on the list, and nothing else', () => {
  const bundle = supportBundle(report, about)
  expect(JSON.stringify(bundle)).not.toContain('planted')
  expect(JSON.parse(JSON.stringify(bundle))).toEqual({
    about,
    ok: false,
    requests: { sent: 30, atMost: 80 },
    findings: [
      {
        code: 'CLUSTER_AUTH_REJECTED',
        severity: 'error',
        evidence: { cluster: 'https://es.example:9243', status: 401 },
      },
    ],
    steps: [{ name: 'credentials and privileges', ok: false, ms: 3 }],
    settings: [{ name: 'op', value: 'create', from: 'default' }],
    origins: [
      { name: 'username', from: 'ELASTICSEARCH_USERNAME' },
      { name: 'index', from: '--index' },
    ],
    facts: {
      cluster: 'https://es.example:9243',
      proxy: 'http://proxy.example:9293',
      identity: { kind: 'api_key' },
      index: { exists: true, missing: ['create_doc'] },
      filter: { probes: 16, allowed: 16, refused: 0, broken: 0, missChance: 0 },
    },
  })
})
