import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Effective } from '../options/resolve.js'
import type { Terminal } from './terminal.js'

/** Where checkpoints are kept: what the option says, else where programs of this system keep such things. */
export function stateDir({ values }: Effective, { env }: Terminal): string {
  return values.stateDir ?? join(env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'sluice')
}
