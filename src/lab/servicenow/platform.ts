import { randomBytes } from 'node:crypto'
import { Access } from './access.js'
import { Acl } from './acl.js'
import { PlatformClock } from './clock.js'
import { Database } from './database.js'
import { ServiceNowFaultPlan } from './faults.js'
import { RateLimit } from './rate-limit.js'
import { type OAuthClient, Registry, grants } from './registry.js'
import { RequestLog } from './request-log.js'
import { type Seed, seedRows } from './seed.js'
import type { Table } from './table.js'
import { Users } from './users.js'
import { NotThereError } from './not-there.js'

/** One instance of the service-management platform. Both of its ports show the same. */
export class Platform {
  readonly clock = new PlatformClock()
  readonly database = new Database(this.clock)
  readonly users = new Users(this.database)
  readonly registry = new Registry(this.clock, this.users)
  readonly access = new Access()
  readonly acl = new Acl(this.database)
  readonly faults = new ServiceNowFaultPlan()
  readonly rateLimit = new RateLimit()
  readonly log = new RequestLog()
  /** Keys of x-sn-apikey, and whom each acts for. */
  readonly apiKeys = new Map<string, string>()
  /** The files of attachments, by sys_id. The platform denies access to a file that is not here. */
  readonly files = new Map<string, Buffer>()
  /** Every path is answered as that of an instance that sleeps: a page, or a redirection. */
  hibernation: 'page' | 'redirect' | undefined
  /** Whether a query with a part that is not understood means no row at all, instead of every row. */
  invalidQueryMeansNothing = false
  /** Whether an incident needs a resolution code and notes to be resolved or closed. */
  hasDataPolicy = true
  /** The browser that is sent to the authorization endpoint. */
  browser: { readonly username: string; readonly asksLogin: boolean; readonly consents: boolean }

  readonly username = 'sluice.integration'
  readonly password = randomBytes(15).toString('base64url')
  readonly client: OAuthClient & { readonly secret: string }
  readonly publicClient: OAuthClient

  constructor() {
    this.seed('sys_user', 20)
    this.users.set(this.username, this.password)
    this.browser = { username: this.username, asksLogin: false, consents: true }
    const common = {
      isActive: true,
      redirectUris: [],
      accessTokenSeconds: 1800,
      refreshTokenSeconds: 8_640_000,
      username: this.username,
    }
    this.client = { ...common, id: newId(), secret: randomBytes(12).toString('base64url'), grants }
    this.publicClient = { ...common, id: newId(), grants: ['authorization_code', 'refresh_token'] }
    for (const client of [this.client, this.publicClient]) this.registry.clients.set(client.id, client)
    this.apiKeys.set(randomBytes(24).toString('base64url'), this.username)
  }

  /** Returns a table by its name. Throws if there is none. */
  table(name: string): Table {
    const table = this.database.table(name)
    if (!table) throw new NotThereError(`no such table: ${name}`)
    return table
  }

  /** Fills a table with rows that depend only on the seed. */
  seed(name: string, count: number, options?: Seed): void {
    const people = [...this.table('sys_user').rows()].slice(0, 20).map(({ sys_id: id }) => id)
    seedRows(this.table(name), count, people, this.clock.now(), options)
  }
}

function newId(): string {
  return randomBytes(16).toString('hex')
}
