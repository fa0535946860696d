import { readFileSync } from 'node:fs'
import { startLab } from '../../src/lab/index.js'
import type { OauthWorld } from './oauth.suite.js'

/** The lab's own double, through its proxy. */
export async function openLabOauth(): Promise<OauthWorld> {
  const lab = await startLab()
  const { servicenow, cluster, proxy } = lab.line
  const { clientId, clientSecret, publicClientId, username, password, url, httpUrl } = servicenow
  const platform = lab.control.servicenow
  platform.seed('incident', 3)
  platform.allowClientCredentials(true)
  return {
    way: { servicenow: { url, ca: readFileSync(cluster.caFile) }, proxy: proxy.http },
    username,
    password,
    client: { clientId, clientSecret },
    publicClientId,
    tokenCalls: () =>
      platform
        .requests()
        .filter(({ path }) => path === '/oauth_token.do')
        .map(({ status }) => (status === 200 ? 'given' : 'refused')),
    revokeAccess: () => platform.revokeTokens('access'),
    revokeRefresh: () => platform.revokeTokens('refresh'),
    rotate: isOn => platform.rotateRefreshTokens(isOn),
    browse: async address => {
      platform.register('open')
      const asked = new URL(address)
      const sentBack = await fetch(new URL(asked.pathname + asked.search, httpUrl), { redirect: 'manual' })
      platform.register('both')
      return await fetch(sentBack.headers.get('location') ?? '')
    },
    [Symbol.asyncDispose]: async () => await lab.close(),
  }
}
