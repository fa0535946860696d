/** What stories do not draw on real servers, and why. */
import { losses } from '../losses.js'
import { serverTroubles } from '../bucket.js'
import type { Act, Story } from '../story.js'
import { type Way, ways } from '../ways.js'

interface NotDrawn {
  readonly name: string
  readonly why: string
  is(act: Act, way: Way | undefined): boolean
}

const nodesDown = Object.keys(losses).filter(kind => losses[kind]?.trouble === 'node')

const noStreams = {
  name: 'data streams',
  why: 'the Elasticsearch of the tests has no module for them',
  is: () => false,
}

export const notOnRealServers: readonly NotDrawn[] = [
  {
    name: serverTroubles.join(', '),
    why: 'a web server and a bucket that are real do not fail on command',
    is: ({ kind }) => serverTroubles.includes(String(kind)),
  },
  {
    name: nodesDown.join(', '),
    why: 'Squid is one node with two addresses',
    is: ({ kind }) => nodesDown.includes(String(kind)),
  },
  noStreams,
  {
    name: 'clockJumps, if the inputs are on a server',
    why: 'a bucket refuses requests that are signed with a wrong time',
    is: ({ act }, way) => act === 'clockJumps' && way?.isOnServer === true,
  },
  {
    name: 'tables',
    why: 'an instance of ServiceNow runs at ServiceNow only',
    is: (_, way) => way?.isTable === true,
  },
]

/** Leaves these acts out of a story. */
export function fitRealServers(story: Story): Story {
  const way = ways[story.way]
  const { target, ...others } = story
  const kept = target === 'stream' ? others : story
  return { ...kept, acts: story.acts.filter(act => !notOnRealServers.some(one => one.is(act, way))) }
}
