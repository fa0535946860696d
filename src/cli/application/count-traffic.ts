/** Counts what a command sends through the proxy, if there is a monthly plan. */
import { isSluiceError } from '../../base/failure/failure.js'
import { connectOptions } from '../settings/library-options.js'
import type { ClusterAccess } from '../settings/option-files.js'
import { proxySection } from '../../options/read-options.js'
import type { Effective } from '../settings/resolve.js'
import { tell } from '../terminal/log.js'
import type { Terminal } from '../terminal/terminal.js'

/** Commands with much traffic that stop before they begin if the plan is spent. Loads do so themselves. */
const refused: readonly (string | undefined)[] = ['pull', 'verify', 'tunnel', 'run']
/** Commands that say at their end how much is used. Loads say it in their receipt. */
const telling: readonly (string | undefined)[] = [...refused, 'undo', 'serve']

/** Begins to count. Throws SluiceError PLAN_SPENT. */
export async function countTraffic(
  effective: Effective,
  access: ClusterAccess,
  terminal: Terminal,
  stateDir: string,
): Promise<void> {
  const { manner } = terminal
  if (effective.values.plan === undefined || manner.plan !== undefined) return
  const { openPlan } = await import('../../features/limits/traffic-plan/plan-use.js')
  try {
    manner.plan = await openPlan(effective.values, proxySection(connectOptions(effective, access).proxy), stateDir)
  } catch (error) {
    if (!isSluiceError(error)) throw error
    const message = `Sluice does not count the traffic of this command for --plan: ${error.message}`
    tell(terminal, { level: 'warn', event: 'warning', message })
  }
  if (refused.includes(manner.command)) manner.plan?.use.refuseSpent()
}

/** Writes what is counted, and says how much of the plan is used. */
export function endCounting(terminal: Terminal): void {
  const { plan, command } = terminal.manner
  if (plan === undefined) return
  delete terminal.manner.plan
  if (telling.includes(command))
    tell(terminal, { level: 'info', event: 'plan', message: `the proxy's monthly plan: ${plan.use.receipt().says}` })
  plan[Symbol.dispose]()
}
