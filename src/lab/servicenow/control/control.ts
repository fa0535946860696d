import type { Platform } from '../platform.js'
import type { LoggedRequest } from '../request-log.js'
import { type AddressControl, addressControl } from './addresses.js'
import { type LoginControl, loginControl } from './logins.js'
import { type RowControl, rowControl } from './rows.js'
import { type RuleControl, ruleControl } from './rules.js'
import { type WeatherControl, weatherControl } from './weather.js'

/**
 * What can be done to the service-management platform while it runs. Naming a table, row, user or client that is not there
 * throws NotThereError.
 */
export interface ServiceNowControl extends RowControl, AddressControl, LoginControl, RuleControl, WeatherControl {
  /** Requests since the start or the last `forgetRequests`, in the order in which they were answered. */
  requests(): readonly LoggedRequest[]
  forgetRequests(): void
  /** Calls the listener after each request, before its answer is sent. Returns a function that ends this. */
  onRequest(listener: (request: LoggedRequest) => void): () => void
}

export function createServiceNowControl(platform: Platform): ServiceNowControl {
  return {
    ...rowControl(platform),
    ...addressControl(platform),
    ...loginControl(platform),
    ...ruleControl(platform),
    ...weatherControl(platform),
    requests: () => platform.log.list(),
    forgetRequests: () => platform.log.clear(),
    onRequest: listener => platform.log.listen(listener),
  }
}
