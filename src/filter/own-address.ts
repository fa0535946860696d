import { checkEgress } from '../cluster/egress-check.js'
import { isSluiceError } from '../failure/sluice-error.js'
import { openRoute } from '../proxy/route.js'

/**
 * Where this machine's own requests come from, without the proxy, or why nobody can say. Carries no credentials. The check has to
 * be one that any machine may ask.
 */
export async function findOwnAddress(
  ipCheckUrl: URL,
  options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
): Promise<{ readonly address: string } | { readonly problem: string }> {
  await using route = openRoute({ target: ipCheckUrl, connections: 1 })
  try {
    const [address] = Object.keys(await checkEgress(route, { connections: 1, ...options }))
    return address === undefined ? { problem: 'the address check answers without an address' } : { address }
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return { problem: error.message }
  }
}
