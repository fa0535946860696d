import { secretForms } from '../../options/mask-secrets.js'
import type { ServiceNowOptions } from '../../index.js'
import type { Terminal } from './terminal.js'

/** Hides secrets from now on, also those that become known later, such as tokens. */
export function keepSecrets({ manner }: Terminal, secrets: readonly string[]): void {
  manner.secrets = [...new Set([...manner.secrets, ...secrets])]
}

/** Hides the credentials for ServiceNow. */
export function keepInstanceSecrets(terminal: Terminal, access: Partial<ServiceNowOptions>): void {
  const { username = '', password, clientSecret, refreshToken } = access
  const secrets = [password, clientSecret, refreshToken].filter(secret => secret !== undefined)
  keepSecrets(
    terminal,
    secrets.flatMap(secret => secretForms(username, secret)),
  )
}
