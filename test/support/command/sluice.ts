import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { built, stateHome } from '../build.js'

export const binary = join(built, 'bin', 'sluice.js')

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** Resolves when stdout or stderr holds the text; fails when the process ends without it. */
  printed(text: string): Promise<void>
}

export interface Surroundings {
  readonly cwd?: string
  /** Replaces the environment, so that nothing of this machine's leaks in. */
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string | Uint8Array
  /** Input that never ends: this, again and again. */
  readonly endless?: string
  /** Input is left to the caller, who has `child.stdin`. */
  readonly piped?: true
}

/** Runs the built binary to its end. */
export async function sluice(args: readonly string[], surroundings: Surroundings = {}): Promise<Ended> {
  return await startSluice(args, surroundings).ended
}

/** Starts the built binary. */
export function startSluice(args: readonly string[], surroundings: Surroundings = {}): Running {
  return start(process.execPath, [binary, ...args], {
    ...surroundings,
    env: { ...fewConnections(args), ...surroundings.env },
  })
}

/**
 * A load opens 16 test connections first, which are most of its work if it is small. Two are enough where nothing is wrong with the route.
 * Tests of one address alone say 16.
 */
export function fewConnections([command = '']: readonly string[]): Readonly<Record<string, string>> {
  return ['ingest', 'replay', 'serve'].includes(command) ? { SLUICE_PREFLIGHT_CONNECTIONS: '2' } : {}
}

/** Runs a line of shell in which `$SLUICE` is the binary. */
export async function shell(line: string, { env = {}, ...surroundings }: Surroundings = {}): Promise<Ended> {
  const SLUICE = `${process.execPath} ${binary}`
  return await start('/bin/bash', ['--norc', '-o', 'pipefail', '-c', line], {
    ...surroundings,
    env: { ...env, SLUICE },
  }).ended
}

function start(
  command: string,
  args: readonly string[],
  { cwd = tmpdir(), env = {}, input, endless, piped }: Surroundings,
): Running {
  // Checkpoints stay out of the home folder of the user who runs the tests.
  // Tests read stderr as a person does, unless they say otherwise.
  const own = { PATH: process.env['PATH'], XDG_STATE_HOME: stateHome, SLUICE_LOG_FORMAT: 'text' }
  const child = spawn(command, args, { cwd, env: { ...own, ...env } })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
      child.emit('printed')
    })
  }
  // A command that does not read its input closes it.
  child.stdin.on('error', () => undefined)
  if (endless === undefined) {
    if (piped === undefined) child.stdin.end(input)
  } else Readable.from(repeat(endless)).pipe(child.stdin)
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal, ...output }))
  })
  const printed = async (text: string) =>
    await new Promise<void>((resolve, reject) => {
      const look = () => {
        if (`${output.stdout}${output.stderr}`.includes(text)) resolve()
      }
      look()
      child.on('printed', look)
      child.once('close', () => reject(new Error(`ended without printing ${text}:\n${output.stdout}${output.stderr}`)))
    })
  return { child, ended, printed }
}

function* repeat(text: string): Generator<string> {
  for (;;) yield text
}

export interface Folder extends AsyncDisposable {
  readonly path: string
}

/** A working folder of its own, gone when the test is over. */
export async function folder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), 'sluice-cli-'))
  return { path, [Symbol.asyncDispose]: async () => await rm(path, { recursive: true, force: true }) }
}
