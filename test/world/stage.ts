/** One lab and one web server for many stories, and a clock on which nobody waits long. */
import { CHECKPOINT_MS } from '../../src/run/state/resume/state-keeper.js'
import { systemClock } from '../../src/base/time/system-clock.js'
import { startLab } from '../../src/lab/index.js'
import { ObjectServer } from '../support/servers/object-server.js'
import type { Story } from './story.js'
import type { Stage } from './world.js'

interface OpenStage extends Stage, AsyncDisposable {
  set(story: Story): void
}

/** Waits of this length and more guard against a hang. */
const LONG_MS = 20_000

export async function openStage(): Promise<OpenStage> {
  const [lab, server] = [await startLab(), await ObjectServer.start()]
  const { sleep } = systemClock
  const { now } = Date
  let story: Pick<Story, 'checkpointMs' | 'isLater'> = { checkpointMs: CHECKPOINT_MS, isLater: false }
  const waited = (ms: number) => {
    if (ms === CHECKPOINT_MS) return story.checkpointMs
    return ms >= LONG_MS ? ms : Math.min(ms, 2)
  }
  systemClock.sleep = async (ms, signal) => await sleep(waited(ms), signal)
  Date.now = () => now() + (story.isLater ? 10_000 : 0)
  return {
    lab,
    server,
    set: next => (story = next),
    [Symbol.asyncDispose]: async () => {
      Object.assign(systemClock, { sleep })
      Date.now = now
      await server[Symbol.asyncDispose]()
      await lab.close()
    },
  }
}
