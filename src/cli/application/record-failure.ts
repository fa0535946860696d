/** Writes to the history of runs what the library does not see: a command that failed before its run, and the cause of a refusal. */
import { explain, type Failure, isSluiceError } from '../../base/failure/failure.js'
import { masked } from '../../base/secrets.js'
import type { Effective } from '../settings/resolve.js'
import { fullName } from '../../options/names.js'
import { changeEnd, endOfRefused, recordRun } from '../../run/state/runs/history.js'
import { newRunId } from '../../base/checksum/tokens.js'
import { stateDir } from './load-options.js'
import type { Terminal } from '../terminal/terminal.js'

/** Returns what runs a step of a load, and writes down why it failed if no run does. */
export function recording(effective: Effective, terminal: Terminal, sources: readonly string[]) {
  return async <T>(step: () => Promise<T>): Promise<T> => {
    try {
      return await step()
    } catch (error) {
      if (isSluiceError(error) && error.run === undefined && !effective.values.dryRun) {
        const { command = '', target, secrets, typed } = terminal.manner
        const run = effective.values.runId ?? newRunId()
        const failure = typed?.(error.failure) ?? error.failure
        const ended = endOfRefused({ run, command, began: new Date(performance.timeOrigin), target, failure })
        // The error itself is what the user must see.
        await recordRun(stateDir(effective, terminal), masked(sources.map(fullName), secrets), masked(ended, secrets))
          .then(() => (error.run = run))
          .catch(() => undefined)
      }
      throw error
    }
  }
}

/** Replaces the symptom that the run has written down by its cause. */
export async function recordCause(
  effective: Effective,
  terminal: Terminal,
  run: string | undefined,
  cause: Failure,
): Promise<void> {
  if (run === undefined || effective.values.dryRun) return
  const failure = masked(cause, terminal.manner.secrets)
  const { exit } = explain(failure.code)
  // Without it, the history names the symptom.
  await changeEnd(stateDir(effective, terminal), run, ended => ({ ...ended, failure, exit })).catch(() => undefined)
}
