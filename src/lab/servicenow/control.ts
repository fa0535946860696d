import { type ServiceNowRegister, type GuardedApi } from './access.js'
import type { AclRule, BusinessRule } from './acl.js'
import type { AddressRange, AddressRule } from './address-rules.js'
import type { Values } from './database.js'
import type { TableShape } from './dictionary.js'
import type { ServiceNowFaults } from './faults.js'
import { fieldReader } from './field-reader.js'
import { matcher } from './matcher.js'
import type { Platform } from './platform.js'
import { parseQuery } from './query.js'
import type { RateLimitRule } from './rate-limit.js'
import type { OAuthClient } from './registry.js'
import type { LoggedRequest } from './request-log.js'
import type { Seed } from './seed.js'
import type { Row, Table } from './table.js'

/** Who the lab's own changes are made by. */
const CONTROL_USER = 'control'

/** What can be done to the service-management platform while it runs. A table, row, user or client that is not there throws. */
export interface ServiceNowControl {
  // Rows, asked and changed past every rule.
  /** A new table with these fields beside the system's own. */
  createTable(name: string, shape: TableShape): void
  /** Adds rows that depend on the seed alone; 250,000 incidents take about a second. */
  seed(table: string, count: number, options?: Seed): void
  insert(table: string, values: Values): Row
  /** Values that change nothing leave the time of update as it is. */
  update(table: string, id: string, values: Values): Row
  /** Writes to sys_audit_delete, unless the table is not audited. */
  delete(table: string, id: string): void
  /** Whether deletions from a table are written to sys_audit_delete. Default true. */
  audit(table: string, isAudited: boolean): void
  row(table: string, id: string): Row | undefined
  /** The rows that an encoded query means, or all, in the order in which they were inserted. Rows never change in place. */
  rows(table: string, query?: string): readonly Row[]
  count(table: string): number

  // Addresses.
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

  // Users, the application registry, tokens.
  /** A new user, or an existing one with a new password. */
  setUser(username: string, password: string): void
  changeUser(username: string, change: { readonly active?: boolean; readonly lockedOut?: boolean }): void
  /** A key for the header x-sn-apikey that acts for the lab's user. */
  apiKey(): string
  /** Whether Basic authentication is taken. Default true. */
  allowBasic(isAllowed: boolean): void
  /** Whether the grant client_credentials is enabled. Default false. */
  allowClientCredentials(isAllowed: boolean): void
  clients(): readonly OAuthClient[]
  /** Changes a client: its lifetimes, its grants, whether it is active. Tokens keep the end that they were given with. */
  changeClient(id: string, change: Partial<Omit<OAuthClient, 'id'>>): void
  /** Whether each use of a refresh token gives a new one, and ends the old. Default false. */
  rotateRefreshTokens(isOn: boolean): void
  /** Ends tokens: of a user, or all. */
  revokeTokens(kind: 'access' | 'refresh', username?: string): void
  /** What the browser does at the authorization endpoint. Default: it is logged in as the lab's user, and consents. */
  setBrowser(change: { readonly username?: string; readonly asksLogin?: boolean; readonly consents?: boolean }): void

  // What users may do, and how queries are read.
  /** Rows that a user does not see, or operations that a user may not do. */
  addAcl(rule: AclRule): void
  addBusinessRule(rule: BusinessRule): void
  /** Takes away every ACL and business rule. */
  clearRules(): void
  /** Whether incidents need a resolution code and notes to be resolved or closed. Default true. */
  setDataPolicy(isOn: boolean): void
  /** Whether a query with a part that is not understood means nothing, instead of what the other parts say. Default false. */
  setInvalidQueryMeansNothing(isOn: boolean): void

  // Time, weather.
  /** Sets the platform's clock, `yyyy-MM-dd HH:mm:ss` in UTC; it goes on from there unless it is frozen. `undefined`: the machine's. */
  setClock(time: string | undefined, frozen?: boolean): void
  advanceClock(ms: number): void
  /** The platform's time in milliseconds since 1970. */
  now(): number
  /** An instance that sleeps answers every path with a page, or with a redirection. */
  hibernate(how: 'page' | 'redirect' | undefined): void
  /** The rate limit rule of the Table API, counted for each user. */
  limitRate(rule: RateLimitRule | undefined): void
  /** Plants faults beside those in force; one that is named again starts anew. */
  plant(faults: ServiceNowFaults): void
  faults(): ServiceNowFaults
  /** How often a fault struck since it was planted. */
  struck(fault: keyof ServiceNowFaults): number
  /** Takes away every fault, the rate limit and the hibernation. */
  heal(): void

  /** Requests since the start or the last `forgetRequests`, in the order in which they were answered. */
  requests(): readonly LoggedRequest[]
  forgetRequests(): void
}

export function createServiceNowControl(platform: Platform): ServiceNowControl {
  const { access, acl, clock, database, faults, log, registry, users } = platform
  return {
    createTable: (name, shape) => void database.create(name, shape),
    seed: (table, count, options) => platform.seed(table, count, options),
    insert: (table, values) => database.insert(platform.table(table), values, CONTROL_USER),
    update: (table, id, values) => database.update(platform.table(table), existing(table, id), values, CONTROL_USER),
    delete: (table, id) => database.delete(platform.table(table), existing(table, id), CONTROL_USER),
    audit(table, isAudited) {
      platform.table(table).isAudited = isAudited
    },
    row: (table, id) => platform.table(table).get(id),
    rows: (table, query) => rowsOf(platform, platform.table(table), query),
    count: table => platform.table(table).size,

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

    setUser: (username, password) => users.set(username, password),
    changeUser: (username, change) => users.change(username, change),
    apiKey: () => [...platform.apiKeys.keys()][0] ?? '',
    allowBasic(isAllowed) {
      access.allowsBasic = isAllowed
    },
    allowClientCredentials(isAllowed) {
      registry.allowsClientCredentials = isAllowed
    },
    clients: () => [...registry.clients.values()],
    changeClient: (id, change) => registry.change(id, change),
    rotateRefreshTokens(isOn) {
      registry.rotatesRefreshTokens = isOn
    },
    revokeTokens: (kind, username) => registry.revoke(kind, username),
    setBrowser(change) {
      platform.browser = { ...platform.browser, ...change }
    },

    addAcl: rule => acl.add(rule),
    addBusinessRule: rule => acl.addBusinessRule(rule),
    clearRules: () => acl.clear(),
    setDataPolicy(isOn) {
      platform.hasDataPolicy = isOn
    },
    setInvalidQueryMeansNothing(isOn) {
      platform.invalidQueryMeansNothing = isOn
    },

    setClock: (time, frozen) => (time === undefined ? clock.release() : clock.set(time, frozen)),
    advanceClock: ms => clock.advance(ms),
    now: () => clock.now(),
    hibernate(how) {
      platform.hibernation = how
    },
    limitRate: rule => platform.rateLimit.set(rule),
    plant: more => faults.plant(more),
    faults: () => faults.current,
    struck: fault => faults.struck(fault),
    heal() {
      faults.clear()
      platform.rateLimit.set(undefined)
      platform.hibernation = undefined
    },

    requests: () => log.list(),
    forgetRequests: () => log.clear(),
  }

  function existing(table: string, id: string): Row {
    const row = platform.table(table).get(id)
    if (!row) throw new Error(`no such row of ${table}: ${id}`)
    return row
  }
}

function rowsOf({ database }: Platform, table: Table, query: string | undefined): readonly Row[] {
  if (query === undefined) return [...table.rows()]
  const reader = fieldReader(database, table)
  const parsed = parseQuery(query, field => reader.fieldOf(field) !== undefined)
  if (parsed.invalid.length > 0) throw new Error(`not understood in the query: ${parsed.invalid.join(', ')}`)
  return [...table.rows()].filter(matcher(parsed, reader))
}
