import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { IngestOptions, ServiceNowOptions } from '../index.js'
import type { Effective } from '../options/resolve.js'
import { readServiceNowAccess } from '../options/servicenow-access.js'
import { secretForms } from './terminal/known-secrets.js'
import { stateDir } from './load-options.js'
import type { Terminal } from './terminal/terminal.js'
import { isTable } from '../options/table-names.js'
import { fail } from '../failure/fail.js'

/** In the state folder. */
const TOKENS = 'servicenow-tokens.json'

/**
 * Returns the library's options for ServiceNow from the user's settings. Keeps their secrets out of every error.
 * Throws SluiceError OPTION_INVALID, also if no instance is set.
 */
export async function serviceNowOptions(effective: Effective, terminal: Terminal): Promise<ServiceNowOptions> {
  const { values } = effective
  const access = await readServiceNowAccess(effective, async path => await readFile(path, 'utf8'))
  const { username = '', password, clientSecret, refreshToken } = access
  const secrets = [password, clientSecret, refreshToken].filter(secret => secret !== undefined)
  keepSecret(terminal, ...secrets.flatMap(secret => secretForms(username, secret)))
  // Every load knows of these options, and few have a platform.
  const { grantOf } = await import('../connect/open-servicenow.js')
  const grant = grantOf({ ...access, grant: values.servicenowGrant })
  // Sluice keeps tokens of a login and tokens that change. Other tokens can be requested again in each run.
  const isKept = grant === 'authorization_code' || grant === 'refresh_token'
  const tokenFile = values.tokenFile ?? (isKept ? join(stateDir(effective, terminal), TOKENS) : undefined)
  return { ...access, grant, ...(tokenFile === undefined ? {} : { tokenFile }) }
}

/** Hides secrets that become known later, such as tokens. */
export function keepSecret(terminal: Terminal, ...secrets: readonly string[]): void {
  terminal.manner.secrets = [...new Set([...terminal.manner.secrets, ...secrets])]
}

/** Options that only apply to tables. */
const alone = ['query', 'fields', 'displayValue', 'pageSize', 'deletions', 'maxDeleted', 'reconcileEveryMs'] as const

/** Returns whether an input is a table. Throws SluiceError OPTION_INVALID if none is, but a flag needs one. */
export function namesTable(source: readonly string[], { origins }: Effective): boolean {
  if (source.some(isTable)) return true
  const flag = alone.find(name => origins[name].startsWith('--'))
  if (flag === undefined) return false
  const problem = 'needs a table, as in servicenow:incident'
  throw fail('OPTION_INVALID', { option: origins[flag], problem })
}

type TablesOptions = Pick<IngestOptions, 'table' | 'ids' | 'op' | 'deletions' | 'maxDeleted' | 'reconcileEveryMs'>

/**
 * Returns the library's options for a load of tables, without the instance. Options that nobody set keep the defaults
 * of tables.
 */
export function tableOptions({ values, origins }: Effective): TablesOptions {
  const { query, fields, displayValue, pageSize, ids, op, deletions, maxDeleted, reconcileEveryMs } = values
  return {
    table: {
      displayValue,
      pageSize,
      ...(query === undefined ? {} : { query }),
      ...(fields === undefined ? {} : { fields: fields.split(',').map(name => name.trim()) }),
    },
    deletions,
    ...(maxDeleted === undefined ? {} : { maxDeleted }),
    ...(reconcileEveryMs === undefined ? {} : { reconcileEveryMs }),
    ids: origins.ids === 'default' ? undefined : ids,
    op: origins.op === 'default' ? undefined : op,
  }
}
