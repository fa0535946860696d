import { expect, test } from 'vitest'
import { type Asking, tellingCause } from '../../../../src/cli/application/ask-doctor.js'
import { type Failure, failure, SluiceError, isSluiceError } from '../../../../src/base/failure/failure.js'
import { startLab } from '../../../../src/lab/index.js'
import { closedPort } from '../../../support/servers/proxy-servers.js'

const cluster = 'https://cluster.example:9243'
const never = new AbortController().signal

async function told(symptom: Failure, doctor: Asking['doctor']): Promise<Failure> {
  const running = Promise.reject(new SluiceError(symptom))
  const error: unknown = await tellingCause(running, { doctor, isMetered: false }, never).catch((one: unknown) => one)
  if (!isSluiceError(error)) throw error
  return error.failure
}

/** No process listens at the proxy any more. */
const away: Asking['doctor'] = async () => ({
  target: { url: cluster },
  proxy: `http://user:pass@127.0.0.1:${await closedPort()}`,
})

test('a fault that may pass does not replace a certain refusal', async () => {
  const refused = failure('EGRESS_NOT_ALLOWED', { cluster, refused: 1, probes: 1, observed: 'Forbidden', status: 403 })
  expect(await told(refused, away)).toEqual(refused)
})

test('a cause brings its own evidence, and the symptom as it was seen', async () => {
  const lost = failure('CLUSTER_UNAVAILABLE', { cluster, observed: 'status 503', status: 503 })
  const { code, evidence } = await told(lost, away)
  expect(code).toBe('PROXY_UNREACHABLE')
  expect(evidence['stoppedBy']).toBe(`CLUSTER_UNAVAILABLE: ${lost.message}`)
  expect(evidence).not.toHaveProperty('status')
})

test('a failure of the cluster that is read is not explained by the target', async () => {
  const refused = failure('CLUSTER_AUTH_REJECTED', {
    cluster,
    how: 'refused the credentials',
    reason: 'no',
    status: 401,
  })
  const symptom = { ...refused, evidence: { ...refused.evidence, side: 'from' } }
  const doctor = async () => await Promise.reject(new Error('asked about the target'))
  expect(await told(symptom, doctor)).toBe(symptom)
  const asked = { count: 0 }
  const counting = async () => await away().finally(() => (asked.count += 1))
  await told(symptom, counting)
  expect(asked.count).toBe(0)
})

test('if the doctor cannot look for the cause, the symptom is shown', async () => {
  const lost = failure('CLUSTER_UNAVAILABLE', { cluster, observed: 'status 503' })
  const doctor = async () => await Promise.reject(new Error('the file with the key is gone'))
  expect(await told(lost, doctor)).toEqual(lost)
})

test('a diagnosis that saw fewer connections than the load does not take their number back', async () => {
  const lab = await startLab({ register: 'none' })
  try {
    const { httpUrl, apiKey } = lab.line.cluster
    const seen = { cluster: httpUrl, refused: 16, probes: 16, observed: 'Forbidden', status: 403 }
    const symptom = failure('EGRESS_NOT_ALLOWED', seen)
    // Of a slow machine, most connections get no answer in time. Here there is only one address to ask from.
    const doctor = async () => await Promise.resolve({ target: { url: httpUrl, apiKey }, directCheck: false })
    const { message, evidence } = await told(symptom, doctor)
    expect(message).toBe(symptom.message)
    expect(evidence).toMatchObject(seen)
    expect(evidence['next']).toContain('STATIC_PROXY_URL')
    const once = failure('EGRESS_NOT_ALLOWED', { ...seen, refused: 1, probes: 1, observed: 'seen by the load' })
    expect((await told(once, doctor)).evidence['observed']).not.toBe('seen by the load')
  } finally {
    await lab.close()
  }
})
