import type { Ended, Running } from './sluice.js'

/** Kills a process and waits for its end. */
export async function kill({ child, ended }: Running): Promise<Ended> {
  child.kill('SIGKILL')
  return await ended
}

/**
 * Kills a process as soon as it is time, or stops it by another signal. Returns how it ended by itself, or undefined if the signal
 * ended it: a process may end between the look and the signal.
 */
export async function killWhen(
  { child, ended }: Running,
  isTime: () => boolean | Promise<boolean>,
  signal: NodeJS.Signals = 'SIGKILL',
): Promise<Ended | undefined> {
  const life = { isOver: false, isKilled: false }
  const over = () => (life.isOver = true)
  ended.then(over, over)
  try {
    while (!life.isOver && !(await isTime())) await new Promise(resolve => setTimeout(resolve, 1))
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
  if (!life.isOver) life.isKilled = child.kill(signal)
  const end = await ended
  if (end.signal === null) return end
  // A crash is no kill of ours.
  if (!life.isKilled || end.signal !== signal) throw new Error(`ended by ${end.signal}: ${end.stderr}`)
  return undefined
}
