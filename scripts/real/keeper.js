/**
 * Sees to it that no server outlives the tests, however they end. The test process holds this one's stdin: when that closes,
 * every process group and folder named on it and not taken back is removed.
 * Lines: `+group PID`, `-group PID`, `+folder PATH`, `-folder PATH`.
 */
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'

const groups = new Set()
const folders = new Set()

// An interrupt at the terminal reaches the whole foreground group; the work begins when the tests are gone.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})

for await (const line of createInterface({ input: process.stdin })) {
  const [verb, ...rest] = line.split(' ')
  const named = verb.endsWith('group') ? groups : folders
  if (verb.startsWith('+')) named.add(rest.join(' '))
  else named.delete(rest.join(' '))
}

for (const group of groups) {
  try {
    process.kill(-Number(group), 'SIGKILL')
  } catch {
    // ended by itself
  }
}
for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
