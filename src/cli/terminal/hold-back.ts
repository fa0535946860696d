import type { Terminal } from './terminal.js'

/** A terminal that keeps back what goes to stderr, until it is known whether anybody should read it. */
export interface HoldingTerminal extends Terminal {
  /** Prints what was kept back, and all that follows. */
  release(): void
  /** Does the work that decides it. If that ends with another exit code than 0, all is printed, otherwise what follows. */
  decide<T extends { readonly code: number }>(work: () => Promise<T>): Promise<T>
}

/** Most texts to keep. More would say nothing new. */
const MOST = 100

/** Runs a command on such a terminal. If the command throws, everything is printed first. A signal releases it too. */
export async function holdingBack<T>(terminal: Terminal, run: (shown: HoldingTerminal) => Promise<T>): Promise<T> {
  let held: (() => void)[] | undefined = []
  const release = () => {
    const lines = held ?? []
    held = undefined
    for (const write of lines) write()
  }
  const hold = (write: () => void) => {
    if (held === undefined) write()
    else if (held.length < MOST) held.push(write)
  }
  const errors = {
    err: (text: string) => hold(() => terminal.err(text)),
    log: (line: string) => hold(() => terminal.log(line)),
    // A drawn line disappears a moment later anyway.
    draw: {
      out: terminal.draw.out,
      err: (text: string) => {
        if (held === undefined) terminal.draw.err(text)
      },
    },
    on: (signal: NodeJS.Signals, listener: () => void) => {
      terminal.on(signal, release)
      terminal.on(signal, listener)
    },
    off: (signal: NodeJS.Signals, listener: () => void) => {
      terminal.off(signal, release)
      terminal.off(signal, listener)
    },
    release,
    decide: async <R extends { readonly code: number }>(work: () => Promise<R>): Promise<R> => {
      const ended = await releasing(work)
      if (ended.code === 0) held = held === undefined ? undefined : []
      release()
      return ended
    },
  }
  const releasing = async <R>(work: () => Promise<R>): Promise<R> => {
    try {
      return await work()
    } catch (error) {
      release()
      throw error
    }
  }
  // A copy would open stdin.
  return await releasing(async () => await run(Object.assign(Object.create(terminal) as Terminal, errors)))
}
