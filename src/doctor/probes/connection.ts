import type { Failure } from '../../failure/failure.js'
import { proxyRefusal } from '../../proxy/proxy-answer.js'
import { askAgain } from '../ask-again.js'
import type { Context } from '../context.js'
import type { Probe } from '../probe.js'
import { type Leg, seeConnection, tellConnection } from '../see-connection.js'
import { proxyProblem } from '../way-so-far.js'

/** One connection as a load builds it: the proxy's certificate, its login, CONNECT, and the cluster's certificate. */
export const connection: Probe = {
  name: 'connection',
  leaveOut: (_, facts) => proxyProblem(facts),
  look: async (context, facts) => {
    const { url, proxy } = context.way
    const leg: Leg = {
      url,
      ...(proxy === undefined ? {} : { proxy }),
      options: context.routeOptions(),
      target: 'cluster',
      nameFault: fault => fault.failure,
      login: async () => await refusedLogin(context),
    }
    const seen = await seeConnection(context, leg, facts)
    return { ...tellConnection(context, leg, seen), facts: { connection: seen } }
  },
}

/** A proxy that forwards plain http takes credentials with each request, and there is no CONNECT: so one is sent. */
async function refusedLogin(context: Context): Promise<Failure | undefined> {
  await using route = context.openRoute()
  if (route.form !== 'forward') return undefined
  const { answer } = await askAgain(context, route, { path: `${context.prefix}/` })
  return 'code' in answer ? answer : proxyRefusal(answer, route)
}
