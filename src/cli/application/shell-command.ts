/** Runs a command of the user's, for `--on-failure`, `--on-success` and `--on-change`: the account of what happened is its stdin. */
import { spawn } from 'node:child_process'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describeOption, optionNames } from '../../options/describe-option.js'
import { withoutCredentials, withoutSecrets } from '../../base/secrets.js'
import type { Terminal } from '../terminal/terminal.js'

interface ShellCommand {
  readonly command: string
  readonly env: Terminal['env']
  /** The lines that the command reads from stdin. */
  readonly account: Iterable<string>
  readonly timeoutMs: number
  /** The secrets that its output must not show. */
  readonly secrets: Terminal['manner']['secrets']
  /** Aborted when the caller no longer waits for the command. */
  readonly signal: AbortSignal
}

/** Characters of its output that are shown if it fails. */
const SHOWN = 500
/** Characters that are kept until then: a secret among the first ones must be there as a whole to be found. */
const KEPT = 64 * 1024

/** Runs the command by the shell. Resolves to the problem, if it fails or takes longer than its time limit. Never rejects. */
export async function runShellCommand({
  command,
  env,
  account,
  timeoutMs,
  secrets,
  signal,
}: ShellCommand): Promise<string | undefined> {
  // A group of its own, so that the time limit ends all that it has started.
  const child = spawn(command, { shell: true, env: { ...env }, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  let output = ''
  const hear = (part: Buffer) => {
    if (output.length < KEPT) output += part.toString()
  }
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  let ending: string | undefined
  const end = (why: string) => {
    ending ??= why
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // It has ended meanwhile.
    }
    // A process that left the group may hold the pipes open.
    child.stdout.destroy()
    child.stderr.destroy()
  }
  const timer = setTimeout(() => end('took longer than its time limit (--alarm-timeout)'), timeoutMs)
  const stop = () => end('was stopped by a signal')
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  // A command need not read its stdin.
  pipeline(Readable.from(account), child.stdin).catch(() => undefined)
  const problem = await new Promise<string | undefined>(resolve => {
    child.once('error', error => resolve(`could not be started: ${error.message}`))
    child.once('close', (code, killedBy) => resolve(ending ?? problemOf(code, killedBy)))
  })
  clearTimeout(timer)
  signal.removeEventListener('abort', stop)
  if (problem === undefined) return undefined
  const said = withoutSecrets(output.trim(), secrets).slice(0, SHOWN)
  return said === '' ? problem : `${problem}. It printed: ${said}`
}

function problemOf(code: number | null, killedBy: NodeJS.Signals | null): string | undefined {
  if (code === 0) return undefined
  return code === null ? `was ended by ${killedBy}` : `ended with exit code ${code}`
}

/**
 * Returns the environment for a command of the user's: without Sluice's own variables, which would be the options of a `sluice` in the
 * command, and without variables that hold a credential of Sluice under another name, also in a URL.
 */
export function environmentOfCommand({ env, manner }: Pick<Terminal, 'env' | 'manner'>): Terminal['env'] {
  const options = optionNames.map(describeOption)
  // Those of options that this command does not use are no secrets of the run, but may stand under another name, too.
  const unused = new Set(
    options.filter(({ secret }) => secret === 'value').flatMap(one => one.env.map(name => env[name])),
  )
  const isCredential = (name: string, value: string): boolean => {
    if (value !== '' && unused.has(value)) return true
    if (manner.secrets.some(secret => value === secret || value.includes(`${secret}@`))) return true
    const secret = options.find(option => option.env.includes(name))?.secret
    return secret === 'value' || (secret === 'url' && withoutCredentials(value) !== value)
  }
  const isKept = ([name, value]: readonly [string, string | undefined]) =>
    !name.startsWith('SLUICE_') && (value === undefined || !isCredential(name, value))
  return Object.fromEntries(Object.entries(env).filter(isKept))
}
