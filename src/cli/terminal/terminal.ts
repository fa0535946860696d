import type { Failure } from '../../base/failure/failure.js'
import { visibleLines } from '../../base/text/shown.js'
import { secretForms } from '../../base/secrets.js'
import type { ServiceNowOptions } from '../../index.js'
import type { OpenPlan } from '../../features/limits/traffic-plan/plan-use.js'

/** Something that happened. */
export interface LogEntry {
  readonly level: 'info' | 'warn' | 'error'
  /** The kind of the message, for programs: one word. */
  readonly event: string
  readonly message: string
  /** For programs only. Hold no secret and no document. */
  readonly fields?: Readonly<Record<string, unknown>>
  /** The text for people instead of the message: whole lines, or nothing. */
  readonly text?: string
}

/** How results and errors are printed. Set as soon as the options are known. */
interface Manner {
  json: boolean
  /** Whether stderr of a load is a mail: it holds nothing, or all that a person needs. */
  isMailed?: boolean
  /** Replaced in all output: an answer from outside may repeat them. */
  secrets: readonly string[]
  /** The command that runs, if it is known. */
  command?: string | undefined
  /** Version of Sluice. */
  version?: string
  /** Version of the Elasticsearch client, which is a part of the command. */
  clientVersion?: string | undefined
  /** Counts for the proxy's monthly plan. Absent: there is none. */
  plan?: OpenPlan | undefined
  /** The run that a load belongs to, as soon as it is known. */
  run?: string | undefined
  /** Makes a line of JSON of what happened. Absent: stderr holds text. */
  lineOf?: ((entry: LogEntry) => string) | undefined
  /** Where the options lead, without credentials. */
  target?: { readonly url?: string; readonly index?: string } | undefined
  /** Names options in a failure as the user set them. */
  typed?: (known: Failure) => Failure
}

/** The parts of the process that commands use: two outputs, environment, signals. */
export interface Terminal {
  readonly manner: Manner
  readonly env: Readonly<Record<string, string | undefined>>
  /** Opened at first use. */
  readonly stdin: NodeJS.ReadStream
  readonly stderr: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>
  readonly hasColors: { readonly out: boolean; readonly err: boolean }
  /** Writes the result. One call writes whole lines. */
  out(text: string): void
  /** Writes a part of a long result. Resolves when the reader takes more, to false if the reader is gone. */
  pour(bytes: Uint8Array): Promise<boolean>
  /** Writes text for people. If stderr holds JSON, the text becomes a line of it. */
  err(text: string): void
  /** Writes a line of JSON to stderr. */
  log(line: string): void
  /** Writes text of our own as it is, with colours and movements. Nothing in it comes from outside. */
  readonly draw: { out(text: string): void; err(text: string): void }
  on(signal: NodeJS.Signals, listener: () => void): void
  off(signal: NodeJS.Signals, listener: () => void): void
  /** Ends the process at once, whatever is under way. */
  exit(code: number): never
  /** Waits until all output has left the process. Resolves to the problem if the result could not be written. */
  flush(): Promise<string | undefined>
}

export function openTerminal(host: NodeJS.Process): Terminal {
  const out = forgiving(host.stdout)
  const err = forgiving(host.stderr)
  const manner: Manner = { json: false, secrets: [] }
  const log = (line: string) => err.write(visibleLines(line))
  return {
    manner,
    env: host.env,
    get stdin() {
      return host.stdin
    },
    stderr: host.stderr,
    hasColors: { out: hasColors(host.stdout, host.env), err: hasColors(host.stderr, host.env) },
    out: text => out.write(visibleLines(text)),
    pour: async bytes => await out.pour(host.stdout.isTTY ? visibleLines(Buffer.from(bytes).toString()) : bytes),
    err: text => log(manner.lineOf?.({ level: 'info', event: 'message', message: text.trim() }) ?? text),
    log,
    draw: { out: out.write, err: err.write },
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
    pour: async (bytes: Uint8Array | string) => {
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

/** Hides secrets from now on, also those that become known later, such as tokens. */
export function keepSecrets({ manner }: Terminal, secrets: readonly string[]): void {
  manner.secrets = [...new Set([...manner.secrets, ...secrets])]
}

/** Hides the credentials for ServiceNow. */
export function keepInstanceSecrets(terminal: Terminal, access: Partial<ServiceNowOptions>): void {
  const { username = '', apiKey, password, clientSecret, refreshToken } = access
  const secrets = [apiKey, password, clientSecret, refreshToken].filter(secret => secret !== undefined)
  keepSecrets(
    terminal,
    secrets.flatMap(secret => secretForms(username, secret)),
  )
}
