/** One lab and one web server for many stories, and a clock on which nobody waits long. */
import { CHECKPOINT_MS } from '../../src/run/state/resume/state-keeper.js'
import { systemClock } from '../../src/base/time/system-clock.js'
import { startLab } from '../../src/lab/index.js'
import { ObjectServer } from '../support/servers/object-server.js'
import { openBucket } from './bucket.js'
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
  openBucket(server)
  const usual = { ...process.env }
  Object.assign(process.env, awsOf(server))
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
    lab,
    server,
    set: next => {
      story = next
      jumpedMs = 0
    },
    jump: hours => (jumpedMs += hours * 3_600_000),
    [Symbol.asyncDispose]: async () => {
      Object.assign(systemClock, { sleep })
      globalThis.Date = RealDate
      for (const name of Object.keys(awsOf(server))) restore(name, usual[name])
      await server[Symbol.asyncDispose]()
      await lab.close()
    },
  }
}

/** The AWS tools read the environment of the process. */
function awsOf(server: ObjectServer): Readonly<Record<string, string>> {
  return {
    AWS_ACCESS_KEY_ID: 'someone',
    AWS_SECRET_ACCESS_KEY: 'not a secret',
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL_S3: server.url(''),
  }
}

function restore(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name]
  else process.env[name] = value
}
