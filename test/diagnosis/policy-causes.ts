/** What the administration of IP filter policies finds, which reads them where the doctor can only try. In the lab. */
import { openAdminApi } from '../../src/programs/filter/admin-api.js'
import { createPolicy } from '../../src/programs/filter/change-policy.js'
import { staticRules } from '../../src/programs/filter/policy.js'
import type { LabWorld } from '../contracts/lab-world.js'
import { stopped } from './ask.js'
import type { Cause } from './cause.js'
import { command } from './command.js'
import { closedPort } from './listeners.js'

type PolicyCause = Cause<LabWorld>

/** `prepare` plants it, and returns what the environment says else than the lab's. */
const admin = (
  planted: string,
  expected: Cause['expected'],
  args: readonly string[],
  prepare: (world: LabWorld) => Promise<Record<string, string>> | Record<string, string> | undefined = () => ({}),
): PolicyCause => ({
  planted,
  on: 'the lab',
  expected,
  plant: async world => {
    const env = { ...world.lab.env, ...(await prepare(world)) }
    return { by: 'filter', run: async () => await command(['filter', ...args], env) }
  },
})

const registered = (which: Parameters<LabWorld['lab']['control']['register']>[0]) => (world: LabWorld) => {
  world.lab.control.register(which)
  return {}
}

export const policyCauses: readonly PolicyCause[] = [
  admin(
    'no policy is attached, as the administration sees it',
    'FILTER_NOT_ATTACHED',
    ['show'],
    registered('unattached'),
  ),
  admin(
    'a policy with one address alone, as the administration sees it',
    'FILTER_MISSES_ADDRESS',
    ['show'],
    registered('first'),
  ),
  admin(
    'a policy for everybody beside the right one, as the administration sees it',
    'FILTER_TOO_PERMISSIVE',
    ['show'],
    registered('both+everyone'),
  ),
  admin(
    'a policy for this machine beside the right one, as the administration sees it',
    'FILTER_COVERS_CLIENT',
    ['show'],
    ({ lab: { control } }) => {
      control.attachPolicy(control.createPolicy({ name: 'office', rules: ['127.0.0.1/32'] }).id)
      return {}
    },
  ),
  admin(
    'a key of the cluster where one of the organisation is wanted',
    'FILTER_API_KEY_REJECTED',
    ['show'],
    ({ cluster }) => ({
      EC_API_KEY: cluster.apiKey,
    }),
  ),
  admin('a deployment id that does not exist', 'FILTER_API_REFUSED', ['show', '--deployment', 'other']),
  admin('an administration that is not reachable', 'FILTER_API_UNAVAILABLE', ['show'], async () => ({
    SLUICE_ADMIN_URL: `http://127.0.0.1:${await closedPort()}`,
  })),
  admin('a policy name that does not exist', 'FILTER_POLICY_UNKNOWN', ['attach', '--policy', 'ofice']),
  admin('taking away the last policy, which nobody has confirmed', 'FILTER_UNCONFIRMED', [
    'detach',
    '--policy',
    'static pair',
  ]),
  {
    planted: 'a policy that somebody else changes at the same time',
    on: 'the lab',
    expected: 'FILTER_CHANGED_MEANWHILE',
    plant: async ({ lab, staticIps }, owner) => {
      const { url, apiKey: key } = lab.line.admin
      const api = await owner.own(Promise.resolve(openAdminApi({ url: new URL(url), key, timeoutMs: 10_000 })))
      lab.control.register('none')
      const { id } = lab.control.createPolicy({ name: 'mine', rules: ['127.0.0.3'] })
      const { rules } = staticRules(staticIps, { origin: 'STATIC_IPS', isLocal: true })
      const confirm = async () => {
        lab.control.replaceRules(id, ['127.0.0.3', '81.2.69.1'])
        return true
      }
      const wanted = { name: 'mine', region: 'us-east-1', rules }
      return { by: 'filter', run: async () => await stopped(createPolicy(api, wanted, confirm)) }
    },
  },
]
