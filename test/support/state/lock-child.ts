/** Processes of their own that take locks: what ends one of them ends its locks too. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { join } from 'node:path'
import { built } from '../build.js'

const program = `
import { createInterface } from 'node:readline'
const [dist, stateDir, index, ...inputs] = process.argv.slice(1)
const { lockInputs } = await import(dist + '/run/state/runs/state-folder.js')
const { findSources } = await import(dist + '/pipeline/source/open-sources.js')
const sources = await findSources(inputs, {})
let locks
console.log(JSON.stringify({ ready: true }))
for await (const line of createInterface({ input: process.stdin })) {
  try {
    if (line === 'release') await locks?.[Symbol.asyncDispose]()
    else {
      locks = await lockInputs({ stateDir, cluster: 'https://es.example', index, sources })
      await locks.name('run-of-' + process.pid)
    }
    console.log('{}')
  } catch (error) {
    console.log(JSON.stringify(error.failure ?? { code: String(error) }))
  }
}
`

export interface Answer {
  readonly code?: string
  readonly evidence?: Readonly<Record<string, unknown>>
}

export interface LockChild extends AsyncDisposable {
  readonly pid: number
  /** Nothing in the answer: done. */
  ask(what: 'take' | 'release'): Promise<Answer>
  /** Resolves when it is gone, and its parent knows. */
  kill(): Promise<void>
}

/** Resolves when it waits to be asked. */
export async function lockChild(stateDir: string, index: string, inputs: readonly string[]): Promise<LockChild> {
  const args = ['--input-type=module', '-e', program, join(built, 'dist'), stateDir, index, ...inputs]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  await lines.next()
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  return {
    pid: pidOf(child),
    ask: async what => {
      child.stdin.write(`${what}\n`)
      const line = await lines.next()
      if (line.done === true) throw new Error('the process ended')
      return JSON.parse(line.value) as Answer
    },
    kill,
    [Symbol.asyncDispose]: kill,
  }
}

function pidOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error('the process could not be started')
  return pid
}
