import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { diagnose, diagnoseRefusal } from '../support/lab/patient-doctor.js'
import type { DoctorOptions } from '../../src/route/examine/examine-options.js'
import { ingest, type IngestOptions, isSluiceError, type Receipt } from '../../src/index.js'
import {
  type InstanceWorld,
  type ListedAddresses,
  type Mechanism,
  mechanisms,
  mendInstance,
  platformOf,
  wayOf,
} from './instance-world.js'
import { newIndex, proxyKinds } from './options.js'

const ROWS = 25

const expected: Readonly<Record<ListedAddresses, string | undefined>> = {
  both: undefined,
  first: 'SERVICENOW_PARTLY_ALLOWED',
  second: 'SERVICENOW_PARTLY_ALLOWED',
  none: 'SERVICENOW_ADDRESS_REFUSED',
}

/**
 * Whatever restricts addresses at the platform: it is named, and not one row is read; where all is well, nothing is. `pairs`: each
 * kind of proxy with each mechanism, each of both with each list, and not every three of them.
 */
export function describeServiceNowRefusals(world: () => InstanceWorld, combinations: 'all' | 'pairs'): void {
  describe('addresses at the platform', () => {
    beforeAll(() => world().lab.control.servicenow.seed('incident', ROWS))
    afterEach(() => mendInstance(world().lab))

    for (const [row, kind] of proxyKinds.entries()) {
      for (const [column, mechanism] of (Object.keys(mechanisms) as Mechanism[]).entries()) {
        const lists = Object.entries(expected) as [ListedAddresses, string | undefined][]
        // A Latin square.
        const chosen = lists.filter((_, at) => combinations === 'all' || at === (row + column) % lists.length)
        for (const [which, code] of chosen) {
          const outcome = code ?? 'nothing'
          test(`over ${kind}, with ${which} listed by ${mechanism}: ${outcome}`, async () => {
            const { lab, proxy } = world()
            mechanisms[mechanism](lab, which)
            const way = wayOf(world(), proxy[kind])
            const servicenow = platformOf(lab)

            const { findings, facts, requests } = await diagnose({ ...way, target: {}, servicenow, nodes: proxy.nodes })
            const acted = findings.filter(({ severity }) => severity === 'error')
            expect(acted.map(one => one.code)).toEqual(code === undefined ? [] : [code])
            expect(findings.some(({ severity }) => severity === 'warning')).toBe(false)
            expect(requests.sent).toBeLessThanOrEqual(requests.atMost)
            if (which === 'first' || which === 'second') {
              const missing = world().staticIps[which === 'first' ? 1 : 0]
              expect(acted[0]?.evidence['addresses']).toEqual([missing])
            }
            expect(facts.instancePast?.verdict).toBe(mechanism === 'a REST API access policy' ? 'open' : 'refused')

            const index = newIndex('incidents')
            const options: IngestOptions = {
              ...way,
              servicenow,
              source: 'servicenow:incident',
              index,
              deadLetters: false,
            }
            const told = await loadAndDiagnose(options, { ...way, servicenow, table: 'incident' })
            expect(told.code).toBe(outcome)
            expect(told.receipt?.created ?? 0).toBe(code === undefined ? ROWS : 0)
            expect(lab.control.count(index)).toBe(code === undefined ? ROWS : 0)
          })
        }
      }
    }

    test('with one address listed, it is found ten times out of ten, by either mechanism, with Basic as well', async () => {
      const { lab, proxy } = world()
      const codes: (string | undefined)[] = []
      for (let round = 0; round < 10; round += 1) {
        mendInstance(lab)
        mechanisms[round % 2 === 0 ? 'IP Address Access Control' : 'a REST API access policy'](lab, 'second')
        const withoutClient = { clientId: undefined, clientSecret: undefined }
        const servicenow = platformOf(lab, round % 4 < 2 ? {} : withoutClient)
        const { findings } = await diagnose({ ...wayOf(world(), proxy.http), target: {}, servicenow })
        codes.push(findings.find(({ severity }) => severity === 'error')?.code)
      }
      expect(codes).toEqual(Array.from({ length: 10 }, () => 'SERVICENOW_PARTLY_ALLOWED'))
    })

    test('no wrong password is shown more than once in each kind of login', async () => {
      const { lab, proxy } = world()
      const way = { ...wayOf(world(), proxy.http), target: {} }
      const { servicenow } = lab.control
      await diagnose({ ...way, servicenow: platformOf(lab, { password: 'wr0ng-s3cret' }) })
      // The token call, that of client_credentials without a password, Basic, and the question whether it is awake.
      expect(servicenow.requests().filter(({ status }) => status === 401)).toHaveLength(4)
      servicenow.forgetRequests()
      await diagnose({ ...way, servicenow: platformOf(lab, { password: 'wr0ng-s3cret', grant: 'basic' }) })
      // Basic at two APIs, the token call, and the question whether it is awake.
      expect(servicenow.requests().filter(({ status }) => status === 401)).toHaveLength(4)
    })
  })
}

/** A load as the command runs it: where it is refused, the cause is looked for. */
async function loadAndDiagnose(
  options: IngestOptions,
  doctor: DoctorOptions,
): Promise<{ readonly code: string; readonly receipt?: Receipt }> {
  try {
    return { code: 'nothing', receipt: await ingest(options) }
  } catch (error) {
    if (!isSluiceError(error)) throw error
    const cause = await diagnoseRefusal(error.failure, { ...doctor, directCheck: false })
    const receipt = error.receipt
    return { code: cause?.finding.code ?? error.code, ...(receipt === undefined ? {} : { receipt }) }
  }
}
