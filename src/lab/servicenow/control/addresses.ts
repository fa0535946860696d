import type { GuardedApi, ServiceNowRegister } from '../access.js'
import type { AddressRange, AddressRule } from '../address-rules.js'
import type { Platform } from '../platform.js'

/** Which addresses may use the platform. */
export interface AddressControl {
  /** Replaces the rules of IP address access control with a preset. */
  register(which: ServiceNowRegister): void
  addressRules(): readonly AddressRule[]
  /** Throws AddressRuleError if the range is invalid, or if the rule locks out the administrator. */
  addAddressRule(rule: AddressRule): void
  deleteAddressRule(rule: AddressRule): void
  /** Adds the Deny rule for every address. Throws unless an Allow rule covers the administrator. */
  denyAll(): void
  /** Where the administrator sits. Default 192.0.2.10. */
  setAdministratorAddress(address: string): void
  /** Sets a REST API access policy: only these addresses may use the API, others get 401. `undefined` removes it. */
  setAccessPolicy(api: GuardedApi, ranges: readonly AddressRange[] | undefined): void
  /** Sets adaptive authentication: only these addresses may use the platform. Others get `status`, default 401. */
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
