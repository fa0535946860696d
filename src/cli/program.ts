import { createRequire } from 'node:module'
import { Command, CommanderError, Option } from 'commander'
import { endCounting } from './application/count-traffic.js'
import { chooseLog } from './terminal/log.js'
import { layOutHelp } from './terminal/help.js'
import { sayError } from './show/say-error.js'
import type { Terminal } from './terminal/terminal.js'

/**
 * Adds arguments, options, help and the action to a command. The action passes the exit code to `done`. `whole`: makes the program
 * with all options of all commands.
 */
type Define = (
  command: Command,
  terminal: Terminal,
  done: (code: number) => void,
  whole: () => Promise<Command>,
) => void

type Verb = readonly [summary: string, load: () => Promise<Define>]

/** Loads a command's module only for that command, so that others start faster. */
const verbs: Readonly<Record<string, Verb>> = {
  ingest: ['load files, stdin or ServiceNow tables', async () => (await import('./commands/ingest.js')).defineIngest],
  pull: ['read a ServiceNow table or an index as NDJSON', async () => (await import('./commands/pull.js')).definePull],
  replay: [
    'send rejected documents (dead letters) again',
    async () => (await import('./commands/replay.js')).defineReplay,
  ],
  serve: ['receive webhooks and load their documents', async () => (await import('./commands/serve.js')).defineServe],
  worker: ['load ranges of the jobs on a queue', async () => (await import('./commands/worker.js')).defineWorker],
  jobs: ['list jobs on a queue, cancel or retry one', async () => (await import('./commands/jobs.js')).defineJobs],
  tunnel: [
    'open local ports that lead through the proxy',
    async () => (await import('./commands/tunnel.js')).defineTunnel,
  ],
  run: ['run another tool through the proxy', async () => (await import('./commands/run.js')).defineRun],
  doctor: [
    'check proxy, IP filter, cluster and ServiceNow',
    async () => (await import('./commands/doctor.js')).defineDoctor,
  ],
  init: ['set up a folder for your loads', async () => (await import('./commands/init.js')).defineInit],
  login: ['log in to ServiceNow with a browser', async () => (await import('./commands/login.js')).defineLogin],
  lab: ['run a proxy, IP filter and cluster locally', async () => (await import('./commands/lab.js')).defineLab],
  demo: ['load example documents on the lab', async () => (await import('./commands/demo.js')).defineDemo],
  runs: [
    'list runs, show the receipt of one, or forget one',
    async () => (await import('./commands/runs.js')).defineRuns,
  ],
  verify: [
    'look up every document of a run in the cluster',
    async () => (await import('./commands/verify.js')).defineVerify,
  ],
  undo: ['delete the documents that a run created', async () => (await import('./commands/undo.js')).defineUndo],
  rollback: [
    'switch an alias back to the previous index',
    async () => (await import('./commands/rollback.js')).defineRollback,
  ],
  look: ['show what a load would make of a file', async () => (await import('./commands/infer.js')).defineLook],
  infer: ['propose a mapping for documents', async () => (await import('./commands/infer.js')).defineInfer],
  untune: [
    'restore the settings that a load has tuned',
    async () => (await import('./commands/untune.js')).defineUntune,
  ],
  filter: [
    "show and change Elastic Cloud's IP filter",
    async () => (await import('./commands/filter.js')).defineFilter,
  ],
  explain: [
    'explain the causes and fixes of a failure',
    async () => (await import('./commands/explain.js')).defineExplain,
  ],
  config: [
    'show every option with its value and source',
    async () => (await import('./commands/config.js')).defineConfig,
  ],
  completion: [
    'print a completion script for bash, zsh or fish',
    async () => (await import('./commands/completion.js')).defineCompletion,
  ],
  version: [
    'show the versions of Sluice, Node.js and the client',
    async () => (await import('./commands/version.js')).defineVersion,
  ],
}

/** Returns the version of the client that the package names. This file is as deep as the bundle, so that both find the package. */
function clientVersion(): string | undefined {
  const { dependencies } = createRequire(import.meta.url)('../../package.json') as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  return dependencies['@elastic/elasticsearch']
}

/** Help shows a flag that does the same. */
const hiddenVerbs: ReadonlySet<string> = new Set(['version'])

/** Runs one command line. Resolves to the exit code. Never rejects. */
export async function runProgram(typed: readonly string[], terminal: Terminal, version: string): Promise<number> {
  let code = 0
  // Earlier versions had a capital letter.
  const args = withoutVainHelp(typed[0] === '-V' ? ['-v'] : typed)
  const verb = verbIn(args)
  terminal.manner.command = verb
  terminal.manner.version = version
  if (verb === 'version') terminal.manner.clientVersion = clientVersion()
  terminal.manner.json = toggled(args, '--json', terminal.env['SLUICE_JSON'])
  try {
    await chooseLog(terminal, logAsked(args, terminal.env))
    const program = rootCommand(terminal, version)
    for (const [name, [summary, load]] of Object.entries(verbs)) {
      const command = program
        .command(name, { hidden: hiddenVerbs.has(name) })
        .description(summary)
        .allowExcessArguments(false)
      if (name !== verb) continue
      ;(await load())(
        command,
        terminal,
        result => (code = result),
        async () => await wholeProgram(terminal, version),
      )
      addHelpAll(command)
    }
    await program.parseAsync(args, { from: 'user' })
    return code
  } catch (error) {
    if (!(error instanceof CommanderError)) return sayError(terminal, error)
    // Help and version are answers.
    if (error.exitCode === 0) return 0
    const { sayUsageError } = await import('./show/say-usage-error.js')
    return sayUsageError(terminal, error, { verb, verbs: Object.keys(verbs), args })
  } finally {
    endCounting(terminal)
  }
}

async function wholeProgram(terminal: Terminal, version: string): Promise<Command> {
  const root = rootCommand(terminal, version)
  for (const [name, [summary, load]] of Object.entries(verbs)) {
    const whole = async () => await Promise.resolve(root)
    ;(await load())(root.command(name).description(summary), terminal, () => undefined, whole)
  }
  return root
}

function rootCommand(terminal: Terminal, version: string): Command {
  const root = layOutHelp(new Command('sluice'), terminal)
  return addHelpAll(root)
    .description(
      'Loads files, streams and ServiceNow tables into Elasticsearch (Elastic Cloud) through a static-IP proxy (QuotaGuard, Fixie), and accounts for every document.',
    )
    .version(version, '-v, --version', 'show the version')
    .enablePositionalOptions()
    .showSuggestionAfterError(false)
    .exitOverride()
    .addHelpText(
      'after',
      `
Example: sluice ingest 'logs/*.ndjson.gz' --index logs-app

Exit codes: 0 every document stored  1 some rejected or unknown  2 wrong usage
  3 change something  4 try again later  5 interrupted  6 locked  70 a bug`,
    )
}

/** Makes `--help-all` show the help of a command that has no more options than `--help` shows. */
function addHelpAll(command: Command): Command {
  if (command.options.some(({ long }) => long === '--help-all')) return command
  return command.addOption(new Option('--help-all').hideHelp()).on('option:help-all', () => command.help())
}

/** Drops the word help before an unknown command, so that the parser reports that command. */
function withoutVainHelp(args: readonly string[]): readonly string[] {
  const [first, second] = args
  return first === 'help' && second !== undefined && verbIn(args) === undefined ? args.slice(1) : args
}

/** The verb that the command line names, also as in `sluice help ingest`. */
function verbIn(args: readonly string[]): string | undefined {
  const words = args.filter(arg => !arg.startsWith('-'))
  const verb = words[0] === 'help' ? words[1] : words[0]
  return verb !== undefined && Object.hasOwn(verbs, verb) ? verb : undefined
}

/** Usage errors come before options are read, but also need JSON. */
function toggled(args: readonly string[], flag: string, variable = ''): boolean {
  return flagsIn(args).some(one => one.split('=', 1)[0] === flag) || /^(1|true|yes|on)$/i.test(variable)
}

function logAsked(args: readonly string[], env: Terminal['env']) {
  const flags = flagsIn(args)
  const at = flags.findLastIndex(flag => /^--log-format(=|$)/.test(flag))
  const format = flags[at]?.split('=')[1] ?? (at === -1 ? env['SLUICE_LOG_FORMAT'] || undefined : flags[at + 1])
  return { format, quiet: toggled(args, '--quiet', env['SLUICE_QUIET']) || flagsIn(args).includes('-q') }
}

function flagsIn(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--')
  return args.slice(0, end === -1 ? undefined : end)
}
