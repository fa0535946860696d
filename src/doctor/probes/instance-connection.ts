import { judgeLost } from '../../servicenow/calls/lost-answer.js'
import type { Probe } from '../probe.js'
import { type Leg, seeConnection, tellConnection } from '../see-connection.js'
import { instanceWayProblem } from '../way-so-far.js'

/** One connection as a reading builds it: through the same proxy, to another destination with another certificate. */
export const instanceConnection: Probe = {
  name: 'connection to the instance',
  leaveOut: (_, facts) => instanceWayProblem(facts),
  look: async (context, facts) => {
    const { instance } = context
    if (instance === undefined) throw new Error('looked at the connection to no instance')
    const { url, proxy } = instance.way
    const leg: Leg = {
      url,
      ...(proxy === undefined ? {} : { proxy }),
      options: instance.routeOptions(),
      target: 'instance',
      nameFault: fault => judgeLost(fault, instance.display).failure,
    }
    const seen = await seeConnection(context, leg, facts)
    return { ...tellConnection(context, leg, seen), facts: { instanceConnection: seen } }
  },
}
