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
  const life = { isOver: false }
  void ended.finally(() => (life.isOver = true))
  while (!life.isOver && !(await isTime())) await new Promise(resolve => setTimeout(resolve, 1))
  if (!life.isOver) child.kill(signal)
  const end = await ended
  return end.signal === null ? end : undefined
}
