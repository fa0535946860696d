import { describe } from 'vitest'
import type { RealWorld } from '../contracts/real-world.js'
import { describeCauses } from '../diagnosis/describe-causes.js'
import { isOnPart, onServers } from '../diagnosis/overview.js'

/** Plants each cause on real servers: `npm run docs:diagnosis` writes the page from what was named. */
export function describeDiagnosis(world: () => RealWorld): void {
  describe('a cause that is planted is named first', () => {
    describeCauses<RealWorld>(world, {
      causes: onServers,
      mend: async real => {
        await real.refuseWith('long')
        await real.register('both')
      },
      // The lab plants the others, in the same servers of the test.
      isPlanted: isOnPart,
      section: {
        name: 'real',
        isReal: true,
        about: 'Squid and microsocks are the proxy, nginx the IP filter, the cluster is Elasticsearch 9.',
      },
    })
  })
}
