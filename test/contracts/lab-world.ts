import { type Lab, type LabOptions, startLab } from '../../src/lab/index.js'
import type { SeenConnection, World } from './world.js'

/** With the means to make it go wrong. */
export interface LabWorld extends World {
  readonly lab: Lab
}

/** The embedded lab as a world for contract suites. */
export async function startLabWorld(options: LabOptions = {}): Promise<LabWorld> {
  const lab = await startLab(options)
  const { control, line } = lab
  const { proxy, proxyCaFile, staticIps, ipCheckUrl } = line
  const { version, ...cluster } = line.cluster
  return {
    lab,
    name: options.egressPer === 'upstream' ? 'lab, egress per upstream connection' : 'lab',
    proxy,
    proxyCaFile,
    staticIps,
    ipCheckUrl,
    cluster: { ...cluster, major: version.startsWith('8.') ? 8 : 9 },
    register: async which => control.register(which),
    connections: async () =>
      control.connections().flatMap((seen): SeenConnection[] => {
        const { at, port, from, requests } = seen
        return at === 'cluster' && (port === 'http' || port === 'https') ? [{ from, port, requests }] : []
      }),
    forget: async () => control.forgetConnections(),
    count: async index => control.count(index),
    documents: async index => control.ids(index).map(id => String(control.source(index, id))),
    source: async (index, id) => control.source(index, id)?.toString(),
    [Symbol.asyncDispose]: () => lab.close(),
  }
}
