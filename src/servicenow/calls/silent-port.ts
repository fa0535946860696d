import { fail } from '../../failure/fail.js'
import { isSluiceError } from '../../failure/sluice-error.js'
import { expectsTls } from '../../proxy/expects-tls.js'
import type { ProxyUrl } from '../../proxy/proxy-url.js'

/** A port that expects TLS closes on plain bytes without a word, like a proxy that is down: ask it which of the two it is. */
export async function nameSilentPort(error: unknown, proxy: ProxyUrl | undefined): Promise<unknown> {
  const isSilent = isSluiceError(error) && /^(PROXY|SERVICENOW)_UNREACHABLE$/.test(error.code)
  if (!isSilent || proxy === undefined || !/^(http|socks5)$/.test(proxy.scheme)) return error
  if (!(await expectsTls(proxy))) return error
  const observed = `its port expects TLS, and the URL says ${proxy.scheme}://`
  return fail('PROXY_TLS_MISMATCH', { proxy: proxy.display, observed }, { cause: error })
}
