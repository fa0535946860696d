/** How results and errors are said; set as soon as the options are known. */
interface Manner {
  /** One JSON object on stdout, also for a failure. */
  json: boolean
  /** Replaced wherever they stand in failures and notes: an answer from outside may repeat them. */
  secrets: readonly string[]
}

/** What commands see of the process: its two outputs, its environment, its signals. */
export interface Terminal {
  readonly manner: Manner
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: NodeJS.ReadStream
  /** Progress is drawn here where it is a terminal. */
  readonly stderr: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>
  /** The result; one call writes whole lines. */
  out(text: string): void
  /** Errors, warnings, progress. */
  err(text: string): void
  on(signal: NodeJS.Signals, listener: () => void): void
  off(signal: NodeJS.Signals, listener: () => void): void
  /** Ends the process at once, whatever is under way. */
  exit(code: number): never
  /** Waits until everything written has left the process. */
  flush(): Promise<void>
}

export function openTerminal(host: NodeJS.Process): Terminal {
  const out = forgiving(host.stdout)
  const err = forgiving(host.stderr)
  return {
    manner: { json: false, secrets: [] },
    env: host.env,
    stdin: host.stdin,
    stderr: host.stderr,
    out: out.write,
    err: err.write,
    on: (signal, listener) => void host.on(signal, listener),
    off: (signal, listener) => void host.off(signal, listener),
    exit: code => host.exit(code),
    flush: async () => {
      await out.flush()
      await err.flush()
    },
  }
}

/** A reader that went away (`sluice … | head`) is no failure: what is left to say is dropped. */
function forgiving(stream: NodeJS.WriteStream) {
  let gone = false
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    gone = true
  })
  return {
    write: (text: string) => {
      if (!gone) stream.write(text)
    },
    flush: async () => {
      if (!gone) await new Promise<void>(resolve => stream.write('', () => resolve()))
    },
  }
}
