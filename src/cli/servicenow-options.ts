import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ServiceNowOptions } from '../index.js'
import type { Effective } from '../options/resolve.js'
import { readServiceNowAccess } from '../options/servicenow-access.js'
import { secretForms } from './known-secrets.js'
import { stateDir } from './state-dir.js'
import type { Terminal } from './terminal.js'

/**
 * The library's options for the service-management platform, from what the user set; what is secret in them stays out of every error.
 * Throws SluiceError OPTION_INVALID, also where the instance is not known.
 */
export async function serviceNowOptions(effective: Effective, terminal: Terminal): Promise<ServiceNowOptions> {
  const { values } = effective
  const access = await readServiceNowAccess(effective, async path => await readFile(path, 'utf8'))
  const { username = '', password, clientSecret, refreshToken } = access
  const secrets = [password, clientSecret, refreshToken].filter(secret => secret !== undefined)
  keepSecret(terminal, ...secrets.flatMap(secret => secretForms(username, secret)))
  return {
    ...access,
    ...(values.servicenowGrant === undefined ? {} : { grant: values.servicenowGrant }),
    tokenFile: values.tokenFile ?? join(stateDir(effective, terminal), 'servicenow-tokens.json'),
  }
}

/** For what becomes known later: tokens. */
export function keepSecret(terminal: Terminal, ...secrets: readonly string[]): void {
  terminal.manner.secrets = [...new Set([...terminal.manner.secrets, ...secrets])]
}
