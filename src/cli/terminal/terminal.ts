import type { Failure } from '../../failure/failure.js'

/** How results and errors are printed. Set as soon as the options are known. */
interface Manner {
  /** Whether Sluice prints one JSON object to stdout, also for a failure. */
  json: boolean
  /** Replaced wherever they stand in failures and notes: an answer from outside may repeat them. */
  secrets: readonly string[]
  /** A failure with its options named as they were set. */
  typed?: (known: Failure) => Failure
}

/** The parts of the process that commands use: two outputs, environment, signals. */
export interface Terminal {
  readonly manner: Manner
  readonly env: Readonly<Record<string, string | undefined>>
  /** Opened at first use. */
  readonly stdin: NodeJS.ReadStream
  /** Shows progress if it is a terminal. */
  readonly stderr: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>
  /** Whether colours may be written to stdout and stderr. */
  readonly hasColors: { readonly out: boolean; readonly err: boolean }
  /** Writes the result. One call writes whole lines. */
  out(text: string): void
  /** A part of a long result. Resolves once more can be taken: false where nobody takes it any more. */
  pour(bytes: Uint8Array): Promise<boolean>
  /** Errors, warnings, progress. */
  err(text: string): void
  on(signal: NodeJS.Signals, listener: () => void): void
  off(signal: NodeJS.Signals, listener: () => void): void
  /** Ends the process at once, whatever is under way. */
  exit(code: number): never
  /** Waits until everything written has left the process. Resolves to why a part of the result could not be written, if so. */
  flush(): Promise<string | undefined>
}

export function openTerminal(host: NodeJS.Process): Terminal {
  const out = forgiving(host.stdout)
  const err = forgiving(host.stderr)
  return {
    manner: { json: false, secrets: [] },
    env: host.env,
    get stdin() {
      return host.stdin
    },
    stderr: host.stderr,
    hasColors: { out: hasColors(host.stdout, host.env), err: hasColors(host.stderr, host.env) },
    out: out.write,
    pour: out.pour,
    err: err.write,
    on: (signal, listener) => void host.on(signal, listener),
    off: (signal, listener) => void host.off(signal, listener),
    exit: code => host.exit(code),
    flush: async () => {
      await out.flush()
      await err.flush()
      return out.lost()
    },
  }
}

function hasColors({ isTTY }: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  return isTTY === true && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb'
}

/**
 * Never throws and never ends the process: a load does not depend on its readers. A reader that closed the pipe
 * (`sluice … | head`) has read enough. Other errors are kept. Later output is dropped.
 */
function forgiving(stream: NodeJS.WriteStream) {
  let stopped: NodeJS.ErrnoException | undefined
  const stop = (error: unknown) => (stopped ??= error as NodeJS.ErrnoException)
  stream.on('error', stop)
  return {
    write: (text: string) => {
      if (stopped !== undefined) return
      try {
        stream.write(text)
      } catch (error) {
        // Files are written synchronously.
        stop(error)
      }
    },
    pour: async (bytes: Uint8Array) => {
      if (stopped !== undefined) return false
      return await new Promise<boolean>(resolve => {
        try {
          stream.write(bytes, error => resolve(error == null))
        } catch (error) {
          stop(error)
          resolve(false)
        }
      })
    },
    flush: async () => {
      if (stopped === undefined) await new Promise<void>(resolve => stream.write('', () => resolve()))
    },
    lost: () => (stopped === undefined || stopped.code === 'EPIPE' ? undefined : (stopped.code ?? stopped.message)),
  }
}
