import type { GuardedApi, ServiceNowRegister } from '../access.js'
import type { AddressRange, AddressRule } from '../address-rules.js'
import type { Platform } from '../platform.js'

/** Which addresses may use the platform. */
export interface AddressControl {
  /** Replaces the rules of IP address access control with a preset. */
  register(which: ServiceNowRegister): void
  addressRules(): readonly AddressRule[]
  /** Throws AddressRuleError for what is no range, and for a rule that would lock out the administrator's own address. */
  addAddressRule(rule: AddressRule): void
  deleteAddressRule(rule: AddressRule): void
  /** The Deny rule for every address; refused while the administrator's own is not allowed. */
  denyAll(): void
  /** Where the administrator sits. Default 192.0.2.10. */
  setAdministratorAddress(address: string): void
  /** A REST API access policy: the only addresses that may use an API; others get 401. `undefined` takes it away. */
  setAccessPolicy(api: GuardedApi, ranges: readonly AddressRange[] | undefined): void
  /** Adaptive authentication: the only addresses that may use the platform; others get `status`, default 401. */
  setAdaptiveAuthentication(ranges: readonly AddressRange[] | undefined, status?: 401 | 403): void
}

export function addressControl({ access }: Platform): AddressControl {
  return {
    register: which => access.register(which),
    addressRules: () => access.rules.list(),
    addAddressRule: rule => access.rules.add(rule),
    deleteAddressRule: rule => access.rules.delete(rule),
    denyAll: () => access.rules.add({ kind: 'deny', from: '0.0.0.0', to: '255.255.255.255' }),
    setAdministratorAddress(address) {
      access.rules.administratorAddress = address
    },
    setAccessPolicy: (api, ranges) => access.setPolicy(api, ranges),
    setAdaptiveAuthentication: (ranges, status = 401) => access.setAdaptive(ranges, status),
  }
}
