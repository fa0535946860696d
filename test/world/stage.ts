/** One cluster and its servers for many stories, and a clock on which nobody waits long. */
import { CHECKPOINT_MS } from '../../src/run/state/resume/state-keeper.js'
import { systemClock } from '../../src/base/time/clock.js'
import { startObjects } from './bucket.js'
import { startLabCluster } from './cluster.js'
import type { Story } from './story.js'
import type { Servers, Stage } from './world.js'

export interface OpenStage extends Stage, AsyncDisposable {
  set(story: Story): void
}

/** Waits of this length and more guard against a hang. */
const LONG_MS = 20_000

/** `start`: where the stories are played. */
export async function openStage(start: () => Promise<Servers> = startLabServers): Promise<OpenStage> {
  const servers = await start()
  const { env } = servers.objects
  const { sleep } = systemClock
  const usual = { ...process.env }
  Object.assign(process.env, env)
  const RealDate = Date
  let jumpedMs = 0
  let story: Pick<Story, 'checkpointMs' | 'isLater'> = { checkpointMs: CHECKPOINT_MS, isLater: false }
  const waited = (ms: number) => {
    if (ms === CHECKPOINT_MS) return story.checkpointMs
    return ms >= LONG_MS ? ms : Math.min(ms, 2)
  }
  systemClock.sleep = async (ms, signal) => await sleep(waited(ms), signal)
  globalThis.Date = class extends RealDate {
    static override now = () => RealDate.now() + jumpedMs + (story.isLater ? 10_000 : 0)
    constructor(...given: []) {
      if (given.length === 0) super(Date.now())
      else super(...given)
    }
  } as DateConstructor
  return {
    ...servers,
    set: next => {
      story = next
      jumpedMs = 0
    },
    jump: hours => (jumpedMs += hours * 3_600_000),
    [Symbol.asyncDispose]: async () => {
      Object.assign(systemClock, { sleep })
      globalThis.Date = RealDate
      for (const name of Object.keys(env)) restore(name, usual[name])
      await servers[Symbol.asyncDispose]()
    },
  }
}

async function startLabServers(): Promise<Servers> {
  const [cluster, objects] = [await startLabCluster(), await startObjects()]
  return {
    cluster,
    objects,
    [Symbol.asyncDispose]: async () => {
      await objects[Symbol.asyncDispose]()
      await cluster[Symbol.asyncDispose]()
    },
  }
}

function restore(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name]
  else process.env[name] = value
}
