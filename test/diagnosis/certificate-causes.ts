/** Certificates of cluster and proxy that something is wrong with. `open`: a server that shows one, its port. */
import type { World } from '../contracts/world.js'
import type { Owner } from '../real/servers/owner.js'
import type { Cause, Part } from './cause.js'
import { type Leaf, createSigner, issueSelfSigned } from './certificates.js'
import { changed, doctor, healthy } from './ways.js'

type Show<W> = (world: W, owner: Owner, leaf: Leaf) => Promise<{ readonly port: number }>

const both = ['127.0.0.1', 'localhost']
/** Host names, and the days from which and until which it is valid. */
const expired = [both, -9, -2] as const
const early = [both, 2, 9] as const
const foreign = [['other.example']] as const
const good = [both] as const

type Wanted = readonly [names: readonly string[], from?: number, until?: number]

export function certificateCauses<W extends World>(on: Part, show: Show<W>): readonly Cause<W>[] {
  const issue = async (world: W, owner: Owner, wanted: Wanted) => {
    const signer = await createSigner()
    const { port } = await show(world, owner, await signer.issue(...wanted))
    return { ca: signer.ca, port }
  }
  const ofCluster = (planted: string, wanted: Wanted, says: string): Cause<W> => ({
    planted: `a cluster certificate ${planted}`,
    on,
    expected: 'CLUSTER_CERT_INVALID',
    says,
    plant: async (world, owner) => {
      const { ca, port } = await issue(world, owner, wanted)
      return doctor(world, {}, { url: `https://127.0.0.1:${port}`, ca })
    },
  })
  /** `chain`: the leaf that the proxy shows, and the authority that Sluice trusts, if any. */
  const ofProxy = (
    planted: string,
    chain: () => Promise<{ readonly leaf: Leaf; readonly ca?: string }>,
    says: string,
  ): Cause<W> => ({
    planted: `a proxy certificate ${planted}`,
    on,
    expected: 'PROXY_CERT_INVALID',
    says,
    plant: async (world, owner) => {
      const { leaf, ca } = await chain()
      const { port } = await show(world, owner, leaf)
      const url = changed(world.proxy.https, { port: String(port) })
      return doctor(world, { proxy: ca === undefined ? url : { url, ca } })
    },
  })
  const by = (wanted: Wanted, signing?: readonly [number, number]) => async () => {
    const signer = await createSigner(...(signing ?? []))
    return { leaf: await signer.issue(...wanted), ca: signer.ca }
  }
  return [
    ofCluster('that has expired', expired, 'and expired on'),
    ofCluster('that is not valid yet', early, 'is not valid before'),
    ofCluster('for another host', foreign, 'for other.example'),
    {
      planted: 'a cluster certificate of an unknown authority',
      on,
      expected: 'CLUSTER_CERT_INVALID',
      says: 'issued by planted authority',
      alike: 'authority',
      plant: async (world, owner) => {
        const { port } = await issue(world, owner, good)
        return doctor(world, {}, { url: `https://127.0.0.1:${port}` })
      },
    },
    {
      planted: 'a cluster that does not send its intermediate certificate',
      on,
      expected: 'CLUSTER_CERT_INVALID',
      says: 'The server sends no certificate of this issuer',
      plant: async (world, owner) => {
        const signer = await createSigner()
        const { port } = await show(world, owner, await (await signer.intermediate()).issue(...good))
        return doctor(world, {}, { url: `https://127.0.0.1:${port}`, ca: signer.ca })
      },
    },
    {
      planted: 'a cluster certificate of an authority that has expired',
      on,
      expected: 'CLUSTER_CERT_INVALID',
      says: 'The authority planted authority expired on',
      plant: async (world, owner) => {
        const signer = await createSigner(-30, -2)
        const { port } = await show(world, owner, await signer.issue(...good))
        return doctor(world, {}, { url: `https://127.0.0.1:${port}`, ca: signer.ca })
      },
    },
    {
      planted: "the proxy's own certificate where the cluster's should be",
      on,
      expected: 'CLUSTER_CERT_INVALID',
      says: "the proxy's own certificate",
      plant: async (world, owner) => {
        const { ca, port } = await issue(world, owner, [['127.0.0.1']])
        return doctor(world, {}, { url: `https://localhost:${port}`, ca })
      },
    },
    {
      planted: 'a clock that is days ahead, so that a good certificate of the cluster looks expired',
      on,
      expected: 'CLOCK_SKEW',
      says: 'A wrong clock makes certificates look invalid',
      plant: async (world, owner) => {
        const { ca, port } = await issue(world, owner, expired)
        const options = healthy(world, {}, { url: `https://127.0.0.1:${port}`, ca })
        return { by: 'doctor', options, tools: { today: () => Date.now() + 5 * 86_400_000 } }
      },
    },
    {
      planted: 'a cluster certificate that signed itself',
      on,
      expected: 'CLUSTER_CERT_INVALID',
      says: 'self-signed certificate',
      plant: async (world, owner) => {
        const { port } = await show(world, owner, await issueSelfSigned(both))
        return doctor(world, {}, { url: `https://127.0.0.1:${port}` })
      },
    },
    ofProxy('that has expired', by(expired), 'and expired on'),
    ofProxy('that is not valid yet', by(early), 'is not valid before'),
    ofProxy('for another host', by(foreign), 'for other.example'),
    ofProxy('of an authority that has expired', by(good, [-30, -2]), 'The authority planted authority expired on'),
    ofProxy('without the intermediate one', withoutIntermediate, 'and --proxy-ca contains none'),
    ofProxy('that signed itself', async () => ({ leaf: await issueSelfSigned(both) }), 'self-signed certificate'),
    ofProxy(
      'of an unknown authority',
      async () => ({ leaf: await (await createSigner()).issue(...good) }),
      'issued by planted authority',
    ),
  ]
}

async function withoutIntermediate(): Promise<{ readonly leaf: Leaf; readonly ca: string }> {
  const signer = await createSigner()
  return { leaf: await (await signer.intermediate()).issue(...good), ca: signer.ca }
}
