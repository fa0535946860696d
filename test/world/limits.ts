/** Limits that a load has if the trouble of that name waits for it. A load without it continues. */
import type { IngestOptions } from '../../src/index.js'
import type { Settings, Trouble, World } from './world.js'

export interface Limit {
  readonly flags: readonly string[]
  readonly options: Partial<IngestOptions>
}

interface Kind {
  fits(world: World): boolean
  of(trouble: Trouble): Limit
}

/** Enough for the first checks, and sometimes for a few documents. */
function bytes({ after, turns }: Trouble): number {
  return 6000 + 2000 * (after + turns / 5)
}

export const limits: Readonly<Record<string, Kind>> = {
  budget: {
    fits: hasEnd,
    of: trouble => ({ flags: ['--byte-budget', `${bytes(trouble)}`], options: { byteBudget: bytes(trouble) } }),
  },
  plan: {
    fits: hasEnd,
    of: trouble => ({
      flags: ['--plan', `${bytes(trouble)}/month`, '--plan-limit', 'stop'],
      options: { plan: bytes(trouble), planLimit: 'stop' },
    }),
  },
  'too many indices': {
    fits: ({ isByField }) => isByField,
    of: () => ({ flags: ['--max-indices', '1'], options: { maxIndices: 1 } }),
  },
}

/** What has no end has no budget. */
function hasEnd({ way }: World): boolean {
  return way.posts === undefined && !way.plays.includes('follow')
}

/** Returns the limit of the load that the trouble waits for. */
export function limitOf(world: World): Settings['limit'] {
  const kind = limits[world.trouble.kind]
  return kind?.fits(world) === true ? kind.of(world.trouble) : undefined
}
