/** Runs commands in this process, in whatever trouble the world is, and reads what they say as a user does. */
import { EventEmitter } from 'node:events'
import { readFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { runProgram } from '../../src/cli/program.js'
import { openTerminal } from '../../src/cli/terminal/terminal.js'
import { ingest, type IngestOptions, type Receipt } from '../../src/index.js'
import { isRunError } from '../../src/pipeline/ledger/receipt.js'
import type { Ended } from './facts.js'
import { shapingArgs, shapingOptions } from './shaping.js'
import { inTrouble } from './trouble.js'
import type { Settings, World } from './world.js'

/** Loads by the command line. */
export async function runIngest(
  world: World,
  settings: Settings,
  inputs: readonly string[],
  input: Uint8Array = Buffer.alloc(0),
): Promise<Ended> {
  const args = ['ingest', ...inputs, ...argsOf(world, settings), '--json']
  return await inTrouble(world, async signals => await run(world, args, input, signals))
}

/** Runs another command. */
export async function runCommand(world: World, args: readonly string[]): Promise<Ended> {
  const all = [...args, '--state-dir', world.state, '--json']
  return await inTrouble(world, async signals => await run(world, all, Buffer.alloc(0), signals))
}

/** Returns the words of an option. None: it is not passed. */
export function option(name: string, value: string | number | undefined): string[] {
  return value === undefined ? [] : [name, String(value)]
}

/** Returns the options of a load. */
export function argsOf(world: Pick<World, 'at' | 'state' | 'target' | 'way'>, settings: Settings): string[] {
  const { op, ids, batchDocs, runId, maxRejected, isAgain, skips, limit } = settings
  return [
    ...option('--index', world.target),
    // A file with ids of its own may have actions of its own, too.
    ...option('--op', world.way.hasActions === true ? undefined : op),
    ...option('--format', world.way.format),
    ...(world.way.flags ?? []),
    ...option('--ids', ids === 'own' ? undefined : ids),
    ...option('--id-field', ids === 'field' || ids === 'hash' ? 'n' : undefined),
    ...option('--batch-docs', batchDocs),
    ...option('--concurrency', 2),
    ...option('--state-dir', world.state),
    ...option('--dead-letters', world.at('dead.ndjson')),
    ...shapingArgs(world, settings),
    ...option('--on-conflict', skips === true ? 'skip' : undefined),
    ...(limit?.flags ?? []),
    ...option('--run-id', runId),
    ...option('--max-rejected', maxRejected),
    ...(isAgain ? ['--again'] : []),
  ]
}

/** `hear`: gets everything that the command has said on stderr so far. */
export async function run(
  world: World,
  args: readonly string[],
  input: Uint8Array,
  signals: EventEmitter,
  hear?: (said: string) => void,
): Promise<Ended> {
  const [stdout, stderr] = [collected(), collected(hear)]
  const stdin = Object.assign(new PassThrough(), { isTTY: false })
  stdin.end(input)
  const [on, off] = [signals.on.bind(signals), signals.off.bind(signals)]
  const host = { stdout: stdout.stream, stderr: stderr.stream, stdin, env: world.env, on, off }
  const exit = await runProgram(args, openTerminal(host as unknown as NodeJS.Process), '0.0.0')
  const [text, said] = [stdout.text(), stderr.text()]
  world.tell(`sluice ${args.join(' ')} → ${exit}`)
  const shown = text === '' ? {} : (JSON.parse(text) as Partial<Receipt> & { readonly notes?: readonly string[] })
  const { notes = [] } = shown
  return endedOf(exit, shown, [said.replaceAll(/"fixes":.*?\],/g, ''), ...notes].join('\n'))
}

/** Loads by the library. `follow` ends by its signal as soon as the run has begun. */
export async function runLibrary(
  world: World,
  settings: Settings,
  source: IngestOptions['source'],
  more: Partial<IngestOptions> = {},
): Promise<Ended> {
  return await inTrouble(world, async signals => {
    const stop = new AbortController()
    let said = ''
    signals.on('SIGINT', () => stop.abort('SIGINT'))
    const { SLUICE_GRACE } = world.env
    const { isAgain, runId, maxRejected, limit } = settings
    const options: IngestOptions = {
      source,
      ...wayOf(world),
      index: world.target,
      ...documentsOf(settings),
      ...shapingOptions(settings),
      ...limit?.options,
      again: isAgain,
      runId,
      maxRejected,
      concurrency: 2,
      deadLetters: world.at('dead.ndjson'),
      graceMs: SLUICE_GRACE === undefined ? 25_000 : 1,
      // A followed load that is killed waits for answers that never come.
      ...(SLUICE_GRACE !== undefined && more.follow === true ? { timeoutMs: 500 } : {}),
      stateDir: world.state,
      signal: stop.signal,
      onEvent: event => {
        if (event.type === 'begun' && more.follow === true) stop.abort('SIGTERM')
        if ('message' in event) said += `${event.message}\n`
      },
      ...more,
    }
    const ended = await ingest(options).then(
      receipt => endedOf(receipt.exit, receipt, said),
      (error: unknown) => {
        if (!isRunError(error)) throw error
        return endedOf(error.failure.exit, { failure: error.failure, ...error.receipt }, said)
      },
    )
    world.tell(`ingest(${typeof source === 'string' ? source : 'documents'}) → ${ended.exit}`)
    return ended
  })
}

/** Returns how a program reaches the cluster. */
export function wayOf({ env }: Pick<World, 'env'>) {
  const { ELASTICSEARCH_URL, ELASTICSEARCH_API_KEY, STATIC_PROXY_URL, SLUICE_CA, SLUICE_TIMEOUT } = env
  const ca = SLUICE_CA === undefined ? {} : { ca: readFileSync(SLUICE_CA) }
  return {
    target: { url: ELASTICSEARCH_URL, apiKey: ELASTICSEARCH_API_KEY, ...ca },
    proxy: STATIC_PROXY_URL,
    preflightConnections: 1,
    ...(SLUICE_TIMEOUT === undefined ? {} : { timeoutMs: 1000 }),
  }
}

/** Returns what a program says of its documents. */
export function documentsOf({ op, ids, batchDocs, skips }: Settings) {
  return {
    op: op as 'create',
    ids: ids as 'run',
    ...(ids === 'run' ? {} : { idField: 'n' }),
    batchDocs,
    ...(skips === true ? { onConflict: 'skip' as const } : {}),
  }
}

export function endedOf(exit: number, receipt: Partial<Receipt>, said: string): Ended {
  // A receiver counts only what its own process has loaded.
  const { run, read, thisProcess = receipt as Receipt, unreplayed = [] } = receipt
  return {
    exit,
    said,
    unreplayed: unreplayed.reduce((sum, { documents }) => sum + documents, 0),
    ...(run === undefined ? {} : { run }),
    ...(receipt.failure === undefined ? {} : { code: receipt.failure.code }),
    ...(read === undefined ? {} : { counts: receipt as Receipt, thisProcess }),
  }
}

function collected(hear?: (said: string) => void) {
  const parts: Buffer[] = []
  const write = (text: string | Uint8Array, done?: () => void) => {
    parts.push(Buffer.from(text as string))
    hear?.(Buffer.concat(parts).toString())
    done?.()
  }
  const on = () => undefined
  return { stream: { isTTY: false, columns: 80, write, on }, text: () => Buffer.concat(parts).toString() }
}
