/** Runs a verification, and shows what it has seen. */
import type { ConnectOptions, VerifyOptions } from '../../index.js'
import { masked } from '../../base/secrets.js'
import { stateDir } from '../application/load-options.js'
import { spareOptimising } from '../application/tune-engine.js'
import type { Effective } from '../settings/resolve.js'
import { interruptible } from '../terminal/interrupt.js'
import { showLookups } from '../terminal/pull-progress.js'
import type { Terminal } from '../terminal/terminal.js'

export interface Verifying {
  readonly effective: Effective
  readonly connecting: ConnectOptions
  readonly terminal: Terminal
}

/** Returns the exit code: 1 if something differs. */
export async function verifyWith<Seen extends { readonly ok: boolean }>(
  run: string,
  { effective, connecting, terminal }: Verifying,
  verify: (options: VerifyOptions) => Promise<Seen>,
  show: (seen: Seen) => string,
): Promise<number> {
  const { json, quiet, maxElapsedMs } = effective.values
  using interruption = interruptible(terminal, 'stopping')
  using progress = showLookups(terminal, quiet)
  spareOptimising()
  const seen = await verify({
    ...connecting,
    run,
    stateDir: stateDir(effective, terminal),
    maxElapsedMs,
    ...(json ? { listed: Infinity } : {}),
    signal: interruption.signal,
    onProgress: progress.update,
  })
  progress.end()
  const verification = masked(seen, terminal.manner.secrets)
  terminal.out(json ? `${JSON.stringify(verification)}\n` : show(verification))
  return verification.ok ? 0 : 1
}
