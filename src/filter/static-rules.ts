import { fail } from '../failure/fail.js'
import { SluiceError } from '../failure/sluice-error.js'
import { parseSource, reservedFor } from './cidr.js'
import type { Rule } from './policy.js'

export interface StaticRules {
  readonly rules: readonly Rule[]
  /** What looks wrong with the addresses, in sentences. */
  readonly warnings: readonly string[]
}

/**
 * One /32 rule for each of the static addresses. `origin` is who gave them, for messages. `isLocal`: the service that takes the
 * rules runs on this machine, where loopback addresses are right.
 * Throws SluiceError OPTION_INVALID for DNS names, IPv6 addresses, blocks, and one address given twice.
 */
export function staticRules(
  addresses: readonly string[],
  { origin, isLocal = false }: { readonly origin: string; readonly isLocal?: boolean },
): StaticRules {
  if (new Set(addresses).size !== 2)
    throw invalid(origin, 'does not contain the two addresses in the dashboard of your proxy')
  const warnings: string[] = []
  const rules = addresses.map((address, at) => {
    const block = parseSource(address)
    if ('problem' in block) throw invalid(origin, `'${address}' ${block.problem}`)
    if (address.includes('/')) throw invalid(origin, `'${address}' is a block: pass two single addresses`)
    const use = reservedFor(block)
    if (use !== undefined && !(use === 'loopback' && isLocal)) {
      warnings.push(
        `${address} is a ${use} address, which the internet does not use: copy the pair from the dashboard of your proxy`,
      )
    }
    return { source: `${address}/32`, description: `static address ${at + 1} of 2` }
  })
  return { rules, warnings }
}

function invalid(option: string, problem: string): SluiceError {
  return fail('OPTION_INVALID', { option, problem })
}
